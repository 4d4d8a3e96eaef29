package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// TestNewerDeclineStays: a gateway has read that the buyer tries again, or an earlier decline, and another one stores the decline that
// followed. The buyer is shown that one, and it counts once.
func TestNewerDeclineStays(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"the buyer tries again": true, "an earlier decline": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			late, gateway := world.Gateway(), world.Gateway()
			payment := world.Started(gateway)
			world.Confirm(payment, declinedCard)
			if again {
				payment = world.Advance(gateway, payment)
				world.Confirm(payment, bankAsks)
			}
			world.InjectFault(getCall, nil, func() { // while the first gateway waits for what it has read
				if again {
					world.answerChallenge(payment, false)
				} else {
					world.Confirm(payment, declinedCard)
				}
				world.Advance(gateway, payment)
			})
			world.Advance(late, payment)
			payment = world.Advance(gateway, payment)
			if payment.State != flows.Intent || !payment.Declined() || payment.Declines != 2 {
				t.Errorf("%s (%s), declined: %t, %d counted", payment.State, payment.Reason, payment.Declined(), payment.Declines)
			}
		})
	}
}

// TestLateLookKeepsTheLists: a gateway has read a payment that ended before the processor's next event about it was handled.
// Operators see what that event brought, however late the first gateway continues.
func TestLateLookKeepsTheLists(t *testing.T) {
	t.Parallel()
	t.Run("a dispute", func(t *testing.T) {
		t.Parallel()
		world := newWorld(t)
		late, gateway := world.Gateway(), world.Gateway()
		paid := world.recordedBy(gateway, flows.ByCard)
		world.expectFindingAfter(time.Minute, gateway, paid, "")
		early := world.byHand(paid, 100)
		world.SettleRefund(paid, false)
		world.InjectFault(getCall, nil, func() { world.Handle(gateway, world.dispute(paid)) })
		world.Handle(late, early)
		world.expectFinding(gateway, paid, flows.Contradicted)
		world.Clock.Advance(2 * time.Hour)
		world.verify(gateway, paid)
		world.expectFinding(gateway, paid, flows.Contradicted)
	})
	t.Run("a refund that failed", func(t *testing.T) {
		t.Parallel()
		world := newWorld(t)
		late, gateway := world.Gateway(), world.Gateway()
		paid := world.refunded(gateway)
		world.Clock.Advance(time.Minute)
		world.InjectFault(getCall, nil, func() { world.Handle(gateway, world.bankReturns(paid)) })
		world.Handle(late, world.EventOf(paid, "charge.refunded"))
		listed := must(world, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{}) })
		if len(listed.Items) != 1 || listed.Items[0].State != flows.Blocked || len(world.open()) != 1 {
			t.Errorf("operators are shown %+v, and %v is followed", listed.Items, world.open())
		}
		world.expectRefundedAgain(gateway, paid.ID)
	})
}
