package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// Choice is what an operator decides.
type Choice string

// The choices.
const (
	ConfirmRecorded Choice = "confirm_recorded" // the club system has the payment; or the finding is settled by hand
	SendAgain       Choice = "send_again"       // the club system does not have it: it is sent under the next claim
	GiveBack        Choice = "refund"           // the club system does not have it: the buyer gets the money back
	CallOff         Choice = "cancel"           // the club system does not have it, and there is nothing to refund
)

// Decision is an operator's decision about a payment.
type Decision struct {
	Choice Choice
	flows.Decision
	Offered bool // Allowed asks whether it is possible: the sale is not read, and is as the latest evidence shows it, or as agreed
}

// Offer is a decision that is possible.
type Offer struct {
	Choice   Choice
	Override bool // it is possible only with an override, or has another effect with one
}

// Allowed returns what an operator may decide about a payment, as far as the facts show: it asks Next whether it would carry out each
// decision. The facts must have the processor's payment, if there is one, and the latest payment of the registration.
func Allowed(p *flows.Payment, f Facts, now time.Time) (offers []Offer) {
	would := func(choice Choice, override bool) (effect string) { // empty: Next refuses it, or cannot say now
		f.Decision = &Decision{Choice: choice, Decision: flows.Decision{Override: override}, Offered: true}
		switch action, change := Next(p, f, now); {
		case change != nil:
			return string(change.Record.State)
		case action.Kind == ReleaseByOperator:
			return string(action.Kind)
		}
		return ""
	}
	for _, choice := range []Choice{ConfirmRecorded, SendAgain, GiveBack, CallOff} {
		plain := would(choice, false)
		if plain != "" {
			offers = append(offers, Offer{choice, false})
		}
		if override := would(choice, true); override != "" && override != plain {
			offers = append(offers, Offer{choice, true})
		}
	}
	if slices.Contains(offers, Offer{GiveBack, false}) { // it also ends a payment of which nothing is left to refund
		offers = slices.DeleteFunc(offers, func(o Offer) bool { return o.Choice == CallOff })
	}
	return offers
}

// decide carries out a decision, or refuses it. An operator may decide about three things: a doubt, a block, and a finding of a
// recorded payment. An unverifiable payment has no record: see Endable.
func (d turn) decide() (Action, *Change) {
	payment, choice := d.p, d.f.Decision.Choice
	switch {
	case payment.Finding() != "" && choice == ConfirmRecorded:
		return d.settleFinding()
	case payment.State == flows.InDoubt:
		return d.endDoubt()
	case payment.State == flows.Blocked && choice != SendAgain:
		return d.endBlocked()
	}
	return refuse(notInDoubt(payment))
}

// decided writes a decision. If a card payment becomes recorded, its acceptance is journaled.
func (d turn) decided(next flows.Payment, to flows.PaymentState, reason string) (Action, *Change) {
	change := Transition(d.p, next, to, reason, d.f.Decision.Decision, d.now)
	if to == flows.Recorded && d.p.State != flows.Recorded {
		change = d.accepted(change)
	}
	return Action{}, change
}

// settleFinding ends the finding under which the payment is listed, because an operator has settled it by hand: the club system has
// the refund or the dispute; the sale is as it should be; or only one payment of the sale is left. A payment with another finding is
// then listed under that.
func (d turn) settleFinding() (Action, *Change) {
	next := *d.p
	switch d.p.Finding() {
	case flows.Contradicted:
		next.Acknowledged = d.p.Difference
		return d.decided(next, flows.Recorded, "an operator confirmed that the club system has it too")
	case flows.RecordedUnsettled:
		next.SaleVerdict = flows.SaleSettled
		return d.decided(next, flows.Recorded, "an operator settled the sale")
	}
	next.PaidTwice = false
	return d.decided(next, flows.Recorded, "an operator found it recorded once")
}

// endDoubt ends a doubt. A decision about a card payment is about the latest claim in the journal, which Redis may have lost.
func (d turn) endDoubt() (Action, *Change) {
	payment, remote, choice := d.p, d.f.Remote, d.f.Decision.Choice
	switch {
	case choice == GiveBack && !payment.HasProcessor():
		return refuse(NotDecidable("This payment has no card processor, so there is nothing to refund. Use --cancel."))
	case choice == CallOff && payment.HasProcessor():
		return refuse(NotDecidable("The card payment was captured, so it cannot be cancelled. Use --send-again or --refund."))
	case choice == SendAgain && d.f.Latest == nil:
		return act(ReadLatest)
	case choice == SendAgain && Rival(payment, d.f.Latest.Payment) != nil:
		return refuse(Rival(payment, d.f.Latest.Payment))
	case payment.HasProcessor() && remote == nil:
		return act(Read)
	case payment.HasProcessor() && remote.Err != nil && remote.Absent == "":
		return failed(remote.Err)
	case payment.HasProcessor() && Undecidable(payment, remote) != nil:
		return refuse(Undecidable(payment, remote))
	}
	next := *payment
	next.ReleasePending = false
	if payment.HasProcessor() {
		if n, attempt := remote.Journal.Last(); n >= payment.Claim {
			next.Claim, next.AttemptID = n, attempt
		}
	}
	switch {
	case choice != ConfirmRecorded:
		return d.notRecorded(next)
	case payment.HasProcessor() && remote.State == cards.Refunded:
		return refuse(NotDecidable("The payment was refunded in full at the processor. Undo it in the club system, " +
			"then run confirm-not-recorded with --refund."))
	}
	return d.decided(next, flows.Recorded, "an operator confirmed that it is recorded")
}

// Undecidable says why nothing can be decided about a card payment in doubt, as the processor shows it; nil if it can.
func Undecidable(p *flows.Payment, remote *Remote) *flows.Error {
	switch differs := cmp.Or(remote.Absent, Differs(p, remote)); {
	case differs != "":
		return NotDecidable("Nothing can be decided: %s.", differs)
	case remote.Journal.RefundClaimed():
		return NotDecidable("A refund has begun: the journal at the processor holds its claim. " +
			"Check there whether the buyer was refunded, and leave a note here.")
	case !remote.HoldsAll() && remote.State != cards.Refunded:
		return NotDecidable("At the processor the payment is %s, with %s of %s refunded. Refund the rest there first.", remote.State,
			flows.Price(remote.Refunded, remote.Currency), flows.Price(remote.Captured, remote.Currency))
	}
	return nil
}

// Rival refuses to have a payment sent again if the registration's latest payment may settle the same sale; nil if it does not: both
// would find the sale open. Redis can lose a payment's record, which is rebuilt in addition to a later one.
func Rival(p, latest *flows.Payment) *flows.Error {
	if !latest.Live() || latest.ID == p.ID || latest.Sale != p.Sale {
		return nil
	}
	return NotDecidable("It cannot be sent again: payment %s of the same sale is %s, and may settle it. "+
		"Decide on that one first, or use --refund.", latest.ID, latest.State)
}

// notRecorded ends the doubt of a payment that the club system does not have. That needs a journal without an acceptance, an attempt so
// old that nothing can arrive any more, a sale that does not contradict it, and the release of the claim.
func (d turn) notRecorded(next flows.Payment) (Action, *Change) {
	payment, remote, choice := d.p, d.f.Remote, d.f.Decision.Choice
	card := payment.HasProcessor()
	switch {
	case card && remote.Journal.Accepted:
		return refuse(acceptedAfterAll())
	case card && choice == SendAgain && remote.State == cards.Refunded:
		return refuse(NotDecidable("The payment was refunded in full at the processor, so it cannot be recorded. Decide with --refund."))
	case card && choice == SendAgain && next.Claim >= MaxClaims:
		return refuse(NotDecidable("All %d attempts to record it are used up. Use --refund.", MaxClaims))
	}
	if from := NotRecordedFrom(payment, remote); from.After(d.now) {
		return refuse(&flows.Error{Code: flows.TooEarly, RetryAfter: from.Sub(d.now), Operator: fmt.Sprintf(
			"The request may still arrive. This decision is possible from %s.", from.UTC().Format(TimeFormat))})
	}
	if action, allowed := d.saleAllows(); !allowed {
		return action, nil
	}
	if card {
		if action, released := d.releaseDecided(next); !released {
			return action, nil
		}
	}
	next.NotBefore, next.Payer = time.Time{}, payment.Payer.Outdated() // the sale is read again before the next claim
	to := flows.Cancelled
	switch {
	case choice == GiveBack:
		to = flows.RefundDue
	case choice == SendAgain && card:
		to = flows.Captured
	case choice == SendAgain:
		to = flows.Priced
	}
	return d.decided(next, to, "an operator confirmed that it is not recorded")
}

// TimeFormat shows an instant to operators.
const TimeFormat = time.DateTime + "Z"

// NotRecordedFrom returns when an operator may decide that a payment in doubt was not recorded: DecideAfter after the latest attempt. r is
// nil without a processor.
func NotRecordedFrom(p *flows.Payment, r *Remote) time.Time {
	return latestAttempt(p, r).Add(DecideAfter)
}

// latestAttempt returns when the latest attempt in the record or in the journal began. Without a processor, or for an attempt that has
// no time, that is the beginning of the doubt.
func latestAttempt(p *flows.Payment, remote *Remote) time.Time {
	latest, ok := AttemptStart(p.AttemptID)
	if !ok || !p.HasProcessor() {
		latest = p.InDoubtSince()
	}
	if remote == nil {
		return latest
	}
	for n := 1; n <= HighestClaim; n++ {
		if at, ok := AttemptStart(remote.Journal.Entry(n).Attempt); ok && at.After(latest) {
			latest = at
		}
	}
	return latest
}

// releaseDecided releases the claim that is decided about, so that no attempt that Redis lost can use it.
func (d turn) releaseDecided(next flows.Payment) (Action, bool) {
	journal, release := d.f.Remote.Journal, d.f.Release
	switch {
	case release == nil && journal.Entry(next.Claim).Release == "":
		return Action{Kind: ReleaseByOperator, Number: next.Claim, Attempt: next.AttemptID}, false
	case release == nil:
	case release.Outcome == Done:
		journal = release.Response.Journal
	case release.Outcome != KeyReused || next.Claim == 0:
		return Action{Kind: Wait, For: PollEvery, Err: release.Err}, false
	}
	switch {
	case next.Claim > 0 && journal.Entry(next.Claim).Release != next.AttemptID:
		return refusal(NotDecidable("The journal at the processor holds a release of claim %d that names another attempt, "+
			"so nothing was decided. Look at the payment again.", next.Claim)), false
	case journal.Accepted:
		return refusal(acceptedAfterAll()), false
	}
	return Action{}, true
}

// saleAllows refuses a decision that the sale contradicts. A payment is not sent again to a sale that changed since the capture: at best
// the club system would book the money on the contact's account. It is not refunded while the sale is settled, perhaps by this very
// payment, unless the operator overrides that.
func (d turn) saleAllows() (Action, bool) {
	in, payment, sale := d.f.Decision, d.p, d.f.Sale
	again := in.Choice == SendAgain
	settled := NotDecidable("The sale has been settled. If this payment settled it, run confirm-recorded. " +
		"If it certainly did not, add --override.")
	switch {
	case in.Override && !again:
		return Action{}, true
	case in.Offered && SeenSettled(payment):
		return refusal(settled), false
	case in.Offered:
		return Action{}, true
	case sale == nil:
		return Action{Kind: CheckSale}, false
	case sale.Gone && again:
		return refusal(NotDecidable("It cannot be sent again: the club system does not find the sale.")), false
	case sale.Gone:
		return refusal(NotDecidable("The club system does not find the sale. " +
			"If the payment is certainly not on the person's account either, add --override.")), false
	case sale.Err != nil:
		return Action{Kind: Wait, For: PollEvery, Err: sale.Err}, false
	case again && payment.HasProcessor() && payment.ChangedSinceAgreed(sale.Sale, sale.Check) != "":
		return refusal(NotDecidable("It cannot be sent again: %s. If this payment did that, run confirm-recorded; otherwise use --refund.",
			payment.ChangedSinceAgreed(sale.Sale, sale.Check))), false
	case again && sale.Sale.State != payment.SaleState: // it would be in doubt again
		return refusal(NotDecidable("It cannot be sent again: the sale has been settled. If this payment settled it, run confirm-recorded; " +
			"otherwise use --cancel.")), false
	case sale.Sale.State != payment.SaleState:
		return refusal(settled), false
	}
	return Action{}, true
}

// endBlocked ends a blocked payment that was settled by hand, or has it refunded. What the processor has must agree: it keeps the money
// of one that is recorded, and keeps none of one that is not.
func (d turn) endBlocked() (Action, *Change) {
	payment, remote, choice := d.p, d.f.Remote, d.f.Decision.Choice
	switch {
	case payment.ProcessorID != "" && remote == nil:
		return act(Read)
	case payment.ProcessorID != "" && remote.Err != nil && remote.Absent == "":
		return failed(remote.Err)
	case choice == GiveBack:
		return d.refundBlocked()
	}
	to := settledAs(payment, remote, choice)
	switch {
	case to != "":
	case payment.ProcessorID == "":
		return refuse(neverCreated())
	case remote.Absent != "": // money may be kept
		return refuse(NotDecidable("The processor does not have this payment at present, so its money may be kept. " +
			"Check the account and the key; Frontdesk continues once the processor has it again. " +
			"If the buyer certainly has the money back, use confirm-not-recorded --refund --override."))
	default:
		return refuse(NotDecidable("The payment is blocked. At the processor it is %s, with %s of %s refunded. "+
			"Run frontdesk payments show for the possible decisions.", remote.State,
			flows.Price(remote.Refunded, remote.Currency), flows.Price(remote.Captured, remote.Currency)))
	}
	if choice == CallOff {
		if action, allowed := d.saleAllows(); !allowed {
			return action, nil
		}
	}
	return d.byHand(to)
}

// settledAs returns the state in which a blocked payment ends that an operator settled by hand; empty if the processor contradicts that,
// or does not say whether it keeps the money. r is nil if the payment was never created there.
func settledAs(p *flows.Payment, remote *Remote, choice Choice) flows.PaymentState {
	there, recorded := remote != nil && remote.Absent == "", choice == ConfirmRecorded
	switch {
	case recorded && p.HasProcessor() && (remote == nil || there && !remote.kept()):
		return ""
	case recorded:
		return flows.Recorded
	case remote == nil, there && remote.State == cards.Cancelled:
		return flows.Cancelled
	case there && remote.State == cards.Refunded:
		return flows.Refunded
	}
	return ""
}

// kept reports whether the processor keeps the money of a payment that can have been recorded by hand.
func (r *Remote) kept() bool {
	return r.State == cards.Captured && r.Refunding == 0 && (!r.Journal.RefundClaimed() || r.Journal.Accepted)
}

// byHand ends a blocked payment as an operator settled it.
func (d turn) byHand(to flows.PaymentState) (Action, *Change) {
	next := *d.p
	next.Difference = ""
	if r := d.f.Remote; r != nil && r.Absent == "" && (to == flows.Recorded || r.Disputed) {
		next.Difference = Difference(d.p, r)
	}
	next.Acknowledged = next.Difference // the operator sees it
	return d.decided(next, to, "an operator settled it by hand")
}

// refundBlocked has a blocked payment refunded. The new attempt has another key, because the processor would replay its refusal under
// the old one. It cannot refund twice: the processor gives back no more than it took.
func (d turn) refundBlocked() (Action, *Change) {
	payment, remote, override := d.p, d.f.Remote, d.f.Decision.Override
	switch {
	case !payment.HasProcessor():
		return refuse(notInDoubt(payment))
	case payment.ProcessorID == "":
		return refuse(neverCreated())
	case remote.Absent != "" && !override:
		return refuse(NotDecidable("Nothing can be refunded here: %s. Check the account and the key; Frontdesk continues "+
			"once the processor has it again. If the buyer certainly has the money back, add --override.", remote.Absent))
	case remote.Absent != "":
		return d.byHand(flows.Refunded)
	case Differs(payment, remote) != "":
		return refuse(NotDecidable("Nothing can be decided: %s.", Differs(payment, remote)))
	case !remote.refundable():
		return refuse(notInDoubt(payment))
	case remote.Disputed && override: // the bank has given the money back
		return d.byHand(flows.Refunded)
	}
	next := *payment
	next.Claim, next.AttemptID = remote.Journal.Last()
	if !remote.Journal.RefundClaimed() {
		next.Claim, next.AttemptID = next.Claim+1, RefundPrefix+NewAttemptID(d.now, d.f.ID)
	}
	next.RefundRetry, next.FailedRefunds, next.NotBefore = NewAttemptID(d.now, d.f.ID), remote.FailedRefunds, time.Time{}
	return d.decided(next, flows.Refunding, "an operator requested the refund")
}

// refundable reports whether an operator may have a blocked payment refunded: a refund has the last claim, or no claim is open, so that
// no request of ours recorded it, and the money is held, or went back already.
func (r *Remote) refundable() bool {
	if r.Journal.RefundClaimed() {
		return !r.Journal.Accepted
	}
	n, _ := r.Journal.Last()
	return (r.HoldsAll() || r.State == cards.Refunded) && r.Journal.Available(n+1, "")
}

// Endable reports whether an operator may end an unverifiable payment, by its state at the processor: nothing happens to it there any
// more unless a person does it. Any other one is cancelled at the processor instead.
func Endable(there cards.State) bool { return there == cards.Captured || there == cards.Refunded }

func refusal(why *flows.Error) Action           { return Action{Kind: Refuse, Err: why} }
func refuse(why *flows.Error) (Action, *Change) { return refusal(why), nil }

// NotDecidable refuses a decision.
func NotDecidable(format string, of ...any) *flows.Error {
	return &flows.Error{Code: flows.NotDecidable, Operator: fmt.Sprintf(format, of...)}
}

func notInDoubt(p *flows.Payment) *flows.Error {
	if p.State == flows.Blocked {
		return NotDecidable("The payment is blocked: %s. Run frontdesk payments show for the possible decisions.", p.Reason)
	}
	return NotDecidable("The payment is %s, not in_doubt: %s.", p.State, p.Reason)
}

func neverCreated() *flows.Error {
	return NotDecidable("The payment was never created at the processor, so it holds no money. Use confirm-not-recorded --cancel.")
}

func acceptedAfterAll() *flows.Error {
	return NotDecidable("The journal at the processor holds the club system's acceptance. The payment will be recorded in a moment.")
}
