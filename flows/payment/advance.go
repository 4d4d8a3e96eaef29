package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The figures of the machine.
const (
	// createWithin: a payment that was priced at the end of its sale's 20 h is still
	// created within the 24 h for which the processor remembers its key.
	createWithin = 3 * time.Hour
	// idleIntent: a buyer who has not paid after half an hour has left; the cart thaws.
	idleIntent = 30 * time.Minute
	// idleAuthorisation: reserved money that could not be checked for an hour is let go.
	idleAuthorisation = 60 * time.Minute
	// keepFinal: as long as a buyer may ask about a payment at the desk.
	keepFinal = 30 * 24 * time.Hour
	// lease covers a claim, a POST of 30 s and the reading of evidence, so it needs no renewal.
	lease = 60 * time.Second
	// leaseGrace: what clocks and a stalled process may be off before a silent owner counts as gone.
	leaseGrace = 30 * time.Second
	// freshSale: the sale's data, and the token that read it, are good for a POST for so long.
	freshSale = 60 * time.Second
	// pollEvery: how often a payment that waits for the buyer or for somebody's
	// recovery is looked at; well below the minute within which a paid
	// registration is completed when the webhook got lost.
	pollEvery = 15 * time.Second
	// firstPollGrace: for so long nobody can have put off the first look at a payment, which the start says.
	firstPollGrace = pollEvery / 5
	// doubtPollEvery: how often the processor's journal is asked about a payment in doubt.
	doubtPollEvery = 2 * time.Minute
	// maxSteps bounds one Advance; the longest good way has nine steps.
	maxSteps = 25
)

// Machine is the payment machine: it moves every payment from its price to
// its end, and it is the only code that does.
type Machine struct {
	cfg      Config
	onDemand onDemandRebuild
}

// Store is what the machine needs of Redis. Each write is one atomic script; one that lost a
// race returns ErrConflict and changed nothing.
type Store interface {
	// Payment reads a payment. ErrNotFound.
	Payment(ctx context.Context, id flows.PaymentID) (*flows.Payment, error)
	// PaymentUnlessSeen reads a payment as Payment does, unless Once was called with this name within its period.
	PaymentUnlessSeen(ctx context.Context, id flows.PaymentID, name string) (p *flows.Payment, seen bool, err error)
	// Commit moves a payment by compare-and-set; see Move.
	Commit(ctx context.Context, move flows.StateChange) error
	// Rebuild stores a payment that is missing, and its registration as
	// SaveRegistration does (nil: the registration stays as it is), both or neither.
	// keep is how long a final payment is kept. ErrConflict when the payment is there.
	Rebuild(ctx context.Context, r *flows.Registration, p *flows.Payment, keep time.Duration) error
	// ScheduleNext puts the payment's next look at an instant; the zero instant means never again.
	ScheduleNext(ctx context.Context, id flows.PaymentID, at time.Time) error
	// EnsureOpen is ScheduleNext for a payment that has no next look; one that has keeps it.
	EnsureOpen(ctx context.Context, id flows.PaymentID, at time.Time) error
	// MarkFinished takes a final payment from the list of open ones and puts it into
	// the bounded list of those that ended in the same state.
	MarkFinished(ctx context.Context, p *flows.Payment) error
	// OpenPayments lists payments that are not final, the one to be looked at next first.
	OpenPayments(ctx context.Context, limit int) ([]flows.PaymentID, error)
	// FinishedPayments lists payments that ended in a state, the latest first.
	FinishedPayments(ctx context.Context, state flows.PaymentState, limit int) ([]flows.PaymentID, error)
	// Registration reads a registration and its latest payment (nil when there is none). ErrNotFound.
	Registration(ctx context.Context, id string) (*flows.Registration, *flows.Payment, error)
	// SaveRegistration replaces the registration if its version is still r.Version, and counts the version up.
	SaveRegistration(ctx context.Context, r *flows.Registration) error
	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
	// Rule reads the calibrated rule of an environment. ErrNotFound.
	Rule(ctx context.Context, environment string) (*flows.Rule, error)
	// SaveRule replaces the rule of an environment.
	SaveRule(ctx context.Context, environment string, rule *flows.Rule) error
	// AddNote keeps an operator's note about a payment; the oldest of very many go.
	AddNote(ctx context.Context, id flows.PaymentID, note flows.Note) error
	// Notes reads a payment's notes, oldest first.
	Notes(ctx context.Context, id flows.PaymentID) ([]flows.Note, error)
	// Audit appends to the audit stream, which is bounded and in plain.
	Audit(ctx context.Context, entry flows.AuditEntry) error
}

// Queue is what the machine needs of the background work.
type Queue interface {
	// EnqueueAdvance asks for one Advance of a payment, on any gateway, soon.
	EnqueueAdvance(ctx context.Context, id flows.PaymentID) error
	// AdvanceSoon asks for one Advance of a payment that was just read, in this process if it has capacity.
	AdvanceSoon(ctx context.Context, p *flows.Payment) error
	// Pending tells whether this process is advancing the payment already; if so, it advances it once more afterwards.
	Pending(id flows.PaymentID) bool
}

// Config is what the machine needs; every field is required unless said.
type Config struct {
	Store          Store
	Queue          Queue
	Club           *club.Client
	BackgroundClub *club.Client // for what no money waits for: in a lane of its own, so that its trouble is never a sale's
	Cards          cards.Processor
	Keys           *keyring.Keyring
	Environment    string                            // kept in the processor's metadata, so that test and live payments are never mixed up
	WebhookURL     string                            // where the processor reports, for processors that take it per payment
	Rule           *flows.Rule                       // by which evidence tells that a payment was recorded, until one is calibrated; nil: there is none
	OnTransition   func(from, to flows.PaymentState) // hears of every transition; nil: nobody listens
	Now            func() time.Time
	Log            *slog.Logger
}

// New makes the machine.
func New(cfg Config) *Machine { return &Machine{cfg: cfg} }

// keepEvents: a processor repeats a delivery for days, and each is looked at once.
const keepEvents = 7 * 24 * time.Hour

// HandleEvent takes an event of the processor as the hint that it is: the payment
// will be looked at soon. An event of a payment of somebody else, or of another
// environment, is no concern of ours. One of ours that Redis does not know is
// looked for at the processor by whoever takes the look. The event is remembered
// only after the look is asked for: rather two looks than none.
func (m *Machine) HandleEvent(ctx context.Context, event cards.Event) error {
	generation, err := strconv.Atoi(event.Metadata["fd_generation"])
	registration := event.Metadata["fd_registration"]
	if err != nil || registration == "" || event.Metadata["fd_environment"] != m.cfg.Environment {
		m.cfg.Log.InfoContext(ctx, "event of another payment ignored", "event", event.ID, "type", event.Type)
		return nil
	}
	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID
	id := flows.NewPaymentID(registration, generation)
	if m.cfg.Queue.Pending(id) {
		_, err := m.cfg.Store.Once(ctx, name, keepEvents)
		return flows.StorageFailed(err)
	}
	p, seen, err := m.cfg.Store.PaymentUnlessSeen(ctx, id, name)
	switch {
	case seen:
		return nil
	case errors.Is(err, flows.ErrNotFound) && !m.signed(event.Metadata):
		m.cfg.Log.WarnContext(ctx, "event of an unknown payment ignored: we did not sign it", "event", event.ID, "type", event.Type)
		return nil
	case err != nil && !errors.Is(err, flows.ErrNotFound) && !errors.Is(err, flows.ErrDamaged) && !errors.Is(err, flows.ErrNewer):
		return flows.StorageFailed(err)
	}
	switch {
	case err != nil:
		err = m.cfg.Queue.EnqueueAdvance(ctx, id)
	case !p.State.Final():
		err = m.cfg.Queue.AdvanceSoon(ctx, p)
	}
	if err != nil {
		return err
	}
	_, err = m.cfg.Store.Once(ctx, name, keepEvents)
	return flows.StorageFailed(err)
}

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

// applyTransition assigns the state, and notes the passage in the record. A change that
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
