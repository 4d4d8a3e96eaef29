package payment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
)

// The figures of the calibration.
const (
	// minRecorded and minUnpaid: below this a coincidence could pass for a rule.
	minRecorded, minUnpaid = 20, 5
	// maxSamples of either kind are read again: what holds for so many holds.
	maxSamples = 60
	// maxCandidates bounds the search for payments of which it is known how they ended.
	maxCandidates = 500
	// sampleConcurrency keeps the calibration from crowding out visitors.
	sampleConcurrency = 4
	// calibrateTimeout: the answer is awaited by a person at a terminal.
	calibrateTimeout = 75 * time.Second
)

// Finding is what one observable says about the known payments.
type Finding struct {
	Signal        flows.Signal `json:"what"`
	Discriminates bool         `json:"separates"`
	Text          string       `json:"text"`
}

// Calibration is what was found.
type Calibration struct {
	Recorded int         `json:"recorded"` // known payments that could be read again
	Unpaid   int         `json:"unpaid"`
	Failed   int         `json:"failed"` // that could not
	Findings []Finding   `json:"findings,omitempty"`
	Rule     *flows.Rule `json:"rule,omitempty"` // the one that holds from now on; nil when nothing was changed, or nothing separates
	Verdict  string      `json:"verdict"`
}

// sample is a known payment, and what its sale looks like now.
type sample struct {
	p   *flows.Payment
	now *flows.Evidence
}

// Calibrate reads the sales of known payments again, and looks for what separates
// those that were recorded from those that were never paid. What it finds is the
// rule of this environment from then on. Too few known payments change nothing;
// where nothing separates them, no rule is left.
func (m *Machine) Calibrate(ctx context.Context, by string) (Calibration, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return Calibration{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, calibrateTimeout)
	defer cancel()
	recorded, unreadable, err := m.samples(ctx, flows.Recorded, m.knownRecorded)
	if err != nil {
		return Calibration{}, err
	}
	unpaid, alsoUnreadable, err := m.samples(ctx, flows.Cancelled, m.knownUnpaid)
	if err != nil {
		return Calibration{}, err
	}
	c := Calibration{Recorded: len(recorded), Unpaid: len(unpaid), Failed: unreadable + alsoUnreadable}
	if c.Recorded < minRecorded || c.Unpaid < minUnpaid {
		c.Verdict = fmt.Sprintf("Too few known payments: %d recorded of at least %d, and %d never paid of at least %d; %d could not be read. Nothing was changed.",
			c.Recorded, minRecorded, c.Unpaid, minUnpaid, c.Failed)
		return c, nil
	}
	rule := &flows.Rule{CalibratedAt: m.cfg.Now(), Recorded: c.Recorded, Unpaid: c.Unpaid}
	for _, group := range [][]flows.Signal{flows.SaleSignals, flows.ContactSignals} {
		separating := []flows.Condition{}
		for _, what := range group {
			condition, finding := compareSamples(what, recorded, unpaid)
			c.Findings = append(c.Findings, finding)
			if finding.Discriminates {
				separating = append(separating, condition)
			}
		}
		if len(rule.Conditions) == 0 { // what is of the sale itself is better than what is of its buyer
			rule.Conditions = separating
		}
	}
	c.Verdict = "Nothing separates them: no payment in doubt resolves by itself, and a rule that there was is dropped."
	if len(rule.Conditions) > 0 {
		c.Rule = rule
		c.Verdict = "From now on a payment in doubt counts as recorded when " + rule.String() + "."
	}
	if err := m.cfg.Store.SaveRule(ctx, m.cfg.Environment, rule); err != nil {
		return Calibration{}, flows.StorageFailed(err)
	}
	return c, flows.StorageFailed(m.cfg.Store.Audit(ctx, flows.AuditEntry{At: rule.CalibratedAt, Operator: by, Action: "calibrate"}))
}

// samples reads the sales of the latest payments that ended in a state, as far as
// it is known how they ended.
func (m *Machine) samples(ctx context.Context, state flows.PaymentState, known func(context.Context, *flows.Payment) (bool, error)) (read []sample, failed int, err error) {
	ids, err := m.cfg.Store.FinishedPayments(ctx, state, maxCandidates)
	if err != nil {
		return nil, 0, flows.StorageFailed(err)
	}
	var chosen []*flows.Payment
	for _, id := range ids {
		p, err := m.cfg.Store.Payment(ctx, id)
		if errors.Is(err, flows.ErrNotFound) {
			continue // it was kept for its time
		}
		if err != nil {
			return nil, 0, flows.StorageFailed(err)
		}
		ok, err := known(ctx, p)
		if err != nil {
			return nil, 0, flows.StorageFailed(err)
		}
		if ok {
			chosen = append(chosen, p)
		}
		if len(chosen) == maxSamples {
			break
		}
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(sampleConcurrency)
	for _, p := range chosen {
		group.Go(func() error {
			_, _, seen, err := m.observe(ctx, m.cfg.BackgroundClub, p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
			} else {
				read = append(read, sample{p, seen})
			}
			return nil
		})
	}
	return read, failed, group.Wait()
}

// knownRecorded is a payment that the club system accepted itself; what a person
// or a rule concluded is nothing to learn from.
func (m *Machine) knownRecorded(_ context.Context, p *flows.Payment) (bool, error) {
	return p.HasProcessor() && p.State == flows.Recorded && p.DecisionOperator() == "" && p.Snapshot != nil, nil
}

// knownUnpaid is a payment of which nothing was ever sent, and after which its
// sale was not paid in another way, as far as Frontdesk knows.
func (m *Machine) knownUnpaid(ctx context.Context, p *flows.Payment) (bool, error) {
	if !p.HasProcessor() || p.State != flows.Cancelled || p.DecisionOperator() != "" || p.Claim > 0 || p.HasBeen(flows.Sending) {
		return false, nil
	}
	if p.Snapshot != nil && p.Snapshot.SaleState != nil && *p.Snapshot.SaleState != p.SaleState {
		return false, nil // that is why it was cancelled
	}
	_, err := m.cfg.Store.Payment(ctx, flows.NewPaymentID(p.Registration, p.Generation+1))
	if errors.Is(err, flows.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// compareSamples tells whether an observable changed in the same way with all
// recorded payments, and is like that with none that was never paid.
func compareSamples(what flows.Signal, recorded, unpaid []sample) (flows.Condition, Finding) {
	found := func(separates bool, text string, of ...any) Finding {
		return Finding{Signal: what, Discriminates: separates, Text: fmt.Sprintf(text, of...)}
	}
	first := recorded[0]
	c := flows.Condition{Signal: what, Before: flows.SignalValue(what, first.p, first.p.Snapshot), After: flows.SignalValue(what, first.p, first.now)}
	for _, s := range recorded {
		before, after := flows.SignalValue(what, s.p, s.p.Snapshot), flows.SignalValue(what, s.p, s.now)
		switch {
		case before == "" || after == "":
			return c, found(false, "not known for all recorded payments, such as %s", s.p.ID)
		case before != c.Before || after != c.After:
			return c, found(false, "not the same for all recorded payments: %s → %s, and for %s %s → %s", c.Before, c.After, s.p.ID, before, after)
		}
	}
	if c.Before == c.After {
		return c, found(false, "does not change when a payment is recorded: %s", c.After)
	}
	var alike []string
	for _, s := range unpaid {
		switch now := flows.SignalValue(what, s.p, s.now); now {
		case "":
			return c, found(false, "not known for all payments that were never paid, such as %s", s.p.ID)
		case c.After:
			alike = append(alike, string(s.p.ID))
		}
	}
	if len(alike) > 0 {
		return c, found(false, "%d that were never paid look recorded, with %s: %s", len(alike), c.After, strings.Join(alike[:min(3, len(alike))], ", "))
	}
	return c, found(true, "goes from %s to %s for all recorded payments, and for none that was never paid", c.Before, c.After)
}
