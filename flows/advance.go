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
	"golang.org/x/sync/errgroup"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The figures of the machine.
const (
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
	cfg PaymentsConfig
}

// PaymentsConfig is what the machine needs; every field is required.
type PaymentsConfig struct {
	Store       Store
	Queue       *Queue
	Club        *club.Client
	Cards       cards.Processor
	Keys        *Keyring
	Environment string // kept in the processor's metadata, so that test and live payments are never mixed up
	WebhookURL  string // where the processor reports, for processors that take it per payment
	Now         func() time.Time
	Log         *slog.Logger
}

// NewPayments makes the machine.
func NewPayments(cfg PaymentsConfig) *Payments { return &Payments{cfg: cfg} }

// keepEvents: a processor repeats a delivery for days, and each is looked at once.
const keepEvents = 7 * 24 * time.Hour

// Told takes an event of the processor as the hint that it is: the payment
// will be looked at soon. An event of a payment of somebody else, or of another
// environment, is no concern of ours. The event is remembered only after the
// look is queued: rather two looks than none.
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
	if err := m.cfg.Queue.EnqueueAdvance(ctx, NewPaymentID(registration, generation)); err != nil {
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
// something could not be asked or stored; the payment is safe where it stands
// and will be looked at again.
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
			return nil, storageFailed(err)
		}
		if moved.State == Sending {
			if err := m.record(ctx, moved); err != nil {
				return moved, err
			}
		}
	}
	return nil, &Error{Code: Internal, Err: fmt.Errorf("payment %s did not settle within %d steps", id, maxSteps)}
}

// next looks at a payment and decides.
func (m *Payments) next(ctx context.Context, p *Payment) (step, error) {
	switch p.State {
	case Priced:
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
		return step{to: Refunding, reason: p.Reason}, nil
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
	if s.to != p.State && !p.State.CanBecome(s.to) {
		return nil, &Error{Code: Internal, Err: fmt.Errorf("payment %s: no transition from %s to %s", p.ID, p.State, s.to)}
	}
	next := *p
	next.State, next.Reason, next.UpdatedAt = s.to, s.reason, m.cfg.Now()
	if s.edit != nil {
		s.edit(&next)
	}
	move := Move{From: p.State, Version: p.Version, Next: &next, Operation: uuid.NewString(), Lease: s.lease, OwnerGone: s.ownerGone}
	if next.State.Final() {
		move.Keep = keepFinal
	}
	if err := m.cfg.Store.Commit(ctx, move); err != nil {
		return nil, err
	}
	if next.State.Final() {
		m.lookAgain(ctx, &next, 0)
	}
	m.cfg.Log.Info("payment moved", "payment", p.ID, "from", p.State, "to", next.State, "reason", s.reason)
	return &next, nil
}

// lookAgain schedules the next look; never, for a payment that is final. A
// failure is only logged: the entry in the list of open payments stays.
func (m *Payments) lookAgain(ctx context.Context, p *Payment, after time.Duration) {
	at := time.Time{}
	if !p.State.Final() {
		if after == 0 {
			after = doubtEvery
		}
		at = m.cfg.Now().Add(jitter(after))
	}
	if err := m.cfg.Store.LookAt(ctx, p.ID, at); err != nil {
		m.cfg.Log.Warn("next look not scheduled", "payment", p.ID, "error", err)
	}
}

// jitter spreads a duration by a fifth either way, so that payments that were
// started together are not looked at together for ever.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// createIntent makes the payment known to the processor. The key derives from
// the sale and the generation: whoever comes here again gets the same payment.
func (m *Payments) createIntent(ctx context.Context, p *Payment) (step, error) {
	created, err := m.cfg.Cards.Create(ctx, fmt.Sprintf("payment:%s:%d", p.Sale, p.Generation), cards.NewPayment{
		Amount: p.Amount, Currency: p.Currency, Metadata: m.metadata(p), ReturnURL: p.ReturnURL, WebhookURL: m.cfg.WebhookURL,
	})
	switch {
	case errors.Is(err, cards.ErrKeyReused):
		return step{to: Blocked, reason: "the processor holds another payment for this sale and generation"}, nil
	case err != nil:
		return step{}, processorFailed(err)
	}
	return step{to: Intent, reason: "the processor waits for the buyer", edit: func(next *Payment) {
		next.ProcessorID, next.RedirectURL, next.ClientSecret = created.ID, created.RedirectURL, created.ClientSecret
	}}, nil
}

// awaitBuyer looks whether the buyer has done something.
func (m *Payments) awaitBuyer(ctx context.Context, p *Payment) (step, error) {
	held, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: Blocked, reason: mismatch}, nil
	}
	switch held.State {
	case cards.Authorised, cards.Captured:
		return step{to: Authorised, reason: "the buyer authorised it", edit: func(next *Payment) { next.DeclineCode = "" }}, nil
	case cards.Cancelled:
		return step{to: Cancelling, reason: "it was cancelled at the processor"}, nil
	case cards.Refunded:
		return step{to: Blocked, reason: "it was refunded at the processor"}, nil
	}
	if held.State == cards.Declined && held.DeclineCode != p.DeclineCode {
		return step{to: Intent, reason: "declined: " + held.DeclineCode, edit: func(next *Payment) { next.DeclineCode = held.DeclineCode }}, nil
	}
	if m.cfg.Now().Sub(p.UpdatedAt) > idleIntent {
		return step{to: Cancelling, reason: "the buyer left"}, nil
	}
	return wait(lookEvery), nil
}

// checkSale reads the sale again before any money is taken. Whatever is not as
// it was when the buyer agreed to the price, the club system's silence
// included, lets the authorisation go: the buyer was not charged.
func (m *Payments) checkSale(ctx context.Context, p *Payment) (step, error) {
	held, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: Blocked, reason: mismatch}, nil
	case held.State != cards.Authorised && held.State != cards.Captured:
		return step{to: Cancelling, reason: "the processor no longer holds the authorisation: " + string(held.State)}, nil
	case held.State == cards.Authorised && m.cfg.Now().Sub(p.UpdatedAt) > idleAuthorisation:
		return step{to: Cancelling, reason: "the authorisation is too old"}, nil
	}
	sale, check, err := m.readSale(ctx, p)
	reason := ""
	switch {
	case err != nil:
		m.cfg.Log.Warn("sale not readable before capture", "payment", p.ID, "error", err)
		reason = "the club system could not be asked before the capture"
	case !check.Valid:
		reason = "the sale no longer passes the check"
	case sale.TotalTI != p.Amount || !sameCart(p.Cart, cartLines(sale)):
		reason = "the sale changed after the buyer agreed to the price"
	}
	if reason != "" {
		return step{to: Cancelling, reason: reason}, nil
	}
	payer := m.payer(sale)
	return step{to: Capturing, reason: "the sale is as agreed", edit: func(next *Payment) { next.Payer = payer }}, nil
}

// readSale reads the sale and its check side by side.
func (m *Payments) readSale(ctx context.Context, p *Payment) (sale club.Sale, check club.SaleCheck, err error) {
	both, bothCtx := errgroup.WithContext(ctx)
	both.Go(func() (err error) { sale, err = m.cfg.Club.GetSale(bothCtx, p.Scope(), p.Sale); return err })
	both.Go(func() (err error) { check, err = m.cfg.Club.CheckSale(bothCtx, p.Scope(), p.Sale); return err })
	return sale, check, both.Wait()
}

func (m *Payments) payer(sale club.Sale) *Payer {
	return &Payer{Contact: sale.Contact, FamilyName: sale.FamilyName, GivenName: sale.GivenName, Number: sale.Number,
		ClubCode: sale.ClubCode, Checkout: sale.Checkout, ReadAt: m.cfg.Now()}
}

// capture takes the money. Its key makes it harmless to ask twice.
func (m *Payments) capture(ctx context.Context, p *Payment) (step, error) {
	_, err := m.cfg.Cards.Capture(ctx, "capture:"+string(p.ID), p.ProcessorID, p.Amount)
	if err != nil && !errors.Is(err, cards.ErrState) && !errors.Is(err, cards.ErrRefused) {
		return step{}, processorFailed(err)
	}
	refused := err != nil
	if !refused {
		return step{to: Captured, reason: "the money is taken"}, nil
	}
	held, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: Blocked, reason: mismatch}, nil
	case held.State == cards.Captured:
		return step{to: Captured, reason: "the money is taken"}, nil
	case held.State == cards.Refunded:
		return step{to: Blocked, reason: "it was refunded at the processor"}, nil
	default:
		return step{to: Cancelling, reason: "the processor refused the capture"}, nil
	}
}

// cancel gives the payment up at the processor, and believes only what it reads back.
func (m *Payments) cancel(ctx context.Context, p *Payment) (step, error) {
	held, err := m.cfg.Cards.Cancel(ctx, "cancel:"+string(p.ID), p.ProcessorID)
	if errors.Is(err, cards.ErrState) {
		held, err = m.cfg.Cards.Get(ctx, p.ProcessorID)
	}
	switch {
	case err != nil:
		return step{}, processorFailed(err)
	case held.State == cards.Cancelled:
		return step{to: Cancelled, reason: p.Reason}, nil
	default:
		return step{to: Blocked, reason: "cannot be cancelled: the processor says " + string(held.State)}, nil
	}
}

// refund gives the money back, unless the journal at the processor says that it was recorded after all.
func (m *Payments) refund(ctx context.Context, p *Payment) (step, error) {
	held, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: Blocked, reason: mismatch}, nil
	case journalled(held):
		return step{to: Blocked, reason: "a refund is due for a payment that was recorded"}, nil
	case held.State == cards.Refunded:
		return step{to: Refunded, reason: p.Reason}, nil
	}
	if _, err := m.cfg.Cards.Refund(ctx, "refund:"+string(p.ID), p.ProcessorID, p.Amount); err != nil {
		return step{}, processorFailed(err)
	}
	return step{to: Refunded, reason: p.Reason}, nil
}

// askJournal resolves a doubt for which an accepted answer was journalled.
func (m *Payments) askJournal(ctx context.Context, p *Payment) (step, error) {
	held, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: Blocked, reason: mismatch}, nil
	case journalled(held):
		return step{to: Recorded, reason: "the journal holds the club system's acceptance"}, nil
	default:
		return wait(doubtEvery), nil
	}
}

// read gets the payment from the processor and compares it with the record. A
// mismatch is told in words: nothing automatic may follow from it.
func (m *Payments) read(ctx context.Context, p *Payment) (held cards.Payment, mismatch string, err error) {
	held, err = m.cfg.Cards.Get(ctx, p.ProcessorID)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		return held, "the processor does not know the payment", nil
	case err != nil:
		return held, "", processorFailed(err)
	case held.Amount != p.Amount || held.Currency != p.Currency:
		return held, "the processor holds another amount or currency", nil
	case held.State == cards.Captured && held.Captured != p.Amount:
		return held, "the processor captured another amount", nil
	case !m.ours(p, held.Metadata):
		return held, "the processor's metadata does not match or is not signed by us", nil
	}
	return held, "", nil
}

// processorFailed says that the card processor could not be asked; nothing is known to have changed.
func processorFailed(err error) error {
	return &Error{Code: ProcessorUnavailable, Detail: "The card processor did not answer as expected.", Err: err}
}

func cartLines(sale club.Sale) []CartLine {
	lines := make([]CartLine, len(sale.Articles))
	for i, article := range sale.Articles {
		lines[i] = CartLine{Offer: article.Offer, Price: article.PriceTI}
	}
	return lines
}

func sameCart(a, b []CartLine) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
