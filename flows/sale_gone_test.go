package flows_test

import (
	"net/http"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// removeSale makes the club system no longer know a sale.
func (w *world) removeSale(sale club.IRI) {
	w.Helper()
	var faults []clubsim.Fault
	for _, below := range []string{"", "/*"} {
		faults = append(faults, clubsim.Fault{Match: clubsim.FaultMatch{Path: "/sales/" + sale.ID() + below}, Kind: "error_before", Status: http.StatusNotFound})
	}
	w.fault(faults...)
}

// sales counts the sales that were created.
func (w *world) sales() (n int) {
	for _, request := range w.sim.Requests() {
		if request.Method == http.MethodPost && request.Path == "/sales" {
			n++
		}
	}
	return n
}

// TestRemovedSale: the club system removes the sale of an unpaid cart. Whatever the visitor does next creates a new
// sale of the same items, which can be paid.
func TestRemovedSale(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		next  func(*world, *gateway, *flows.Registration) error
		names []string
	}{
		"pay": {func(*world, *gateway, *flows.Registration) error { return nil }, []string{"Quarter Pass, paid once"}},
		"check": {func(w *world, g *gateway, r *flows.Registration) error {
			cart, err := g.registrations.Check(w.Context(), r.ID, holderToken)
			if err == nil && !cart.Valid {
				w.Errorf("the cart is %+v", cart)
			}
			return err
		}, []string{"Quarter Pass, paid once"}},
		"add": {func(w *world, g *gateway, r *flows.Registration) error {
			_, err := w.addItem(g, r, badge)
			return err
		}, []string{"Quarter Pass, paid once", "Access Badge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			r := w.registered(g)
			w.removeSale(r.Sale)
			if err := test.next(w, g, r); err != nil {
				t.Fatal(err)
			}
			p := must(t, func() (*flows.Payment, error) { return g.pay(t.Context(), r.ID) })
			view := must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), r.ID, holderToken) })
			if p.Sale == r.Sale || view.Sale != p.Sale || w.sales() != 2 {
				t.Errorf("%s is paid, the cart is %s, after %s; %d sales were created", p.Sale, view.Sale, r.Sale, w.sales())
			}
			w.expectCart(view, test.names...)
			w.confirm(p, goodCard)
			if p = w.advance(g, p); p.State != flows.Recorded || len(w.lines(p)) != 1 {
				t.Errorf("%s (%s), the ledger holds %+v", p.State, p.Reason, w.lines(p))
			}
		})
	}
}

// TestRemovedSettledSale: a sale that was settled before it was removed is not replaced by one to pay.
func TestRemovedSettledSale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r := w.registered(g)
	w.payAtDesk(&flows.Payment{Sale: r.Sale, Amount: quarterPassPrice})
	must(t, func() (flows.Cart, error) { return g.registrations.Check(t.Context(), r.ID, holderToken) })
	w.removeSale(r.Sale)
	if p, err := g.pay(t.Context(), r.ID); err == nil {
		t.Errorf("it is paid again: %+v", p)
	}
	if _, err := w.addItem(g, r, badge); flows.CodeOf(err) != flows.CartInvalid {
		t.Errorf("an item is added: %v", err)
	}
	if n := w.sales(); n != 1 {
		t.Errorf("%d sales were created", n)
	}
	w.expectSettledCart(must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), r.ID, holderToken) }))
}

// TestRemovedSaleIsPolledSeldom: the refresh of a registration whose sale is gone counts as done, and is not repeated
// after a minute.
func TestRemovedSaleIsPolledSeldom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	o := w.eventHarness(g)
	r := w.registered(g)
	w.removeSale(r.Sale)
	o.open()
	before := w.calls("/sales/*")
	o.allowRefresh(16 * time.Minute)
	frontdesktest.Eventually(t, "the next refresh is due after 32 minutes", func() bool {
		due := w.redis.ZScore(t.Context(), "fd:{looks}:registrations", r.ID).Val()
		return w.calls("/sales/*")-before == 1 && due == float64(r.CreatedAt.Add(32*time.Minute).UnixMilli())
	})
}

// TestUnreadableSaleIsDecided: the club system fails for one sale only, for good, after its money was taken. After a day an
// operator can decide; nothing is refunded automatically.
func TestUnreadableSaleIsDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.captureAtProcessor(p)
	p = w.put(g, p.ID, flows.Captured, withHistory(flows.Captured))
	w.fault(clubsim.Fault{Match: clubsim.FaultMatch{Path: "/sales/" + p.Sale.ID()}, Kind: "error_before",
		Status: http.StatusInternalServerError})
	for range 23 {
		if p = w.advance(g, p); p.State != flows.Captured {
			t.Fatalf("%s (%s)", p.State, p.Reason)
		}
		w.clock.Advance(time.Hour)
	}
	w.clock.Advance(2 * time.Hour)
	if p = w.advance(g, p); p.State != flows.InDoubt || w.held(p).State != cards.Captured {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	w.clock.Advance(16 * time.Minute)
	override := ada
	override.Override = true
	must(t, func() (payment.ResolutionResult, error) {
		return g.ConfirmNotRecorded(t.Context(), p.ID, payment.Refund, override)
	})
	if p = w.advance(g, p); p.State != flows.Refunded || w.posted() != 0 {
		t.Errorf("%s (%s) after %d requests", p.State, p.Reason, w.posted())
	}
}
