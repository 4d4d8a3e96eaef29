package payment

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/club"
)

// gate returns the write gate of a payment: the process may sleep at any line after it became the owner. A refund has no owner, and
// may leave at any time.
func (m *Machine) gate(p *flows.Payment, f protocol.Facts) club.Gate {
	return func() error {
		if !f.Owner.IsZero() && f.Late(m.cfg.Now()) {
			return fmt.Errorf("claim %d is older than %s", p.Claim, protocol.ClaimLife)
		}
		return nil
	}
}

// post sends the one request that settles the sale at the club system, and has the brake count how it ended.
func (m *Machine) post(ctx context.Context, payment *flows.Payment, gate club.Gate) protocol.Posted {
	err := m.settle(ctx, payment, gate)
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "payment not recorded", "payment", payment.ID, "outcome", club.OutcomeOf(err), "error", err)
	}
	posted := protocol.Posted{Outcome: club.OutcomeOf(err), Restrictions: club.Restrictions(err)}
	if failed, ok := errors.AsType[*club.Error](err); ok {
		posted.Seen, posted.Limited = failed.Seen(), failed.Status == http.StatusTooManyRequests || errors.Is(err, club.ErrBusy)
		if posted.Limited {
			posted.Limit = failed.RetryAfter
		}
	}
	m.count(ctx, payment, protocol.CountPost(payment, posted, m.cfg.Now()))
	return posted
}

func (m *Machine) settle(ctx context.Context, paid *flows.Payment, gate club.Gate) error {
	switch paid.Method {
	case flows.Deferred:
		return m.cfg.Club.PostponeDue(ctx, paid.Scope(), paid.Sale, paid.DueDate, gate)
	case flows.Free:
		return m.cfg.Club.ValidateSale(ctx, paid.Scope(), paid.Sale, gate)
	}
	payment := club.NewPayment{
		Contact:    paid.Payer.Contact,
		FamilyName: paid.Payer.FamilyName,
		GivenName:  paid.Payer.GivenName,
		Number:     paid.Payer.Number,
		Amount:     paid.Amount,
		Mean:       club.MeanCBWeb,
		Club:       paid.Club,
		ClubCode:   paid.Payer.ClubCode,
		Checkout:   paid.Payer.Checkout,
	}
	if paid.Desk != nil {
		payment.Mean = paid.Desk.Mean
		for _, card := range paid.Desk.Cards {
			payment.Cards = append(payment.Cards, card.PaymentCard)
		}
		for _, cheque := range paid.Desk.Cheques {
			payment.Cheques = append(payment.Cheques, cheque.Cheque)
		}
	}
	_, err := m.cfg.Club.CreatePayment(ctx, paid.Scope(), paid.Sale, payment, gate)
	return err
}
