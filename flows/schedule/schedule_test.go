package schedule_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows/schedule"
)

func day(t testing.TB, text string) schedule.Date {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return schedule.DateOf(d)
}

// lines formats a schedule as one line per debit, for comparison.
func lines(s schedule.Schedule) string {
	var all []string
	for _, d := range s.Debits {
		all = append(all, line(d.Date.String(), d.Amount, d.Verdict))
	}
	if r := s.Recurrence; r != nil {
		all = append(all, line(r.From.String()+"/"+r.Every, r.Amount, r.Verdict))
	}
	return strings.Join(all, "\n")
}

func line(date string, amount int64, v schedule.Verdict) string {
	text := fmt.Sprint(date, " ", amount)
	for _, rule := range v.Rules {
		text += " " + string(rule)
	}
	return text
}

// months and weeks are entries that are repeated a number of times, or without end for 0.
func months(loop int, price int64) schedule.Entry {
	return schedule.Entry{Offset: "P0W", Interval: "P1M", Loop: loop, Price: price}
}

func weeks(loop int, price int64) schedule.Entry {
	return schedule.Entry{Offset: "P0W", Interval: "P1W", Loop: loop, Price: price}
}

// limited and endless are offers with debits of one kind.
func limited(rhythm string, occurrences ...schedule.Entry) schedule.Offer {
	return schedule.Offer{Rhythm: rhythm, Occurrences: occurrences}
}

func endless(rhythm string, recurrences ...schedule.Entry) schedule.Offer {
	return schedule.Offer{Rhythm: rhythm, Recurrences: recurrences}
}

// mixed is an offer by the month with debits of both kinds.
func mixed(occurrence, recurrence schedule.Entry) schedule.Offer {
	offer := limited("monthly", occurrence)
	offer.Recurrences = []schedule.Entry{recurrence}
	return offer
}

// firstPaid is an offer whose first instalment is in what is due now.
func firstPaid(dueNow int64, offer schedule.Offer) schedule.Offer {
	offer.DueNow, offer.FirstInstalmentPaid = dueNow, true
	return offer
}

func committed(period string, offer schedule.Offer) schedule.Offer {
	offer.Commitment = period
	return offer
}

func prorated(offer schedule.Offer) schedule.Offer {
	offer.Prorated = true
	return offer
}

// ruleCase is an offer from 2026-12-01 with debits on the fifth, unless stated otherwise.
type ruleCase struct {
	offer schedule.Offer
	start string
	day   int    // -1: not chosen
	want  string // empty: nothing is debited
}

func (c ruleCase) schedule(t *testing.T) schedule.Schedule {
	t.Helper()
	terms := schedule.Terms{Offer: c.offer, Today: day(t, "2026-11-21"), Start: day(t, "2026-12-01"), DebitDay: 5}
	if c.start != "" {
		terms.Start = day(t, c.start)
	}
	if c.day != 0 {
		terms.DebitDay = max(0, c.day)
	}
	return schedule.Of(terms)
}

// rules are cases that no offer of the simulator's catalogue needs.
var rules = map[string]ruleCase{
	"loop 0 is offset by interval": {
		offer: limited("P1M", schedule.Entry{Offset: "P1Y", Interval: "P6M", Price: 600}),
		want: "2026-12-05 100\n2027-01-05 100\n2027-02-05 100\n2027-03-05 100\n2027-04-05 100\n2027-05-05 100\n" +
			"2027-06-05 100\n2027-07-05 100\n2027-08-05 100\n2027-09-05 100\n2027-10-05 100\n2027-11-05 100",
	},
	"a rhythm of a quarter": {offer: limited("P3M", months(6, 1000)), want: "2026-12-05 3000\n2027-03-05 3000"},
	"a quarter of four weeks": {
		offer: limited("week1", schedule.Entry{Offset: "P4W", Interval: "P4W", Price: 1003}),
		want:  "2026-12-05 251 rounded\n2026-12-12 251 rounded\n2026-12-19 250 rounded\n2026-12-26 251 rounded",
	},
	"what is left over": {
		offer: limited("week4", weeks(10, 500)),
		want:  "2026-12-05 2000\n2027-01-02 2000\n2027-01-30 1000 remainder",
	},
	"weeks by the month, limited": {
		offer: limited("monthly", weeks(13, 590)),
		want:  "2026-12-05 2557 months_as_weeks rounded\n2027-01-05 2556 months_as_weeks rounded\n2027-02-05 2557 months_as_weeks rounded",
	},
	"a year of weeks": {
		offer: limited("P26W", schedule.Entry{Offset: "P1Y", Interval: "P1W", Price: 100}),
		want:  "2026-12-05 2600 months_as_weeks\n2027-06-05 2600 months_as_weeks",
	},
	"recurrences are added up": {offer: endless("monthly", months(0, 4990), months(0, 1000)), want: "2026-12-05/P1M 5990"},
	"weekly recurrences add up to whole cents": {
		offer: endless("monthly", weeks(0, 590), weeks(0, 310)),
		want:  "2026-12-05/P1M 3900 months_as_weeks",
	},
	"the first debit shows entries in turn": {
		offer: firstPaid(300, limited("monthly", months(2, 300), months(1, 500))),
		want:  "2027-01-05 300\n2027-02-05 500",
	},
	"the first debit shows entries side by side": {
		offer: firstPaid(800, limited("monthly", months(3, 300), months(2, 500))),
		want:  "2027-01-05 800\n2027-02-05 300",
	},
	"the commitment shows entries in turn": {
		offer: committed("P3M", limited("monthly", months(2, 300), months(1, 500))),
		want:  "2026-12-05 300\n2027-01-05 300\n2027-02-05 500",
	},
	"the commitment shows entries side by side": {
		offer: committed("P2M", limited("monthly", months(2, 300), months(1, 500))),
		want:  "2026-12-05 800\n2027-01-05 300",
	},
	"nothing shows how entries stand": {
		offer: limited("monthly", months(2, 300), months(1, 500)),
		want:  "2026-12-05 300 entries_in_turn\n2027-01-05 300 entries_in_turn\n2027-02-05 500 entries_in_turn",
	},
	"limited, then endless": {
		offer: firstPaid(100, mixed(months(2, 100), months(0, 400))),
		want:  "2027-01-05 100\n2027-02-05/P1M 400",
	},
	"limited and endless": {
		offer: firstPaid(500, mixed(months(2, 100), months(0, 400))),
		want:  "2027-01-05 500\n2027-02-05/P1M 400",
	},
	"only the first instalment is limited": {
		offer: firstPaid(100, mixed(months(1, 100), months(0, 400))),
		want:  "2027-01-05/P1M 400",
	},
	"paid at once is something else": {
		offer: firstPaid(999, limited("monthly", months(2, 100))),
		want:  "2027-01-05 100 first_instalment_assumed",
	},
	"loop and offset differ": {
		offer: limited("monthly", schedule.Entry{Offset: "P6M", Interval: "P1M", Loop: 1, Price: 100}),
		want:  "2026-12-05 100 loop_over_offset",
	},
	"loop and offset agree": {
		offer: limited("monthly", schedule.Entry{Offset: "P1M", Interval: "P1M", Loop: 1, Price: 100}),
		want:  "2026-12-05 100",
	},
	"a free month": {offer: committed("P2M", limited("monthly", months(1, 0), months(1, 500))), want: "2027-01-05 500"},
	"the last day of short months": {
		offer: endless("monthly", months(0, 100)),
		start: "2027-02-15",
		day:   31,
		want:  "2027-02-28/P1M 100",
	},
	"no day was chosen": {
		offer: limited("monthly", months(2, 100)),
		start: "2026-12-31",
		day:   -1,
		want:  "2026-12-31 100 debit_day_open\n2027-01-31 100 debit_day_open",
	},
	"a start in the past is today": {offer: limited("week1", weeks(1, 100)), start: "2020-01-01", day: 21, want: "2026-11-21 100"},
	"prorated, the month itself is paid today": {
		offer: prorated(firstPaid(3000, limited("monthly", months(2, 3000)))),
		start: "2026-12-16",
		want:  "2027-01-05 3000 calendar_months",
	},
	"prorated, the month after is the first": {
		offer: prorated(limited("monthly", months(1, 3000))),
		start: "2026-12-16",
		want:  "2027-01-05 3000 calendar_months",
	},
	"prorated from the first needs no prorata": {offer: prorated(limited("monthly", months(1, 3000))), want: "2026-12-05 3000"},
	"nothing follows":                          {offer: schedule.Offer{DueNow: 45900}},
	"a discount is subtracted from a price":    {offer: endless("P1M", months(0, 500), months(0, -100)), want: "2026-12-05/P1M 400"},
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, test := range rules {
		s := test.schedule(t)
		if got := lines(s); got != test.want || s.Basis == schedule.Unknown {
			t.Errorf("%s: %s, got\n%s\nwant\n%s", name, s.Basis, got, test.want)
		}
	}
}

// TestRegularDebit covers what an offer says about all of its debits at once.
func TestRegularDebit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		offer schedule.Offer
		want  string
	}{
		"a price per month":           {endless("monthly", months(0, 3990)), "3990 exact"},
		"several prices":              {endless("monthly", months(0, 4990), months(0, 1000)), "5990 exact"},
		"weeks by the month":          {endless("monthly", weeks(0, 590)), "2557 estimated"},
		"weeks by the month, limited": {limited("monthly", weeks(13, 590)), "2557 estimated"},
		"a remainder at the end":      {limited("week4", weeks(10, 500)), "2000 exact"},
		"the first is paid at once":   {firstPaid(999, limited("monthly", months(2, 100))), "100 estimated"},
		"the price rises":             {firstPaid(300, limited("monthly", months(2, 300), months(1, 500))), ""},
		"a month for a cent less":     {committed("P2M", limited("monthly", months(1, 299), months(1, 300))), ""},
		"only the rest is debited":    {firstPaid(2000, limited("week4", weeks(5, 500))), "500 estimated"},
		"all of it is paid at once":   {firstPaid(2000, limited("week4", weeks(4, 500))), ""},
		"endless, the first is paid":  {firstPaid(400, endless("monthly", months(0, 400))), "400 exact"},
		"limited, then endless":       {firstPaid(100, mixed(months(2, 100), months(0, 400))), ""},
		"nothing follows":             {schedule.Offer{DueNow: 45900}, ""},
		"a rhythm without a period":   {endless("now and then", months(0, 3990)), ""},
	} {
		got := ""
		if amount, basis, ok := schedule.RegularDebit(test.offer); ok {
			got = fmt.Sprint(amount, " ", basis)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestUnknownSchedules: without a reliable estimate, the schedule is unknown.
func TestUnknownSchedules(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]ruleCase{
		"prorated in weeks":              {offer: prorated(limited("week4", weeks(4, 3000))), start: "2026-12-16"},
		"no rhythm":                      {offer: endless("", months(0, 100))},
		"a rhythm of hours":              {offer: endless("PT1H", months(0, 100))},
		"a rhythm of nothing":            {offer: endless("P0M", months(0, 100))},
		"a rhythm of months and days":    {offer: endless("P1M1D", months(0, 100))},
		"an interval of nothing":         {offer: limited("P1M", schedule.Entry{Offset: "P1Y", Interval: "P0M", Price: 1})},
		"an invalid interval":            {offer: endless("P1M", schedule.Entry{Interval: "soon", Price: 1})},
		"an invalid offset":              {offer: limited("P1M", schedule.Entry{Offset: "long", Interval: "P1M", Price: 1})},
		"neither loop nor offset":        {offer: limited("P1M", months(0, 100))},
		"an offset that does not divide": {offer: limited("P1M", schedule.Entry{Offset: "P5M", Interval: "P2M", Price: 1})},
		"a month of weeks":               {offer: limited("P1M", schedule.Entry{Offset: "P1M", Interval: "P1W", Price: 1})},
		"no end in sight":                {offer: limited("P1W", weeks(1<<40, 1))},
		"beyond the calendar":            {offer: limited("P999Y", schedule.Entry{Interval: "P999Y", Loop: 9, Price: 1})},
		"a price beyond all":             {offer: endless("P1M", months(0, 1<<62))},
		"money back":                     {offer: endless("P1M", months(0, -100))},
	} {
		s := test.schedule(t)
		if s.Basis != schedule.Unknown || len(s.Rules) == 0 || lines(s) != "" || s.Total != nil {
			t.Errorf("%s: the whole is %s by %v, with debits %q in all %v", name, s.Basis, s.Rules, lines(s), s.Total)
		}
	}
}

// TestProrata: the first month costs its days, and no instalment is charged twice.
func TestProrata(t *testing.T) {
	t.Parallel()
	withFee := prorated(endless("monthly", months(0, 3790)))
	withFee.DueNow, withFee.RegistrationFee = 1500, 1500
	for name, test := range map[string]struct {
		offer schedule.Offer
		start string
		want  string
	}{
		"added": {withFee, "2026-12-10", "4190 [{registration_fee 1500} {prorata 2690}]"},
		"taken off": {
			prorated(firstPaid(3290, limited("monthly", months(12, 3290)))),
			"2027-02-28", "118 [{first_instalment 3290} {prorata -3172}]",
		},
		"none": {withFee, "2026-12-01", "1500 [{registration_fee 1500}]"},
	} {
		due := schedule.Of(schedule.Terms{Offer: test.offer, Today: day(t, "2026-11-21"), Start: day(t, test.start), DebitDay: 5}).DueNow
		if got := fmt.Sprint(due.Amount, " ", due.Parts); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		prorated := due.Basis == schedule.Estimated && slices.Contains(due.Rules, schedule.ProrataByDays)
		if prorated != (test.start != "2026-12-01") {
			t.Errorf("%s: the verdict is %+v", name, due.Verdict)
		}
	}
}

// TestPure checks that the package is pure, as documented: money without floating point, no clock, no input or
// output.
func TestPure(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("the package is %v (%v)", files, err)
	}
	impure := regexp.MustCompile(`(?i)float|\b\d+\.\d+\b|\d[eE][+-]?\d|math"|time\.(Now|Since|Local)|"(os|io|net|fmt\.Print)[/"]|context`)
	imported := regexp.MustCompile(`(?m)^\s+"([a-z]+[./][^"]*)"$`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`(?m)//.*$`).ReplaceAllString(string(code), "")
		if found := impure.FindString(text); found != "" {
			t.Errorf("%s has %q", file, found)
		}
		for _, path := range imported.FindAllStringSubmatch(text, -1) {
			if path[1] != "math/big" {
				t.Errorf("%s imports %s", file, path[1])
			}
		}
		if strings.Contains(text, `"frontdesk/`) && file != "offer.go" {
			t.Errorf("%s knows more of the project than offer.go", file)
		}
	}
}
