package model

import "slices"

// The invariants, as a Violation names them.
const (
	PostedTwice         = "the club system booked the sale twice"
	RecordedNotBooked   = "recorded, but the club system did not book it exactly once"
	RecordedNotCharged  = "recorded, but the money is not captured"
	RefundedBooked      = "refunded, but the club system booked it"
	RefundUnbidden      = "a machine refunds what may have been recorded"
	RetryWhileCharged   = "the buyer is asked to try again while money is captured"
	ChargedAndForgotten = "captured and not refunded, and at rest without being recorded or in doubt"
	NeverSettles        = "captured and not refunded, and never at rest"
	CapturedAfterDesk   = "money is taken for a sale that staff settled more than a minute ago"
	PostedAfterDesk     = "a payment is sent for a sale that staff settled more than a minute ago"
	KeptForDesk         = "money is kept for a sale that staff settled"
	RefundedTooEarly    = "refunded, but the refund can still fail"
	StrangerActs        = "a stranger changes a payment"
	NeedlessDoubt       = "in doubt, although every outcome is known"
	MovedWhileHeld      = "money moves although the brake holds"
	UnsettledUnlisted   = "recorded without being booked, and on no list of the operators"
	BlockedForGood      = "blocked for good, although the processor has the payment again"
	VersionShrank       = "a version did not grow"
)

// violated names the invariant that a world breaks; empty for none. The two that
// are about the end of a fault-free run are checked by the search.
func (m *machine) violated(world *world) string {
	record, slot := world.redis, world.of(world.redis)
	switch {
	case world.applied() > 1:
		return PostedTwice
	case world.refundedBooked():
		return RefundedBooked
	case record.state == recorded && world.booked(record).applied != 1 && !world.collided && !world.byHand && !world.fooled:
		return RecordedNotBooked
	case slot == nil:
		return ""
	case record.state == recorded && slot.held != capturedThere:
		return RecordedNotCharged
	case record.state == refunded && slot.held == refundPendingThere:
		return RefundedTooEarly
	case (record.state == cancelled || record.state == refunded) && slot.held == capturedThere: // flows.Payment.View says "retry: new"
		return RetryWhileCharged
	}
	return ""
}

func (w *world) refundedBooked() bool {
	return slices.ContainsFunc(w.slot[:], func(s slot) bool {
		return (s.held == refundedThere || s.held == refundPendingThere) && (s.club.applied > 0 || w.byHand)
	})
}

// forgotten reports whether a world at rest holds money that no machine and no operator will check again: captured, not
// refunded, and not in Redis as recorded, in doubt or blocked (which the buyer is shown as in doubt).
func (w *world) forgotten() bool {
	for i := range w.slot {
		if s := &w.slot[i]; s.held == capturedThere && !w.redis.tellsOf(uint8(i+1), s.generation) {
			return true
		}
	}
	return false
}

// keptForDesk reports whether a world at rest holds money for a sale that staff settled, and no
// operator sees it. Evidence within the same minute cannot distinguish staff from an attempt.
func (w *world) keptForDesk() bool {
	return w.desk != never && !w.collided && !w.byHand && w.redis.state == recorded &&
		slices.ContainsFunc(w.slot[:], func(s slot) bool { return s.held == capturedThere && s.club.applied == 0 })
}

// brokenAtRest names the invariants that a world at rest breaks.
func (w *world) brokenAtRest() (broken []string) {
	add := func(invariant string, breaks bool) {
		if breaks {
			broken = append(broken, invariant)
		}
	}
	add(ChargedAndForgotten, w.forgotten())
	add(KeptForDesk, w.keptForDesk())
	add(UnsettledUnlisted, w.unlisted())
	add(BlockedForGood, w.blockedForGood())
	return broken
}

// unlisted reports whether a world at rest has a payment as recorded that something else accepted, and no operator sees it.
func (w *world) unlisted() bool {
	return w.fooled && w.redis.state == recorded && w.booked(w.redis).applied == 0 && w.redis.verdict != unsettled
}

// blockedForGood reports whether a world at rest has a payment as blocked because the processor did not have it.
func (w *world) blockedForGood() bool { return w.redis.absent && w.of(w.redis).held == capturedThere }

// tellsOf reports whether the record represents a payment at the processor. One
// that was blocked before it had the processor's id represents its generation.
func (r record) tellsOf(slot, generation uint8) bool {
	switch r.state {
	case recorded, inDoubt:
		return r.slot == slot
	case blocked:
		return r.slot == slot || r.slot == 0 && r.generation == generation
	default:
		return false
	}
}

func (w *world) charged() bool {
	return slices.ContainsFunc(w.slot[:], func(s slot) bool { return s.held == capturedThere })
}
