package protocol

import (
	"cmp"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// A payment becomes in doubt when the club system may have recorded it, and nothing proves that it did or did not. record.go has
// every such case: before the POST (agreeToRecord, claim, claimed), when the process that was sending it is gone (record), after the
// POST (outcome, rejected), and without a processor (endUnrecorded, prepareWithoutProcessor). proven in prove.go has the cases after a
// loss of Redis. A doubt that was blocked returns to being one, see lift in after.go.

// prepare moves a captured payment to sending, owned by this process, if its sale is still as agreed.
func (d turn) prepare() (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	pause, pauseKnown := d.pause()
	left, brakeKnown := d.brake()
	switch {
	case !pauseKnown:
		return act(AskAccepted)
	case pause > 0:
		return wait(pause)
	case remote == nil: // no claim is spent on a processor that cannot be read
		return act(Read)
	case remote.State == cards.Processing: // an older release took the bank's pending decision for a capture
		return wait(PollEvery)
	case payment.ReleasePending:
		return d.releaseLate()
	case !brakeKnown:
		return act(AskBrake)
	case left > 0:
		return wait(min(left, PollEvery))
	case !Agreed(payment, d.now):
		return d.agreeToRecord()
	}
	return d.own(*payment, "about to be recorded")
}

// agreeToRecord continues if the sale is still as agreed. If it differs, it cannot take the money, and the buyer gets it back on
// two conditions: the journal proves that no POST of ours was booked, and the payment was never in doubt or blocked, because
// staff may then have recorded it by hand. Otherwise the payment is in doubt. So is one whose sale could not be read for a day.
func (d turn) agreeToRecord() (Action, *Change) {
	payment, sale := d.p, d.f.Sale
	if sale == nil {
		return act(Recheck)
	}
	next := *payment
	gone := sale.Gone && Expired(sale.At, payment.SaleMissingSince, flows.GoneAfter)
	switch {
	case sale.Gone && payment.SaleMissingSince.IsZero():
		next.SaleMissingSince = sale.At.Round(0)
		return d.keep(next)
	case sale.Err != nil && !gone && Expired(sale.At, SendableSince(payment), SaleUnreadableAfter):
		return d.to(flows.InDoubt, "the sale could not be read for a day")
	case sale.Err != nil && !gone:
		return failed(sale.Err)
	}
	reason := "the club system no longer has the sale"
	if !gone {
		reason = payment.ChangedSinceAgreed(sale.Sale, sale.Check)
	}
	if reason == "" {
		next.Payer, next.SaleMissingSince = sale.payer(), time.Time{}
		return d.keep(next)
	}
	r := d.f.Remote // read after the sale: the journal may have grown until then
	notBooked := r.Journal.Available(payment.Claim+1, "")
	forgotten := payment.Rebuilt && !payment.HasBeen(flows.Capturing) // Redis lost what it was after the capture, perhaps blocked
	seenByStaff := forgotten || payment.HasBeen(flows.InDoubt) || payment.HasBeen(flows.Blocked) || r.Journal.ByOperator
	if !notBooked || seenByStaff {
		return d.to(flows.InDoubt, reason)
	}
	reading := flows.Reading{Evidence: flows.Evidence{At: sale.At}}
	if !gone {
		reading.SaleState = &sale.Sale.State
	}
	next.Readings = WithReading(payment.Readings, reading)
	return d.write(next, flows.RefundDue, reason)
}

// own moves the payment to sending under the next claim. Only this process may then send the POST.
func (d turn) own(next flows.Payment, reason string) (Action, *Change) {
	next.Claim, next.AttemptID = d.p.Claim+1, NewAttemptID(d.now, d.f.ID)
	action, change := d.write(next, flows.Sending, reason)
	change.Lease = Lease
	return action, change
}

// record sends the one POST under a claim. Only the owner may, the process that moved the payment to sending, and only while the
// claim is young. To every other process the outcome is unknown: once the owner's lease has been over for LeaseGrace, the payment is
// in doubt. Until then, the commit of that change is refused.
func (d turn) record() (Action, *Change) {
	switch {
	case d.f.Owner.IsZero():
		action, change := d.to(flows.InDoubt, "the process that was recording it ended")
		change.LeaseExpiredFor = LeaseGrace
		return action, change
	case d.f.Post != nil:
		return d.outcome()
	case d.f.Claim != nil:
		return d.claimed()
	case d.p.HasProcessor():
		return d.claim()
	}
	return d.send()
}

// claim requests the right to send. The journal is read first: the processor may have forgotten the key of an attempt that Redis
// lost, but not its entry. After a capture by this process, the response to the capture is enough; see Facts.Committed.
func (d turn) claim() (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	switch {
	case remote == nil:
		return act(Read)
	case remote.Err != nil:
		return d.notSent("the processor could not be asked before the claim", 0)
	case Differs(payment, remote) != "":
		return d.to(flows.Blocked, Differs(payment, remote))
	case remote.OtherMethod != "":
		return d.refuseOtherMethod()
	case !remote.Journal.Available(payment.Claim, ""):
		return d.to(flows.InDoubt, "the processor's journal holds another attempt")
	case d.f.Late(d.now):
		return d.notSent("the claim was not confirmed by the processor", 0)
	}
	return act(Claim)
}

// claimed follows the writing of a claim. A claim whose key is used up has no next key: it is released, and the next claim follows.
func (d turn) claimed() (Action, *Change) {
	payment, claim := d.p, d.f.Claim
	switch remote := claim.Response; {
	case claim.Outcome == KeyReused:
		return d.to(flows.InDoubt, "claim "+strconv.Itoa(payment.Claim)+" is held by another process")
	case claim.Outcome != Done:
		return d.notSent("the claim was not confirmed by the processor", 0)
	case !remote.Journal.Available(payment.Claim, payment.AttemptID):
		return d.to(flows.InDoubt, "the processor's journal holds another attempt")
	case !remote.HoldsAll():
		return d.release(d.to(flows.Blocked, "not recordable: at the processor it is "+string(remote.State)))
	}
	return d.send()
}

// send sends the POST while the claim is young.
func (d turn) send() (Action, *Change) {
	if d.f.Late(d.now) {
		return d.notSent("the club system could not be reached", 0)
	}
	return act(Post)
}

// outcome follows the POST. An outcome that is not certain is a doubt. After a refusal it is sent once more: with a new token, or
// when the limit of the API gateway ends, if that is soon.
func (d turn) outcome() (Action, *Change) {
	post, late := d.f.Post, d.f.Late(d.now)
	switch post.Outcome {
	case club.Accepted:
		action, change := d.to(flows.Recorded, "the club system accepted it")
		return action, d.accepted(change)
	case club.NotSent:
		if post.Limited {
			return d.notSent("the quota of calls to the club system is used up", post.Limit)
		}
		if post.Tries < TriesPerClaim && !late {
			return act(Post)
		}
		return d.notSent("the club system could not be reached", 0)
	case club.Refused:
		if !post.Corrected && post.Limit <= ShortLimit && !late {
			return Action{Kind: Post, For: post.Limit}, nil
		}
		if post.Limited {
			return d.notSent("the quota of calls to the club system is used up", post.Limit)
		}
		return d.notSent("the club system refused our credentials", 0)
	case club.Rejected:
		return d.rejected()
	}
	return d.to(flows.InDoubt, "the outcome at the club system is unknown"+post.Seen)
}

// rejected follows a refusal by the club system's application. It counts only if the sale is still as it was: then the money goes
// back. Where sales show no state, a settled one looks like an open one. Money, unlike a deferral or a validation, can also be booked
// for a sale that fails its check.
func (d turn) rejected() (Action, *Change) {
	payment, s := d.p, d.f.Sale
	switch {
	case s == nil:
		return act(Recheck)
	case len(d.f.Post.Restrictions) > 0:
		return d.restricted()
	}
	conclusive := payment.SaleState != "" && (s.Check.Valid || !payment.Method.BooksMoney())
	if s.Err == nil && conclusive && s.Sale.State == payment.SaleState && payment.MatchesSale(s.Sale) {
		return d.release(d.endUnrecorded(*payment, "the club system rejected it, and the sale is untouched"))
	}
	return d.to(flows.InDoubt, "the club system rejected it, but the sale does not look untouched")
}

// restricted follows a refusal because of what the buyer may not buy. It is documented that the sale had no payment then, so the money
// goes back, whatever else can be read. But a sale that is settled now was settled by the club's staff, or by this request: something in
// front of the club system may have sent it twice. Where sales show no state, only a failed check can mean that.
func (d turn) restricted() (Action, *Change) {
	payment, s := d.p, d.f.Sale
	if s.Err == nil && (s.Sale.State != payment.SaleState || payment.SaleState == "" && !s.Check.Valid) {
		return d.to(flows.InDoubt, "the club system refused it for a restriction, but the sale does not look untouched")
	}
	next := *payment
	next.Restrictions = d.f.Post.Restrictions
	return d.release(d.endUnrecorded(next, "the club system refused it for a restriction"+d.f.Post.Seen))
}

// notSent releases the claim after an attempt that certainly had no effect. limit is how long the limit lasts that was reached;
// zero: none was. No attempt is left if all claims are used, or if a buyer without a charge would have to wait too long.
func (d turn) notSent(reason string, limit time.Duration) (Action, *Change) {
	payment, before, tries := d.p, flows.Captured, MaxClaims
	if !payment.HasProcessor() {
		before, tries = flows.Priced, MaxSettlements
	}
	if payment.Claim >= tries || !payment.Method.BooksMoney() && limit > SettleWithin {
		return d.release(d.endUnrecorded(*payment, reason+"; no attempt is left"))
	}
	next := *payment
	next.NotBefore = d.now.Add(PauseAfter(payment, limit)).Round(0)
	next.Payer = payment.Payer.Outdated() // staff may act in the pause, so the sale is read again
	return d.release(d.write(next, before, reason))
}

// endUnrecorded ends a payment that was certainly not recorded, and is not sent again. By card, the money goes back. At the desk, the
// payment becomes in doubt once the staff who took the money no longer wait for the result, so that operators see it. That doubt has no
// attempt: nothing of it can have left, so no rule may end it.
func (d turn) endUnrecorded(next flows.Payment, reason string) (Action, *Change) {
	switch p := d.p; {
	case p.HasProcessor():
		return d.write(next, flows.RefundDue, reason)
	case p.Method == flows.InPerson && d.now.Sub(p.CreatedAt) > SettleWithin: // only operators still look at it
		next.AttemptID = ""
		return d.write(next, flows.InDoubt, reason)
	}
	return d.write(next, flows.Cancelled, reason)
}

// release has the claim released before a change that gives it up. A release that fails is owed; see releaseLate.
func (d turn) release(action Action, change *Change) (Action, *Change) {
	if d.p.HasProcessor() {
		change.First = Release
	}
	return action, change
}

// accepted has the acceptance journaled of a card payment that becomes recorded. The processor keeps no entry without a text, so a payment
// that was recorded by hand before its first attempt gets one.
func (d turn) accepted(change *Change) *Change {
	if d.p.HasProcessor() {
		change.Then = Acceptance
		change.Record.AttemptID = cmp.Or(change.Record.AttemptID, NewAttemptID(d.now, d.f.ID))
	}
	return change
}

// releaseLate writes a release that failed when its outcome was committed.
func (d turn) releaseLate() (Action, *Change) {
	switch release := d.f.Release; {
	case release == nil:
		return act(Release)
	case release.Outcome != Done:
		return failed(release.Err)
	}
	next := *d.p
	next.ReleasePending = false
	return d.keep(next)
}

// prepareWithoutProcessor is prepare for the other methods. No money is taken before it is sent, except at the desk. A sale that is
// settled already was settled by the club's staff, or by this payment before Redis lost it: an operator must find out. A payment that gets
// no further here has no attempt, see endUnrecorded.
func (d turn) prepareWithoutProcessor() (Action, *Change) {
	payment, sale := d.p, d.f.Sale
	pause, pauseKnown := d.pause()
	left, brakeKnown := d.brake()
	switch {
	case d.f.Wish == GiveUp:
		return d.endUnrecorded(*payment, "the buyer gave up")
	case payment.Method != flows.InPerson && d.now.Sub(payment.UpdatedAt) > SettleWithin:
		return d.to(flows.Cancelled, "it could not be sent in time")
	case !pauseKnown:
		return act(AskAccepted)
	case pause > 0:
		return wait(pause)
	case !brakeKnown:
		return act(AskBrake)
	case left > 0:
		return d.awaitBrake(left)
	case sale == nil:
		return act(CheckSale)
	case sale.Err != nil && Expired(d.now, SendableSince(payment), SaleUnreadableAfter): // of money at the desk
		return d.endUnrecorded(*payment, "the sale could not be read for a day")
	case sale.Err != nil:
		return failed(sale.Err)
	}
	next := *payment
	if sale.Sale.State != payment.SaleState {
		next.AttemptID = ""
		return d.write(next, flows.InDoubt, "the sale is settled already")
	}
	next.Snapshot = sale.Seen
	if reason := payment.ChangedSinceAgreed(sale.Sale, sale.Check); reason != "" {
		next.AttemptID = ""
		return d.endUnrecorded(next, reason)
	}
	next.Payer, next.OnHold = sale.payer(), false
	return d.own(next, "the sale is as agreed, and about to be settled")
}
