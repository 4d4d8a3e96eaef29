package payment

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/club"
)

// giveUp is the step of a payment that was certainly not recorded, and is not sent again.
func (m *Machine) giveUp(p *flows.Payment, reason string) step {
	switch {
	case p.HasProcessor():
		return step{to: flows.RefundDue, reason: reason}
	case p.Method == flows.InPerson && m.cfg.Now().Sub(p.CreatedAt) > protocol.SettleWithin: // only operators still look at it
		return step{to: flows.InDoubt, reason: reason, edit: func(next *flows.Payment) { next.AttemptID = "" }}
	default:
		return step{to: flows.Cancelled, reason: reason}
	}
}

// prepareSettlement moves a payment without a processor from priced to sending, owned by
// this process, if the sale is as agreed. Otherwise the payment is cancelled, or in
// doubt if the sale is settled already.
func (m *Machine) prepareSettlement(ctx context.Context, p *flows.Payment) (step, error) {
	if p.Method != flows.InPerson && m.cfg.Now().Sub(p.UpdatedAt) > protocol.SettleWithin {
		return step{to: flows.Cancelled, reason: "it could not be sent in time"}, nil
	}
	if early, err := m.limitLeft(ctx, p); err != nil || early > 0 {
		return wait(early), err
	}
	if left, err := m.held(ctx, p); err != nil || left > 0 {
		return hold(p, left), err
	}
	sale, check, seen, err := m.observe(ctx, m.cfg.Club, p)
	switch {
	case err != nil && protocol.Expired(m.cfg.Now(), protocol.SendableSince(p), protocol.SaleUnreadableAfter): // of money at the desk
		return m.giveUp(p, "the sale could not be read for a day"), nil
	case err != nil:
		return step{}, flows.ClubFailed(err, "The sale could not be read.")
	}
	if sale.State != p.SaleState {
		// By the club's staff, or by this payment before Redis lost it: an operator must find out.
		return step{to: flows.InDoubt, reason: "the sale is settled already", edit: func(next *flows.Payment) { next.AttemptID = "" }}, nil
	}
	if reason := p.ChangedSinceAgreed(sale, check); reason != "" {
		s := m.giveUp(p, reason)
		s.edit = func(next *flows.Payment) { next.Snapshot, next.AttemptID = seen, "" }
		return s, nil
	}
	return step{to: flows.Sending, reason: "the sale is as agreed, and about to be settled", lease: protocol.Lease, edit: func(next *flows.Payment) {
		next.Payer, next.Snapshot, next.OnHold = protocol.PayerOf(sale, seen.At), seen, false
		next.Claim, next.AttemptID = p.Claim+1, protocol.NewAttemptID(m.cfg.Now(), uuid.NewString())
	}}, nil
}

// post sends the one request that settles the sale at the club system.
func (m *Machine) post(ctx context.Context, p *flows.Payment, gate club.Gate) error {
	switch p.Method {
	case flows.Deferred:
		return m.cfg.Club.PostponeDue(ctx, p.Scope(), p.Sale, p.DueDate, gate)
	case flows.Free:
		return m.cfg.Club.ValidateSale(ctx, p.Scope(), p.Sale, gate)
	}
	payment := club.NewPayment{
		Contact: p.Payer.Contact, FamilyName: p.Payer.FamilyName, GivenName: p.Payer.GivenName, Number: p.Payer.Number,
		Amount: p.Amount, Mean: club.MeanCBWeb, Club: p.Club, ClubCode: p.Payer.ClubCode, Checkout: p.Payer.Checkout,
	}
	if p.Desk != nil {
		payment.Mean = p.Desk.Mean
		for _, card := range p.Desk.Cards {
			payment.Cards = append(payment.Cards, club.PaymentCard(card))
		}
		for _, cheque := range p.Desk.Cheques {
			payment.Cheques = append(payment.Cheques, club.Cheque(cheque))
		}
	}
	_, err := m.cfg.Club.CreatePayment(ctx, p.Scope(), p.Sale, payment, gate)
	m.countOutcome(ctx, p, err)
	return err
}
