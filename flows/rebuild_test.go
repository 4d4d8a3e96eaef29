package flows_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// wholeWindow is how far back a gateway looks that starts.
const wholeWindow = 8 * 24 * time.Hour

// rebuild lets a gateway compare Redis with everything that the processor holds.
func (w *world) rebuild(g *gateway) {
	w.Helper()
	if err := g.Rebuild(w.Context(), wholeWindow); err != nil {
		w.Fatal(err)
	}
}

// wipe makes Redis forget everything.
func (w *world) wipe() {
	w.Helper()
	if err := w.redis.FlushDB(w.Context()).Err(); err != nil {
		w.Fatal(err)
	}
}

// twin makes a payment at the processor a second time, as a request does that was
// on its way until the processor had forgotten its key.
func (w *world) twin(p *flows.Payment) *flows.Payment {
	w.Helper()
	metadata := w.held(p).Metadata
	maps.DeleteFunc(metadata, func(key, _ string) bool { return strings.ContainsAny(key, "123456789") }) // the journal of claims
	held := must(w, func() (cards.Payment, error) {
		return w.processor.Create(w.Context(), uuid.NewString(), cards.NewPayment{Amount: p.Amount, Currency: p.Currency, Metadata: metadata})
	})
	twin := *p
	twin.ProcessorID = held.ID
	return &twin
}

// visited is a registration as its visitor started it, with the token that they hold.
func (w *world) visited(g *gateway) (flows.View, string) {
	w.Helper()
	start := w.clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	view, token, err := g.registrations.Start(w.Context(), flows.NewRegistration{
		ClientToken: "demo", ClubID: "11", Channel: "web", Person: &visitor, Items: []flows.NewItem{{OfferID: "201", StartDate: start}},
	})
	if err != nil {
		w.Fatal(err)
	}
	return view, token
}

// TestWipe lets a gateway die at each message of a payment, and Redis lose
// everything with it: the buyer does nothing more, and the payment is brought back
// and ends as it should.
func TestWipe(t *testing.T) {
	t.Parallel()
	for name, faults := range outcomes {
		for _, later := range []time.Duration{0, 25 * time.Hour} {
			for _, plan := range []frontdesktest.Breakage{{ForGood: true}, {ForGood: true, AnswerLost: true}} {
				t.Run(fmt.Sprintf("%s, answer lost %t, %s later", name, plan.AnswerLost, later), func(t *testing.T) {
					t.Parallel()
					for plan.Message = 1; ; plan.Message++ {
						broke := false
						t.Run(fmt.Sprint(plan.Message), func(t *testing.T) { broke = newWorld(t).wipeAt(plan, faults, later) })
						if !broke {
							return
						}
					}
				})
			}
		}
	}
}

func (w *world) wipeAt(plan frontdesktest.Breakage, faults []clubsim.Fault, later time.Duration) bool {
	wire := frontdesktest.NewWire(w, plan)
	doomed, survivor := w.gateway(wiring{outside: wire.To(w.address), redisURL: w.redisOver(wire)}), w.gateway()
	r := w.registered(survivor)
	w.fault(faults...)
	doomed.pay(w.Context(), r.ID)
	p := &flows.Payment{ID: flows.NewPaymentID(r.ID, 1)}
	for _, held := range w.sandbox.Payments() {
		p.ProcessorID = held.ID
		w.confirm(p, goodCard)
	}
	for range 3 { // the rejected, the refused and the doubtful go on for a while
		doomed.Advance(w.Context(), p.ID)
		w.clock.Advance(time.Minute)
	}
	w.wipe()
	w.fault()
	w.clock.Advance(later)
	w.rebuild(survivor)
	if p.ProcessorID == "" {
		if keys := w.redis.Keys(w.Context(), "fd:*").Val(); len(keys) != 0 {
			w.Errorf("Redis holds %v", keys)
		}
		return wire.Broke()
	}
	before := w.held(p)
	end := w.settle(survivor, p)
	w.expectSound(end)
	if before.State == cards.Captured && end.State != flows.Recorded && end.State != flows.InDoubt && end.State != flows.Refunded {
		w.Errorf("the money was taken, and the payment is %s (%s)", end.State, end.Reason)
	}
	w.rebuild(survivor)
	if again := w.stored(survivor, p.ID); again.Version != end.Version {
		w.Errorf("another rebuild made %s of %s", again.State, end.State)
	}
	return wire.Broke()
}

// TestHolderAfterWipe: whoever holds a registration's token sees their payment
// after Redis lost both, and nobody else does.
func TestHolderAfterWipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r, token := w.visited(g)
	other, otherToken := w.visited(g)
	p := must(t, func() (*flows.Payment, error) {
		return g.registrations.Pay(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
	})
	w.confirm(p, goodCard)
	w.advance(g, p)
	w.wipe()
	for what, wrong := range map[string]string{
		"none": "", "another's": otherToken, "altered": "A" + token[1:], "cut off": token[:43], "longer": token + "AAAA", "not base64": "!" + token[1:],
	} {
		if _, err := g.registrations.Get(t.Context(), r.ID, wrong); token != wrong && flows.CodeOf(err) != flows.NotFound {
			t.Errorf("a token that is %s gets %v", what, err)
		}
	}
	if n := w.listed(); n != 0 {
		t.Errorf("wrong tokens made the gateway list the payments %d times", n)
	}
	view := must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), r.ID, token) })
	if view.Phase != flows.Completed || view.Payment.ID != p.ID || view.Contact != nil || view.Cart.Total != quarterPassPrice {
		t.Errorf("the holder sees %s, %+v", view.Phase, view.Registration)
	}
	if _, err := g.registrations.Get(t.Context(), r.ID, otherToken); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("somebody else gets %v", err)
	}
	if _, err := g.registrations.Get(t.Context(), other.ID, otherToken); flows.CodeOf(err) != flows.StorageUnavailable || w.listed() != 1 {
		t.Errorf("within a minute of a look: %v after %d lists", err, w.listed())
	}
	w.clock.Advance(time.Minute)
	if _, err := g.registrations.Get(t.Context(), other.ID, otherToken); flows.CodeOf(err) != flows.NotFound || w.listed() != 2 {
		t.Errorf("what the processor does not know either: %v after %d lists", err, w.listed())
	}
	w.advance(g, p)
	w.expectSound(w.stored(g, p.ID))
}

// TestRebuiltRegistration does with a registration that came back whatever its
// holder can ask for: none of it breaks, and it is never paid anew.
func TestRebuiltRegistration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bring func(*world, *flows.Payment)
		phase flows.RegistrationState
		state flows.PaymentState
	}{
		"waiting":                      {atProcessor["waiting"], flows.Paying, flows.Intent},
		"declined":                     {atProcessor["declined"], flows.Paying, flows.Intent},
		"cancelled":                    {atProcessor["cancelled"], flows.Expired, flows.Cancelled},
		"captured":                     {atProcessor["captured"], flows.Paying, flows.Captured},
		"captured, claimed by another": {atProcessor["captured, claimed by another"], flows.Attention, flows.InDoubt},
		"captured, accepted":           {atProcessor["captured, accepted"], flows.Completed, flows.Recorded},
		"refunded":                     {atProcessor["refunded"], flows.Expired, flows.Refunded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			r, token := w.visited(g)
			p := must(t, func() (*flows.Payment, error) {
				return g.registrations.Pay(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
			})
			test.bring(w, p)
			w.wipe()
			w.rebuild(g)
			view := must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), r.ID, token) })
			if view.Phase != test.phase || view.Payment.State != test.state || view.Message == "" {
				t.Errorf("%s with a payment that is %s: %q", view.Phase, view.Payment.State, view.Message)
			}
			if retry := view.Payment.View().Retry; retry == "new" && !view.Payment.Live() {
				t.Errorf("the visitor is told to pay again, and cannot")
			}
			for what, ask := range map[string]func() error{
				"person": func() error { _, err := g.registrations.PutPerson(t.Context(), r.ID, token, visitor); return err },
				"item":   func() error { _, err := g.registrations.AddItem(t.Context(), r.ID, token, badge); return err },
				"clear":  func() error { _, err := g.registrations.ClearItems(t.Context(), r.ID, token); return err },
			} {
				if code := flows.CodeOf(ask()); code != flows.CartFrozen && code != flows.RegistrationClosed {
					t.Errorf("%s: %s", what, code)
				}
			}
			if _, err := g.registrations.Check(t.Context(), r.ID, token); err != nil {
				t.Errorf("check: %v", err)
			}
			again, err := g.registrations.Pay(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
			if live := view.Payment.Live(); live && (err != nil || again.ID != p.ID) || !live && flows.CodeOf(err) != flows.RegistrationClosed {
				t.Errorf("asking for the payment: %+v, %v", again, err)
			}
			g.registrations.Abandon(t.Context(), r.ID, token)
			if n := len(w.sandbox.Payments()); n != 1 {
				t.Errorf("the processor holds %d payments", n)
			}
			if end := w.settle(g, p); name != "captured, accepted" { // by nobody
				w.expectSound(end)
			}
		})
	}
}

// listed counts the lists that the processor was asked for.
func (w *world) listed() int { return int(w.lists.Load()) }
