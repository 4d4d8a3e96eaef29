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
	p, r := d.p, d.f.Remote
	if !followed[p.State] || r == nil && p.MissingSince.IsZero() {
		return action, nil, false
	}
	next := *p
	switch {
	case r == nil:
		action, change = act(Read)
	case r.Absent != "" && p.MissingSince.IsZero():
		next.MissingSince = d.now.Round(0)
		action, change = d.keep(next)
	case r.Absent != "" && d.now.Sub(p.MissingSince) >= MissingBlocks:
		action, change = d.to(flows.Blocked, r.Absent)
	case r.Err != nil:
		action, change = failed(r.Err)
	case !p.MissingSince.IsZero():
		next.MissingSince = time.Time{}
		action, change = d.keep(next)
	case Differs(p, r) != "":
		action, change = d.to(flows.Blocked, Differs(p, r))
	default:
		return action, nil, false
	}
	return action, change, true
}

// create makes the payment at the processor. A repetition returns the same payment.
func (d turn) create() (Action, *Change) {
	p, call := d.p, d.f.Call
	switch {
	case d.f.Wish == GiveUp:
		return d.unlessCreated(GroupSpan, *p, flows.Cancelled, "the buyer gave up")
	case d.now.Sub(p.CreatedAt) > CreateWithin:
		return d.unlessCreated(ClockSkew, *p, flows.Cancelled, "too old to be created at the processor")
	case call == nil:
		return act(Create)
	}
	next := *p
	switch call.Outcome {
	case Done:
		return d.created(call.Response)
	case KeyReused:
		return d.unlessCreated(GroupSpan, next, flows.Blocked, "the processor holds another payment for this sale and generation")
	case KeyUsedUp: // the next key, only if the list shows that nothing was created
		next.UsedKeys++
		return d.unlessCreated(GroupSpan, next, p.State, p.Reason)
	case Refused:
		next.CreationRefused = true
		return d.unlessCreated(ClockSkew, next, flows.Cancelled, "the processor refused to create it")
	}
	return failed(call.Err)
}

// unlessCreated continues with the agreed payment if the processor's list has it, whatever its description: the response to its
// creation, or Redis' record of it, was lost. Otherwise nothing was created, and the given change follows.
func (d turn) unlessCreated(span time.Duration, absent flows.Payment, to flows.PaymentState, reason string) (Action, *Change) {
	switch l := d.f.Listed; {
	case l == nil:
		return Action{Kind: Search, Since: d.p.CreatedAt.Add(-span)}, nil
	case l.Err != nil:
		return failed(l.Err)
	case l.Payment == nil:
		return d.write(absent, to, reason)
	case Differs(d.p, l.Payment) != "":
		return d.to(flows.Blocked, "created before, and "+Differs(d.p, l.Payment))
	default:
		return d.created(l.Payment)
	}
}

func (d turn) created(r *Remote) (Action, *Change) {
	next := *d.p
	next.ProcessorID, next.ClientSecret = r.ID, r.ClientSecret
	return d.write(next, flows.Intent, "waiting for the buyer at the processor")
}

// awaitBuyer follows what the buyer does at the processor.
func (d turn) awaitBuyer() (Action, *Change) {
	p, r := d.p, d.f.Remote
	next := *p
	switch {
	case d.f.Wish == Again && p.Declined():
		return d.tryAgain()
	case d.f.Wish == Again: // another process was faster
		return wait(IdlePause(p, d.now))
	case r == nil:
		return act(Read)
	case r.OtherMethod != "":
		return d.refuseOtherMethod()
	case r.State == cards.Authorised, r.State == cards.Captured, r.Capturing:
		next.DeclineCode, next.CaptureBefore = "", r.CaptureBefore
		return d.write(next, flows.Authorised, "the buyer authorised it")
	case r.State == cards.Cancelled:
		return d.to(flows.Cancelling, "it was cancelled at the processor")
	case r.State == cards.Refunded:
		return d.to(flows.Blocked, "it was refunded at the processor")
	}
	// The processor counts neither a failed challenge nor what the key may not read, so each decline that is read counts too.
	declined := r.State == cards.Declined && r.Decline != p.Decline
	if declined {
		next.Declines++
	}
	next.DeclineCode, next.Decline, next.Declines = r.DeclineCode, r.Decline, max(next.Declines, r.Declines)
	deciding := r.State == cards.Processing
	switch {
	case deciding && p.MaybeCapturing():
		return wait(PollEvery)
	case next.DeclinedTooOften():
		return d.write(next, flows.Cancelling, "declined too often")
	case !p.EndsAt.IsZero() && d.now.After(p.EndsAt):
		return d.to(flows.Cancelling, "the registration has ended")
	case declined:
		next.Processing = false
		return d.write(next, flows.Intent, "declined: "+r.DeclineCode)
	case deciding && !p.Processing:
		next = *p
		next.Processing, next.DeclineCode = true, ""
		return d.write(next, flows.Intent, "the bank is deciding about the buyer's card")
	case !deciding && p.Processing, r.State != cards.Declined && p.Declined():
		return d.tryAgain()
	case d.f.Wish == GiveUp:
		return d.to(flows.Cancelling, "the buyer gave up")
	case d.now.Sub(p.UpdatedAt) <= IdleIntent:
		return wait(IdlePause(p, d.now))
	case p.Processing:
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
	p, r, call := d.p, d.f.Remote, d.f.Call
	switch {
	case call == nil && PauseLeft(p, d.now) > 0:
		return wait(PauseLeft(p, d.now))
	case call == nil:
		return act(Cancel)
	case call.Outcome == Failed, call.Outcome == KeyReused:
		return failed(call.Err)
	case r == nil:
		return act(Read)
	case r.State == cards.Cancelled:
		return d.to(flows.Cancelled, p.Reason)
	case r.State == cards.Captured, r.State == cards.Refunded:
		return d.to(flows.Blocked, "cannot be cancelled: at the processor it is "+string(r.State))
	}
	next := *p
	next.UsedKeys++
	if call.Outcome != KeyUsedUp { // it is refused for now
		next.NotBefore = d.now.Add(PollEvery).Round(0)
	}
	return d.keep(next)
}
