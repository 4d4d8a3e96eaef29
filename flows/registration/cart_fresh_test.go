package registration_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// payByCard requests the payment of the cart that the visitor was shown.
func (w *world) payByCard(gateway *gateway, view flows.View, token string) (flows.ShownPayment, error) {
	request := flows.StartPayment{Method: flows.ByCard, Cart: view.Cart.Revision()}
	return gateway.Registrations.Pay(w.Context(), view.ID, token, request)
}

// TestStaffActAfterTheCartWasRead: a buyer requests the payment seconds after the cart was read, and meanwhile staff, or the club
// system, do something that another reading would have shown. Nothing is taken, and the next request reads the cart again.
func TestStaffActAfterTheCartWasRead(t *testing.T) {
	t.Parallel()
	noOffer := func(settings *clubsim.Settings) { settings.WithdrawnOffers = []int{201} }
	for name, meanwhile := range map[string]struct {
		act  func(*world, flows.View) error
		next flows.Code
	}{
		"the sale is settled at the desk": {func(world *world, view flows.View) error {
			world.PayAtDesk(&flows.Payment{Sale: view.Sale})
			return nil
		}, flows.CartInvalid},
		"an article is added": {func(world *world, view flows.View) error {
			return world.Club.AddArticle(world.Context(), bastille, view.Sale, club.NewArticle{Offer: "/demo/offers/2501"})
		}, flows.CartChanged},
		"the offer is withdrawn": {func(world *world, _ flows.View) error { return world.Sim.Configure(noOffer) }, flows.CartInvalid},
		"the club system is down": {func(world *world, _ flows.View) error {
			world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Path: "/sales/**"}, Kind: "error_before", Status: 503})
			return nil
		}, flows.ClubSystemUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			view, token := world.Visited(gateway)
			if err := meanwhile.act(world, view); err != nil {
				t.Fatal(err)
			}
			payment, err := world.payByCard(gateway, view, token)
			if err != nil {
				t.Fatal(err)
			}
			world.Confirm(payment.Payment, goodCard)
			end := world.Advance(gateway, payment.Payment)
			if end.State != flows.Cancelled || world.Held(end).Captured != 0 || world.Posted() > 1 {
				t.Errorf("%s (%s), and the processor holds %+v", end.State, end.Reason, world.Held(end))
			}
			if _, err := world.payByCard(gateway, view, token); flows.CodeOf(err) != meanwhile.next {
				t.Errorf("the next request: %v, want %s", err, meanwhile.next)
			}
		})
	}
}

// TestWhenTheCartIsReadAgain: a payment begins with another reading of the cart unless the buyer was shown the latest one just now, by
// card, for the first time.
func TestWhenTheCartIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(*world, *gateway, flows.View, string)
		reads  bool
		code   flows.Code // empty: it begins
	}{
		"at once":           {func(*world, *gateway, flows.View, string) {}, false, ""},
		"within the minute": {func(world *world, _ *gateway, _ flows.View, _ string) { world.Clock.Advance(59 * time.Second) }, false, ""},
		"after the minute":  {func(world *world, _ *gateway, _ flows.View, _ string) { world.Clock.Advance(61 * time.Second) }, true, ""},
		"after a payment that was given up": {func(world *world, gateway *gateway, view flows.View, token string) {
			if _, err := world.payByCard(gateway, view, token); err != nil {
				world.Fatal(err)
			}
			if _, err := gateway.Registrations.CancelPayment(world.Context(), view.ID, token); err != nil {
				world.Fatal(err)
			}
		}, true, ""},
		"after an article whose response was lost": {func(world *world, gateway *gateway, view flows.View, token string) {
			world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "drop_after", Times: new(1)},
				clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
			if _, err := gateway.Registrations.AddItem(world.Context(), view.ID, token, badge); err == nil {
				world.Fatal("the response was not lost")
			}
			world.Fault()
			world.Clock.Advance(50 * time.Second)
		}, true, flows.CartChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			view, token := world.Visited(gateway)
			test.before(world, gateway, view, token)
			reads, checks := world.Calls("/sales/*"), world.Calls("/sales/*/check")
			_, err := world.payByCard(gateway, view, token)
			reads, checks = world.Calls("/sales/*")-reads, world.Calls("/sales/*/check")-checks
			if (reads > 0) != test.reads || (checks > 0) != test.reads || err != nil && flows.CodeOf(err) != test.code {
				t.Errorf("the sale was read %d times, its check %d times, and the result is %v", reads, checks, err)
			}
		})
	}
}
