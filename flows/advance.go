package flows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/google/uuid"

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
	// lookEvery: how often a payment that waits for the buyer or for somebody's
	// recovery is looked at; well below the minute within which a paid
	// registration is completed when the webhook got lost.
	lookEvery = 15 * time.Second
	// doubtEvery: how often the processor's journal is asked about a payment in doubt.
	doubtEvery = 2 * time.Minute
	// maxSteps bounds one Advance; the longest good way has nine steps.
	maxSteps = 25
)

// Payments is the payment machine: it moves every payment from its price to
// its end, and it is the only code that does.
type Payments struct {
	cfg    PaymentsConfig
	recall recall
}

// PaymentsConfig is what the machine needs; every field is required unless said.
type PaymentsConfig struct {
	Store       Store
	Queue       *Queue
	Club        *club.Client
	Aside       *club.Client // for what no money waits for: in a lane of its own, so that its trouble is never a sale's
	Cards       cards.Processor
	Keys        *Keyring
	Environment string                      // kept in the processor's metadata, so that test and live payments are never mixed up
	WebhookURL  string                      // where the processor reports, for processors that take it per payment
	Rule        *Rule                       // by which evidence tells that a payment was recorded, until one is calibrated; nil: there is none
	Moved       func(from, to PaymentState) // hears of every transition; nil: nobody listens
	Now         func() time.Time
	Log         *slog.Logger
}

// NewPayments makes the machine.
func NewPayments(cfg PaymentsConfig) *Payments { return &Payments{cfg: cfg} }

// keepEvents: a processor repeats a delivery for days, and each is looked at once.
const keepEvents = 7 * 24 * time.Hour

// Told takes an event of the processor as the hint that it is: the payment
// will be looked at soon. An event of a payment of somebody else, or of another
// environment, is no concern of ours. One of ours that Redis does not know is
// looked for at the processor by whoever takes the look. The event is remembered
// only after the look is queued: rather two looks than none.
func (m *Payments) Told(ctx context.Context, event cards.Event) error {
	generation, err := strconv.Atoi(event.Metadata["fd_generation"])
	registration := event.Metadata["fd_registration"]
	if err != nil || registration == "" || event.Metadata["fd_environment"] != m.cfg.Environment {
		m.cfg.Log.Info("event of another payment ignored", "event", event.ID, "type", event.Type)
		return nil
	}
	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID
	if seen, err := m.cfg.Store.Seen(ctx, name); seen || err != nil {
		return storageFailed(err)
	}
	id := NewPaymentID(registration, generation)
	switch _, err := m.cfg.Store.Payment(ctx, id); {
	case errors.Is(err, ErrNotFound) && !m.signed(event.Metadata):
		m.cfg.Log.Warn("event of an unknown payment ignored: we did not sign it", "event", event.ID, "type", event.Type)
		return nil
	case err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer):
		return storageFailed(err)
	}
	if err := m.cfg.Queue.EnqueueAdvance(ctx, id); err != nil {
		return err
	}
	_, err = m.cfg.Store.Once(ctx, name, keepEvents)
	return storageFailed(err)
}

// step is what one look at a payment decided: a change to commit, or nothing,
// and then when to look again.
type step struct {
	to        PaymentState   // the state to move to; empty: no change at all; the present one: only the record changes
	reason    string         // why, for operators and the log
	word      Word           // of the operator who decided; empty for the machine
	edit      func(*Payment) // changes to the record
	lease     time.Duration  // see Move
	ownerGone time.Duration  // see Move
	again     time.Duration  // with no change: how long until the next look
}

// wait is the step that changes nothing.
func wait(again time.Duration) step { return step{again: again} }

// Advance moves a payment as far as it can go now, and answers with it as it
// then stands. Everybody calls it at any time and as often as they like: the
// buyer's request, the processor's webhook, the sweeper. An error means that
// something could not be asked or stored; the payment is safe where it stands,
// comes with the error if it could be read, and will be looked at again.
func (m *Payments) Advance(ctx context.Context, id PaymentID) (*Payment, error) {
	for range maxSteps {
		p, err := m.cfg.Store.Payment(ctx, id)
		if err != nil {
			return nil, storageFailed(err)
		}
		if p.Schema > PaymentSchema {
			return p, nil
		}
		s, err := m.next(ctx, p)
		if err != nil {
			m.lookAgain(ctx, p, lookEvery)
			return p, err
		}
		if s.to == "" {
			m.lookAgain(ctx, p, s.again)
			return p, nil
		}
		moved, err := m.commit(ctx, p, s)
		switch {
		case errors.Is(err, ErrOwned):
			m.lookAgain(ctx, p, lookEvery)
			return p, nil
		case errors.Is(err, ErrConflict):
			continue // somebody else moved it; read it again
		case err != nil:
			return p, storageFailed(err)
		}
		switch {
		case moved.State == Sending:
			if err := m.record(ctx, moved); err != nil {
				return moved, err
			}
		case s.word.By == byRule && moved.Witnessed():
			m.journalRecorded(ctx, moved)
		}
	}
	return nil, &Error{Code: Internal, Err: fmt.Errorf("payment %s did not settle within %d steps", id, maxSteps)}
}

// Look takes one step of a payment that waits for its buyer, so that a visitor
// who comes back sees what they just did; the rest of the way is queued. Any
// trouble leaves the payment as it was read.
func (m *Payments) Look(ctx context.Context, p *Payment) *Payment {
	if p.State != Intent || p.Schema > PaymentSchema {
		return p
	}
	s, err := m.awaitBuyer(ctx, p)
	if err == nil && s.to != "" {
		var moved *Payment
		if moved, err = m.commit(ctx, p, s); err == nil {
			p = moved
			err = m.cfg.Queue.EnqueueAdvance(ctx, p.ID)
		}
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		m.cfg.Log.Warn("payment not looked at", "payment", p.ID, "error", err)
	}
	return p
}

// next looks at a payment and decides.
func (m *Payments) next(ctx context.Context, p *Payment) (step, error) {
	switch p.State {
	case Priced:
		if !p.Witnessed() {
			return m.prepareSettlement(ctx, p)
		}
		return m.createIntent(ctx, p)
	case Intent:
		return m.awaitBuyer(ctx, p)
	case Authorised:
		return m.checkSale(ctx, p)
	case Capturing:
		return m.capture(ctx, p)
	case Captured:
		return m.prepareRecord(ctx, p)
	case Sending:
		// Its owner is at work in this very moment, or is gone and took the outcome along.
		return step{to: InDoubt, reason: "the process that was recording it is gone", ownerGone: leaseGrace}, nil
	case Cancelling:
		return m.cancel(ctx, p)
	case RefundDue:
		return m.prepareRefund(ctx, p)
	case Refunding:
		return m.refund(ctx, p)
	case InDoubt:
		return m.askJournal(ctx, p)
	default:
		return wait(0), nil
	}
}

// commit is the one place that assigns a payment's state.
func (m *Payments) commit(ctx context.Context, p *Payment, s step) (*Payment, error) {
	if p.Schema > PaymentSchema {
		return nil, &Error{Code: Internal, Err: fmt.Errorf("payment %s was written by a newer version", p.ID)}
	}
	if s.to != p.State && !p.State.CanBecome(s.to) {
		return nil, &Error{Code: Internal, Err: fmt.Errorf("payment %s: no transition from %s to %s", p.ID, p.State, s.to)}
	}
	next := *p
	m.remember(&next, s)
	if s.edit != nil {
		s.edit(&next)
	}
	move := Move{From: p.State, Version: p.Version, Next: &next, Operation: uuid.NewString(), Lease: s.lease, OwnerGone: s.ownerGone}
	if next.State.Final() {
		move.Keep = keepFinal
		next.Payer, next.Desk, next.Contact = nil, nil, "" // that something was paid is kept for longer than by whom
	}
	if err := m.cfg.Store.Commit(ctx, move); err != nil {
		return nil, err
	}
	if next.State.Final() {
		m.lookAgain(ctx, &next, 0)
	}
	m.moved(ctx, p.State, next.State)
	level := slog.LevelInfo
	if next.State == InDoubt && p.State != InDoubt {
		level = slog.LevelError // a person is needed, unless the evidence tells soon
	}
	m.cfg.Log.Log(ctx, level, "payment moved", "registration", p.Registration, "payment", p.ID, "from", p.State, "to", next.State, "reason", s.reason)
	return &next, nil
}

// lookAgain schedules the next look; never, for a payment that is final. A
// failure is only logged: the entry in the list of open payments stays.
func (m *Payments) lookAgain(ctx context.Context, p *Payment, after time.Duration) {
	var err error
	if p.State.Final() {
		err = m.cfg.Store.Finished(ctx, p)
	} else {
		if after == 0 {
			after = doubtEvery
		}
		err = m.cfg.Store.LookAt(ctx, p.ID, m.cfg.Now().Add(jitter(after)))
	}
	if err != nil {
		m.cfg.Log.Warn("next look not scheduled", "payment", p.ID, "error", err)
	}
}

// jitter spreads a duration by a fifth either way, so that payments that were
// started together are not looked at together for ever.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
