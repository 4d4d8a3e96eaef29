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
	recorded := func(g *testGateway, id flows.PaymentID) error {
		return errorOf(g.ConfirmRecorded(t.Context(), id, ada))
	}
	notRecorded := func(g *testGateway, id flows.PaymentID) error {
		return errorOf(g.ConfirmNotRecorded(t.Context(), id, payment.Cancel, ada))
	}
	const confirm, cancel = "confirm-recorded ID", "confirm-not-recorded ID --cancel"
	for end, test := range map[flows.PaymentState]struct {
		settle         func(*testWorld, *flows.Payment)
		works, refused string // commands
		right, wrong   func(*testGateway, flows.PaymentID) error
	}{
		flows.Recorded: {(*testWorld).PayAtDesk, confirm, cancel, recorded, notRecorded},
		flows.Refunded: {func(w *testWorld, p *flows.Payment) { w.refundAtProcessor(p, p.Amount) }, cancel, confirm, notRecorded, recorded},
	} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.Doubtful(gateway, "error_before")
			world.tamper(paid)
			paid = world.Advance(gateway, paid)
			test.settle(world, paid)
			command := func(words string) string { return strings.ReplaceAll(words, "ID", string(paid.ID)) }
			shown := world.shown(gateway, paid)
			if paid.State != flows.Blocked || !offers(shown, command(test.works)) || offers(shown, command(test.refused)) {
				t.Errorf("%s (%s), offered: %v", paid.State, paid.Reason, shown.Commands)
			}
			world.expectRefusal(gateway, paid, test.wrong(gateway, paid.ID), flows.NotDecidable, "")
			err := test.right(gateway, paid.ID)
			if paid = world.Stored(gateway, paid.ID); err != nil || paid.State != end || paid.DecisionOperator() != "ada" || len(world.open()) != 0 {
				t.Errorf("%v, %s (%s), still listed: %v", err, paid.State, paid.Reason, world.open())
			}
			if entries := world.Redis.XLen(t.Context(), "fd:audit").Val(); entries != 1 {
				t.Errorf("%d entries in the audit stream", entries)
			}
		})
	}
}
