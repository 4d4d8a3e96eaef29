package payment

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// backgroundTimeout: the capture waits no longer than this for optional evidence.
const backgroundTimeout = 2 * time.Second

// observe reads the sale and its check, and at the same time the contact's status and debt.
// The latter two are optional: a failure leaves them out.
func (m *Machine) observe(ctx context.Context, from *club.Client, p *flows.Payment) (sale club.Sale, check club.SaleCheck, seen *flows.Evidence, err error) {
	seen = &flows.Evidence{At: m.cfg.Now()}
	optional, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	var background sync.WaitGroup
	observeContact := func(contact club.IRI) {
		background.Go(func() {
			if got, err := m.cfg.BackgroundClub.GetContact(optional, p.Scope(), contact); err == nil && got.Status != "" {
				seen.ContactStatus = &got.Status
			}
		})
		background.Go(func() {
			if got, err := m.cfg.BackgroundClub.GetAccountStatistics(optional, p.Scope(), contact); err == nil {
				seen.Debt = &got.TotalRealDebt
			}
		})
	}
	contact := p.Contact
	if contact != "" {
		observeContact(contact)
	}
	sale, check, err = from.GetCheckedSale(ctx, p.Scope(), p.Sale)
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
	seen.Total, seen.Valid = &sale.TotalTI, &check.Valid
	if sale.State != "" {
		seen.SaleState = &sale.State
	}
	return sale, check, seen, nil
}

// resolveDoubt resolves a doubt with a journaled acceptance, and reads evidence when it is due. A doubt
// from before a refund that Redis lost is blocked, so that an operator can complete the refund.
func (m *Machine) resolveDoubt(ctx context.Context, p *flows.Payment) (step, error) {
	remote, err := m.read(ctx, p, nil)
	switch {
	case err != nil:
		return step{}, err
	case protocol.ReadJournal(remote.Metadata).Accepted:
		return step{to: flows.Recorded, reason: "the journal holds the club system's acceptance"}, nil
	}
	if protocol.ReadJournal(remote.Metadata).RefundBegun() {
		return step{to: flows.Blocked, reason: "a refund was begun, and Redis lost it"}, nil
	}
	due, more := nextReading(p)
	if !more {
		return wait(protocol.DoubtPollEvery), nil
	}
	if early := due.Sub(m.cfg.Now()); early > 0 {
		return wait(min(early, protocol.DoubtPollEvery)), nil
	}
	return m.readEvidence(ctx, p, remote)
}

// nextReading returns when evidence is due: at the first scheduled time after the last
// reading, and after a failure not before protocol.DoubtPollEvery. more is false after the schedule.
func nextReading(p *flows.Payment) (due time.Time, more bool) {
	var last, failed time.Time
	for _, reading := range p.Readings {
		if failed = reading.At; reading.Failures == 0 {
			last, failed = reading.At, time.Time{}
		}
	}
	since := p.InDoubtSince()
	i := slices.IndexFunc(protocol.ReadingAt[:], func(after time.Duration) bool { return since.Add(after).After(last) })
	if i < 0 {
		return time.Time{}, false
	}
	due = since.Add(protocol.ReadingAt[i])
	if again := failed.Add(protocol.DoubtPollEvery); !failed.IsZero() && again.After(due) {
		due = again
	}
	return due, true
}

// readEvidence takes one reading. The payment is recorded if the rule says so within protocol.RuleWithin.
func (m *Machine) readEvidence(ctx context.Context, p *flows.Payment, remote cards.Payment) (step, error) {
	_, _, seen, err := m.observe(ctx, m.cfg.Club, p)
	if ctx.Err() != nil {
		return step{}, flows.ClubFailed(err, "The evidence could not be read.")
	}
	reading := flows.Reading{Evidence: flows.Evidence{At: m.cfg.Now()}, Failures: 1}
	if err == nil {
		reading = flows.Reading{Evidence: *seen}
	} else {
		m.cfg.Log.WarnContext(ctx, "evidence not readable", "payment", p.ID, "error", err)
	}
	edit := func(next *flows.Payment) { next.Readings = withReading(p.Readings, reading) }
	moneyHeld := !p.HasProcessor() || holdsWholeAmount(remote) && !protocol.ReadJournal(remote.Metadata).RefundClaimed()
	attempt, maybeSent := openAttempt(p, remote)
	early := maybeSent && reading.At.Sub(attempt) <= protocol.RuleWithin
	if rule := m.rule(ctx); err == nil && moneyHeld && early && rule.Matches(p, reading.Evidence) {
		return step{to: flows.Recorded, reason: "the evidence matches recorded payments: " + rule.String(), decision: flows.Decision{Operator: flows.ByRule}, edit: edit}, nil
	}
	return step{to: flows.InDoubt, reason: p.Reason, edit: edit}, nil
}

// openAttempt returns when the attempt began with which the payment may have left for the club system: that of
// the journal's latest claim, if it is not released; without a processor, that of the record. False without
// such an attempt. When the doubt began does not matter: after a loss of Redis, a doubt may be newer than its claim.
func openAttempt(p *flows.Payment, remote cards.Payment) (time.Time, bool) {
	if !p.HasProcessor() {
		return protocol.AttemptStart(p.AttemptID)
	}
	n, _ := protocol.ReadJournal(remote.Metadata).Last()
	if protocol.ReadJournal(remote.Metadata).Released(n) {
		return time.Time{}, false
	}
	return protocol.AttemptStart(remote.Metadata[protocol.EntryName("post", n)])
}

// withReading appends a reading. Consecutive failures are one entry.
func withReading(readings []flows.Reading, reading flows.Reading) []flows.Reading {
	kept := slices.Clone(readings)
	if n := len(kept); n > 0 && kept[n-1].Failures > 0 && reading.Failures > 0 {
		reading.Failures += kept[n-1].Failures
		kept = kept[:n-1]
	}
	kept = append(kept, reading)
	return kept[max(0, len(kept)-protocol.MaxReadings):]
}

// rule returns the rule of this environment; nil without one, or if it cannot be read.
func (m *Machine) rule(ctx context.Context) *flows.Rule {
	rule, err := m.cfg.Store.Rule(ctx, m.cfg.Environment)
	switch {
	case err == nil:
		return rule
	case errors.Is(err, flows.ErrNotFound):
		return m.cfg.Rule
	}
	m.cfg.Log.WarnContext(ctx, "calibrated rule not readable", "error", err)
	return nil
}

// RereadEvidence advances a payment after an event at the club: it reads the evidence of a
// doubt now, without waiting for the schedule.
func (m *Machine) RereadEvidence(ctx context.Context, p *flows.Payment) error {
	if p.State != flows.InDoubt || p.Schema > flows.PaymentSchema || p.ReadSince(m.cfg.Now(), protocol.EvidenceEvery) {
		return m.cfg.Queue.Wake(ctx, p.ID, nil)
	}
	remote, err := m.read(ctx, p, nil)
	if err != nil || protocol.ReadJournal(remote.Metadata).Accepted {
		if _, differs := undecidable(err); differs {
			err = nil // Advance blocks the payment, sooner or later
		}
		return errors.Join(err, m.cfg.Queue.Wake(ctx, p.ID, nil))
	}
	s, err := m.readEvidence(ctx, p, remote)
	if err != nil {
		return err
	}
	switch _, err := m.commit(ctx, p, m.change(p, s)); {
	case errors.Is(err, flows.ErrConflict): // ErrOwned included
		return nil
	case err != nil:
		return flows.StorageFailed(err)
	}
	return nil
}
