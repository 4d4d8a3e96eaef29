package payment

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// HandleEvent requests an Advance for an event of the processor; the event's content is not
// trusted. An event without metadata, as of a refund, has the payment read at the processor. It ignores
// events of types that say nothing new, and those of other systems, environments and organisations. A payment of ours that Redis
// lacks is woken, so that the worker rebuilds it. A refund or a dispute of a recorded payment, and a refund that
// failed, are handled at once. The event is remembered only afterwards: two advances are better than none.
func (m *Machine) HandleEvent(ctx context.Context, event cards.Event) error {
	if event.PaymentID == "" {
		m.cfg.Log.DebugContext(ctx, "event of an unused type ignored", "event", event.ID, "type", event.Type)
		return nil
	}
	if event.Metadata == nil {
		remote, err := m.find(ctx, event.PaymentID)
		if err != nil {
			return err
		}
		event.Metadata = remote.Metadata
	}
	generation, err := strconv.Atoi(event.Metadata["fd_generation"])
	registration := event.Metadata["fd_registration"]
	if err != nil || registration == "" || !m.ours(event.Metadata) {
		m.cfg.Log.InfoContext(ctx, "event of another payment ignored", "event", event.ID, "type", event.Type)
		return nil
	}
	if err := m.requireOwn(ctx); err != nil {
		return err
	}
	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID
	id := flows.NewPaymentID(registration, generation)
	payment, seen, err := m.cfg.Store.PaymentUnlessSeen(ctx, id, name)
	if seen {
		return nil
	}
	if missing := errors.Is(err, flows.ErrNotFound); missing || err == nil && (payment.ProcessorID == "" || !isOf(payment, event.PaymentID)) {
		// It may be of a payment whose number another one has, or had.
		other := duplicateID(registration, event.PaymentID)
		duplicate, notFound := m.cfg.Store.Payment(ctx, other)
		if notFound == nil || !missing && !isOf(payment, event.PaymentID) {
			id, payment, err = other, duplicate, notFound
		}
	}
	missing := errors.Is(err, flows.ErrNotFound)
	switch {
	case missing && !m.signed(event.Metadata):
		m.cfg.Log.WarnContext(ctx, "event of an unknown payment ignored: we did not sign it", "event", event.ID, "type", event.Type)
		return nil
	case missing:
		if err = m.restoreReversed(ctx, event.PaymentID); err == nil {
			err = m.cfg.Wake(ctx, id, nil)
		}
	case flows.Unreadable(err): // it is listed; a gateway that can read it may have to act, so the processor sends the event again
		unread := err
		if err = m.cfg.Wake(ctx, id, nil); err == nil && event.Reversal {
			err = flows.StorageFailed(unread)
		}
	case err != nil:
		err = flows.StorageFailed(err)
	case payment.Schema > flows.PaymentSchema && (payment.State == flows.Refunded || payment.State == flows.Recorded && event.Reversal):
		err = flows.StorageFailed(fmt.Errorf("%w: payment %s", flows.ErrNewer, payment.ID)) // the processor sends the event again
	case payment.State == flows.Recorded && event.Reversal:
		_, err = m.advance(ctx, payment, ask{wish: protocol.Reread})
	case payment.State == flows.Refunded:
		_, err = m.AdvanceLoaded(ctx, payment) // no sweep would repeat it; after an error, the processor sends the event again
	case !payment.State.Final():
		err = m.cfg.Wake(ctx, id, payment)
	}
	if err != nil {
		return err
	}
	_, err = m.cfg.Store.Once(ctx, name, keepEvents)
	return flows.StorageFailed(err)
}

// restoreReversed stores a payment again whose refund failed, or which was refunded or disputed after it was recorded,
// once Redis has dropped the record of its end: a comparison does not reach back so far.
func (m *Machine) restoreReversed(ctx context.Context, processorID string) error {
	remote, err := m.find(ctx, processorID)
	if err != nil {
		return err
	}
	if p := m.derivePayment(remote); p != nil && protocol.Reversed(p, remote) {
		return m.restore(ctx, []candidate{newCandidate(p, remote)})
	}
	return nil
}

// RereadEvidence has the evidence of a doubt read now, after an event at the club, unless that was done a moment ago. Another payment
// it wakes.
func (m *Machine) RereadEvidence(ctx context.Context, p *flows.Payment) error {
	if p.State != flows.InDoubt {
		return m.cfg.Wake(ctx, p.ID, nil)
	}
	_, err := m.advance(ctx, p, ask{wish: protocol.Reread})
	return err
}
