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

// heldAs are the states of a payment at the processor as its client reads them. A pending refund is no state there.
var heldAs = [...]cards.State{requiresAction: cards.RequiresAction, declinedThere: cards.Declined, authorisedThere: cards.Authorised,
	capturedThere: cards.Captured, cancelledThere: cards.Cancelled, refundPendingThere: cards.Captured, refundedThere: cards.Refunded}

// ask returns what the protocol says. It is pure, so an answer is remembered.
func (m *machine) ask(r record, f facts) answer {
	q := question{rec: r, facts: f}
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
func (m *machine) answer(q question) answer {
	a := m.next(q)
	if again := a.rec.state == captured || a.rec.state == priced; again && a.rec.state != q.rec.state && int(a.rec.claim) == m.cfg.Claims {
		if q.before = protocol.MaxClaims - m.cfg.Claims; q.rec.method != ByCard {
			q.before = protocol.MaxSettlements - m.cfg.Claims
		}
		a = m.next(q)
	}
	return a
}

// next asks protocol.Next, or the variant of it that is searched for mistakes; protocol.Prove about a record that is lost.
func (m *machine) next(q question) answer {
	p := m.payment(q)
	f := q.shown(p)
	if q.rec.state == noPayment {
		return answer{rec: m.recordOf(q, protocol.Prove(f.Remote, instant))}
	}
	if see := m.cfg.Variant.See; see != nil {
		see(p, &f)
	}
	action, change := protocol.Next(p, f, instant)
	if say := m.cfg.Variant.Say; say != nil {
		action, change = say(p, f, action, change)
	}
	if change == nil {
		a := answer{kind: action.Kind}
		a.rec.claim, a.rec.attempt = uint8(max(action.Number-q.before, 0)), idOf(action.Attempt)
		return a
	}
	return answer{
		rec:   m.recordOf(q, &change.Record),
		keeps: f.Committed(change, instant).Remote != nil,
		lease: change.Lease > 0,
		first: change.First != "",
		then:  change.Then != "",
		what:  fmt.Sprintf("writes %s: %s", change.Record.State, change.Record.Reason),
	}
}

// payment shows a record.
func (m *machine) payment(q question) *flows.Payment {
	r := q.rec
	p := &flows.Payment{
		ID:             "r-1",
		Schema:         flows.PaymentSchema,
		State:          r.state.name(),
		Reason:         "as before",
		Method:         methods[r.method],
		Registration:   "r",
		Generation:     int(r.generation),
		ClientToken:    "club",
		Sale:           "/sales/1",
		SaleState:      "draft",
		Amount:         4500,
		Currency:       "EUR",
		Claim:          q.number(r.claim),
		AttemptID:      q.name(r.attempt),
		ReleasePending: r.releasePending,
		FailedRefunds:  int(r.failed),
		Rebuilt:        r.rebuilt,
		UsedKeys:       int(r.used),
		OnHold:         r.onHold,
		SaleVerdict:    verdicts[r.verdict],
		CreatedAt:      instant.Add(-time.Minute),
		UpdatedAt:      instant.Add(-10 * time.Second),
		Payer:          &flows.Payer{},
	}
	if r.slot != 0 {
		p.ProcessorID = slotNames[r.slot-1]
	}
	if q.old {
		p.CreatedAt = instant.AddDate(0, 0, -1)
	}
	if r.missing {
		p.MissingSince = instant.Add(-protocol.MissingBlocks)
	}
	been := []flows.PaymentState{flows.Capturing, p.State}
	if r.state == blocked || r.doubted {
		been = []flows.PaymentState{flows.Captured, flows.Blocked, p.State}
	}
	for _, before := range been {
		p.History = append(p.History, flows.Transition{State: before, At: p.UpdatedAt})
	}
	if r.state == inDoubt {
		p.DoubtSince, p.Snapshot = instant.Add(-time.Minute), &flows.Evidence{SaleState: &p.SaleState}
		if q.decision != "" && q.aged.has(r.attempt) {
			p.DoubtSince = instant.Add(-time.Hour)
		}
	}
	if r.declined {
		p.DeclineCode, p.Decline = "card_declined", "the first"
	}
	if r.seen || !m.cfg.Desk {
		p.Payer.ReadAt = instant.Add(-5 * time.Second)
	}
	return p
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
func (m *machine) recordOf(q question, p *flows.Payment) record {
	r := q.rec
	r.state = state(slices.Index(flows.PaymentStates, p.State) + 1)
	r.slot = uint8(slices.Index(slotNames[:], p.ProcessorID) + 1)
	r.rebuilt, r.onHold, r.used = p.Rebuilt, p.OnHold, uint8(p.UsedKeys)
	r.verdict = verdict(slices.Index(verdicts[:], p.SaleVerdict))
	r.declined = p.DeclineCode != ""
	r.missing = !p.MissingSince.IsZero() && !p.State.Final()
	r.absent = p.State == flows.Blocked && p.Reason == protocol.UnknownThere
	forgotten := p.Rebuilt && !p.HasBeen(flows.Capturing) && q.remote.held >= capturedThere
	r.doubted = m.cfg.Desk && (q.rec.doubted || forgotten || p.HasBeen(flows.Blocked) || p.HasBeen(flows.InDoubt))
	r.claim, r.releasePending = uint8(max(p.Claim-q.before, 0)), p.ReleasePending
	r.refundFailed = q.rec.state == refunding && p.State == flows.Blocked && q.remote.failed > r.failed
	r.attempt, r.failed = idOf(p.AttemptID), uint8(p.FailedRefunds)
	r.seen = m.cfg.Desk && protocol.Agreed(p, instant)
	return r
}

// shown shows the facts.
func (q question) shown(p *flows.Payment) protocol.Facts {
	f := protocol.Facts{
		ID:      "00000000-0000-4000-8000-ffffffffffff",
		Remote:  q.reading(p, q.remote),
		Call:    q.ended(p, q.call),
		Claim:   q.ended(p, q.claim),
		Release: q.ended(p, q.release),
	}
	if q.owner {
		f.Owner = instant.Add(-time.Second)
		if q.slept {
			f.Owner = instant.Add(-time.Hour)
		}
	}
	if q.post != "" {
		f.Post = &protocol.Posted{Outcome: q.post, Tries: protocol.TriesPerClaim, Corrected: true}
		if q.post == club.Refused {
			f.Post.Limited, f.Post.Limit = true, protocol.MaxLimitPause
		}
	}
	if q.giveUp {
		f.Wish = protocol.GiveUp
	}
	if q.decision != "" { // the operator knows better than the sale, which the protocol reads only to send again
		f.Decision = &protocol.Decision{Choice: q.decision, Decision: flows.Decision{Operator: "jane", Reason: "seen", Override: true}}
	}
	if q.latest {
		f.Latest = &protocol.Latest{Payment: p}
	}
	if q.verify {
		f.Wish = protocol.Verify
	}
	if q.foreign {
		f.Foreign = errLost
	}
	switch q.brake {
	case passes:
		f.Brake = &protocol.Brake{}
	case holds:
		f.Brake = &protocol.Brake{Left: time.Minute}
	}
	switch q.listed {
	case 0:
	case unlisted:
		f.Listed = &protocol.Listed{}
	default:
		f.Listed = &protocol.Listed{Payment: q.reading(p, q.response)}
	}
	switch q.sale {
	case saleUnseen:
	case saleUnreadable:
		f.Sale = &protocol.Sale{At: instant, Err: errLost}
	default:
		sale := club.Sale{State: p.SaleState, TotalTI: p.Amount}
		if q.sale == saleSettled {
			sale.State = "settled"
		}
		f.Sale = &protocol.Sale{At: instant, Sale: sale, Check: club.SaleCheck{Valid: true},
			Seen: &flows.Evidence{At: instant, SaleState: &sale.State}}
		if q.rule {
			f.Sale.Rule = &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: p.SaleState, After: "settled"}}}
		}
	}
	return f
}

// ended shows how a call ended.
func (q question) ended(p *flows.Payment, outcome protocol.Outcome) *protocol.Call {
	switch outcome {
	case "":
		return nil
	case protocol.Done:
		return &protocol.Call{Outcome: outcome, Response: q.reading(p, q.response)}
	}
	return &protocol.Call{Outcome: outcome, Err: errLost}
}

// reading shows a reading of the processor.
func (q question) reading(p *flows.Payment, r remote) *protocol.Remote {
	switch {
	case r.slot == 0:
		return nil
	case r.absent:
		return &protocol.Remote{At: instant, Absent: protocol.UnknownThere, Err: errLost}
	}
	s := &protocol.Remote{At: instant, Terms: protocol.TermsOf(p), Ours: true, Signed: true}
	s.Payment = cards.Payment{
		ID:            slotNames[r.slot-1],
		CreatedAt:     p.CreatedAt,
		State:         heldAs[r.held],
		Amount:        p.Amount,
		Currency:      p.Currency,
		FailedRefunds: int(r.failed),
		Replayed:      r.replayed,
	}
	if r.before {
		if s.At, s.By = instant.Add(-2*time.Second), protocol.Capture; q.slept {
			s.At = instant.Add(-time.Hour)
		}
	}
	switch r.held {
	case declinedThere:
		s.DeclineCode, s.Decline = "card_declined", "the first"
	case capturedThere:
		s.Captured = p.Amount
	case refundPendingThere:
		s.Captured, s.Refunding = p.Amount, p.Amount
	case refundedThere:
		s.Captured, s.Refunded = p.Amount, p.Amount
	}
	s.Journal.ByOperator = r.byOperator
	for range q.before {
		s.Journal.Entries = append(s.Journal.Entries, protocol.Entry{Attempt: "before", Release: "before"})
	}
	for _, e := range r.journal {
		s.Journal.Entries = append(s.Journal.Entries, protocol.Entry{Attempt: q.name(e.attempt), Release: q.name(e.release)})
		s.Journal.Accepted = s.Journal.Accepted || e.done
	}
	return s
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
		if names[i] = protocol.NewAttemptID(instant.Add(-age), fmt.Sprintf("00000000-0000-4000-8000-%012d", i)); i.refund() {
			names[i] = protocol.RefundPrefix + names[i]
		}
	}
	return names
}
