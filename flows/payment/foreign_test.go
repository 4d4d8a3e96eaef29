package payment_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// foreignKinds are the successes of something in front of the club system that are recognised by their body.
var foreignKinds = []string{"foreign_page", "foreign_json"}

// TestForeignSuccessRecordsNothing: the success of something in front of the club system leaves a payment in doubt,
// whatever its method, and is followed by no second request.
func TestForeignSuccessRecordsNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range foreignKinds {
		t.Run("card "+kind, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			world.Fault(clubsim.Fault{Match: recording, Kind: kind, Times: new(1)})
			payment = world.Advance(gateway, payment)
			if payment.State != flows.InDoubt || len(world.Sim.Ledger()) != 0 || world.Sim.Faults()[0].Hits != 1 {
				t.Errorf("%s (%s), ledger %+v", payment.State, payment.Reason, world.Sim.Ledger())
			}
			world.expectView(payment, "in_doubt", "never")
			if !strings.Contains(payment.Reason, ", status 200") {
				t.Errorf("operators read %q, and not what came back", payment.Reason)
			}
			world.Clock.Advance(25 * time.Hour)
			if payment = world.Settle(gateway, payment); payment.State != flows.InDoubt || len(world.Sim.Ledger()) != 0 {
				t.Errorf("a day later: %s (%s), ledger %+v", payment.State, payment.Reason, world.Sim.Ledger())
			}
		})
		for _, method := range withoutProcessor {
			t.Run(string(method)+" "+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				how := w.settlementCases()[method]
				w.Fault(clubsim.Fault{Match: how.request(), Kind: kind, Times: new(1)})
				p := must(t, func() (*flows.Payment, error) { return w.settles(w.Gateway(), method) })
				if p.State != flows.InDoubt || w.sent(how) != 1 {
					t.Errorf("%s (%s) after %d requests", p.State, p.Reason, w.sent(how))
				}
			})
		}
	}
}

// TestForeignCheckIsNoValidity: the success of something else makes no cart valid, neither to pay nor to capture.
func TestForeignCheckIsNoValidity(t *testing.T) {
	t.Parallel()
	for _, kind := range append(foreignKinds, "empty_success") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			p := world.Authorised(gateway)
			world.Clock.Advance(2 * time.Minute) // the last reading of the sale has expired
			world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*/check"}, Kind: kind})
			if p = world.Advance(gateway, p); p.State != flows.Cancelled {
				t.Errorf("%s (%s)", p.State, p.Reason)
			}
			r := world.Registered(gateway)
			if _, err := gateway.Pay(t.Context(), r.ID); flows.CodeOf(err) != flows.ClubSystemFailed {
				t.Errorf("a payment is requested: %v", err)
			}
			if held := world.HeldAll(); len(held) != 1 || held[0].Captured != 0 {
				t.Errorf("the processor holds %+v", held)
			}
		})
	}
}

// TestAnotherSalesRecord: the club system's response for a sale is that of another buyer's, who has the same in the cart. No payment is
// recorded in that buyer's name.
func TestAnotherSalesRecord(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment, other := world.Authorised(gateway), world.Registered(gateway)
	world.Clock.Advance(2 * time.Minute) // the last reading of the sale has expired
	record := fmt.Sprintf(`{"@id": %q, "@type": "Sale", "state": "building", "contactId": %q, "contactNumber": "C999",
		"clubId": "/demo/clubs/11", "clubCode": "PARIS11", "checkoutId": "/demo/checkouts/111",
		"totalTI": %d, "articles": [{"offerId": %q, "priceTI": %[3]d}]}`,
		other.Sale, other.Contact.IRI, quarterPassPrice, quarterPass)
	world.Fault(clubsim.Fault{
		Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/" + payment.Sale.ID()},
		Kind:  "foreign_json",
		Body:  json.RawMessage(record),
	})
	payment = world.Settle(gateway, payment)
	if payment.State != flows.Cancelled || len(world.Sim.Ledger()) != 0 {
		t.Errorf("%s (%s), ledger %+v", payment.State, payment.Reason, world.Sim.Ledger())
	}
}

// TestQuota: a payment that a quota of the API gateway refuses is recorded once after the quota's reset. It is not in doubt, and
// the reason names the quota.
func TestQuota(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.Fault(clubsim.Fault{Match: recording, Kind: "too_many", Limit: "quota", DelayMs: 90_000})
	payment = world.Advance(gateway, payment)
	wait := payment.NotBefore.Sub(world.Clock.Now()).Round(time.Second)
	if payment.State != flows.Captured || !strings.Contains(payment.Reason, "quota") || wait != 90*time.Second {
		t.Fatalf("%s (%s), to wait %s", payment.State, payment.Reason, wait)
	}
	world.expectView(payment, "processing", "never")
	world.Clock.Advance(80 * time.Second)
	if payment = world.Advance(gateway, payment); payment.State != flows.Captured || world.Sim.Faults()[0].Hits != 1 {
		t.Errorf("before the reset: %s (%s), %d requests", payment.State, payment.Reason, world.Sim.Faults()[0].Hits)
	}
	world.Fault()
	world.Clock.Advance(11 * time.Second)
	payment = world.Settle(gateway, payment)
	world.ExpectSound(payment)
	if payment.State != flows.Recorded || payment.Claim != 2 || len(world.Sim.Ledger()) != 1 {
		t.Errorf("%s (%s), claim %d, ledger %+v", payment.State, payment.Reason, payment.Claim, world.Sim.Ledger())
	}
}

// TestTooManyWithHeaders: the club system itself responds 429 after it has booked the payment. The API gateway in front of it adds the
// headers of its limits, as to every response. Nothing is sent again.
func TestTooManyWithHeaders(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	if err := world.Sim.Configure(func(s *clubsim.Settings) { s.CallLimits = clubsim.CallLimits{PerSlice: 1000, SliceMs: 100} }); err != nil {
		t.Fatal(err)
	}
	world.Fault(clubsim.Fault{Match: recording, Kind: "error_after", Status: 429, Times: new(1)})
	payment = world.Advance(gateway, payment)
	world.ExpectSound(payment)
	if payment.State != flows.InDoubt || world.Posted() != 1 {
		t.Errorf("%s (%s) after %d requests", payment.State, payment.Reason, world.Posted())
	}
}

// TestSpikeArrest: a limit that ends at once delays the recording by as much, within the same claim.
func TestSpikeArrest(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.Fault(clubsim.Fault{
		Match:   recording,
		Kind:    "too_many",
		Limit:   "spike_arrest",
		DelayMs: 100,
		Times:   new(1),
	})
	payment = world.Advance(gateway, payment)
	world.ExpectSound(payment)
	if payment.State != flows.Recorded || payment.Claim != 1 || len(world.Sim.Ledger()) != 1 {
		t.Errorf("%s (%s), claim %d, ledger %+v", payment.State, payment.Reason, payment.Claim, world.Sim.Ledger())
	}
}

// TestRaisedQuota: a quota of calls is used up for the day, and the provider raises it after three hours. The payment, by card or at
// the desk, is recorded once another one is.
func TestRaisedQuota(t *testing.T) {
	t.Parallel()
	for _, method := range []flows.Method{flows.ByCard, flows.InPerson} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			world.Fault(clubsim.Fault{Match: recording, Kind: "too_many", Limit: "quota", DelayMs: int((24 * time.Hour).Milliseconds())})
			var payment *flows.Payment
			if method == flows.ByCard {
				payment = world.buyers(gateway, 1)[0]
			} else {
				payment = must(t, func() (*flows.Payment, error) { return world.settles(gateway, method) })
			}
			for range 18 {
				world.Clock.Advance(10 * time.Minute)
				payment = world.Advance(gateway, payment)
			}
			if payment.Claim != 1 || payment.State.Final() {
				t.Errorf("while the quota lasts: %s (%s), %d claims", payment.State, payment.Reason, payment.Claim)
			}
			world.Fault()
			world.buyers(gateway, 1)
			world.Clock.Advance(11 * time.Minute)
			if payment = world.Advance(gateway, payment); payment.State != flows.Recorded || payment.Claim != 2 {
				t.Errorf("%s (%s), %d claims", payment.State, payment.Reason, payment.Claim)
			}
			if method == flows.ByCard {
				world.ExpectSound(payment)
			} else {
				world.expectSettled(payment)
			}
		})
	}
}
