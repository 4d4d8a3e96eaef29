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

// Limits of the calibration.
const (
	// minRecorded and minUnpaid: with fewer samples, a coincidence could pass for a rule.
	minRecorded, minUnpaid = 20, 5
	// maxSamples of either kind are enough for a rule.
	maxSamples = 60
	// maxCandidates bounds the search for samples.
	maxCandidates = 500
	// sampleConcurrency leaves the club system's capacity to visitors.
	sampleConcurrency = 4
	// calibrateTimeout: an operator waits at a terminal.
	calibrateTimeout = 75 * time.Second
)

// Finding reports whether one signal separates recorded from unpaid payments.
type Finding struct {
	Signal        flows.Signal `json:"what"`
	Discriminates bool         `json:"separates"`
	Text          string       `json:"text"`
}

// Calibration is the result of Calibrate.
type Calibration struct {
	Recorded int         `json:"recorded"` // samples that were read
	Unpaid   int         `json:"unpaid"`
	Failed   int         `json:"failed"` // samples that could not be read
	Findings []Finding   `json:"findings,omitempty"`
	Rule     *flows.Rule `json:"rule,omitempty"` // the new rule; nil without one, or if nothing was changed
	Verdict  string      `json:"verdict"`
}

// sample is a payment with a known end, and its evidence now.
type sample struct {
	p   *flows.Payment
	now *flows.Evidence
}

// Calibrate reads the sales of past payments again and looks for signals that separate
// recorded from unpaid ones. They become the rule of this environment. Too few samples
// change nothing; without a separating signal, the environment has no rule.
func (m *Machine) Calibrate(ctx context.Context, by string) (Calibration, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return Calibration{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, calibrateTimeout)
	defer cancel()
	recorded, failed, err := m.samples(ctx, flows.Recorded)
	if err != nil {
		return Calibration{}, flows.StorageFailed(err)
	}
	unpaid, alsoFailed, err := m.samples(ctx, flows.Cancelled)
	if err != nil {
		return Calibration{}, flows.StorageFailed(err)
	}
	calibration := Calibration{Recorded: len(recorded), Unpaid: len(unpaid), Failed: failed + alsoFailed}
	if calibration.Recorded < minRecorded || calibration.Unpaid < minUnpaid {
		calibration.Verdict = fmt.Sprintf("Too few known payments: %d recorded of at least %d, and %d never paid of at least %d; "+
			"%d could not be read. Nothing was changed.",
			calibration.Recorded, minRecorded, calibration.Unpaid, minUnpaid, calibration.Failed)
		return calibration, nil
	}
	rule := &flows.Rule{CalibratedAt: m.cfg.Now(), Recorded: calibration.Recorded, Unpaid: calibration.Unpaid}
	for _, group := range [][]flows.Signal{flows.SaleSignals, flows.ContactSignals} {
		separating := []flows.Condition{}
		for _, signal := range group {
			condition, finding := compareSamples(signal, recorded, unpaid)
			calibration.Findings = append(calibration.Findings, finding)
			if finding.Discriminates {
				separating = append(separating, condition)
			}
		}
		if len(rule.Conditions) == 0 { // signals of the sale precede those of its contact
			rule.Conditions = separating
		}
	}
	calibration.Verdict = "Nothing separates them: no payment in doubt is resolved automatically, and an earlier rule is dropped."
	if len(rule.Conditions) > 0 {
		calibration.Rule = rule
		calibration.Verdict = "From now on a payment in doubt counts as recorded when " + rule.String() + "."
	}
	if err := m.cfg.Store.SaveRule(ctx, m.cfg.Environment, rule); err != nil {
		return Calibration{}, flows.StorageFailed(err)
	}
	return calibration, flows.StorageFailed(m.cfg.Store.Audit(ctx,
		flows.AuditEntry{At: rule.CalibratedAt, Operator: by, Action: flows.AuditCalibrate}))
}

// samples reads the sales of the latest payments that ended in a state, if their end is certain.
func (m *Machine) samples(ctx context.Context, state flows.PaymentState) (read []sample, failed int, err error) {
	ids, err := m.cfg.Store.FinishedPayments(ctx, state, maxCandidates)
	if err != nil {
		return nil, 0, err
	}
	var chosen []*flows.Payment
	for _, id := range ids {
		payment, err := m.cfg.Store.Payment(ctx, id)
		if errors.Is(err, flows.ErrNotFound) {
			continue // it expired
		}
		if flows.Unreadable(err) {
			failed++
			continue
		}
		certain := false
		if err == nil && payment.State == state {
			certain, err = m.endIsCertain(ctx, payment)
		}
		if err != nil {
			return nil, 0, err
		}
		if certain {
			chosen = append(chosen, payment)
		}
		if len(chosen) == maxSamples {
			break
		}
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(sampleConcurrency)
	for _, payment := range chosen {
		group.Go(func() error {
			_, _, seen, err := m.observe(ctx, m.cfg.BackgroundClub, payment, nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed++
			} else {
				read = append(read, sample{payment, seen})
			}
			return nil
		})
	}
	return read, failed, group.Wait()
}

// endIsCertain reports whether the end of a payment proves something: the club system itself
// accepted it, or nothing was ever sent and, as far as Frontdesk knows, the sale was not
// paid in another way. What an operator or a rule decided proves nothing.
func (m *Machine) endIsCertain(ctx context.Context, payment *flows.Payment) (bool, error) {
	switch {
	case !payment.HasProcessor() || payment.DecisionOperator() != "":
		return false, nil
	case payment.State == flows.Recorded:
		return payment.Snapshot != nil, nil
	case payment.State != flows.Cancelled || payment.Claim > 0 || payment.HasBeen(flows.Sending):
		return false, nil
	case payment.Snapshot != nil && payment.Snapshot.SaleState != nil && *payment.Snapshot.SaleState != payment.SaleState:
		return false, nil // cancelled because the sale was settled
	}
	_, err := m.cfg.Store.Payment(ctx, flows.NewPaymentID(payment.Registration, payment.Generation+1))
	if errors.Is(err, flows.ErrNotFound) {
		return true, nil
	}
	if flows.Unreadable(err) {
		return false, nil
	}
	return false, err
}

// compareSamples reports whether a signal changed in the same way for all recorded payments,
// and has its new value for no unpaid one.
func compareSamples(signal flows.Signal, recorded, unpaid []sample) (flows.Condition, Finding) {
	found := func(discriminates bool, text string, of ...any) Finding {
		return Finding{Signal: signal, Discriminates: discriminates, Text: fmt.Sprintf(text, of...)}
	}
	first := recorded[0]
	condition := flows.Condition{
		Signal: signal,
		Before: flows.SignalValue(signal, first.p, first.p.Snapshot),
		After:  flows.SignalValue(signal, first.p, first.now),
	}
	for _, sample := range recorded {
		before, after := flows.SignalValue(signal, sample.p, sample.p.Snapshot), flows.SignalValue(signal, sample.p, sample.now)
		switch {
		case before == "" || after == "":
			return condition, found(false, "not known for all recorded payments, such as %s", sample.p.ID)
		case before != condition.Before || after != condition.After:
			return condition, found(false, "not the same for all recorded payments: %s → %s, and for %s %s → %s",
				condition.Before, condition.After, sample.p.ID, before, after)
		}
	}
	if condition.Before == condition.After {
		return condition, found(false, "does not change when a payment is recorded: %s", condition.After)
	}
	var alike []string
	for _, sample := range unpaid {
		switch now := flows.SignalValue(signal, sample.p, sample.now); now {
		case "":
			return condition, found(false, "not known for all payments that were never paid, such as %s", sample.p.ID)
		case condition.After:
			alike = append(alike, string(sample.p.ID))
		}
	}
	if len(alike) > 0 {
		return condition, found(false, "%d that were never paid look recorded, with %s: %s",
			len(alike), condition.After, strings.Join(alike[:min(3, len(alike))], ", "))
	}
	return condition, found(true, "goes from %s to %s for all recorded payments, and for none that was never paid",
		condition.Before, condition.After)
}
