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
			paid := w.Doubtful(g, "error_before")
			w.tamper(paid)
			paid = w.Advance(g, paid)
			test.settle(w, paid)
			command := func(words string) string { return strings.ReplaceAll(words, "ID", string(paid.ID)) }
			shown := w.shown(g, paid)
			if paid.State != flows.Blocked || !offers(shown, command(test.works)) || offers(shown, command(test.refused)) {
				t.Errorf("%s (%s), offered: %v", paid.State, paid.Reason, shown.Commands)
			}
			w.expectRefusal(g, paid, test.wrong(g, paid.ID), flows.NotDecidable, "")
			err := test.right(g, paid.ID)
			if paid = w.Stored(g, paid.ID); err != nil || paid.State != end || paid.DecisionOperator() != "ada" || len(w.open()) != 0 {
				t.Errorf("%v, %s (%s), still listed: %v", err, paid.State, paid.Reason, w.open())
			}
			if entries := w.Redis.XLen(t.Context(), "fd:audit").Val(); entries != 1 {
				t.Errorf("%d entries in the audit stream", entries)
			}
		})
	}
}
