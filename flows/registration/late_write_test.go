package registration_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// hangingItem is an article that waits in front of the club system.
type hangingItem struct {
	arrive func()     // lets it in, and waits until the club system has it
	added  chan error // the outcome for the request that sent it
}

// hang has a gateway add an item, whose article waits on its way.
func (w *world) hang(g *gateway, r *flows.Registration) hangingItem {
	w.Helper()
	sent, in, done, added := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	w.InjectFault("POST /sim/demo/sales/*/articles", func() { close(sent); <-in }, func() { close(done) })
	go func() {
		_, err := w.AddItem(g, r, badge)
		added <- err
	}()
	select {
	case <-sent:
	case err := <-added:
		w.Fatalf("the item was not sent: %v", err)
	}
	arrive := sync.OnceFunc(func() { close(in); frontdesktest.Receive(w, done, "the item arrives") })
	w.Cleanup(arrive)
	return hangingItem{arrive, added}
}

// impatient gives up a write after a few seconds: what comes before it, a token and a connection, takes that long on no machine.
var impatient = club.Limits{
	MaxAttempts:    1,
	ReadTimeout:    time.Minute,
	AttemptTimeout: time.Minute,
	QueueTimeout:   time.Minute,
	WriteTimeout:   3 * time.Second,
}

// TestPayWhileItemHangs: the buyer requests the payment while a gateway still adds an item. Without a wait, the article
// arrives between the last check of the sale and the POST, which then settles nothing.
func TestPayWhileItemHangs(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g, other := world.Gateway(), world.Gateway()
	registration := world.Registered(g)
	item := world.hang(g, registration)
	payment, err := other.Pay(t.Context(), registration.ID)
	if err == nil {
		world.Confirm(payment, goodCard)
		world.InjectFault("POST /sim/demo/sales/*/payments", item.arrive, nil)
		payment = world.Advance(other, payment)
		sale, _ := world.Sim.Sale(string(payment.Sale))
		t.Fatalf("the payment is %s, and the sale %s with %d booked of %d", payment.State, sale.State, payment.Amount, sale.Total)
	}
	var refusal *flows.Error
	if !errors.As(err, &refusal) || refusal.Code != flows.ClubSystemUnavailable || refusal.RetryAfter <= 0 {
		t.Errorf("the payment was refused by %v", err)
	}
	if _, err := world.AddItem(other, registration, badge); flows.CodeOf(err) != flows.ClubSystemUnavailable {
		t.Errorf("another item at the same time: %v", err)
	}
	item.arrive()
	if err := frontdesktest.Receive(t, item.added, "the item is added"); err != nil {
		t.Fatal(err)
	}
	world.paysFor(other, registration, 2)
}

// paysFor has the buyer pay by card, and checks that the club system settles a sale of that many articles.
func (w *world) paysFor(g *gateway, r *flows.Registration, articles int) {
	w.Helper()
	payment := must(w, func() (*flows.Payment, error) { return g.Pay(w.Context(), r.ID) })
	w.Confirm(payment, goodCard)
	payment = w.Advance(g, payment)
	sale := must(w, func() (club.Sale, error) { return w.Club.GetSale(w.Context(), bastille, payment.Sale) })
	if payment.State != flows.Recorded || sale.State != "settled" || len(sale.Articles) != articles || sale.TotalTI != payment.Amount {
		w.Errorf("the payment of %d is %s (%s), the sale %s with %d articles of %d", payment.Amount, payment.State, payment.Reason, sale.State,
			len(sale.Articles), sale.TotalTI)
	}
	w.ExpectSound(payment)
}

// TestItemArrivesLate: the gateway gives up an article, or dies, and the article arrives much later or never. Until then
// no payment begins. Afterwards, the buyer sees the item before paying for it, and repeating the request adds no other.
func TestItemArrivesLate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dies, arrives, repeats bool
		pays                   int // articles
	}{
		"given up, and never":               {false, false, false, 1},
		"given up, never, and repeated":     {false, false, true, 2},
		"given up, and late":                {false, true, false, 2},
		"given up, late, and repeated":      {false, true, true, 2},
		"the gateway dies, and never":       {true, false, false, 1},
		"the gateway dies, and late":        {true, true, false, 2},
		"the gateway dies, late, and again": {true, true, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{})
			first, other := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire), Limits: impatient}), world.Gateway()
			registration := world.Registered(other)
			before := len(world.Sim.Sales())
			item := world.hang(first, registration)
			if test.dies {
				wire.Cut()
			}
			if err := frontdesktest.Receive(t, item.added, "the item is given up"); err == nil {
				t.Fatal("the item was added")
			}
			_, err := other.Pay(t.Context(), registration.ID)
			var refusal *flows.Error
			if !errors.As(err, &refusal) || refusal.Code != flows.ClubSystemUnavailable ||
				refusal.RetryAfter <= 0 || refusal.RetryAfter > flows.ArriveWithin {
				t.Fatalf("the payment began: %v", err)
			}
			if _, err := world.AddItem(other, registration, badge); flows.CodeOf(err) != flows.ClubSystemUnavailable {
				t.Fatalf("the item was added again: %v", err)
			}
			if test.arrives {
				item.arrive()
			}
			world.Clock.Advance(flows.ArriveWithin + time.Second)
			if test.repeats {
				view := must(t, func() (flows.View, error) { return world.AddItem(other, registration, badge) })
				world.expectCart(view, "Quarter Pass, paid once", "Access Badge")
			} else if test.arrives {
				if _, err := other.Pay(t.Context(), registration.ID); flows.CodeOf(err) != flows.CartChanged {
					t.Fatalf("the buyer did not see the item: %v", err)
				}
				view := must(t, func() (flows.View, error) { return other.Registrations.Get(t.Context(), registration.ID, holderToken) })
				world.expectCart(view, "Quarter Pass, paid once", "Access Badge")
				if len(view.Items) != 2 {
					t.Errorf("the buyer cannot remove the item: %+v", view.Items)
				}
			}
			world.paysFor(other, registration, test.pays)
			if n := len(world.Sim.Sales()) - before; n != 0 {
				t.Errorf("there are %d more sales", n)
			}
		})
	}
}

// TestSuspendedItem: a gateway that was suspended after it stored the mark sends nothing.
func TestSuspendedItem(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	if _, err := gateway.Registrations.Check(t.Context(), registration.ID, holderToken); err != nil { // with the gateway's first token
		t.Fatal(err)
	}
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "unauthorized_once", Times: new(1)})
	world.InjectFault("POST /sim/oauth/v2/token", func() { world.Clock.Advance(flows.SendWithin + time.Second) }, nil)
	if _, err := world.AddItem(gateway, registration, badge); flows.CodeOf(err) != flows.ClubSystemUnavailable {
		t.Fatalf("the late item: %v", err)
	}
	world.paysFor(gateway, registration, 1)
}

// TestItemAfterPayment: a payment that begins after a gateway has read the registration keeps it from adding an item.
func TestItemAfterPayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway, other := world.Gateway(), world.Gateway()
	registration := world.Registered(gateway)
	world.InjectFault("GET /sim/demo/sales/*", func() {
		if _, err := other.Pay(t.Context(), registration.ID); err != nil {
			t.Error(err)
		}
	}, nil)
	if _, err := world.AddItem(gateway, registration, badge); flows.CodeOf(err) != flows.Conflict {
		t.Errorf("the item: %v", err)
	}
	p := world.Stored(gateway, flows.NewPaymentID(registration.ID, 1))
	if sale, _ := world.Sim.Sale(string(p.Sale)); int64(sale.Total) != p.Amount {
		t.Errorf("the buyer pays %d for a sale of %d", p.Amount, sale.Total)
	}
}
