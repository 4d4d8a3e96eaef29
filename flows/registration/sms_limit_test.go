package registration_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
)

// debtor starts a registration that needs a mandate, with a phone number.
func (w *world) debtor(g *gateway, mobile string) (id, token string) {
	w.Helper()
	person, day := visitor, 10
	person.Mobile = mobile
	view, token, err := g.Registrations.Start(w.Context(), registration.StartRequest{
		ClientToken: "demo", ClubID: "11", Channel: "web", Person: &person,
		Items: []flows.NewItem{{OfferID: "901", StartDate: w.Clock.Now().AddDate(0, 0, 2).Format(time.DateOnly), Debit: &flows.Debit{Day: &day}}},
	})
	if err != nil {
		w.Fatal(err)
	}
	return view.ID, token
}

var account = flows.NewMandate{Holder: "Ada Martin", IBAN: "FR1420041010050500013M02606"}

// TestCodesPerPhone: a phone gets one code a minute, three in ten minutes, five an hour, eight a day, whatever
// the number of registrations and the spelling of its number.
func TestCodesPerPhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	writings := []string{"+33698765432", "+330698765432"}
	begin := w.Clock.Now()
	var at []time.Duration
	var id, token string
	registrations := 0
	for i := 0; w.Clock.Now().Sub(begin) < 25*time.Hour; i++ {
		if id == "" || i%8 == 0 { // a registration that got a code is replaced, and none lasts a day
			id, token = w.debtor(g, writings[registrations%len(writings)])
			registrations++
		}
		if _, err := g.Registrations.CreateMandate(t.Context(), id, token, account); err == nil {
			at = append(at, w.Clock.Now().Sub(begin))
			id = ""
		} else if flows.CodeOf(err) != flows.SMSLimited {
			t.Fatal(err)
		}
		w.Clock.Advance(30 * time.Second)
		if len(at) >= 5 {
			w.Clock.Advance(14*time.Minute + 30*time.Second)
		}
	}
	for _, limit := range []struct {
		codes  int
		within time.Duration
	}{{1, time.Minute}, {3, 10 * time.Minute}, {5, time.Hour}, {8, 24 * time.Hour}} {
		for i := range at {
			if next := i + limit.codes; next < len(at) && at[next]-at[i] < limit.within {
				t.Errorf("%d codes within %s: %v", limit.codes+1, limit.within, at)
			}
		}
	}
	if len(at) < 8 || len(w.Sim.SMS()) != len(at) {
		t.Errorf("codes were allowed at %v, %d were sent", at, len(w.Sim.SMS()))
	}
	for key, value := range w.everything() {
		if strings.Contains(key+value, "698765432") {
			t.Errorf("%s can be read: %q", key, value)
		}
	}
}

// TestNewCodeCountsForThePhone: a repeated code also counts against the phone's limit.
func TestNewCodeCountsForThePhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	first, firstToken := w.debtor(g, "+33698765432")
	second, secondToken := w.debtor(g, "+33698765432")
	must(t, func() (flows.View, error) {
		return g.Registrations.CreateMandate(t.Context(), first, firstToken, account)
	})
	w.Clock.Advance(time.Minute)
	must(t, func() (flows.View, error) { return g.Registrations.ResendCode(t.Context(), first, firstToken) })
	if _, err := g.Registrations.CreateMandate(t.Context(), second, secondToken, account); flows.CodeOf(err) != flows.SMSLimited {
		t.Errorf("a moment after the new code: %v", err)
	}
	w.Clock.Advance(time.Minute)
	must(t, func() (flows.View, error) {
		return g.Registrations.CreateMandate(t.Context(), second, secondToken, account)
	})
	if sent := len(w.Sim.SMS()); sent != 3 {
		t.Errorf("%d codes were sent", sent)
	}
}
