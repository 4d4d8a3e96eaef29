package payment_test

import (
	"strings"
	"testing"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// TestBlockedSettledByHand: staff settle a blocked payment by hand, then an operator ends it, unless the processor contradicts that.
// Show offers only the command that works.
func TestBlockedSettledByHand(t *testing.T) {
	t.Parallel()
	recorded := func(g *gateway, id flows.PaymentID) error { return errorOf(g.ConfirmRecorded(t.Context(), id, ada)) }
	notRecorded := func(g *gateway, id flows.PaymentID) error {
		return errorOf(g.ConfirmNotRecorded(t.Context(), id, payment.Cancel, ada))
	}
	const confirm, cancel = "confirm-recorded ID", "confirm-not-recorded ID --cancel"
	for end, test := range map[flows.PaymentState]struct {
		settle         func(*world, *flows.Payment)
		works, refused string // commands
		right, wrong   func(*gateway, flows.PaymentID) error
	}{
		flows.Recorded: {(*world).PayAtDesk, confirm, cancel, recorded, notRecorded},
		flows.Refunded: {func(w *world, p *flows.Payment) { w.refundAtProcessor(p, p.Amount) }, cancel, confirm, notRecorded, recorded},
	} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Doubtful(g, "error_before")
			w.tamper(p)
			p = w.Advance(g, p)
			test.settle(w, p)
			command := func(words string) string { return strings.ReplaceAll(words, "ID", string(p.ID)) }
			if shown := w.shown(g, p); p.State != flows.Blocked || !offers(shown, command(test.works)) || offers(shown, command(test.refused)) {
				t.Errorf("%s (%s), offered: %v", p.State, p.Reason, shown.Commands)
			}
			w.expectRefusal(g, p, test.wrong(g, p.ID), flows.NotDecidable, "")
			err := test.right(g, p.ID)
			if p = w.Stored(g, p.ID); err != nil || p.State != end || p.DecisionOperator() != "ada" || len(w.open()) != 0 {
				t.Errorf("%v, %s (%s), still listed: %v", err, p.State, p.Reason, w.open())
			}
			if entries := w.Redis.XLen(t.Context(), "fd:audit").Val(); entries != 1 {
				t.Errorf("%d entries in the audit stream", entries)
			}
		})
	}
}
