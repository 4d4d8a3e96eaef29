package protocol

import (
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// followed are the states in which the processor must have the payment. A payment that is missing while it is sent is noted once it is
// captured again. One that is missing when a refund is due is noted once it is being refunded: only from there can it be blocked.
var followed = map[flows.PaymentState]bool{flows.Intent: true, flows.Authorised: true, flows.Capturing: true, flows.Captured: true,
	flows.Cancelling: true, flows.Refunding: true, flows.InDoubt: true}

// present makes sure that the processor has the agreed payment. done is false if it has, or if that does not matter now: then the
// state's own function follows. A payment that was missing is read before anything else, so that only one that every reading misses
// is blocked.
func (d turn) present() (action Action, change *Change, done bool) {
	payment, remote := d.p, d.f.Remote
	if !followed[payment.State] || remote == nil && payment.MissingSince.IsZero() {
		return action, nil, false
	}
	next := *payment
	switch {
	case remote == nil:
		action, change = act(Read)
	case remote.Absent != "" && payment.MissingSince.IsZero():
		next.MissingSince = d.now.Round(0)
		action, change = d.keep(next)
	case remote.Absent != "" && d.now.Sub(payment.MissingSince) >= MissingBlocks:
		action, change = d.to(flows.Blocked, remote.Absent)
	case remote.Err != nil:
		action, change = failed(remote.Err)
	case !payment.MissingSince.IsZero():
		next.MissingSince = time.Time{}
		action, change = d.keep(next)
	case Differs(payment, remote) != "":
		action, change = d.to(flows.Blocked, Differs(payment, remote))
	default:
		return action, nil, false
	}
	return action, change, true
}

// create makes the payment at the processor. A repetition returns the same payment.
func (d turn) create() (Action, *Change) {
	payment, call := d.p, d.f.Call
	switch {
	case d.f.Wish == GiveUp:
		return d.unlessCreated(GroupSpan, *payment, flows.Cancelled, "the buyer gave up")
	case d.now.Sub(payment.CreatedAt) > CreateWithin:
		return d.unlessCreated(ClockSkew, *payment, flows.Cancelled, "too old to be created at the processor")
	case call == nil:
		return act(Create)
	}
	next := *payment
	switch call.Outcome {
	case Done:
		return d.created(call.Response)
	case KeyReused:
		return d.unlessCreated(GroupSpan, next, flows.Blocked, "the processor holds another payment for this sale and generation")
	case KeyUsedUp: // the next key, only if the list shows that nothing was created
		next.UsedKeys++
		return d.unlessCreated(GroupSpan, next, payment.State, payment.Reason)
	case Refused:
		next.CreationRefused = true
		return d.unlessCreated(ClockSkew, next, flows.Cancelled, "the processor refused to create it")
	}
	return failed(call.Err)
}

// unlessCreated continues with the agreed payment if the processor's list has it, whatever its description: the response to its
// creation, or Redis' record of it, was lost. Otherwise nothing was created, and the given change follows.
func (d turn) unlessCreated(span time.Duration, absent flows.Payment, to flows.PaymentState, reason string) (Action, *Change) {
	switch listed := d.f.Listed; {
	case listed == nil:
		return Action{Kind: Search, Since: d.p.CreatedAt.Add(-span)}, nil
	case listed.Err != nil:
		return failed(listed.Err)
	case listed.Payment == nil:
		return d.write(absent, to, reason)
	case Differs(d.p, listed.Payment) != "":
		return d.to(flows.Blocked, "created before, and "+Differs(d.p, listed.Payment))
	default:
		return d.created(listed.Payment)
	}
}

func (d turn) created(r *Remote) (Action, *Change) {
	next := *d.p
	next.ProcessorID, next.ClientSecret = r.ID, r.ClientSecret
	return d.write(next, flows.Intent, "waiting for the buyer at the processor")
}

// awaitBuyer follows what the buyer does at the processor.
func (d turn) awaitBuyer() (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	next := *payment
	switch {
	case d.f.Wish == Again && payment.Declined():
		return d.tryAgain()
	case d.f.Wish == Again: // another process was faster
		return wait(IdlePause(payment, d.now))
	case remote == nil:
		return act(Read)
	case remote.OtherMethod != "":
		return d.refuseOtherMethod()
	case remote.State == cards.Authorised, remote.State == cards.Captured, remote.Capturing:
		next.DeclineCode, next.CaptureBefore = "", remote.CaptureBefore
		return d.write(next, flows.Authorised, "the buyer authorised it")
	case remote.State == cards.Cancelled:
		return d.to(flows.Cancelling, "it was cancelled at the processor")
	case remote.State == cards.Refunded:
		return d.to(flows.Blocked, "it was refunded at the processor")
	}
	// The processor counts neither a failed challenge nor what the key may not read, so each decline that is read counts too.
	declined := remote.State == cards.Declined && remote.Decline != payment.Decline
	if declined {
		next.Declines++
	}
	next.DeclineCode, next.Decline, next.Declines = remote.DeclineCode, remote.Decline, max(next.Declines, remote.Declines)
	deciding := remote.State == cards.Processing
	switch {
	case deciding && payment.MaybeCapturing():
		return wait(PollEvery)
	case next.DeclinedTooOften():
		return d.write(next, flows.Cancelling, "declined too often")
	case !payment.EndsAt.IsZero() && d.now.After(payment.EndsAt):
		return d.to(flows.Cancelling, "the registration has ended")
	case declined:
		next.Processing = false
		return d.write(next, flows.Intent, "declined: "+remote.DeclineCode)
	case deciding && !payment.Processing:
		next = *payment
		next.Processing, next.DeclineCode = true, ""
		return d.write(next, flows.Intent, "the bank is deciding about the buyer's card")
	case !deciding && payment.Processing, remote.State != cards.Declined && payment.Declined():
		return d.tryAgain()
	case d.f.Wish == GiveUp:
		return d.to(flows.Cancelling, "the buyer gave up")
	case d.now.Sub(payment.UpdatedAt) <= IdleIntent:
		return wait(IdlePause(payment, d.now))
	case payment.Processing:
		return d.to(flows.Cancelling, "the bank did not decide about the buyer's card")
	}
	return d.to(flows.Cancelling, "the buyer left")
}

// tryAgain follows a buyer who makes another attempt: what was declined before no longer counts.
func (d turn) tryAgain() (Action, *Change) {
	next := *d.p
	next.DeclineCode, next.Processing = "", false
	return d.write(next, flows.Intent, "the buyer tries again")
}

// refuseOtherMethod ends a payment that was not made by card, whatever the processor offered. Money that is only reserved is
// released; money that is taken waits until an operator has it refunded.
func (d turn) refuseOtherMethod() (Action, *Change) {
	to := flows.Cancelling
	if d.f.Remote.State == cards.Captured || d.p.State == flows.Sending {
		to = flows.Blocked
	}
	return d.to(to, "the buyer paid by "+d.f.Remote.OtherMethod+" and not by card")
}

// cancel cancels the payment at the processor, and believes only what it reads back. A cancellation that the processor refuses for
// now, as while it processes the buyer's confirmation, is repeated with the next key: the same key would replay the refusal.
func (d turn) cancel() (Action, *Change) {
	payment, remote, call := d.p, d.f.Remote, d.f.Call
	switch {
	case call == nil && PauseLeft(payment, d.now) > 0:
		return wait(PauseLeft(payment, d.now))
	case call == nil:
		return act(Cancel)
	case call.Outcome == Failed, call.Outcome == KeyReused:
		return failed(call.Err)
	case remote == nil:
		return act(Read)
	case remote.State == cards.Cancelled:
		return d.to(flows.Cancelled, payment.Reason)
	case remote.State == cards.Captured, remote.State == cards.Refunded:
		return d.to(flows.Blocked, "cannot be cancelled: at the processor it is "+string(remote.State))
	}
	next := *payment
	next.UsedKeys++
	if call.Outcome != KeyUsedUp { // it is refused for now
		next.NotBefore = d.now.Add(PollEvery).Round(0)
	}
	return d.keep(next)
}
