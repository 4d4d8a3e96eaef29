package payment

import (
	"context"
	"errors"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// backgroundTimeout: the capture waits no longer than this for optional evidence.
const backgroundTimeout = 2 * time.Second

// observe reads the sale and its check, and at the same time the contact's debt and, unless it is given, its status.
// The latter two are optional: a failure leaves them out.
func (m *Machine) observe(ctx context.Context, from *club.Client, payment *flows.Payment, status *string) (
	sale club.Sale, check club.SaleCheck, seen *flows.Evidence, err error) {
	seen = &flows.Evidence{At: m.cfg.Now(), ContactStatus: status}
	optional, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	var background sync.WaitGroup
	observeContact := func(contact club.IRI) {
		if status == nil {
			background.Go(func() {
				if got, err := m.cfg.BackgroundClub.GetContact(optional, payment.Scope(), contact); err == nil && got.Status != "" {
					seen.ContactStatus = &got.Status
				}
			})
		}
		background.Go(func() {
			if got, err := m.cfg.BackgroundClub.GetAccountStatistics(optional, payment.Scope(), contact); err == nil {
				seen.Debt = &got.TotalRealDebt
			}
		})
	}
	contact := payment.Contact
	if contact != "" {
		observeContact(contact)
	}
	sale, check, err = from.GetCheckedSale(ctx, payment.Scope(), payment.Sale)
	if err != nil {
		cancel()
		background.Wait()
		return sale, check, nil, err
	}
	if contact == "" && sale.Contact != "" { // a final record has no contact
		contact = sale.Contact
		observeContact(contact)
	}
	background.Wait()
	if contact != sale.Contact {
		seen.ContactStatus, seen.Debt = nil, nil // the sale was moved to another contact
	}
	seen.Total, seen.Invoiced = &sale.TotalTI, new(bool(sale.Invoiced))
	if !check.Foreign {
		seen.Valid = &check.Valid
	}
	if sale.State != "" {
		seen.SaleState = &sale.State
	}
	return sale, check, seen, nil
}

// statusBefore returns the contact's status before the capture, as last read from the club system; nil: it must be read. Staff may have
// changed it since, which only a rule about the status could take for the payment's effect; a rule that cannot be read now may be one.
func (m *Machine) statusBefore(ctx context.Context, payment *flows.Payment) *string {
	rule, err := m.readRule(ctx)
	if err != nil || payment.ContactStatus == "" || rule.After(flows.SignalContactStatus) != "" {
		return nil
	}
	return &payment.ContactStatus
}

// rule returns the rule of this environment; nil without one, or if it cannot be read.
func (m *Machine) rule(ctx context.Context) *flows.Rule {
	rule, err := m.readRule(ctx)
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "calibrated rule not readable", "error", err)
	}
	return rule
}

// readRule returns the rule of this environment; nil without one.
func (m *Machine) readRule(ctx context.Context) (*flows.Rule, error) {
	rule, err := m.cfg.Store.Rule(ctx, m.cfg.Environment)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return m.cfg.Rule, nil
	case err != nil:
		return nil, err
	}
	return rule, nil
}
