package registration_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/upstream/clubsim"
)

// sales counts the sales that were created.
func (w *world) sales() (n int) {
	for _, request := range w.Sim.Requests() {
		if request.Method == http.MethodPost && request.Path == "/sales" {
			n++
		}
	}
	return n
}

// TestRemovedSale: the club system removes the sale of an unpaid cart. Half an hour later, whatever the visitor does next
// creates a new sale of the same items, which can be paid.
func TestRemovedSale(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		next  func(*world, *gateway, *flows.Registration) error
		names []string
	}{
		"pay": {func(*world, *gateway, *flows.Registration) error { return nil }, []string{"Quarter Pass, paid once"}},
		"check": {func(w *world, g *gateway, r *flows.Registration) error {
			view, err := g.Registrations.Check(w.Context(), r.ID, holderToken)
			if err == nil && !view.Cart.Valid {
				w.Errorf("the cart is %+v", view.Cart)
			}
			return err
		}, []string{"Quarter Pass, paid once"}},
		"add": {func(w *world, g *gateway, r *flows.Registration) error {
			return errorOf(w.AddItem(g, r, badge))
		}, []string{"Quarter Pass, paid once", "Access Badge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			registration := world.Registered(gateway)
			world.RemoveSale(registration.Sale)
			if _, err := gateway.Registrations.Check(t.Context(), registration.ID, holderToken); flows.CodeOf(err) != flows.ClubSystemFailed {
				t.Fatalf("at once: %v", err)
			}
			world.Clock.Advance(flows.GoneAfter)
			if err := test.next(world, gateway, registration); err != nil {
				t.Fatal(err)
			}
			payment := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
			view := must(t, func() (flows.View, error) {
				return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
			})
			if payment.Sale == registration.Sale || view.Sale != payment.Sale || world.sales() != 2 {
				t.Errorf("%s is paid, the cart is %s, after %s; %d sales were created", payment.Sale, view.Sale, registration.Sale, world.sales())
			}
			world.expectCart(view, test.names...)
			world.Confirm(payment, goodCard)
			payment = world.Advance(gateway, payment)
			if payment.State != flows.Recorded || len(world.Lines(payment)) != 1 {
				t.Errorf("%s (%s), the ledger holds %+v", payment.State, payment.Reason, world.Lines(payment))
			}
		})
	}
}

// changes are what a visitor can do with an unpaid cart.
var changes = map[string]func(*world, *gateway, *flows.Registration) error{
	"pay": func(w *world, g *gateway, r *flows.Registration) error {
		_, err := g.Pay(w.Context(), r.ID)
		return err
	},
	"check": func(w *world, g *gateway, r *flows.Registration) error {
		_, err := g.Registrations.Check(w.Context(), r.ID, holderToken)
		return err
	},
	"add": func(w *world, g *gateway, r *flows.Registration) error { _, err := w.AddItem(g, r, badge); return err },
	"clear": func(w *world, g *gateway, r *flows.Registration) error {
		_, err := g.Registrations.ClearItems(w.Context(), r.ID, holderToken)
		return err
	},
	"remove": func(w *world, g *gateway, r *flows.Registration) error {
		_, err := g.Registrations.RemoveItem(w.Context(), r.ID, holderToken, r.Items[0].ID)
		return err
	},
	"person": func(w *world, g *gateway, r *flows.Registration) error {
		_, err := g.Registrations.PutPerson(w.Context(), r.ID, holderToken, visitor)
		return err
	},
}

// TestFalselyRemovedSale: something in front of the club system, or a copy that lags, does not find the sale of an unpaid
// cart, now and then. The sale is not replaced, whatever the visitor does. They pay for it, unless staff have settled it.
func TestFalselyRemovedSale(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		for _, settled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, settled: %t", name, settled), func(t *testing.T) {
				t.Parallel()
				world := newWorld(t)
				gateway := world.Gateway()
				registration := world.Registered(gateway)
				if settled {
					world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
				}
				for range 3 { // each time it is found again in between
					world.RemoveSale(registration.Sale)
					for range 3 {
						if err := change(world, world.Gateway(), registration); err == nil {
							t.Fatal("it succeeds without the sale")
						}
						world.Clock.Advance(9 * time.Minute)
					}
					world.Fault()
					if view, err := gateway.Registrations.Check(t.Context(), registration.ID, holderToken); err != nil || view.Cart.Valid == settled {
						t.Fatalf("the cart is %+v, %v", view.Cart, err)
					}
				}
				if n := world.sales(); n != 1 {
					t.Errorf("%d sales were created", n)
				}
				if settled {
					if err := change(world, gateway, registration); name != "check" && flows.CodeOf(err) != flows.CartInvalid {
						t.Errorf("the settled sale: %v", err)
					}
					return
				}
				p := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
				world.Confirm(p, goodCard)
				p = world.Advance(gateway, p)
				if p.State != flows.Recorded || p.Sale != registration.Sale || len(world.Lines(p)) != 1 {
					t.Errorf("%s (%s) of %s, the ledger holds %+v", p.State, p.Reason, p.Sale, world.Lines(p))
				}
			})
		}
	}
}

// TestLaggingCopy: reads do not find what was just created. Repeating the start makes one contact and one sale.
func TestLaggingCopy(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/contacts/*", "/sales/*", "/sales/*/check"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			start := world.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
			in := registration.StartRequest{
				ID:          uuid.NewString(),
				ClientToken: "demo",
				ClubID:      "11",
				Channel:     "web",
				Person:      &visitor,
				Items:       []flows.NewItem{{OfferID: "201", StartDate: start}, badge},
			}
			count := world.made()
			lag := clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: path}, Kind: "error_before", Status: http.StatusNotFound}
			refuse := clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "error_before", Times: new(1)}
			world.Fault(lag, refuse) // the start is repeated, and has to read what it has made
			var view flows.View
			for n := range 6 {
				if n == 4 {
					world.Fault()
				}
				var err error
				if view, _, err = world.Gateway().Registrations.Start(t.Context(), in); err == nil {
					break
				}
				in.Again = true
				var failure *flows.Error
				if !errors.As(err, &failure) || failure.Code != flows.ClubSystemFailed && failure.Code != flows.ClubSystemUnavailable {
					t.Fatalf("attempt %d: %v", n+1, err)
				}
				world.Clock.Advance(max(failure.RetryAfter, time.Minute))
			}
			world.expectCart(view, "Quarter Pass, paid once", "Access Badge")
			if contacts, sales := count(); contacts != 1 || sales != 1 {
				t.Errorf("there are %d contacts and %d sales", contacts, sales)
			}
		})
	}
}

// TestRemovedSettledSale: a sale that was settled before it was removed is not replaced by one to pay.
func TestRemovedSettledSale(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
	must(t, func() (flows.View, error) {
		return gateway.Registrations.Check(t.Context(), registration.ID, holderToken)
	})
	world.RemoveSale(registration.Sale)
	if p, err := gateway.Pay(t.Context(), registration.ID); err == nil {
		t.Errorf("it is paid again: %+v", p)
	}
	if _, err := world.AddItem(gateway, registration, badge); flows.CodeOf(err) != flows.CartInvalid {
		t.Errorf("an item is added: %v", err)
	}
	if n := world.sales(); n != 1 {
		t.Errorf("%d sales were created", n)
	}
	world.ExpectSettledCart(must(t, func() (flows.View, error) {
		return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
	}))
}
