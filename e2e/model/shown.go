package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// This file shows the protocol a world as it knows one, and reads its answers.

// question decides an answer of the protocol.
type question struct {
	rec record // its version does not matter
	facts
	before int // claims that were released before those of the model
}

// facts are what a gateway knows besides the record, see protocol.Facts.
type facts struct {
	giveUp   bool            // the buyer's wish
	old      bool            // the payment is more than a day old
	decision protocol.Choice // an operator's
	aged     attempts        // older than the rule or an operator allows
	slept    bool            // much time has passed since the gateway captured, or moved the payment to sending
	owner    bool            // it moved the payment to sending
	remote   remote
	listed   uint8 // the slot that the processor's list shows, or unlisted; 0: it was not read
	sale     saleSeen
	rule     bool // it is calibrated
	verify   bool // the verification of a recorded payment is due
	foreign  bool // Redis may hold another account's payments
	brake    brakeSeen
	latest   bool // no later payment of the registration was found
	call     protocol.Outcome
	claim    protocol.Outcome
	release  protocol.Outcome
	post     club.Outcome
	response remote // to the call, or to the claim
}

const unlisted = slots + 1

// saleSeen is a reading of the sale.
type saleSeen uint8

const (
	saleUnseen saleSeen = iota
	saleAgreed
	saleSettled
	saleUnreadable
)

// brakeSeen is what the brake says.
type brakeSeen uint8

const (
	unasked brakeSeen = iota
	passes
	holds
)

// attempts is a set of attempts, by their id.
type attempts uint16

const allAttempts = ^attempts(0)

// remote is a reading of the processor's payment.
type remote struct {
	slot       uint8 // 0: it was not read
	before     bool  // it was read some steps ago, when the money was captured
	replayed   bool
	absent     bool
	held       held
	failed     uint8 // refunds
	byOperator bool  // an operator released a claim
	journal    [maxClaims]written
}

// answer is what the protocol says: an action, or the next record.
type answer struct {
	kind  protocol.Kind // empty: a change
	rec   record        // of ReleaseByOperator: the claim
	keeps bool          // the reading of the processor outlives the commit
	lease bool          // the gateway owns the payment then
	first bool          // the claim is released before
	then  bool          // the acceptance is journaled after it
	what  string
}

// instant is the time of every question. Ages are shown as instants before it.
var instant = time.Date(2026, 3, 2, 18, 30, 0, 0, time.UTC)

var errLost = errors.New("no answer")

var methods = [...]flows.Method{ByCard: flows.ByCard, Deferred: flows.Deferred, InPerson: flows.InPerson}

// heldAs are the states of a payment at the processor as its client reads them. There, a pending refund is not a state.
var heldAs = [...]cards.State{
	requiresAction:     cards.RequiresAction,
	declinedThere:      cards.Declined,
	authorisedThere:    cards.Authorised,
	capturedThere:      cards.Captured,
	cancelledThere:     cards.Cancelled,
	refundPendingThere: cards.Captured,
	refundedThere:      cards.Refunded,
}

// ask returns what the protocol says. It is pure, so an answer is remembered.
func (m *machine) ask(record record, f facts) answer {
	q := question{rec: record, facts: f}
	q.rec.version = 0
	a, known := m.answers[q]
	if !known {
		a = m.answer(q)
		m.answers[q] = a
	}
	return a
}

// answer asks the protocol. A payment whose last claim of the configuration leads to another one is shown again with that
// claim as the protocol's last.
func (m *machine) answer(question question) answer {
	answer := m.next(question)
	again := answer.rec.state == captured || answer.rec.state == priced
	if again && answer.rec.state != question.rec.state && int(answer.rec.claim) == m.cfg.Claims {
		question.before = protocol.MaxClaims - m.cfg.Claims
		if question.rec.method != ByCard {
			question.before = protocol.MaxSettlements - m.cfg.Claims
		}
		answer = m.next(question)
	}
	return answer
}

// next asks protocol.Next, or the variant of it that is searched for mistakes; protocol.Prove about a record that is lost.
func (m *machine) next(question question) answer {
	payment := m.payment(question)
	facts := question.shown(payment)
	if question.rec.state == noPayment {
		return answer{rec: m.recordOf(question, protocol.Prove(facts.Remote, instant))}
	}
	if see := m.cfg.Variant.See; see != nil {
		see(payment, &facts)
	}
	action, change := protocol.Next(payment, facts, instant)
	if say := m.cfg.Variant.Say; say != nil {
		action, change = say(payment, facts, action, change)
	}
	if change == nil {
		a := answer{kind: action.Kind}
		a.rec.claim, a.rec.attempt = uint8(max(action.Number-question.before, 0)), idOf(action.Attempt)
		return a
	}
	return answer{
		rec:   m.recordOf(question, &change.Record),
		keeps: facts.Committed(change, instant).Remote != nil,
		lease: change.Lease > 0,
		first: change.First != "",
		then:  change.Then != "",
		what:  fmt.Sprintf("writes %s: %s", change.Record.State, change.Record.Reason),
	}
}

// payment shows a record.
func (m *machine) payment(question question) *flows.Payment {
	record := question.rec
	payment := &flows.Payment{
		ID:             "r-1",
		Schema:         flows.PaymentSchema,
		State:          record.state.name(),
		Reason:         "as before",
		Method:         methods[record.method],
		Registration:   "r",
		Generation:     int(record.generation),
		ClientToken:    "club",
		Sale:           "/sales/1",
		SaleState:      "draft",
		Amount:         4500,
		Currency:       "EUR",
		Claim:          question.number(record.claim),
		AttemptID:      question.name(record.attempt),
		ReleasePending: record.releasePending,
		FailedRefunds:  int(record.failed),
		Rebuilt:        record.rebuilt,
		UsedKeys:       int(record.used),
		OnHold:         record.onHold,
		SaleVerdict:    verdicts[record.verdict],
		CreatedAt:      instant.Add(-time.Minute),
		UpdatedAt:      instant.Add(-10 * time.Second),
		Payer:          &flows.Payer{},
	}
	if record.slot != 0 {
		payment.ProcessorID = slotNames[record.slot-1]
	}
	if question.old {
		payment.CreatedAt = instant.AddDate(0, 0, -1)
	}
	if record.missing {
		payment.MissingSince = instant.Add(-protocol.MissingBlocks)
	}
	been := []flows.PaymentState{flows.Capturing, payment.State}
	if record.state == blocked || record.doubted {
		been = []flows.PaymentState{flows.Captured, flows.Blocked, payment.State}
	}
	for _, before := range been {
		payment.History = append(payment.History, flows.Transition{State: before, At: payment.UpdatedAt})
	}
	if record.state == inDoubt {
		payment.DoubtSince, payment.Snapshot = instant.Add(-time.Minute), &flows.Evidence{SaleState: &payment.SaleState}
		if question.decision != "" && question.aged.has(record.attempt) {
			payment.DoubtSince = instant.Add(-time.Hour)
		}
	}
	if record.declined {
		payment.DeclineCode, payment.Decline = "card_declined", "the first"
	}
	if record.seen || !m.cfg.Desk {
		payment.Payer.ReadAt = instant.Add(-5 * time.Second)
	}
	return payment
}

var verdicts = [...]string{unread: "", settledAfter: flows.SaleSettled, unsettled: protocol.SaleOpen}

var slotNames = [slots]string{"pi_1", "pi_2"}

// number is a claim's at the processor; 0 before the first.
func (q question) number(claim uint8) int {
	if claim == 0 {
		return 0
	}
	return q.before + int(claim)
}

// recordOf reads the next record of a change.
func (m *machine) recordOf(question question, payment *flows.Payment) record {
	record := question.rec
	record.state = state(slices.Index(flows.PaymentStates, payment.State) + 1)
	record.slot = uint8(slices.Index(slotNames[:], payment.ProcessorID) + 1)
	record.rebuilt, record.onHold, record.used = payment.Rebuilt, payment.OnHold, uint8(payment.UsedKeys)
	record.verdict = verdict(slices.Index(verdicts[:], payment.SaleVerdict))
	record.declined = payment.DeclineCode != ""
	record.missing = !payment.MissingSince.IsZero() && !payment.State.Final()
	record.absent = payment.State == flows.Blocked && payment.Reason == protocol.UnknownThere
	forgotten := payment.Rebuilt && !payment.HasBeen(flows.Capturing) && question.remote.held >= capturedThere
	record.doubted = m.cfg.Desk && (question.rec.doubted || forgotten || payment.HasBeen(flows.Blocked) || payment.HasBeen(flows.InDoubt))
	record.claim, record.releasePending = uint8(max(payment.Claim-question.before, 0)), payment.ReleasePending
	record.refundFailed = question.rec.state == refunding && payment.State == flows.Blocked && question.remote.failed > record.failed
	record.attempt, record.failed = idOf(payment.AttemptID), uint8(payment.FailedRefunds)
	record.seen = m.cfg.Desk && protocol.Agreed(payment, instant)
	return record
}

// shown shows the facts.
func (q question) shown(payment *flows.Payment) protocol.Facts {
	facts := protocol.Facts{
		ID:      "00000000-0000-4000-8000-ffffffffffff",
		Remote:  q.reading(payment, q.remote),
		Call:    q.ended(payment, q.call),
		Claim:   q.ended(payment, q.claim),
		Release: q.ended(payment, q.release),
	}
	if q.owner {
		facts.Owner = instant.Add(-time.Second)
		if q.slept {
			facts.Owner = instant.Add(-time.Hour)
		}
	}
	if q.post != "" {
		facts.Post = &protocol.Posted{Outcome: q.post, Tries: protocol.TriesPerClaim, Corrected: true}
		if q.post == club.Refused {
			facts.Post.Limited, facts.Post.Limit = true, protocol.MaxLimitPause
		}
	}
	if q.giveUp {
		facts.Wish = protocol.GiveUp
	}
	if q.decision != "" { // the operator knows better than the sale, which the protocol reads only to send again
		facts.Decision = &protocol.Decision{Choice: q.decision, Decision: flows.Decision{Operator: "jane", Reason: "seen", Override: true}}
	}
	if q.latest {
		facts.Latest = &protocol.Latest{Payment: payment}
	}
	if q.verify {
		facts.Wish = protocol.Verify
	}
	if q.foreign {
		facts.Foreign = errLost
	}
	switch q.brake {
	case passes:
		facts.Brake = &protocol.Brake{}
	case holds:
		facts.Brake = &protocol.Brake{Left: time.Minute}
	}
	switch q.listed {
	case 0:
	case unlisted:
		facts.Listed = &protocol.Listed{}
	default:
		facts.Listed = &protocol.Listed{Payment: q.reading(payment, q.response)}
	}
	switch q.sale {
	case saleUnseen:
	case saleUnreadable:
		facts.Sale = &protocol.Sale{At: instant, Err: errLost}
	default:
		sale := club.Sale{State: payment.SaleState, TotalTI: payment.Amount}
		if q.sale == saleSettled {
			sale.State = "settled"
		}
		facts.Sale = &protocol.Sale{At: instant, Sale: sale, Check: club.SaleCheck{Valid: true},
			Seen: &flows.Evidence{At: instant, SaleState: &sale.State}}
		if q.rule {
			settled := flows.Condition{Signal: flows.SignalSaleState, Before: payment.SaleState, After: "settled"}
			facts.Sale.Rule = &flows.Rule{Conditions: []flows.Condition{settled}}
		}
	}
	return facts
}

// ended shows how a call ended.
func (q question) ended(payment *flows.Payment, outcome protocol.Outcome) *protocol.Call {
	switch outcome {
	case "":
		return nil
	case protocol.Done:
		return &protocol.Call{Outcome: outcome, Response: q.reading(payment, q.response)}
	}
	return &protocol.Call{Outcome: outcome, Err: errLost}
}

// reading shows a reading of the processor.
func (q question) reading(payment *flows.Payment, remote remote) *protocol.Remote {
	switch {
	case remote.slot == 0:
		return nil
	case remote.absent:
		return &protocol.Remote{At: instant, Absent: protocol.UnknownThere, Err: errLost}
	}
	shown := &protocol.Remote{At: instant, Terms: protocol.TermsOf(payment), Ours: true, Signed: true}
	shown.Payment = cards.Payment{
		ID:            slotNames[remote.slot-1],
		CreatedAt:     payment.CreatedAt,
		State:         heldAs[remote.held],
		Amount:        payment.Amount,
		Currency:      payment.Currency,
		FailedRefunds: int(remote.failed),
		Replayed:      remote.replayed,
	}
	if remote.before {
		shown.At, shown.By = instant.Add(-2*time.Second), protocol.Capture
		if q.slept {
			shown.At = instant.Add(-time.Hour)
		}
	}
	switch remote.held {
	case declinedThere:
		shown.DeclineCode, shown.Decline = "card_declined", "the first"
	case capturedThere:
		shown.Captured = payment.Amount
	case refundPendingThere:
		shown.Captured, shown.Refunding = payment.Amount, payment.Amount
	case refundedThere:
		shown.Captured, shown.Refunded = payment.Amount, payment.Amount
	}
	shown.Journal.ByOperator = remote.byOperator
	for range q.before {
		shown.Journal.Entries = append(shown.Journal.Entries, protocol.Entry{Attempt: "before", Release: "before"})
	}
	for _, e := range remote.journal {
		shown.Journal.Entries = append(shown.Journal.Entries, protocol.Entry{Attempt: q.name(e.attempt), Release: q.name(e.release)})
		shown.Journal.Accepted = shown.Journal.Accepted || e.done
	}
	return shown
}

// name is the name of an attempt, as Redis and the journal hold it.
func (q question) name(id attemptID) string {
	if q.aged.has(id) {
		return oldNames[id]
	}
	return youngNames[id]
}

func (a attempts) has(id attemptID) bool { return a&(1<<id) != 0 }

// idOf is the id of a named attempt.
func idOf(name string) attemptID {
	if name == "" {
		return 0
	}
	id, err := strconv.Atoi(name[max(0, len(name)-12):])
	switch {
	case err == nil:
		return attemptID(id)
	case protocol.IsRefund(name):
		return newRefund
	}
	return newPost
}

var youngNames, oldNames = namesSince(2 * time.Second), namesSince(time.Hour)

func namesSince(age time.Duration) []string {
	names := make([]string, newPost)
	for i := attemptID(1); i < newPost; i++ {
		names[i] = protocol.NewAttemptID(instant.Add(-age), fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
		if i.refund() {
			names[i] = protocol.RefundPrefix + names[i]
		}
	}
	return names
}
