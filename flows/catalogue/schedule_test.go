package catalogue_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

func TestStartDates(t *testing.T) {
	t.Parallel()
	var unknown catalogue.Details // a club whose time zone is unknown
	for _, test := range []struct {
		date, now string
		right     bool
	}{
		{"2026-11-21", "2026-11-21T00:00:00Z", true},
		{"2026-11-20", "2026-11-21T11:59:59Z", true}, // at UTC-12 it is still the 20th
		{"2026-11-20", "2026-11-21T12:00:00Z", false},
		{"2026-11-19", "2026-11-21T00:00:00Z", false},
		{"2026-11-22", "2026-11-21T23:30:00Z", true},
		{"2031-11-21", "2026-11-21T23:30:00Z", true},
		{"2031-11-22", "2026-11-21T09:30:00Z", false}, // at UTC+14 it is still the 21st
		{"2031-11-23", "2026-11-21T23:30:00Z", false},
		{"2028-02-29", "2026-11-21T00:00:00Z", true},
		{"2027-02-29", "2026-11-21T00:00:00Z", false},
		{"21.11.2026", "2026-11-21T00:00:00Z", false},
		{"", "2026-11-21T00:00:00Z", false},
	} {
		now := must(t, func() (time.Time, error) { return time.Parse(time.RFC3339, test.now) })
		if problem := unknown.StartDateProblem("", test.date, now.In(time.FixedZone("elsewhere", 7*3600)), ""); (problem == nil) != test.right {
			t.Errorf("%s at %s: %v", test.date, test.now, problem)
		}
	}
}

// TestScheduleTerms: a chosen day must be one of the club's debit days. Without a choice, the terms use the
// club's next one.
func TestScheduleTerms(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	offers := world.Gateway().Catalogue
	now := world.Clock.Now()
	day := func(n int) *int { return &n }
	for name, test := range map[string]struct {
		offer  string
		chosen *int
		day    int
		open   bool
		code   flows.Code
	}{
		"chosen":                  {offer: "901", chosen: day(10), day: 10},
		"not chosen":              {offer: "901", day: 20, open: true},
		"not allowed":             {offer: "901", chosen: day(11), code: flows.InvalidRequest},
		"nothing is debited":      {offer: "201"},
		"chosen for nothing":      {offer: "201", chosen: day(10)},
		"not allowed for nothing": {offer: "201", chosen: day(11), code: flows.InvalidRequest},
		"not on sale":             {offer: "9999", code: flows.OfferNotFound},
	} {
		// From a 15th the next of the club's days, 5, 10 and 20, is the 20th.
		start := time.Date(now.Year()+1, time.March, 15, 0, 0, 0, 0, time.UTC)
		terms, _, err := offers.ScheduleTerms(t.Context(), catalogue.ScheduleQuery{
			ProductQuery: web,
			OfferID:      test.offer,
			StartDate:    start.Format(time.DateOnly),
			DebitDay:     test.chosen,
			Now:          now,
		})
		if test.code != "" {
			if flows.CodeOf(err) != test.code {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || terms.DebitDay != test.day || terms.DebitDayOpen != test.open || !terms.Start.Equal(start) ||
			terms.Offer.Listed.IRI != terms.Offer.IRI {
			t.Errorf("%s: %+v (%v)", name, terms, err)
		}
	}
	days := 0
	for _, request := range world.Sim.Requests() {
		if request.Operation == "listAllowedDebitDays" {
			days++
		}
	}
	if days != 1 {
		t.Errorf("the debit days were read %d times", days)
	}
}
