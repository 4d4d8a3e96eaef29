package flows_test

import (
	"context"
	"testing"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// TestBlockedSettledByHand: staff settle a blocked payment by hand, then an operator ends it, unless the
// processor or the sale contradicts that. Show offers only the commands that work.
func TestBlockedSettledByHand(t *testing.T) {
	t.Parallel()
	tampered := func(w *world, g *gateway) *flows.Payment {
		p := w.doubtful(g, "error_before")
		w.tamper(p)
		return w.advance(g, p)
	}
	settlement := func(w *world, g *gateway) *flows.Payment { // as an older version left it
		return w.put(g, w.doubtWithoutProcessor(g).ID, flows.Blocked, func(next *flows.Payment) { next.ProcessorID, next.Processor = "", "" })
	}
	neverCreated := func(w *world, g *gateway) *flows.Payment {
		return w.put(g, w.started(g).ID, flows.Blocked, func(next *flows.Payment) { next.ProcessorID = "" })
	}
	refund := func(w *world, p *flows.Payment) { w.refundAtProcessor(p, p.Amount) }
	nothing := func(*world, *flows.Payment) {}
	for name, test := range map[string]struct {
		bring    func(*world, *gateway) *flows.Payment
		settle   func(*world, *flows.Payment)
		recorded flows.PaymentState // the end when confirmed as recorded; empty: refused
		not      flows.PaymentState // the end when confirmed as not recorded; empty: refused
	}{
		"the money is kept":           {tampered, (*world).payAtDesk, flows.Recorded, ""},
		"the money went back":         {tampered, refund, "", flows.Refunded},
		"some of the money went back": {tampered, func(w *world, p *flows.Payment) { w.refundAtProcessor(p, 1) }, flows.Recorded, ""},
		// It may come back.
		"the processor does not have it":         {tampered, func(w *world, _ *flows.Payment) { w.resetProcessor() }, flows.Recorded, ""},
		"it was never created":                   {neverCreated, nothing, "", flows.Cancelled},
		"without a processor":                    {settlement, nothing, flows.Recorded, flows.Cancelled},
		"without a processor, and it is settled": {settlement, (*world).payAtDesk, flows.Recorded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for command, want := range map[string]flows.PaymentState{"confirm-recorded": test.recorded, "confirm-not-recorded": test.not} {
				w := newWorld(t)
				g := w.gateway()
				p := test.bring(w, g)
				test.settle(w, p)
				if p.State != flows.Blocked {
					t.Fatalf("%s (%s)", p.State, p.Reason)
				}
				shown, decide := command+" "+string(p.ID), g.ConfirmRecorded
				if command == "confirm-not-recorded" {
					shown += " --cancel"
					decide = func(ctx context.Context, id flows.PaymentID, d flows.Decision) (payment.ResolutionResult, error) {
						return g.ConfirmNotRecorded(ctx, id, payment.GiveUp, d)
					}
				}
				settled := name == "without a processor, and it is settled" && want == ""
				if offered := offers(w.shown(g, p), shown); offered != (want != "" || settled) {
					t.Errorf("%s: offered %t", command, offered)
				}
				_, err := decide(t.Context(), p.ID, ada)
				if settled {
					w.expectRefusal(g, p, err, flows.NotDecidable, "--override")
					override := ada
					override.Override = true
					want = flows.Cancelled
					_, err = decide(t.Context(), p.ID, override)
				}
				if want == "" {
					w.expectRefusal(g, p, err, flows.NotDecidable, "")
					continue
				}
				if p = w.stored(g, p.ID); err != nil || p.State != want || p.DecisionOperator() != "ada" || len(w.open()) != 0 {
					t.Errorf("%s: %v, %s (%s), still listed: %v", command, err, p.State, p.Reason, w.open())
				}
				if entries := w.redis.XLen(t.Context(), "fd:audit").Val(); entries != 1 {
					t.Errorf("%s: %d entries in the audit stream", command, entries)
				}
			}
		})
	}
}
