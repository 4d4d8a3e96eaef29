package protocol

import (
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// checkSale reads the sale again before any money is taken. While the brake holds, the money stays reserved.
func (d turn) checkSale() (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	tooOld := d.authorisedTooLong()
	left, known := d.brake()
	switch {
	case !tooOld && !known:
		return act(AskBrake)
	case !tooOld && left > 0 && payment.OnHold:
		return d.awaitBrake(left)
	case remote == nil:
		return act(Read)
	case remote.OtherMethod != "":
		return d.refuseOtherMethod()
	case remote.State == cards.Captured:
		// Redis lost the capture. The sale was checked before it, and a check that fails now could not undo it.
		return d.to(flows.Capturing, "captured before")
	case remote.State == cards.Processing: // Redis lost this capture too, and the bank decides about it
		return d.bankDecides("being captured")
	case remote.State != cards.Authorised:
		return d.to(flows.Cancelling, "the processor no longer holds the authorisation: "+string(remote.State))
	case tooOld && payment.OnHold:
		return d.to(flows.Cancelling, "the club system recorded no payment within the life of the authorisation")
	case tooOld:
		return d.to(flows.Cancelling, "the authorisation is too old")
	case left > 0:
		return d.awaitBrake(left)
	}
	return d.agreeToCapture()
}

// agreeToCapture continues if the sale is as agreed. If it is not, or cannot be read, the buyer is not charged. A call that found this
// gateway busy says nothing about the club system, and is repeated later.
func (d turn) agreeToCapture() (Action, *Change) {
	sale := d.f.Sale
	switch {
	case sale == nil:
		return act(CheckSale)
	case sale.Busy:
		return failed(sale.Err)
	}
	next := *d.p
	next.Snapshot, next.OnHold = sale.Seen, false
	if sale.Err != nil {
		return d.write(next, flows.Cancelling, "the club system was unreachable before the capture")
	}
	if reason := d.p.ChangedSinceAgreed(sale.Sale, sale.Check); reason != "" {
		return d.write(next, flows.Cancelling, reason)
	}
	next.Payer = sale.payer()
	return d.write(next, flows.Capturing, "the sale is as agreed")
}

// capture takes the money. Its key makes a repetition harmless for the buyer, but after a capture whose outcome is not known, the
// club's staff may have settled the sale; so the sale is read again. While the bank decides about the capture, the key only replays
// that, so the payment is read instead. Nothing is taken then, and the brake is not asked: its probe would be lost.
func (d turn) capture() (Action, *Change) {
	payment, remote, call := d.p, d.f.Remote, d.f.Call
	left, known := d.brake()
	tooOld := d.authorisedTooLong()
	switch {
	case call != nil:
		return d.captured()
	case payment.Processing && remote == nil:
		return act(Read)
	case payment.Processing:
		return d.captureOutcome(true)
	case !known:
		return act(AskBrake)
	case left == 0 && !tooOld && Agreed(payment, d.now):
		return act(Capture)
	case remote == nil:
		return act(Read)
	case remote.State == cards.Processing:
		return d.captureOutcome(false)
	case remote.State != cards.Authorised: // the capture replays its earlier success, or is refused
		return act(Capture)
	case tooOld:
		return d.to(flows.Cancelling, "the authorisation is too old")
	case left > 0:
		return wait(min(left, PollEvery))
	}
	return d.agreeToCapture()
}

// captured follows a capture. What its response does not show is read.
func (d turn) captured() (Action, *Change) {
	call := d.f.Call
	switch {
	case call.Outcome == Done && call.Response.State == cards.Captured:
		return d.to(flows.Captured, "captured by the processor")
	case call.Outcome == Failed, call.Outcome == KeyReused:
		return failed(call.Err)
	case d.f.Remote == nil:
		return act(Read)
	}
	return d.captureOutcome(call.Outcome == Done || call.Outcome == KeyUsedUp)
}

// captureOutcome follows what a capture led to at the processor. usedUp: its key only replays an earlier response.
func (d turn) captureOutcome(usedUp bool) (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	switch {
	case remote.State == cards.Processing && payment.Processing:
		return wait(PollEvery)
	case remote.State == cards.Processing:
		return d.bankDecides("the bank is deciding about the capture")
	case remote.State == cards.Authorised && usedUp:
		next := *payment
		next.UsedKeys++
		next.Processing = false
		return d.keep(next)
	case remote.State == cards.Captured:
		return d.to(flows.Captured, "captured by the processor")
	case remote.State == cards.Refunded:
		return d.to(flows.Blocked, "it was refunded at the processor")
	}
	return d.to(flows.Cancelling, "the processor refused the capture")
}

func (d turn) bankDecides(reason string) (Action, *Change) {
	next := *d.p
	next.Processing = true
	return d.write(next, flows.Capturing, reason)
}

// authorisedTooLong reports whether it is too late to take the reserved money, by our limit or by the processor's. A block in
// between prolongs nothing.
func (d turn) authorisedTooLong() bool {
	return d.now.Sub(d.p.Since(flows.Authorised)) > IdleAuthorisation ||
		!d.p.CaptureBefore.IsZero() && d.now.After(d.p.CaptureBefore.Add(-CaptureMargin))
}

// Agreed reports whether the sale was seen as agreed so lately that money may move.
func Agreed(p *flows.Payment, now time.Time) bool {
	return p.Payer != nil && now.Sub(p.Payer.ReadAt).Abs() <= FreshSale
}
