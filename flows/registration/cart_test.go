package registration_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// expectCart checks the names of the articles, both as the visitor and as the club system sees them.
func (w *world) expectCart(view flows.View, names ...string) {
	w.Helper()
	var seen []string
	for _, line := range view.Cart.Lines {
		seen = append(seen, line.Name)
	}
	sale := must(w, func() (club.Sale, error) { return w.Club.GetSale(w.Context(), bastille, view.Sale) })
	if got, want := strings.Join(seen, ", "), strings.Join(names, ", "); got != want || len(sale.Articles) != len(names) {
		w.Errorf("the cart holds %s, want %s; the sale has %d articles", got, want, len(sale.Articles))
	}
	if view.Cart.Total != sale.TotalTI || !view.Cart.Valid {
		w.Errorf("the cart is %+v, the sale costs %d", view.Cart, sale.TotalTI)
	}
}

// TestAddItemAgain requests the same item twice because the first response was lost, the gateway's or the club
// system's: the cart has it once.
func TestAddItemAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*world, *frontdesktest.MessageProxy){
		"the club system's answer, and the sale cannot be read": func(w *world, _ *frontdesktest.MessageProxy) {
			w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "drop_after", Times: new(1)},
				clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before"})
		},
		"another system answers with a page": func(w *world, _ *frontdesktest.MessageProxy) {
			w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "foreign_page", Times: new(1)})
		},
		"another system answers with nothing": func(w *world, _ *frontdesktest.MessageProxy) {
			w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "empty_success", Times: new(1)})
		},
		"the registration cannot be saved": func(w *world, wire *frontdesktest.MessageProxy) {
			w.InjectFault("POST /sim/demo/sales/*/articles", nil, wire.Cut)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{})
			first := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire)})
			registration := world.Registered(world.Gateway())
			lose(world, wire)
			if _, err := world.AddItem(first, registration, badge); err == nil {
				t.Fatal("nothing was lost")
			}
			world.Fault()
			world.Clock.Advance(flows.ArriveWithin + time.Second)
			view, err := world.AddItem(world.Gateway(), registration, badge)
			if err != nil {
				t.Fatal(err)
			}
			world.expectCart(view, "Quarter Pass, paid once", "Access Badge")
		})
	}
}

// TestAddItemTwice adds the same item twice on purpose.
func TestAddItemTwice(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	for range 2 {
		if _, err := world.AddItem(gateway, registration, badge); err != nil {
			t.Fatal(err)
		}
	}
	view := must(t, func() (flows.View, error) {
		return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
	})
	world.expectCart(view, "Quarter Pass, paid once", "Access Badge", "Access Badge")
	if len(view.Items) != 3 {
		t.Errorf("the visitor asked for %+v", view.Items)
	}
}

// TestAnswerOfTheClubSystemIsLost: when only the response is lost, the gateway finds the item in the cart at
// once.
func TestAnswerOfTheClubSystemIsLost(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	r := world.Registered(g)
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "drop_after", Times: new(1)})
	view, err := world.AddItem(g, r, badge)
	if err != nil {
		t.Fatal(err)
	}
	world.expectCart(view, "Quarter Pass, paid once", "Access Badge")
}

// TestCartWhilePaying changes a cart during its payment.
func TestCartWhilePaying(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Started(g)
	r := &flows.Registration{ID: p.Registration}
	if _, err := w.AddItem(g, r, badge); flows.CodeOf(err) != flows.CartFrozen {
		t.Errorf("a frozen cart answers %v", err)
	}
}

// TestLateVisitor: a visitor cannot pay once the sale is too old for the processor's memory.
func TestLateVisitor(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	r := world.Registered(gateway)
	world.Clock.Advance(20*time.Hour + time.Second)
	if _, err := gateway.Pay(t.Context(), r.ID); flows.CodeOf(err) != flows.RegistrationClosed {
		t.Errorf("the visitor got %v", err)
	}
	view := must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), r.ID, holderToken) })
	if view.Phase != flows.Expired || len(view.Actions) != 0 || len(world.HeldAll()) != 0 {
		t.Errorf("the visitor sees %s and may %v", view.Phase, view.Actions)
	}
}

// TestNotYours: a caller without the registration's token learns nothing about it.
func TestNotYours(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Started(gateway)
	ctx, id := t.Context(), payment.Registration
	for _, token := range []string{"", "guessed", holderToken + " "} {
		_, getErr := gateway.Registrations.Get(ctx, id, token)
		_, payErr := gateway.Registrations.Pay(ctx, id, token, flows.StartPayment{Method: "card"})
		_, abandonErr := gateway.Registrations.Abandon(ctx, id, token)
		_, byIDErr := gateway.Registrations.PaymentByID(ctx, id, token, payment.ID)
		for _, err := range []error{getErr, payErr, abandonErr, byIDErr} {
			if flows.CodeOf(err) != flows.RegistrationNotFound {
				t.Errorf("with token %q: %v", token, err)
			}
		}
	}
	other := world.Started(gateway)
	if _, err := gateway.Registrations.PaymentByID(ctx, id, holderToken, other.ID); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("another registration's payment: %v", err)
	}
}
