package background

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

const (
	// keepPublished is how long it is known that an own event was published.
	keepPublished = 7 * 24 * time.Hour
	// announceWithin is how long after it has become so a payment is announced: longer than an outage that is still news, and shorter
	// than keepPublished, so that nothing is announced again later.
	announceWithin = 3 * 24 * time.Hour
	// announceAgain is the pause after an announcement that failed: as long as after a verification that did.
	announceAgain = verifyLease
)

// IsDue reports whether an own event about a subject remains to be published: a subscriber awaits such events, and this one is not
// known to be enqueued.
func (r *Relay) IsDue(ctx context.Context, name, subject string) (bool, error) {
	if !slices.ContainsFunc(r.cfg.Subscribers, func(s Subscriber) bool { return s.matches(name) }) {
		return false, nil
	}
	published, err := r.cfg.Store.Happened(ctx, flows.OwnEventID(name, subject))
	return !published, flows.StorageFailed(err)
}

// Publish delivers an event of Frontdesk's own to the subscribers that match it, at least once, always with the same id. The caller has
// stored what it is about, and repeats a call that fails, or during which its process dies, as long as IsDue.
func (r *Relay) Publish(ctx context.Context, event flows.OwnEvent) error {
	body := payload{event.Type, flows.Instant(event.At), event.Data}
	if err := r.enqueueAll(ctx, []queuedEvent{{event.ID, tracing.Traceparent(ctx), body}}); err != nil {
		return err
	}
	_, err := r.cfg.Store.Once(ctx, event.ID, keepPublished)
	return flows.StorageFailed(err)
}

// announced is the data of the events about a payment.
type announced struct {
	RegistrationID string          `json:"registrationId"`
	PaymentID      flows.PaymentID `json:"paymentId"`
	ClubID         string          `json:"clubId"`
	Method         flows.Method    `json:"method"`
	Amount         flows.Money     `json:"amount"`
}

// announce publishes what has become of a payment. Workers call it after each advance, and before they verify a recorded payment, which
// stays due until that succeeds: a process that dies after the commit loses nothing.
func (w *Worker) announce(ctx context.Context, p *flows.Payment) error {
	since := p.StateSince()
	if p.State == flows.Recorded {
		since = p.Since(flows.Recorded)
	}
	if w.cfg.Now().Sub(since) > announceWithin {
		return nil
	}
	switch p.State {
	case flows.InDoubt:
		return w.announcePayment(ctx, flows.PaymentInDoubt, string(p.ID)+" "+since.UTC().Format(time.RFC3339), p, since)
	case flows.Recorded:
		if err := w.announcePayment(ctx, flows.PaymentRecorded, string(p.ID), p, since); err != nil {
			return err
		}
		return errors.Join(w.cfg.Registrations.Complete(ctx, p), w.reportTerms(ctx, p))
	}
	return nil
}

// reportTerms has it reported to the club system, once, that the buyer of a recorded payment has accepted the club's own terms of sale.
func (w *Worker) reportTerms(ctx context.Context, p *flows.Payment) error {
	if !w.cfg.Registrations.MayReportTerms(p) {
		return nil
	}
	return w.Queue.enqueueTerms(ctx, p.ID)
}

// announcePayment publishes an event about a payment, whose doubts have one each.
func (w *Worker) announcePayment(ctx context.Context, name, subject string, p *flows.Payment, since time.Time) error {
	if due, err := w.Relay.IsDue(ctx, name, subject); err != nil || !due {
		return err
	}
	return w.Relay.Publish(ctx, flows.NewOwnEvent(name, subject, since, announced{
		RegistrationID: p.Registration,
		PaymentID:      p.ID,
		ClubID:         p.Club.ID(),
		Method:         p.Method,
		Amount:         flows.Money{Amount: p.Amount, Currency: p.Currency},
	}))
}
