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
	person, day, soon := visitor, 10, w.Clock.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	person.Mobile = mobile
	view, token, err := g.Registrations.Start(w.Context(), registration.StartRequest{
		ClientToken: "demo",
		ClubID:      "11",
		Channel:     "web",
		Person:      &person,
		Items:       []flows.NewItem{{OfferID: "901", StartDate: soon, Debit: &flows.Debit{Day: &day}}},
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
	world := newWorld(t)
	gateway := world.Gateway()
	writings := []string{"+33698765432", "+330698765432"}
	begin := world.Clock.Now()
	var at []time.Duration
	var id, token string
	registrations := 0
	for i := 0; world.Clock.Now().Sub(begin) < 25*time.Hour; i++ {
		if id == "" || i%8 == 0 { // a registration that got a code is replaced, and none lasts a day
			id, token = world.debtor(gateway, writings[registrations%len(writings)])
			registrations++
		}
		if _, err := gateway.Registrations.CreateMandate(t.Context(), id, token, account); err == nil {
			at = append(at, world.Clock.Now().Sub(begin))
			id = ""
		} else if flows.CodeOf(err) != flows.SMSLimited {
			t.Fatal(err)
		}
		world.Clock.Advance(30 * time.Second)
		if len(at) >= 5 {
			world.Clock.Advance(14*time.Minute + 30*time.Second)
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
	if len(at) < 8 || len(world.Sim.SMS()) != len(at) {
		t.Errorf("codes were allowed at %v, %d were sent", at, len(world.Sim.SMS()))
	}
	for key, value := range world.everything() {
		if strings.Contains(key+value, "698765432") {
			t.Errorf("%s can be read: %q", key, value)
		}
	}
}

// TestNewCodeCountsForThePhone: a repeated code also counts against the phone's limit.
func TestNewCodeCountsForThePhone(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	first, firstToken := world.debtor(gateway, "+33698765432")
	second, secondToken := world.debtor(gateway, "+33698765432")
	must(t, func() (flows.View, error) {
		return gateway.Registrations.CreateMandate(t.Context(), first, firstToken, account)
	})
	world.Clock.Advance(time.Minute)
	must(t, func() (flows.View, error) { return gateway.Registrations.ResendCode(t.Context(), first, firstToken) })
	if _, err := gateway.Registrations.CreateMandate(t.Context(), second, secondToken, account); flows.CodeOf(err) != flows.SMSLimited {
		t.Errorf("a moment after the new code: %v", err)
	}
	world.Clock.Advance(time.Minute)
	must(t, func() (flows.View, error) {
		return gateway.Registrations.CreateMandate(t.Context(), second, secondToken, account)
	})
	if sent := len(world.Sim.SMS()); sent != 3 {
		t.Errorf("%d codes were sent", sent)
	}
}
