// Package payment is the payment machine: it moves a payment from state to state until its end. A card payment becomes exactly one
// payment at the club system, or a visible doubt. Package protocol has the rules, this package does what they say. In order:
//
//   - wake: a request, an event of another system (event.go), the schedule or an operator has Machine.Advance called, now or soon.
//   - load: the record is read from Redis. It must be this gateway's to touch (fingerprint.go).
//   - next: Machine.next asks protocol.Next, and has done what it says, until there is a change, or nothing to do for now (advance.go).
//   - perform: one call, whose outcome becomes a fact (perform.go). journal.go writes the processor's journal, record.go sends the one
//     POST, evidence.go reads what the club system shows, brake.go asks and counts. key.go has the idempotency keys of the
//     processor's calls, metadata.go what the processor keeps of a payment.
//   - commit: the change is written by compare-and-set, so that one process wins. Then next is asked again, with the new record.
//   - schedule: Machine.reschedule sets when an open payment is advanced next. A comparison adds only what the schedule lacks.
//
// Redis coordinates and never authorises: the right to send the POST is a claim in the payment's metadata at the processor. What
// Redis lost is restored from there: rebuild.go, duplicate.go, unverifiable.go, and lookup.go for callers who wait. Operators have
// list.go, detail.go, operator.go and calibrate.go. Only this package changes a payment's state; for the states see flows.PaymentState.
package payment

import (
	"cmp"
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

// Config is what the machine needs. Every field is required unless noted.
type Config struct {
	Store          *store.Store
	Club           *club.Client
	BackgroundClub *club.Client // for optional reads, with limits of its own so that they cannot delay a sale
	Cards          *cards.Client
	Keys           *keyring.Keyring
	Environment    string                            // in the processor's metadata, so that test and live payments are never mixed up
	Organisation   string                            // the client token of the organisation whose payments are handled; empty: every one's
	Rule           *flows.Rule                       // of the evidence, until one is calibrated; nil: none
	OnTransition   func(from, to flows.PaymentState) // called for every transition; nil: not called
	OnProblem      func(problem string)              // called for every problem with the processor, such as ProblemMissing; nil: not called
	LookUpEvery    time.Duration                     // the least pause between rebuilds on demand; zero: a minute
	Now            func() time.Time
	After          func(time.Duration) <-chan time.Time
	Log            *slog.Logger

	// Wake requests one Advance of a payment, in this process if it has capacity, and does not wait for it. p is the payment if it
	// was just read, else nil. It is a function because the queue, which has it, in turn calls the machine.
	Wake func(ctx context.Context, id flows.PaymentID, p *flows.Payment) error
}

// New returns the machine.
func New(cfg Config) *Machine {
	cfg.LookUpEvery = cmp.Or(cfg.LookUpEvery, onDemandEvery)
	return &Machine{cfg: cfg, lookups: lookups{since: map[string]time.Time{}, absent: map[string]time.Time{}}}
}
