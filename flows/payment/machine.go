// Package payment is the payment machine: it moves a payment from its price to its end,
// so that a card payment becomes exactly one payment at the club system, or a visible
// doubt. It is the only code that changes a payment's state.
//
// The buyer's request, the processor's event, the sweep, a poll and an operator all call
// Machine.Advance, which takes one step after the other: step.go holds the steps up to the
// capture, record.go the claim and the one POST, evidence.go what resolves a doubt,
// rebuild.go what brings back a payment that Redis lost, operator.go a person's decisions.
//
// Redis coordinates and never authorises. The right to send the POST is a claim in the
// payment's own metadata at the card processor. The states and their transitions are a
// table of the domain; see flows.PaymentState.
package payment

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

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
