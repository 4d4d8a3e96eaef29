package payment

import (
	"context"
	"errors"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The figures of the evidence.
const (
	// backgroundTimeout: the capture waits no longer than this for what it can do without.
	backgroundTimeout = 2 * time.Second
	// maxReadings: two whole doubts with a failure before each reading, should an
	// operator send a payment again.
	maxReadings = 2 * 2 * 6
)

// readingAt tells when evidence is read, counted from the beginning of the doubt:
// close together while the club system may still be busy with the payment, then
// once for each time of day at which its staff may have changed something.
func readingAt(i int) (after time.Duration, ok bool) {
	due := [...]time.Duration{30 * time.Second, 2 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
	if i < 0 || i >= len(due) {
		return 0, false
	}
	return due[i], true
}

// observe reads the sale and its check, and beside them the contact's status and
// debt, which nothing depends on: what cannot be read of them is not known.
func (m *Machine) observe(ctx context.Context, from *club.Client, p *flows.Payment) (sale club.Sale, check club.SaleCheck, seen *flows.Evidence, err error) {
	seen = &flows.Evidence{At: m.cfg.Now()}
	aside, enough := context.WithTimeout(ctx, backgroundTimeout)
	defer enough()
	var background sync.WaitGroup
	contact := p.Contact
	if contact != "" {
		m.observeContact(aside, &background, p.Scope(), contact, seen)
	}
	sale, check, err = from.GetCheckedSale(ctx, p.Scope(), p.Sale)
	if err != nil {
		enough()
		background.Wait()
		return sale, check, nil, err
	}
	if contact == "" && sale.Contact != "" { // of a payment that ended nothing is kept that leads to a person
		contact = sale.Contact
		m.observeContact(aside, &background, p.Scope(), contact, seen)
	}
	background.Wait()
	if contact != sale.Contact {
		seen.ContactStatus, seen.Debt = nil, nil // the sale was moved to somebody else
	}
	seen.Total, seen.Valid = &sale.TotalTI, &check.Valid
	if sale.State != "" {
		seen.SaleState = &sale.State
	}
	return sale, check, seen, nil
}

func (m *Machine) observeContact(ctx context.Context, background *sync.WaitGroup, scope club.Scope, contact club.IRI, seen *flows.Evidence) {
	background.Go(func() {
		if got, err := m.cfg.BackgroundClub.GetContact(ctx, scope, contact); err == nil && got.Status != "" {
			seen.ContactStatus = &got.Status
		}
	})
	background.Go(func() {
		if got, err := m.cfg.BackgroundClub.GetAccountStatistics(ctx, scope, contact); err == nil {
			seen.Debt = &got.TotalRealDebt
		}
	})
}

// resolveDoubt resolves a doubt for which an accepted answer was journalled, and
// reads evidence when it is time to.
func (m *Machine) resolveDoubt(ctx context.Context, p *flows.Payment) (step, error) {
	var remote cards.Payment
	if p.HasProcessor() {
		var mismatch string
		var err error
		remote, mismatch, err = m.read(ctx, p)
		switch {
		case err != nil:
			return step{}, err
		case mismatch != "":
			return step{to: flows.Blocked, reason: mismatch}, nil
		case acceptanceJournaled(remote):
			return step{to: flows.Recorded, reason: "the journal holds the club system's acceptance"}, nil
		}
	}
	due, more := nextReading(p)
	switch early := due.Sub(m.cfg.Now()); {
	case more && early <= 0:
		return m.readEvidence(ctx, p, remote)
	case more:
		return wait(min(early, doubtPollEvery)), nil
	default:
		return wait(doubtPollEvery), nil
	}
}

// nextReading tells when evidence is due: at the first time of the schedule since
// which nothing was read, and after a failure not at once again.
func nextReading(p *flows.Payment) (due time.Time, more bool) {
	since, last := p.DoubtSince, time.Time{}
	if since.IsZero() {
		since = p.UpdatedAt
	}
	var failed time.Time
	for _, reading := range p.Readings {
		if reading.Failures > 0 {
			failed = reading.At
		} else {
			last, failed = reading.At, time.Time{}
		}
	}
	for i := 0; ; i++ {
		after, ok := readingAt(i)
		if !ok {
			return time.Time{}, false
		}
		if due = since.Add(after); due.After(last) {
			break
		}
	}
	if again := failed.Add(doubtPollEvery); !failed.IsZero() && again.After(due) {
		due = again
	}
	return due, true
}

// readEvidence takes one reading, and believes it where a rule says "recorded".
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
	moneyIsThere := !p.HasProcessor() || holdsWholeAmount(remote) && !refundClaimed(remote)
	if rule := m.rule(ctx); err == nil && moneyIsThere && rule.Matches(p, reading.Evidence) {
		return step{to: flows.Recorded, reason: "the evidence is that of recorded payments: " + rule.String(), decision: flows.Decision{Operator: flows.ByRule}, edit: edit}, nil
	}
	return step{to: flows.InDoubt, reason: p.Reason, edit: edit}, nil
}

// withReading appends a reading. Failures in a row are one entry.
func withReading(readings []flows.Reading, reading flows.Reading) []flows.Reading {
	kept := append([]flows.Reading{}, readings...)
	if n := len(kept); n > 0 && kept[n-1].Failures > 0 && reading.Failures > 0 {
		reading.Failures += kept[n-1].Failures
		kept = kept[:n-1]
	}
	kept = append(kept, reading)
	return kept[max(0, len(kept)-maxReadings):]
}

// rule is the rule of this environment; nil when there is none or it cannot be read.
func (m *Machine) rule(ctx context.Context) *flows.Rule {
	rule, err := m.cfg.Store.Rule(ctx, m.cfg.Environment)
	switch {
	case err == nil:
		return rule
	case !errors.Is(err, flows.ErrNotFound):
		m.cfg.Log.WarnContext(ctx, "calibrated rule not readable", "error", err)
		return nil
	default:
		return m.cfg.Rule
	}
}
