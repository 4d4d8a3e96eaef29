package protocol_test

import (
	"reflect"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// This file has the laws of the walk. Each function returns the one that is broken; empty: none.

// does says what must be so before something is done.
func (j *journey) does(action protocol.Action) string {
	payment, there := j.p, j.there
	reserved := there == nil || there.State == cards.Authorised // else a capture replays what it did, or is refused
	switch {
	case j.steps == maxSteps:
		return "a payment does not come to an end"
	case action.Kind == protocol.Create && (payment.State != flows.Priced || j.notCreated):
		return "a payment is created twice"
	case action.Kind == protocol.Capture && payment.State != flows.Capturing,
		action.Kind == protocol.Cancel && payment.State != flows.Cancelling,
		action.Kind == protocol.Refund && payment.State != flows.Refunding, action.Kind == protocol.Post && payment.State != flows.Sending:
		return "money moves in a state that does not say so"
	case action.Kind == protocol.Capture && reserved && !j.brakePasses:
		return "money is taken while the brake holds, or without asking it"
	case action.Kind == protocol.Capture && reserved && j.now.Sub(payment.Payer.ReadAt) > 50*time.Second:
		return "money is taken for a sale that was not seen as agreed just before"
	case action.Kind == protocol.Claim && (there == nil || there.wrong || there.others):
		return "a claim is written without a journal that leaves it"
	case action.Kind == protocol.Claim && payment.State == flows.Sending && !j.owns():
		return "a process claims a payment that it does not own, or no longer"
	case action.Kind == protocol.Refund && (there == nil || there.wrong || !j.holdsClaim()):
		return "money goes back without a claim, or of what may have been recorded"
	case action.Kind == protocol.Release && claiming(payment) && (payment.State == flows.Sending || !j.usedUp):
		return "a claim is given up that may be in use"
	case action.Kind == protocol.ReleaseByOperator && j.f.Decision == nil:
		return "an operator's release is written without an operator"
	case action.Kind == protocol.Post && !j.owns():
		return "a process sends a payment that it does not own, or no longer"
	case action.Kind == protocol.Post && payment.HasProcessor() && (j.won == nil || !j.holdsClaim()):
		return "a payment is sent without a claim, or although another may be"
	case action.Kind == protocol.Post && payment.HasProcessor() && (j.won.State != cards.Captured || j.won.Refunded+j.won.Refunding > 0):
		return "a payment is sent whose money is not there"
	case action.Kind == protocol.Post && (len(j.posts) == 4 || !j.nothingSent()):
		return "a payment is sent again that may have been recorded, or too often"
	}
	return ""
}

// owns reports whether this process moved the payment to sending, at most ten seconds ago.
func (j *journey) owns() bool { return !j.f.Owner.IsZero() && j.now.Sub(j.f.Owner) <= 10*time.Second }

// holdsClaim reports whether the journal that was seen last says that the claim is the record's, and that nothing else can record it.
func (j *journey) holdsClaim() bool {
	r := j.there
	if j.won != nil {
		r = j.won
	}
	return r.holds && !r.others
}

// nothingSent reports whether no POST had an effect.
func (j *journey) nothingSent() bool {
	return !slices.ContainsFunc(j.posts, func(o club.Outcome) bool { return o != club.NotSent && o != club.Refused })
}

// wrote says what must be so of a change.
func (j *journey) wrote(change *protocol.Change) string {
	payment, next := j.p, &change.Record
	from, to, card := payment.State, next.State, payment.HasProcessor()
	acceptance := j.there != nil && j.there.Journal.Accepted
	last := flows.Transition{}
	if n := len(next.History); n > len(payment.History) {
		last = next.History[n-1]
	}
	switch {
	case from != to && !from.CanBecome(to):
		return "the table does not have the transition"
	case from != to && (last.State != to || last.Reason != next.Reason || !last.At.Equal(j.now)):
		return "a transition is not in the history"
	case (last.Operator != "") != (j.f.Decision != nil) && !j.byRule():
		return "a decision is not in the history, or one without an operator or the rule"
	case reflect.DeepEqual(payment, next):
		return "a change changes nothing"
	case !reflect.DeepEqual(agreed(payment), agreed(next)):
		return "what was agreed changes"
	case to.Final() && (next.Payer != nil || next.Desk != nil || next.Contact != ""):
		return "a record that has ended leads to a person"
	case next.Claim < payment.Claim:
		return "a claim's number is used again"
	case (change.First == protocol.Release) !=
		(card && from == flows.Sending && (to == flows.Captured || to == flows.RefundDue || to == flows.Blocked && j.won != nil)):
		return "a claim that is given up is not released, or one that is not given up is"
	case change.Then == protocol.Acceptance && (!card || to != flows.Recorded || from == to):
		return "an acceptance is journaled of what is not recorded"
	case change.Then == protocol.Acceptance && next.AttemptID == "":
		return "an acceptance is journaled without a text, so not at all"
	case change.Then == "" && card && to == flows.Recorded && from != to && !acceptance:
		return "a recording is not journaled"
	case (change.Lease > 0) != (to == flows.Sending && from != to):
		return "a payment is owned that is not sent, or the other way round"
	case (change.LeaseExpiredFor > 0) != (from == flows.Sending && j.f.Owner.IsZero()), change.LeaseExpiredFor > 0 && to != flows.InDoubt:
		return "a process continues what another one sends"
	case j.usedUp && from == to && next.UsedKeys == payment.UsedKeys && next.Claim == payment.Claim &&
		!next.Processing && next.MissingSince.IsZero():
		return "a used-up key is used again"
	case from == flows.Priced && next.UsedKeys > payment.UsedKeys && !j.notCreated:
		return "a creation is repeated that may have succeeded"
	case next.Payer != nil && next.Payer.ReadAt.After(payment.Payer.ReadAt) && (j.sale == nil || !j.sale.agreed):
		return "a sale counts as agreed that is not"
	case j.f.Decision != nil:
		return j.decided(next)
	case from != to:
		return j.moved(change)
	}
	return ""
}

// agreed returns what a record has besides what the protocol writes.
func agreed(p *flows.Payment) flows.Payment {
	q, n := *p, flows.Payment{}
	q.State, q.Reason, q.History, q.UpdatedAt, q.DoubtSince = n.State, n.Reason, n.History, n.UpdatedAt, n.DoubtSince
	q.ProcessorID, q.ClientSecret, q.CreationRefused, q.CaptureBefore, q.UsedKeys = n.ProcessorID, n.ClientSecret, false, n.CaptureBefore, 0
	q.DeclineCode, q.Decline, q.Declines, q.Processing, q.OnHold, q.MissingSince = "", "", 0, false, false, n.MissingSince
	q.Payer, q.Desk, q.Contact, q.Snapshot, q.SaleMissingSince, q.NotBefore = nil, nil, "", nil, n.SaleMissingSince, n.NotBefore
	q.Claim, q.AttemptID, q.ReleasePending, q.RefundRetry, q.FailedRefunds, q.Readings = 0, "", false, "", 0, nil
	q.SaleVerdict, q.Difference, q.Acknowledged, q.DebtAfter, q.PaidTwice, q.Restrictions = "", "", "", nil, false, nil
	return q
}

// byRule reports whether the rule may end a doubt: the sale was settled within a minute of our attempt, while the money is held.
func (j *journey) byRule() bool {
	return j.p.State == flows.InDoubt && j.sale != nil && j.sale.settled && j.now.Sub(j.p.UpdatedAt) <= time.Minute &&
		(!j.p.HasProcessor() || j.there.State == cards.Captured && j.there.others && j.there.Refunded+j.there.Refunding == 0)
}

// moved says what must have been seen before a transition without a decision.
func (j *journey) moved(change *protocol.Change) string {
	payment, there, sale, from, to := j.p, j.there, j.sale, j.p.State, change.Record.State
	shows := func(states ...cards.State) bool { return there != nil && slices.Contains(states, there.State) }
	takes := payment.Method.BooksMoney() && (!protocol.Taken(payment) ||
		j.now.Sub(payment.UpdatedAt) <= 30*time.Minute) // the brake may hold it
	var posted club.Outcome // how the latest POST ended
	if n := len(j.posts); n > 0 {
		posted = j.posts[n-1]
	}
	restricted := j.f.Post != nil && len(j.f.Post.Restrictions) > 0
	missing := !payment.MissingSince.IsZero() && j.now.Sub(payment.MissingSince) >= 30*time.Minute
	switch {
	case there != nil && there.wrong && to != flows.Blocked && change.First == "":
		return "a payment moves by what the processor does not show, or what is not ours"
	case to == flows.Blocked && there != nil && there.Err != nil && (there.Absent == "" || !missing):
		return "a payment that the processor does not show is blocked within half an hour"
	case from == flows.Blocked && payment.MissingSince.IsZero() && to != flows.Refunded:
		return "a blocked payment continues without an operator"
	case from == flows.InDoubt && to != flows.Blocked && (to != flows.Recorded || !j.byRule() && (there == nil || !there.Journal.Accepted)):
		return "a doubt ends without acceptance, rule or decision"
	case posted == club.Unknown && to != flows.InDoubt, (posted == club.Accepted) != (from == flows.Sending && to == flows.Recorded):
		return "a POST leads to what it does not say"
	case posted == club.Rejected && to != flows.InDoubt && (sale == nil || sale.Err != nil && !restricted || sale.settled):
		return "a rejection counts although the sale does not say so"
	case restricted && to == flows.InDoubt && payment.HasProcessor() && (sale == nil || !sale.settled && payment.SaleState != ""):
		return "a refusal for a restriction is in doubt although the sale does not say so"
	case (posted == club.NotSent || posted == club.Refused) && to == flows.InDoubt && payment.HasProcessor():
		return "a POST without an effect becomes a doubt"
	case to == flows.Intent && from == flows.Priced && !j.created:
		return "a payment waits for its buyer that was not created"
	case to == flows.Authorised && from == flows.Intent && !shows(cards.Authorised, cards.Captured, cards.Processing):
		return "a payment is authorised that the processor does not show so"
	case to == flows.Capturing && from == flows.Authorised && !shows(cards.Captured, cards.Processing) &&
		(!j.brakePasses || sale == nil || !sale.agreed):
		return "a payment is about to be taken whose sale is not agreed, or which the brake holds"
	case to == flows.Captured && from == flows.Capturing && !shows(cards.Captured):
		return "a payment is captured that the processor does not show so"
	case to == flows.Sending && (takes && !j.brakePasses || j.now.Sub(change.Record.Payer.ReadAt) > 50*time.Second):
		return "a payment is about to be sent that the brake holds, or whose sale was not just seen as agreed"
	case to == flows.Sending && payment.HasProcessor() && (there == nil || payment.ReleasePending):
		return "a payment is about to be sent before the processor was read, or an earlier claim given up"
	case to == flows.RefundDue && from == flows.Captured && j.f.Outranked == "" && (sale == nil || sale.agreed || there == nil ||
		there.others || there.Journal.ByOperator || payment.Rebuilt || payment.HasBeen(flows.InDoubt)):
		return "money is to go back that may have been recorded"
	case to == flows.Refunded && !shows(cards.Refunded), to == flows.Cancelled && payment.ProcessorID != "" && !shows(cards.Cancelled):
		return "a payment ends as the processor does not show it"
	case to == flows.Cancelled && payment.HasProcessor() && payment.ProcessorID == "" && !j.notCreated:
		return "a payment is cancelled that may have been created"
	}
	return ""
}

// decided says what must have been seen before a decision is carried out.
func (j *journey) decided(next *flows.Payment) string {
	payment, there, from, to := j.p, j.there, j.p.State, next.State
	override := j.f.Decision.Override
	card := payment.HasProcessor() && payment.ProcessorID != ""
	switch {
	case there != nil && there.wrong && from == flows.InDoubt, card && there == nil && from != flows.Recorded:
		return "it is decided about what the processor does not show, or what is not ours"
	case from == flows.InDoubt && to != flows.Recorded && j.now.Sub(payment.UpdatedAt) < 15*time.Minute:
		return "it is decided that nothing was recorded while it may still arrive"
	case from == flows.InDoubt && to != flows.Recorded && to != flows.Priced && (!override || to == flows.Captured) &&
		(j.sale == nil || j.sale.Err != nil || j.sale.settled):
		return "it is decided that nothing was recorded although the sale does not say so"
	case from == flows.InDoubt && to != flows.Recorded && there != nil && !j.released && there.Journal.Entry(next.Claim).Release == "":
		return "it is decided that nothing was recorded while a claim is open"
	case to == flows.Refunded && !override && there.State != cards.Refunded,
		to == flows.Cancelled && card && there.State != cards.Cancelled:
		return "a payment is ended as the processor does not show it"
	}
	return ""
}

// ended says what must be so when nothing is left to do now.
func (j *journey) ended(action protocol.Action) string {
	payment := j.p
	waiting := !payment.State.Final() && payment.State != flows.Blocked && j.f.Decision == nil && j.f.Outranked == ""
	old := j.now.Sub(payment.UpdatedAt) > 24*time.Hour && slices.Contains([]flows.PaymentState{flows.Priced, flows.Intent, flows.Authorised,
		flows.Capturing, flows.Captured}, payment.State)
	switch {
	case (action.Kind == protocol.Refuse) && j.f.Decision == nil, j.f.Decision != nil && action.Err == nil:
		return "an operator does not learn what became of a decision, or there was no decision"
	case !j.f.Owner.IsZero():
		return "a process waits that owns the payment"
	case waiting && (action.For <= 0 || action.For > 5*time.Minute):
		return "an open payment is not read again within five minutes"
	case waiting && !payment.MissingSince.IsZero() && j.now.Sub(payment.MissingSince) > 30*time.Minute &&
		j.there != nil && j.there.Absent != "":
		return "a payment is awaited that the processor has not had for long"
	case waiting && old && !j.trouble && j.f.Wish != protocol.Again && (j.there == nil || j.there.State != cards.Processing):
		return "a payment stays open for a day"
	}
	return ""
}
