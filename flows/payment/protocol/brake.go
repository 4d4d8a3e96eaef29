package protocol

import (
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// HeldByBrake reports whether the brake may hold a payment back: not what takes no money, nor for long what was taken already.
func HeldByBrake(p *flows.Payment, now time.Time) bool {
	return p.Method.BooksMoney() && (!Taken(p) || !Expired(now, takenSince(p), MaxCapturedHold))
}

// Taken reports whether the money was taken, also at the desk.
func Taken(p *flows.Payment) bool { return p.State == flows.Captured || p.Method == flows.InPerson }

// takenSince returns when it was taken, or an operator decided to send the payment again.
func takenSince(p *flows.Payment) time.Time {
	since := p.UpdatedAt
	for _, before := range slices.Backward(p.History) {
		if before.State != flows.Priced && before.State != flows.Captured && before.State != flows.Sending {
			break
		}
		since = before.At
	}
	return since
}

// ProbePause returns the longest pause after a probe that failed before this payment may probe.
func ProbePause(p *flows.Payment) time.Duration {
	if Taken(p) {
		return MaxCapturedProbePause
	}
	return MaxProbePause
}

// brake returns how long the brake holds the payment back; known is false while it has to be asked.
func (d turn) brake() (left time.Duration, known bool) {
	switch {
	case !HeldByBrake(d.p, d.now):
		return 0, true
	case d.f.Brake == nil:
		return 0, false
	}
	return d.f.Brake.Left, true
}

// awaitBrake keeps a payment waiting for the brake, which may be released at any time. The record shows the buyer that it waits.
func (d turn) awaitBrake(left time.Duration) (Action, *Change) {
	if d.p.OnHold {
		return wait(min(left, PollEvery))
	}
	next := *d.p
	next.OnHold = true
	return d.keep(next)
}

// BrakeCount is what the brake counts: how a payment was sent, or what it did to its sale.
type BrakeCount struct {
	Result      flows.BrakeResult // empty: nothing is counted
	Began       time.Time         // of the attempt
	ProbesUntil time.Time         // of BrakeRefused and ProbeContinues: until when the payment is the probe, if it is that
}

// CountPost says what the end of a POST means for the brake; nothing, if it records no money. A rejection counts as unknown: a
// firewall's can look like the application's. A refusal for a restriction is the application's, and says nothing about other sales: it is
// not counted, and the next payment may probe. After a limit that outlasts the pause before the next claim, another payment finds out
// whether it has been raised.
func CountPost(payment *flows.Payment, post Posted, now time.Time) BrakeCount {
	count := BrakeCount{Result: flows.BrakeUnknown, Began: payment.UpdatedAt}
	switch {
	case !payment.Method.BooksMoney():
		return BrakeCount{}
	case post.Outcome == club.Accepted:
		count.Result = flows.BrakeAccepted
	case len(post.Restrictions) > 0:
		count.Result, count.ProbesUntil = flows.ProbeContinues, now
	case post.Outcome == club.NotSent:
		count.Result, count.ProbesUntil = flows.ProbeContinues, now.Add(ClaimPause(payment.Claim)+ProbeLease)
	case post.Outcome == club.Refused && post.Limit <= MaxClaimPause:
		count.Result, count.ProbesUntil = flows.BrakeRefused, now.Add(PauseAfter(payment, post.Limit)+ProbeLease)
	}
	return count
}

// CountVerdict says what a new verdict on a recorded payment's sale means for the brake: perhaps something in front of the club system
// accepts every payment with an empty success. Only the first verdict counts against it, and none of a payment that Redis lost.
func CountVerdict(payment, next *flows.Payment) BrakeCount {
	count := BrakeCount{Began: payment.Since(flows.Recorded)}
	switch {
	case payment.SaleVerdict == next.SaleVerdict || payment.Rebuilt || !payment.Method.BooksMoney():
		return BrakeCount{}
	case next.SaleVerdict == flows.SaleSettled:
		count.Result = flows.SaleSettles
	case next.SaleVerdict == SaleOpen && payment.SaleVerdict == "":
		count.Result = flows.SaleStaysOpen
	default:
		return BrakeCount{}
	}
	return count
}
