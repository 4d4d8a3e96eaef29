// Package payment is the payment machine: it moves a payment from state to state until its end. A card payment becomes exactly one
// payment at the club system, or a visible doubt. Package protocol has the rules, this package does what they say. In order:
//
//   - wake: a request, an event of another system (event.go), the schedule or an operator has Machine.Advance called, now or soon.
//   - load: the record is read from Redis. It must be this gateway's to touch (fingerprint.go).
//   - next: Machine.next asks protocol.Next, and has done what it says, until there is a change, or nothing to do for now (advance.go).
//   - perform: one call, whose outcome becomes a fact (perform.go). record.go writes the processor's journal and sends the one POST,
//     evidence.go reads what the club system shows, brake.go asks and counts. key.go has the idempotency keys of the processor's
//     calls, metadata.go what the processor keeps of a payment.
//   - commit: the change is written by compare-and-set, so that one process wins. Then next is asked again, with the new record.
//   - schedule: Machine.reschedule sets when an open payment is advanced next. A comparison adds only what the schedule lacks.
//
// Redis coordinates and never authorises: the right to send the POST is a claim in the payment's metadata at the processor. What
// Redis lost is restored from there: rebuild.go, duplicate.go, unverifiable.go, and lookup.go for callers who wait. Operators have
// list.go, detail.go, operator.go and calibrate.go. Only this package changes a payment's state; for the states see flows.PaymentState.
package payment

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment/protocol"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// Limits and periods of the machine.
const (
	// keepFinal: as long as a buyer may ask staff about a payment.
	keepFinal = 30 * 24 * time.Hour
	// firstPollGrace: a younger payment still has the first step that its start scheduled.
	firstPollGrace = protocol.PollEvery / 5
	// maxTurns bounds what is done for one change, and the changes of one Advance; the longest successful way has some forty turns.
	maxTurns = 100
	// keepEvents: a processor repeats a delivery for days.
	keepEvents = 7 * 24 * time.Hour
)

// The problems with the processor that are counted.
const (
	ProblemMissing         = "missing"          // the processor does not have a payment of ours, or has another program's under its id
	ProblemCreationRefused = "creation_refused" // the processor refuses for good to create a payment
	ProblemUnreadable      = "unreadable"       // a record in the processor's list cannot be read
)

func (m *Machine) countProblem(problem string) {
	if m.cfg.OnProblem != nil {
		m.cfg.OnProblem(problem)
	}
}

// Machine moves every payment from its price to its end.
type Machine struct {
	cfg            Config
	onDemand       onDemandRebuild
	lookups        lookups
	rebuildOwed    atomic.Bool // the worker must compare everything
	fingerprint    fingerprint
	unreadableSeen sync.Map // the processor's ids of records in its list that cannot be read
}

// Store is what the machine needs from Redis. Commit, Rebuild and SaveRegistration change records atomically:
// one that loses a race returns ErrConflict and changes no record. The lists of payments may lag behind the
// records; polls and rebuilds correct them.
type Store interface {
	// Payment reads a payment. ErrNotFound if it is not stored; ErrDamaged, ErrNewer or keyring.ErrSealed if
	// this version cannot read it.
	Payment(ctx context.Context, id flows.PaymentID) (*flows.Payment, error)
	// PaymentUnlessSeen is Payment, unless Once was called with this name within its period.
	PaymentUnlessSeen(ctx context.Context, id flows.PaymentID, name string) (p *flows.Payment, seen bool, err error)
	// Commit changes a payment by compare-and-set; see flows.StateChange.
	Commit(ctx context.Context, move flows.StateChange) error
	// Rebuild stores a missing payment and, unless nil, its registration as SaveRegistration
	// does, both or neither. keep is for a final payment. ErrConflict if the payment exists.
	// ErrNotFound if p is not a duplicate and its registration is neither given nor in Redis.
	Rebuild(ctx context.Context, r *flows.Registration, p *flows.Payment, keep time.Duration) error
	// Schedule sets when an open payment is advanced next, unless it was woken and no gateway has taken it since, and lists it
	// under its state. A final one it moves to the bounded list of its state, lists it under its finding if it has one, and
	// sets when it is verified; zero: never again.
	Schedule(ctx context.Context, p *flows.Payment, at time.Time) error
	// EnsureScheduled sets when an open payment is advanced, or a final one verified, unless that is scheduled already.
	EnsureScheduled(ctx context.Context, p *flows.Payment, at time.Time) error
	// PaymentsIn lists payments in a state that is not final, or with a finding, the longest there first: those that
	// entered it from an instant until before another one; zero: no bound.
	PaymentsIn(ctx context.Context, state flows.PaymentState, since, until time.Time, limit int) ([]flows.PaymentID, error)
	// CountPayments counts the payments in each state that is not final, and with each finding.
	CountPayments(ctx context.Context) (map[flows.PaymentState]store.StateCount, error)
	// FinishedPayments lists payments that ended in a state, latest first.
	FinishedPayments(ctx context.Context, state flows.PaymentState, limit int) ([]flows.PaymentID, error)
	// Registration reads a registration and its latest payment (nil: none); ErrNotFound without a registration,
	// else the errors of Payment.
	Registration(ctx context.Context, id string) (*flows.Registration, *flows.Payment, error)
	// SaveRegistration replaces the registration if its version is still r.Version, and increments it.
	SaveRegistration(ctx context.Context, r *flows.Registration) error
	// Once reports whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
	// Rule reads an environment's calibrated rule; ErrNotFound if it has no rule.
	Rule(ctx context.Context, environment string) (*flows.Rule, error)
	// SaveRule replaces an environment's rule.
	SaveRule(ctx context.Context, environment string, rule *flows.Rule) error
	// Comparison reads the latest complete comparison with a processor; zero without one.
	Comparison(ctx context.Context, processor string) (store.Comparison, error)
	// SaveComparison replaces the latest complete comparison with a processor.
	SaveComparison(ctx context.Context, processor string, comparison store.Comparison) error
	// SaveUnverifiable lists an unverifiable payment, or replaces its entry.
	SaveUnverifiable(ctx context.Context, u flows.UnverifiablePayment) error
	// UnverifiablePayments lists them, the oldest first.
	UnverifiablePayments(ctx context.Context) ([]flows.UnverifiablePayment, error)
	// DropUnverifiable removes one from the list, by the processor's id.
	DropUnverifiable(ctx context.Context, id string) error
	// Fingerprint reads whose payments Redis holds; ErrNotFound if it has none yet.
	Fingerprint(ctx context.Context) (flows.Fingerprint, error)
	// SaveFingerprint replaces it by compare-and-set; zero expects that Redis holds none.
	SaveFingerprint(ctx context.Context, expected, next flows.Fingerprint) error
	// AddNote adds an operator's note to a payment; the oldest beyond a bound are dropped.
	AddNote(ctx context.Context, id flows.PaymentID, note flows.Note) error
	// Notes reads a payment's notes, oldest first.
	Notes(ctx context.Context, id flows.PaymentID) ([]flows.Note, error)
	// AskBrake returns how long a payment must wait because an organisation's brake holds; zero: it passes.
	AskBrake(ctx context.Context, in flows.BrakeRequest) (time.Duration, error)
	// CountOutcome engages or releases an organisation's brake.
	CountOutcome(ctx context.Context, in flows.BrakeOutcome) (flows.BrakeChange, error)
	// LastAccepted returns when the latest attempt began whose payment an organisation's club system accepted; zero: none.
	LastAccepted(ctx context.Context, organisation string) (time.Time, error)
	// Brakes lists the brakes that hold, by organisation.
	Brakes(ctx context.Context) ([]flows.Brake, error)
	// Audit appends to the audit stream, which is bounded and not encrypted.
	Audit(ctx context.Context, entry flows.AuditEntry) error
}

// Queue is what the machine needs from the background work.
type Queue interface {
	// Wake requests one Advance of a payment, in this process if it has capacity. p is the payment if it was just read, else nil.
	Wake(ctx context.Context, id flows.PaymentID, p *flows.Payment) error
}

// Config is what the machine needs. Every field is required unless noted.
type Config struct {
	Store          Store
	Queue          Queue
	Club           *club.Client
	BackgroundClub *club.Client // for optional reads, with limits of its own so that they cannot delay a sale
	Cards          *cards.Client
	Keys           *keyring.Keyring
	Environment    string                            // in the processor's metadata, so that test and live payments are never mixed up
	Organisation   string                            // the client token of the organisation whose payments are handled; empty: every one's
	Rule           *flows.Rule                       // of the evidence, until one is calibrated; nil: none
	OnTransition   func(from, to flows.PaymentState) // called for every transition; nil: not called
	OnProblem      func(problem string)              // called for every problem with the processor, such as ProblemMissing; nil: not called
	Now            func() time.Time
	After          func(time.Duration) <-chan time.Time
	Log            *slog.Logger
}

// New returns the machine.
func New(cfg Config) *Machine {
	return &Machine{cfg: cfg, lookups: lookups{since: map[string]time.Time{}, absent: map[string]time.Time{}}}
}
