package flows_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// stranger starts a gateway with another account's key, on the world's Redis. That is another double of the processor, with an account of its own.
func (w *world) stranger(how ...func(other *world)) *gateway {
	w.Helper()
	other := newWorld(w.T)
	for _, change := range how {
		change(other)
	}
	return w.gateway(gatewayOptions{processor: other.address})
}

func (w *world) expectStranger(g *gateway, what string) {
	w.Helper()
	foreign, ok := errors.AsType[*payment.FingerprintError](g.CheckFingerprint(w.Context()))
	if !ok || !strings.Contains(foreign.Error(), what) {
		w.Errorf("the stranger gets %v, which does not name %q", foreign, what)
	}
	if page := must(w, func() (payment.Page, error) { return g.List(w.Context(), payment.ListOptions{}) }); !strings.Contains(page.Halted, what) {
		w.Errorf("its operators read that it is halted by %q", page.Halted)
	}
}

// TestAnotherAccountsKey: for a while, one gateway has another account's key. It blocks no payment in any state, and
// every payment continues at the right gateway.
func TestAnotherAccountsKey(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string][]func(*world){"which can be read": nil, "which may not be read": {denyAccount}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, deny := range denied {
				deny(w)
			}
			g := w.gateway()
			recorded := w.settle(g, w.authorised(g))
			authorised := w.authorised(g)
			captured := w.put(g, w.authorised(g).ID, flows.Captured)
			doubt := w.started(g)
			doubt = w.put(g, doubt.ID, flows.InDoubt)
			refunding := w.put(g, w.started(g).ID, flows.Refunding)
			if err := g.CheckFingerprint(t.Context()); err != nil { // as each heartbeat does
				t.Fatal(err)
			}
			w.fail(createCall, 1)
			unborn := w.registered(g)
			if _, err := g.pay(t.Context(), unborn.ID); err == nil {
				t.Fatal("it was created")
			}
			wrong := w.stranger(denied...)
			for _, later := range []time.Duration{0, 31 * time.Minute} { // what is not found blocks after half an hour
				w.clock.Advance(later)
				for _, p := range []*flows.Payment{authorised, captured, doubt, refunding, recorded} {
					before := w.stored(g, p.ID)
					after := w.advance(wrong, p)
					if err := wrong.Verify(t.Context(), p.ID); err == nil {
						t.Errorf("it verified a payment that is %s", before.State)
					}
					if after.State != before.State || !after.MissingSince.IsZero() {
						t.Errorf("a gateway with another account's key moved a payment from %s to %s (%s)", before.State, after.State, after.Reason)
					}
				}
			}
			if p, err := wrong.Cancel(t.Context(), flows.NewPaymentID(unborn.ID, 1)); err == nil {
				t.Errorf("it cancelled a payment that only the other account could show: %s", p.State)
			}
			if err := wrong.RebuildOnDemand(t.Context()); err == nil {
				t.Error("it compared Redis with its own account on demand")
			}
			w.expectStranger(wrong, "the card processor's account")
			if err := wrong.Rebuild(t.Context(), payment.WholeWindow); err == nil {
				t.Error("it compared Redis with its own account")
			}
			_, err := wrong.ConfirmNotRecorded(t.Context(), doubt.ID, payment.Refund, flows.Decision{Operator: "ada"})
			if flows.CodeOf(err) != flows.ProcessorUnavailable {
				t.Errorf("a decision there: %v", err)
			}
			w.expectSound(w.settle(g, authorised))
		})
	}
}

// TestAnotherOrganisationOrMode: the gateway of another organisation, or of another mode, is not one of these either.
func TestAnotherOrganisationOrMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.gateway().CheckFingerprint(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.expectStranger(w.gateway(gatewayOptions{organisation: "other"}), "FRONTDESK_CLUB_TOKEN) is other, but Redis holds the payments of demo")
	w.expectStranger(w.gateway(gatewayOptions{environment: "live"}), "FRONTDESK_MODE) is live, but Redis holds the payments of test")
}

// TestFingerprintAfterALoss: Redis loses everything. The gateway that was right stores its fingerprint again, also if a
// stranger was faster; the stranger learns of it. An operator's decision stays.
func TestFingerprintAfterALoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	check := func(g *gateway) {
		t.Helper()
		if err := g.CheckFingerprint(t.Context()); err != nil {
			t.Error(err)
		}
	}
	check(g)
	wrong := w.stranger()
	w.expectStranger(wrong, "account")
	w.clock.Advance(flows.FirstPoll)
	w.wipe()
	check(wrong) // the first that finds Redis empty
	w.clock.Advance(flows.FirstPoll)
	check(g)
	w.expectStranger(wrong, "account")
	w.wipe()
	check(g)
	w.expectStranger(wrong, "account")

	if _, err := wrong.AdoptFingerprint(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(wrong)
	w.expectStranger(g, "account")
	w.clock.Advance(flows.FirstPoll)
	w.wipe()
	check(w.gateway()) // a restart of the former one
	check(wrong)
	w.expectStranger(g, "account")
}

// TestSettledWithoutTheProcessor: the card processor is away when a gateway starts. What needs no processor is settled,
// decided and verified. Cards wait for the account, and another organisation's payments are touched in no case.
func TestSettledWithoutTheProcessor(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*world){
		"Redis has a fingerprint": func(w *world) {
			if err := w.gateway().CheckFingerprint(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"Redis has none yet": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			begin(w)
			card := w.registered(w.gateway())
			away := gatewayOptions{processor: "127.0.0.1:1"} // nothing listens
			g := w.gateway(away)
			for _, method := range withoutProcessor {
				p := must(t, func() (*flows.Payment, error) { return w.settles(g, method) })
				w.expectSettled(p)
				if p.State != flows.Recorded {
					t.Errorf("%s: %s (%s)", method, p.State, p.Reason)
				}
				w.clock.Advance(2 * time.Minute)
				w.verify(g, p)
				if verified := w.stored(g, p.ID); verified.SaleVerdict == "" {
					t.Errorf("%s is not verified", method)
				}
				doubt := w.put(g, w.priced(g, method).ID, flows.InDoubt, func(p *flows.Payment) { p.DoubtSince = w.clock.Now() })
				w.clock.Advance(time.Hour)
				if ended, err := g.ConfirmNotRecorded(t.Context(), doubt.ID, payment.Cancel, flows.Decision{Operator: "ada"}); err != nil || w.stored(g, doubt.ID).State != flows.Cancelled {
					t.Errorf("%s, a decision: %+v, %v", method, ended, err)
				}
			}
			if _, err := g.pay(t.Context(), card.ID); flows.CodeOf(err) != flows.ProcessorUnavailable || len(w.heldAll()) != 0 {
				t.Errorf("a card: %v", err)
			}
			if name == "Redis has none yet" {
				return
			}
			waiting, away := w.priced(g, flows.InPerson), gatewayOptions{processor: away.processor, organisation: "other"}
			sent := w.posted()
			if p := w.advance(w.gateway(away), waiting); p.State != flows.Priced || w.posted() != sent {
				t.Errorf("another organisation's gateway made it %s (%s)", p.State, p.Reason)
			}
		})
	}
}
