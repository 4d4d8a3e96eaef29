package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
)

// Advance moves a payment as far as it can go now and returns it. It may be called at
// any time and any number of times. After an error, the payment is safe in its present
// state and is advanced again later. The payment comes with the error if it could be read.
func (m *Machine) Advance(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	return m.advanceStored(ctx, id, ask{})
}

// AdvanceLoaded is Advance for a caller that has just read the payment.
func (m *Machine) AdvanceLoaded(ctx context.Context, p *flows.Payment) (*flows.Payment, error) {
	return m.advance(ctx, p, ask{})
}

// ask is what a caller asks of a payment.
type ask struct {
	wish      protocol.Wish // empty: none
	outranked string        // see protocol.Facts
	once      bool          // the caller waits: end after the first change, and leave the schedule alone
}

func (m *Machine) advanceStored(ctx context.Context, id flows.PaymentID, ask ask) (*flows.Payment, error) {
	payment, err := m.cfg.Store.Payment(ctx, id)
	if flows.Unreadable(err) {
		m.reschedule(ctx, m.unreadable(id, err), protocol.DoubtPollEvery)
	}
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	return m.advance(ctx, payment, ask)
}

// advance has the protocol's changes made, one after the other, until there is nothing to do for now. The compare-and-set finds changes
// by others.
func (m *Machine) advance(ctx context.Context, payment *flows.Payment, ask ask) (*flows.Payment, error) {
	facts := protocol.Facts{Wish: ask.wish, Outranked: ask.outranked}
	for range maxTurns {
		if payment.Schema > flows.PaymentSchema { // a newer gateway's
			return payment, nil
		}
		said := m.next(ctx, payment, facts)
		facts = said.facts
		change := said.change
		if change == nil {
			if !ask.once && (payment.State != flows.Recorded || said.Err == nil) { // what could not be verified stays due
				m.reschedule(ctx, payment, said.For)
			}
			return payment, said.Err
		}
		moved, err := m.commit(steady(ctx, facts), payment, change)
		switch {
		case err != nil && !facts.Owner.IsZero():
			return payment, flows.StorageFailed(err)
		case errors.Is(err, flows.ErrOwned): // another process is sending it
			m.reschedule(ctx, payment, protocol.PollEvery)
			return payment, nil
		case errors.Is(err, flows.ErrConflict):
			// Another process was faster, perhaps with an older response of the processor.
			from := payment.State
			if payment, err = m.cfg.Store.Payment(ctx, payment.ID); err != nil {
				return nil, flows.StorageFailed(err)
			}
			if ask.once && (payment.State != flows.Intent || ask.outranked != "") {
				return payment, nil
			}
			facts = facts.Overtaken(from, change, payment)
			continue
		case err != nil:
			return payment, flows.StorageFailed(err)
		}
		facts = facts.Committed(change, said.at)
		m.count(ctx, payment, protocol.CountVerdict(payment, moved))
		switch {
		case moved.State.Final():
			return moved, nil
		case !facts.Owner.IsZero(): // the rest is due within the life of a claim
		case ask.once && (moved.State != flows.Intent || payment.MissingSince.IsZero()): // else it only notes that the processor has it again
			m.wake(ctx, moved.ID, moved)
			return moved, nil
		}
		payment = moved
	}
	return nil, tooManyTurns(payment)
}

// answer is what the protocol says once it needs nothing more.
type answer struct {
	facts           protocol.Facts
	change          *protocol.Change // nil: nothing to do for now
	protocol.Action                  // without a change: Wait or Refuse
	at              time.Time        // when it was said
}

// next asks the protocol, does what it says, and asks again, until it needs nothing more.
func (m *Machine) next(ctx context.Context, payment *flows.Payment, facts protocol.Facts) answer {
	for range maxTurns {
		if facts.ID = uuid.NewString(); facts.Owner.IsZero() {
			facts.Foreign = m.requireOwnOf(ctx, payment)
		}
		now := m.cfg.Now()
		action, change := protocol.Next(payment, facts, now)
		if change != nil || action.Kind == protocol.Wait || action.Kind == protocol.Refuse {
			return answer{facts, change, action, now}
		}
		var err error
		if facts, err = m.perform(steady(ctx, facts), payment, facts, action); err != nil {
			return answer{facts: facts, Action: protocol.Action{Kind: protocol.Wait, For: protocol.PollEvery, Err: err}}
		}
	}
	return answer{facts: facts, Action: protocol.Action{Kind: protocol.Wait, For: protocol.PollEvery, Err: tooManyTurns(payment)}}
}

// steady returns a context for the next step. A caller that disconnects cancels it, except in two cases: this process owns the
// payment, so that a POST that began must finish; or it has released a claim for an operator, whose decision must now be
// committed.
func steady(ctx context.Context, f protocol.Facts) context.Context {
	if !f.Owner.IsZero() || f.Decision != nil && f.Release != nil {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func tooManyTurns(p *flows.Payment) error {
	return &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s did not settle within %d turns", p.ID, maxTurns)}
}

// Verify reads what the processor and the club system show of a recorded payment. What it cannot read stays due. A
// payment in another state is advanced. NotFound if Redis lacks the payment.
func (m *Machine) Verify(ctx context.Context, id flows.PaymentID) error {
	p, err := m.cfg.Store.Payment(ctx, id)
	if err != nil {
		return flows.StorageFailed(err)
	}
	_, err = m.advance(ctx, p, ask{wish: protocol.Verify})
	return err
}

// Glance reads a payment that waits for its buyer, and takes one step, so that a returning visitor sees the result of
// their action. The workers take the other steps. After a failure it returns the payment as it was, without its decline: the
// buyer may have paid since.
func (m *Machine) Glance(ctx context.Context, payment *flows.Payment) *flows.Payment {
	if payment.State != flows.Intent || payment.Schema > flows.PaymentSchema {
		return payment
	}
	seen, err := m.advance(ctx, payment, ask{once: true})
	if err == nil && seen.Version == payment.Version && payment.Declined() {
		// Since the record was read, the buyer may have asked for another attempt.
		seen, err = m.cfg.Store.Payment(ctx, payment.ID)
	}
	if err == nil {
		return seen
	}
	m.cfg.Log.WarnContext(ctx, "payment not polled", "payment", payment.ID, "error", err)
	unread := *payment
	unread.DeclineCode = ""
	return &unread
}

// TryAgain clears a decline, because the buyer asks for another attempt.
func (m *Machine) TryAgain(ctx context.Context, p *flows.Payment) (*flows.Payment, error) {
	if !p.Declined() {
		return p, nil
	}
	return m.advance(ctx, p, ask{wish: protocol.Again, once: true})
}

// Cancel gives up a payment that is not captured. The error is PaymentUnderWay once money may have moved.
func (m *Machine) Cancel(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	payment, err := m.advanceStored(ctx, id, ask{wish: protocol.GiveUp})
	switch {
	case err != nil && (payment == nil || payment.State == flows.Priced || payment.State == flows.Intent || payment.State == flows.Cancelling):
		return nil, err
	case payment.State == flows.Cancelled:
		return payment, nil
	case payment.State == flows.Cancelling:
		return nil, &flows.Error{Code: flows.ProcessorUnavailable,
			Detail: flows.DetailPaymentAtProcessor, RetryAfter: protocol.PollEvery}
	case payment.State == flows.Priced || payment.State == flows.Intent && !payment.MaybeCapturing(): // a newer gateway's
		return nil, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s could neither be cancelled nor moved", id)}
	}
	return nil, &flows.Error{Code: flows.PaymentUnderWay, Detail: flows.DetailPaymentNotCancellable}
}

// commit writes a change, and what the processor's journal must have before or after it. It is the only place that changes a
// stored payment; a rebuild stores missing payments.
func (m *Machine) commit(ctx context.Context, payment *flows.Payment, change *protocol.Change) (*flows.Payment, error) {
	if payment.Schema > flows.PaymentSchema {
		return nil, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s was written by a newer version", payment.ID)}
	}
	if change.Record.State != payment.State && !payment.State.CanBecome(change.Record.State) {
		return nil, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s: no transition from %s to %s", payment.ID, payment.State,
			change.Record.State)}
	}
	if change.First == protocol.Release { // it precedes the next claim; one that fails is owed, and the record says so
		if err := m.release(ctx, payment); err != nil {
			change = change.Owed()
		}
	}
	next := change.Record
	move := flows.StateChange{
		From:            payment.State,
		Version:         payment.Version,
		Next:            &next,
		Operation:       uuid.NewString(),
		Lease:           change.Lease,
		LeaseExpiredFor: change.LeaseExpiredFor,
		Silent:          payment.Visible() == next.Visible(),
	}
	if next.State.Final() && next.Finding() == "" {
		move.Keep = keepFinal // else until an operator has looked
	}
	// After the commit, so that the buyer does not wait. But an owner, who saw the acceptance, writes it before an unconfirmed
	// commit is repeated and after a failed one, because the entry resolves the doubt that may follow.
	owner := payment.State == flows.Sending && change.LeaseExpiredFor == 0
	tries := protocol.TriesPerClaim
	if owner { // the comparison with the processor finds what is missing, and a buyer waits
		tries = 1
	}
	then := sync.OnceFunc(func() {
		if change.Then == protocol.Acceptance {
			m.journalAcceptance(context.WithoutCancel(ctx), &next, tries)
		}
	})
	if err := m.store(ctx, move, then); err != nil {
		if owner {
			then()
		}
		return nil, err
	}
	if next.State.Final() {
		m.reschedule(ctx, &next, 0)
	}
	m.notice(ctx, payment, &next)
	then()
	return &next, nil
}

// notice logs, counts and traces what was committed.
func (m *Machine) notice(ctx context.Context, payment, next *flows.Payment) {
	if next.State != payment.State {
		trace.SpanFromContext(ctx).AddEvent("payment", trace.WithAttributes(attribute.String("from", string(payment.State)),
			attribute.String("to", string(next.State))))
		if m.cfg.OnTransition != nil {
			m.cfg.OnTransition(payment.State, next.State)
		}
	}
	level := slog.LevelInfo
	if next.State == flows.InDoubt && payment.State != flows.InDoubt {
		level = slog.LevelError // needs an operator unless evidence resolves it
	}
	if next.State == flows.Cancelling && next.UsedKeys > payment.UsedKeys {
		m.cfg.Log.WarnContext(ctx, "cancellation refused for now", "payment", payment.ID)
	}
	if finding := next.Finding(); finding != "" && finding != payment.Finding() {
		m.cfg.Log.WarnContext(ctx, "recorded payment needs an operator", "payment", payment.ID, "finding", string(finding),
			"reason", protocol.FindingReason(next))
	}
	m.cfg.Log.Log(ctx, level, "payment moved", "registration", payment.Registration, "payment", string(payment.ID),
		"from", string(payment.State), "to", string(next.State), "reason", next.Reason)
}

// Limits of an owner's commit.
const (
	// commitPause is short for a buyer who waits, and spares a Redis that restarts.
	commitPause = 250 * time.Millisecond
	// maxCommits fill the life of a claim: an older one cannot be used.
	maxCommits = int(protocol.ClaimLife / commitPause)
)

// store stores a change. An owner repeats one that Redis does not confirm, as the same operation. Until it is
// stored, no other process may send, or knows the outcome: a Redis that is away for seconds would cost a
// doubt. So would a caller that leaves meanwhile.
func (m *Machine) store(ctx context.Context, move flows.StateChange, unconfirmed func()) error {
	owner := move.Lease > 0 || move.From == flows.Sending && move.LeaseExpiredFor == 0
	if !owner || ctx.Err() != nil {
		return m.cfg.Store.Commit(ctx, move)
	}
	ctx = context.WithoutCancel(ctx)
	began := m.cfg.Now()
	for try := 1; ; try++ {
		err := m.cfg.Store.Commit(ctx, move)
		if err == nil || errors.Is(err, flows.ErrConflict) || try == maxCommits || protocol.Expired(m.cfg.Now(), began, protocol.ClaimLife) {
			return err
		}
		if try == 1 {
			unconfirmed()
		}
		<-m.cfg.After(commitPause)
	}
}

// finish moves a final payment from the open ones to the ended ones, and sets when it is verified. Another process may have changed it
// since it was read, and listed it before this one did: then it is listed again, as it is now.
func (m *Machine) finish(ctx context.Context, p *flows.Payment) error {
	if err := m.cfg.Store.Schedule(ctx, p, protocol.VerifyAt(p, m.cfg.Now())); err != nil {
		return err
	}
	latest, err := m.cfg.Store.Payment(ctx, p.ID)
	if err == nil && latest.Version != p.Version {
		m.reschedule(ctx, latest, protocol.PollEvery)
	}
	return err
}

// Wake requests one Advance of a payment and does not wait for it. p is the payment if it was just read, else nil. StorageUnavailable if
// no worker here is idle and Redis does not respond: the payment is then due at the time that it was scheduled for.
func (m *Machine) Wake(ctx context.Context, id flows.PaymentID, p *flows.Payment) error {
	return m.cfg.Wake(ctx, id, p)
}

// wake is Wake without an error. A failure is only logged, because the payment is due at the time that it was scheduled for.
func (m *Machine) wake(ctx context.Context, id flows.PaymentID, p *flows.Payment) {
	if err := m.cfg.Wake(ctx, id, p); err != nil {
		m.cfg.Log.WarnContext(ctx, "payment not woken", "payment", id, "error", err)
	}
}

// reschedule sets when an open payment is advanced next, and finishes a final one. A failure is only logged, because the payment is then
// still in the list of open ones.
func (m *Machine) reschedule(ctx context.Context, payment *flows.Payment, after time.Duration) {
	var err error
	after = cmp.Or(after, protocol.DoubtPollEvery)
	switch now := m.cfg.Now(); {
	case payment.State.Final():
		err = m.finish(ctx, payment)
	case after >= protocol.PollEvery && now.Sub(payment.CreatedAt) < firstPollGrace:
		// The start of the payment scheduled its first step, which is due by then.
	default:
		err = m.cfg.Store.Schedule(ctx, payment, now.Add(flows.Jitter(after)))
	}
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "next poll not scheduled", "payment", payment.ID, "error", err)
	}
}
