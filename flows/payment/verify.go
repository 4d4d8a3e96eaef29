package payment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// nextVerification returns when a recorded payment must be compared with the other systems; zero if nothing
// is left to find out.
func (m *Machine) nextVerification(p *flows.Payment) time.Time {
	now := m.cfg.Now()
	switch {
	case p.State != flows.Recorded:
		return time.Time{}
	case p.Finding() != "":
		return now.Add(min(max(now.Sub(p.UpdatedAt), protocol.DoubtPollEvery), protocol.MaxVerifyPause))
	case p.SaleVerdict == "":
		return p.UpdatedAt.Add(protocol.VerifyAfter)
	default:
		return debtDue(p)
	}
}

// debtDue returns when the contact's debt must be read; zero if it was read, or was not known before the capture.
func debtDue(p *flows.Payment) time.Time {
	switch {
	case p.DebtAfter != nil || p.Snapshot == nil || p.Snapshot.Debt == nil:
		return time.Time{}
	case !p.DoubtSince.IsZero():
		return p.UpdatedAt.Add(protocol.DecideAfter) // until then its POST may still arrive
	default:
		return p.UpdatedAt.Add(protocol.VerifyAfter)
	}
}

// isDue reports whether an instant is set and has come.
func (m *Machine) isDue(at time.Time) bool { return !at.IsZero() && !at.After(m.cfg.Now()) }

// scheduleVerification lists a recorded payment that a comparison found unverified or contradicted. An entry that it
// has stays.
func (m *Machine) scheduleVerification(ctx context.Context, a candidate) error {
	at := m.nextVerification(a.stored)
	if a.stored.State == flows.Recorded && difference(a.stored, a.remote) != a.stored.Acknowledged {
		at = m.cfg.Now()
	}
	if at.IsZero() {
		return nil
	}
	return flows.StorageFailed(m.cfg.Store.EnsureScheduled(ctx, a.stored, at))
}

// Verify reads what the processor and the club system show of a recorded payment. What it cannot read stays due. A
// payment in another state is advanced. NotFound if Redis lacks the payment.
func (m *Machine) Verify(ctx context.Context, id flows.PaymentID) error {
	p, err := m.cfg.Store.Payment(ctx, id)
	switch {
	case err != nil:
		return flows.StorageFailed(err)
	case p.State != flows.Recorded:
		_, err = m.AdvanceLoaded(ctx, p)
		return err
	}
	if p.Schema > flows.PaymentSchema {
		return nil // a newer gateway verifies it
	}
	if err := m.requireOwnOf(ctx, p); err != nil {
		return err
	}
	seen := *p
	unread := errors.Join(m.readDifference(ctx, &seen), m.readSale(ctx, &seen))
	switch err := m.commitFindings(ctx, p, &seen); {
	case errors.Is(err, flows.ErrConflict): // an operator decided, or another gateway verified it: it stays due
		return unread
	case err != nil || unread != nil:
		return errors.Join(unread, err)
	}
	if latest, err := m.cfg.Store.Payment(ctx, id); err == nil { // an operator may have decided meanwhile
		m.reschedule(ctx, latest, 0)
	}
	return nil
}

// verifyDifference compares a recorded payment with the processor's, after an event about it.
func (m *Machine) verifyDifference(ctx context.Context, p *flows.Payment) error {
	seen := *p
	if err := m.readDifference(ctx, &seen); err != nil {
		return err
	}
	return m.commitFindings(ctx, p, &seen)
}

// commitFindings stores what was read of a recorded payment.
func (m *Machine) commitFindings(ctx context.Context, p, seen *flows.Payment) error {
	s := findingsStep(p, seen)
	if s.to == "" {
		return nil
	}
	if finding := seen.Finding(); finding != "" && finding != p.Finding() {
		m.cfg.Log.WarnContext(ctx, "recorded payment needs an operator", "payment", p.ID, "finding", string(finding), "reason", s.reason)
	}
	_, err := m.commit(ctx, p, m.change(p, s))
	if err == nil {
		m.countVerdict(ctx, p, seen.SaleVerdict)
	}
	return flows.StorageFailed(err)
}

// findingsStep returns the step for what was read of a recorded payment. A finding, and its end, are transitions.
func findingsStep(p, seen *flows.Payment) step {
	same := p.SaleVerdict == seen.SaleVerdict && p.Difference == seen.Difference && p.PaidTwice == seen.PaidTwice &&
		(p.DebtAfter == nil) == (seen.DebtAfter == nil)
	if same {
		return wait(0)
	}
	reason := p.Reason
	switch {
	case seen.Finding() != "":
		reason = findingReason(seen)
	case p.Finding() != "":
		reason = "recorded, and no longer contradicted"
	}
	return step{to: flows.Recorded, reason: reason, edit: func(next *flows.Payment) {
		next.SaleVerdict, next.Difference, next.PaidTwice, next.DebtAfter = seen.SaleVerdict, seen.Difference, seen.PaidTwice, seen.DebtAfter
	}}
}

// findingReason says what an operator must look at.
func findingReason(p *flows.Payment) string {
	switch {
	case p.Finding() == flows.Contradicted && p.Difference == "":
		return "recorded, and the processor keeps the whole amount again"
	case p.Finding() == flows.Contradicted:
		return "recorded, and at the processor " + p.Difference
	case p.Finding() == flows.RecordedUnsettled:
		return "recorded, and " + p.SaleVerdict
	default:
		return "recorded, and possibly paid twice: the contact owes less than before"
	}
}

// readDifference reads how the processor's payment differs from a recorded one. One that the processor does not
// know may be another account's, and says nothing.
func (m *Machine) readDifference(ctx context.Context, p *flows.Payment) error {
	if p.ProcessorID == "" {
		return nil
	}
	remote, err := m.find(ctx, p.ProcessorID)
	if err == nil && m.names(p, remote) {
		p.Difference = difference(p, remote)
	}
	return err
}

// difference says how the processor's payment contradicts a recorded one; empty if it does not. A pending refund
// counts as made.
func difference(p *flows.Payment, remote cards.Payment) string {
	var differs []string
	if kept := remote.Captured - remote.Refunded - remote.Refunding; kept != p.Amount {
		differs = append(differs, fmt.Sprintf("%s of %s is kept", Price(kept, p.Currency), Price(p.Amount, p.Currency)))
	}
	if remote.Disputed {
		differs = append(differs, "the buyer disputes it")
	}
	return strings.Join(differs, ", and ")
}

// readSale reads whether the sale of a recorded payment is settled, and once what the contact owes: staff may have settled the
// sale too, at the moment of the POST. The club system lists no payments, but an overpayment settles the contact's other debts.
func (m *Machine) readSale(ctx context.Context, p *flows.Payment) error {
	debt := m.isDue(debtDue(p))
	giveUp := debt && protocol.Expired(m.cfg.Now(), p.Since(flows.Recorded), protocol.DebtWithin)
	if p.SaleVerdict == flows.SaleSettled && !debt {
		return nil
	}
	sale, err := m.cfg.BackgroundClub.GetSale(ctx, p.Scope(), p.Sale)
	if errors.Is(err, club.ErrNotFound) && p.SaleVerdict != flows.SaleSettled && protocol.Expired(m.cfg.Now(), p.UpdatedAt, flows.GoneAfter) {
		p.SaleVerdict = "the club system no longer has the sale"
		return nil
	}
	if err != nil && p.SaleVerdict == "" && protocol.Expired(m.cfg.Now(), p.UpdatedAt, protocol.SaleUnreadableAfter) {
		p.SaleVerdict = "the sale could not be read for a day"
		return nil
	}
	if err != nil && p.SaleVerdict == flows.SaleSettled && giveUp {
		p.DebtAfter = p.Snapshot.Debt
		return nil
	}
	if err != nil {
		return flows.ClubFailed(err, "The sale could not be read.")
	}
	rule := m.rule(ctx)
	if p.SaleVerdict != flows.SaleSettled {
		if p.SaleVerdict, err = m.saleVerdict(ctx, p, sale, rule); err != nil {
			return flows.ClubFailed(err, "The sale could not be checked.")
		}
	}
	if !debt {
		return nil
	}
	account, err := m.cfg.BackgroundClub.GetAccountStatistics(ctx, p.Scope(), sale.Contact)
	if err != nil && giveUp {
		p.DebtAfter = p.Snapshot.Debt
		return nil
	}
	if err != nil {
		return flows.ClubFailed(err, "The contact's debt could not be read.")
	}
	p.DebtAfter = &account.TotalRealDebt
	usual := flows.SignalValue(flows.SignalDebt, p, &flows.Evidence{Debt: p.DebtAfter}) == rule.After(flows.SignalDebt)
	p.PaidTwice = *p.DebtAfter < *p.Snapshot.Debt && !usual
	return nil
}

// saleOpen is the verdict on a sale that is as before the payment.
const saleOpen = "the sale is not settled"

// saleVerdict says what is wrong with the sale of a recorded payment, or that it is settled. Where sales have no state, the check
// refuses a settled one (see club.SaleStateCheck). A rule may know that the total of a settled sale is another one.
func (m *Machine) saleVerdict(ctx context.Context, p *flows.Payment, sale club.Sale, rule *flows.Rule) (string, error) {
	open := sale.State == p.SaleState
	if sale.State == "" {
		check, err := m.cfg.BackgroundClub.CheckSale(ctx, p.Scope(), p.Sale)
		if err != nil {
			return "", err
		}
		open = check.Valid
	}
	total := flows.SignalValue(flows.SignalTotal, p, &flows.Evidence{Total: &sale.TotalTI})
	switch {
	case open:
		return saleOpen, nil
	case sale.TotalTI != p.Amount && total != rule.After(flows.SignalTotal):
		return fmt.Sprintf("the total of the sale is %s instead of %s", Price(sale.TotalTI, p.Currency), Price(p.Amount, p.Currency)), nil
	default:
		return flows.SaleSettled, nil
	}
}

// restoreReversed stores a payment again whose refund failed, or which was refunded or disputed after it was recorded,
// once Redis has dropped the record of its end: a comparison does not reach back so far.
func (m *Machine) restoreReversed(ctx context.Context, processorID string) error {
	remote, err := m.find(ctx, processorID)
	switch p := m.derivePayment(remote); {
	case err != nil:
		return err
	case p != nil && (p.State == flows.Refunding && remote.FailedRefunds > 0 || p.State == flows.Recorded && difference(p, remote) != ""):
		return m.restore(ctx, []candidate{newCandidate(p, remote)})
	default:
		return nil
	}
}
