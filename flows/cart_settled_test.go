package flows_test

import (
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/clubsim"
)

// expectSettledCart checks that a registration can only be abandoned.
func (w *world) expectSettledCart(view flows.View) {
	w.Helper()
	if view.Phase != flows.Open || view.Cart.Valid || len(view.Cart.Problems) != 1 || view.Cart.Problems[0].Code != "settled" {
		w.Errorf("it is %s, with the cart %+v", view.Phase, view.Cart)
	}
	if !slices.Equal(view.Actions, []string{"abandon"}) || len(view.Methods) != 0 {
		w.Errorf("offered: %v by %v", view.Actions, view.Methods)
	}
	if view.Payment != nil && view.PaymentView.Retry != "never" {
		w.Errorf("the payment is %+v", view.PaymentView)
	}
}

// TestSettledAtTheClub: staff take the money in the club system's own screen while the buyer is at the
// processor. The buyer is not charged and not asked again.
func TestSettledAtTheClub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.started(g)
	get := func() flows.View {
		return must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), p.Registration, holderToken) })
	}
	w.payAtDesk(p)
	w.confirm(p, goodCard)
	if p = w.advance(g, p); p.State != flows.Cancelled || w.held(p).Captured != 0 {
		t.Fatalf("the payment is %s (%s)", p.State, p.Reason)
	}
	w.expectSettledCart(get())
	ctx, id := t.Context(), p.Registration
	for _, method := range []flows.Method{flows.ByCard, flows.Deferred} {
		if _, err := g.payWith(ctx, id, holderToken, flows.StartPayment{Method: method, DueDate: w.clock.Now().AddDate(0, 0, 30).Format(time.DateOnly)}); flows.CodeOf(err) != flows.CartInvalid {
			t.Errorf("paid by %s: %v", method, err)
		}
	}
	for name, change := range map[string]func() (flows.View, error){
		"an item": func() (flows.View, error) { return g.registrations.AddItem(ctx, id, holderToken, badge) },
		"clear":   func() (flows.View, error) { return g.registrations.ClearItems(ctx, id, holderToken) },
		"person":  func() (flows.View, error) { return g.registrations.PutPerson(ctx, id, holderToken, flows.Person{}) },
	} {
		if _, err := change(); flows.CodeOf(err) != flows.CartInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.expectSettledCart(get())
	if view, err := g.registrations.Abandon(ctx, id, holderToken); err != nil || view.Phase != flows.Abandoned {
		t.Errorf("abandoned: %s, %v", view.Phase, err)
	}
	if lines := w.lines(p); len(lines) != 1 {
		t.Errorf("the ledger holds %+v", lines)
	}
}

// TestSettledAfterTheCapture: staff take the money while a captured payment waits for its next claim or is in
// doubt. The buyer gets the money back and is not asked to pay again.
func TestSettledAfterTheCapture(t *testing.T) {
	t.Parallel()
	override := ada
	override.Override = true
	for name, settle := range map[string]func(*world, *gateway) *flows.Payment{
		"between two claims": func(w *world, g *gateway) *flows.Payment {
			p := w.authorised(g)
			w.fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: times(2)})
			p = w.advance(g, p)
			w.payAtDesk(p)
			w.clock.Advance(time.Minute)
			return w.advance(g, p)
		},
		"in doubt": func(w *world, g *gateway) *flows.Payment {
			p := w.doubtful(g, "error_before")
			w.payAtDesk(p)
			w.clock.Advance(16 * time.Minute)
			p = w.advance(g, p)
			must(w, func() (payment.ResolutionResult, error) {
				return g.ConfirmNotRecorded(w.Context(), p.ID, payment.Refund, override)
			})
			return w.advance(g, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			p := settle(w, g)
			if p.State != flows.Refunded {
				t.Fatalf("%s (%s)", p.State, p.Reason)
			}
			w.expectSettledCart(must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), p.Registration, holderToken) }))
		})
	}
}

// TestSettledAndRebuilt: staff settle the sale of a payment that Redis forgot. The buyer is not charged, or an operator
// decides on their money, and they are not asked to start again.
func TestSettledAndRebuilt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]flows.PaymentState{"before the capture": flows.Cancelled, "after the capture": flows.InDoubt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			p := w.authorised(g)
			if want == flows.InDoubt {
				w.captureAtProcessor(p)
			}
			w.payAtDesk(p)
			w.wipe()
			w.rebuild(g)
			w.clock.Advance(time.Minute)
			p = w.advance(g, p)
			if view := p.View(); p.State != want || view.Message == flows.MessagePaymentCancelledRestart {
				t.Errorf("%s (%s) is shown as %+v", p.State, p.Reason, view)
			}
			r, _, err := g.store.Registration(t.Context(), p.Registration)
			if err != nil {
				t.Fatal(err)
			}
			if step := r.View(p, w.clock.Now()).Step(); step != flows.StepWithStaff {
				t.Errorf("the screen is %s", step)
			}
		})
	}
}

// TestSettledBeforeThePayment: the first request that reads the sale finds it settled, and starts nothing.
func TestSettledBeforeThePayment(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*world, *gateway, *flows.Registration) error{
		"pay": func(w *world, g *gateway, r *flows.Registration) error {
			return errorOf(g.pay(w.Context(), r.ID))
		},
		"add": func(w *world, g *gateway, r *flows.Registration) error { _, err := w.addItem(g, r, badge); return err },
		"clear": func(w *world, g *gateway, r *flows.Registration) error {
			return errorOf(g.registrations.ClearItems(w.Context(), r.ID, holderToken))
		},
		"remove": func(w *world, g *gateway, r *flows.Registration) error {
			return errorOf(g.registrations.RemoveItem(w.Context(), r.ID, holderToken, r.Items[0].ID))
		},
		"person": func(w *world, g *gateway, r *flows.Registration) error {
			return errorOf(g.registrations.PutPerson(w.Context(), r.ID, holderToken, flows.Person{GivenName: "Grace", FamilyName: "Martin"}))
		},
		"check": func(w *world, g *gateway, r *flows.Registration) error {
			cart, err := g.registrations.Check(w.Context(), r.ID, holderToken)
			if err == nil && !cart.Valid {
				return &flows.Error{Code: flows.CartInvalid}
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			r := w.registered(g)
			w.payAtDesk(&flows.Payment{Sale: r.Sale, Amount: quarterPassPrice})
			if err := read(w, g, r); flows.CodeOf(err) != flows.CartInvalid {
				t.Errorf("it ended with %v", err)
			}
			w.expectSettledCart(must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), r.ID, holderToken) }))
		})
	}
}

// TestSettledMeanwhile: a visitor whose sale another payment has just settled gets that payment. The gateway
// reads it from Redis and does not ask the processor.
func TestSettledMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slow, quick := w.gateway(), w.gateway()
	later := w.settlementCases()[flows.Deferred].start
	for range 2 { // a second comparison with the processor would be refused
		r := w.registered(quick)
		w.injectFault(call{"GET", "/sim/demo/sales/*"}, func() {
			must(w, func() (*flows.Payment, error) { return quick.payWith(w.Context(), r.ID, holderToken, later) })
		}, nil)
		p := must(w, func() (*flows.Payment, error) { return slow.payWith(w.Context(), r.ID, holderToken, later) })
		if p.State != flows.Recorded || w.listed() != 0 {
			t.Errorf("%s (%s) after %d lists of the processor's payments", p.State, p.Reason, w.listed())
		}
		w.expectSettled(p)
	}
}

// TestSettledUnseen: if the club system does not report the state of a sale, the sale does not count as
// settled.
func TestSettledUnseen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mute = true
	g := w.gateway()
	r := w.registered(g)
	cart := must(t, func() (flows.Cart, error) { return g.registrations.Check(t.Context(), r.ID, holderToken) })
	if !cart.Valid || len(cart.Problems) != 0 {
		t.Errorf("the cart is %+v", cart)
	}
	if p := must(t, func() (*flows.Payment, error) { return g.pay(t.Context(), r.ID) }); p.State != flows.Intent {
		t.Errorf("the payment is %s", p.State)
	}
}
