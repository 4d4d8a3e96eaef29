package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// step is what one look at a payment decided: a change to commit, or nothing,
// and then when to look again.
type step struct {
	to              flows.PaymentState   // the state to move to; empty: no change at all; the present one: only the record changes
	reason          string               // why, for operators and the log
	decision        flows.Decision       // of the operator who decided; empty for the machine
	edit            func(*flows.Payment) // changes to the record
	lease           time.Duration        // see Move
	leaseExpiredFor time.Duration        // see Move
	retryAfter      time.Duration        // with no change: how long until the next look
	remote          *cards.Payment       // what the processor told, and that matches, for the next turn; nil: that reads for itself
}

// wait is the step that changes nothing.
func wait(again time.Duration) step { return step{retryAfter: again} }

// Advance moves a payment as far as it can go now, and answers with it as it
// then stands. Everybody calls it at any time and as often as they like: the
// buyer's request, the processor's webhook, the sweeper. An error means that
// something could not be asked or stored; the payment is safe where it stands,
// comes with the error if it could be read, and will be looked at again.
func (m *Machine) Advance(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	p, err := m.cfg.Store.Payment(ctx, id)
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	return m.AdvanceLoaded(ctx, p)
}

// AdvanceLoaded is Advance for a caller that has just read the payment. Each turn goes on from
// what the turn before has written: who changed it meanwhile is found out by the
// compare-and-set, as they would be after one more reading.
func (m *Machine) AdvanceLoaded(ctx context.Context, p *flows.Payment) (*flows.Payment, error) {
	var remote *cards.Payment // what the processor told the turn before
	began := m.cfg.Now()
	for range maxSteps {
		if p.Schema > flows.PaymentSchema {
			return p, nil
		}
		s, err := m.next(ctx, p, remote)
		if err != nil {
			m.reschedule(ctx, p, pollEvery)
			return p, err
		}
		if s.to == "" {
			m.reschedule(ctx, p, s.retryAfter)
			return p, nil
		}
		moved, err := m.commit(ctx, p, s)
		switch {
		case errors.Is(err, flows.ErrOwned):
			m.reschedule(ctx, p, pollEvery)
			return p, nil
		case errors.Is(err, flows.ErrConflict): // somebody else moved it
			if p, err = m.cfg.Store.Payment(ctx, p.ID); err != nil {
				return nil, flows.StorageFailed(err)
			}
			if remote = nil; p.State == s.to { // they took the same step: what it was taken upon is still news
				remote = s.remote
			}
			continue
		case err != nil:
			return p, flows.StorageFailed(err)
		}
		switch {
		case moved.State == flows.Sending:
			if expired(m.cfg.Now(), began, claimLife) {
				s.remote = nil
			}
			if moved, err = m.record(ctx, moved, s.remote); err != nil {
				return moved, err
			}
		case s.decision.Operator == flows.ByRule && moved.HasProcessor():
			m.journalRecorded(ctx, moved)
		}
		if moved.State.Final() {
			return moved, nil
		}
		p, remote = moved, s.remote
		p.UpdatedAt = p.UpdatedAt.Round(0) // as Redis has it: the wall clock alone sees a machine that was suspended
	}
	return nil, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s did not settle within %d steps", p.ID, maxSteps)}
}

// Poll takes one step of a payment that waits for its buyer, so that a visitor
// who comes back sees what they just did; the rest of the way is asked for. Any
// trouble leaves the payment as it was read.
func (m *Machine) Poll(ctx context.Context, p *flows.Payment) *flows.Payment {
	if p.State != flows.Intent || p.Schema > flows.PaymentSchema {
		return p
	}
	s, err := m.awaitBuyer(ctx, p, nil)
	if err == nil && s.to != "" {
		var moved *flows.Payment
		if moved, err = m.commit(ctx, p, s); err == nil {
			p = moved
			err = m.cfg.Queue.AdvanceSoon(ctx, p)
		}
	}
	if err != nil && !errors.Is(err, flows.ErrConflict) {
		m.cfg.Log.WarnContext(ctx, "payment not polled", "payment", p.ID, "error", err)
	}
	return p
}

// next looks at a payment and decides. held is what the processor told the turn before; nil: nothing.
func (m *Machine) next(ctx context.Context, p *flows.Payment, remote *cards.Payment) (step, error) {
	switch p.State {
	case flows.Priced:
		if !p.HasProcessor() {
			return m.prepareSettlement(ctx, p)
		}
		return m.createIntent(ctx, p)
	case flows.Intent:
		return m.awaitBuyer(ctx, p, remote)
	case flows.Authorised:
		return m.checkSale(ctx, p, remote)
	case flows.Capturing:
		return m.capture(ctx, p)
	case flows.Captured:
		return m.prepareRecord(ctx, p, remote)
	case flows.Sending:
		// Its owner is at work in this very moment, or is gone and took the outcome along.
		return step{to: flows.InDoubt, reason: "the process that was recording it is gone", leaseExpiredFor: leaseGrace}, nil
	case flows.Cancelling:
		return m.cancel(ctx, p)
	case flows.RefundDue:
		return m.prepareRefund(ctx, p)
	case flows.Refunding:
		return m.refund(ctx, p)
	case flows.InDoubt:
		return m.resolveDoubt(ctx, p)
	default:
		return wait(0), nil
	}
}

// commit is the one place that assigns a payment's state.
func (m *Machine) commit(ctx context.Context, p *flows.Payment, s step) (*flows.Payment, error) {
	if p.Schema > flows.PaymentSchema {
		return nil, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s was written by a newer version", p.ID)}
	}
	if s.to != p.State && !p.State.CanBecome(s.to) {
		return nil, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s: no transition from %s to %s", p.ID, p.State, s.to)}
	}
	next := *p
	m.applyTransition(&next, s)
	if s.edit != nil {
		s.edit(&next)
	}
	move := flows.StateChange{From: p.State, Version: p.Version, Next: &next, Operation: uuid.NewString(), Lease: s.lease, LeaseExpiredFor: s.leaseExpiredFor, Silent: p.Visible() == next.Visible()}
	if next.State.Final() {
		move.Keep = keepFinal
		next.Payer, next.Desk, next.Contact = nil, nil, "" // that something was paid is kept for longer than by whom
	}
	if err := m.cfg.Store.Commit(ctx, move); err != nil {
		return nil, err
	}
	if next.State.Final() {
		m.reschedule(ctx, &next, 0)
	}
	m.reportTransition(ctx, p.State, next.State)
	level := slog.LevelInfo
	if next.State == flows.InDoubt && p.State != flows.InDoubt {
		level = slog.LevelError // a person is needed, unless the evidence tells soon
	}
	m.cfg.Log.Log(ctx, level, "payment moved", "registration", p.Registration, "payment", string(p.ID), "from", string(p.State), "to", string(next.State), "reason", s.reason)
	return &next, nil
}

// reschedule schedules the next look; never, for a payment that is final. A
// failure is only logged: the entry in the list of open payments stays.
func (m *Machine) reschedule(ctx context.Context, p *flows.Payment, after time.Duration) {
	var err error
	after = cmp.Or(after, doubtPollEvery)
	switch now := m.cfg.Now(); {
	case p.State.Final():
		err = m.cfg.Store.MarkFinished(ctx, p)
	case after >= pollEvery && now.Sub(p.CreatedAt) < firstPollGrace:
		// The start has said when to look at it first, which is no later.
	default:
		err = m.cfg.Store.ScheduleNext(ctx, p.ID, now.Add(flows.Jitter(after)))
	}
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "next poll not scheduled", "payment", p.ID, "error", err)
	}
}

// applyTransition assigns the state, and notes the transition in the record. A change that
// leaves state and reason alone, such as one more reading, is none.
func (m *Machine) applyTransition(next *flows.Payment, s step) {
	if next.State == s.to && next.Reason == s.reason {
		return
	}
	history := next.History
	if len(history) == 0 {
		history = []flows.Transition{{State: next.State, At: next.UpdatedAt, Reason: next.Reason}}
	}
	now := m.cfg.Now()
	history = append(slices.Clip(history), flows.Transition{State: s.to, At: now, Reason: s.reason, Operator: s.decision.Operator, OperatorReason: s.decision.Reason})
	next.History = history[max(0, len(history)-flows.MaxHistory):]
	if s.to == flows.InDoubt && next.State != flows.InDoubt {
		next.DoubtSince = now
	}
	next.State, next.Reason, next.UpdatedAt = s.to, s.reason, now
}

// reportTransition tells of a payment's transition.
func (m *Machine) reportTransition(ctx context.Context, from, to flows.PaymentState) {
	if from == to {
		return
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent("payment", trace.WithAttributes(attribute.String("from", string(from)), attribute.String("to", string(to))))
	}
	if m.cfg.OnTransition != nil {
		m.cfg.OnTransition(from, to)
	}
}
