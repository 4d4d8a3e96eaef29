package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// FingerprintError reports that Redis holds the payments of another account, organisation or environment.
type FingerprintError struct {
	differs []string
}

// Error returns what differs, and what to do.
func (e *FingerprintError) Error() string {
	return strings.Join(e.differs, "; ") +
		". Correct the configuration, or give this gateway a Redis of its own. After an intended change, " +
		"stop the other gateways and run frontdesk doctor --adopt"
}

// fingerprint is what a gateway knows of its own and Redis' fingerprint.
type fingerprint struct {
	mu      sync.Mutex
	account string             // ours; empty until it is read
	denied  bool               // our key may not read it
	payment string             // the latest of ours that the processor showed
	agreed  *flows.Fingerprint // the latest in Redis that was ours; nil: none yet
	checked bool               // Redis and ours were compared
	wrong   error              // the result, a FingerprintError or nil
}

// saw notes a payment of ours at the processor.
func (f *fingerprint) saw(processorID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.payment = processorID
}

// verdict reports whether the two were compared, and returns the latest result.
func (f *fingerprint) verdict() (checked bool, wrong error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checked, f.wrong
}

// Halted returns why no payment is advanced here, as of the latest comparison: a FingerprintError, or nil.
func (m *Machine) Halted() error {
	_, wrong := m.fingerprint.verdict()
	return wrong
}

// requireOwn returns an error if Redis holds the payments of others, or if that is not known yet.
func (m *Machine) requireOwn(ctx context.Context) error {
	checked, wrong := m.fingerprint.verdict()
	if !checked {
		return m.CheckFingerprint(ctx)
	}
	return foreign(wrong)
}

// requireOwnOf is requireOwn for one payment. One without a processor does not wait until the account can be read.
func (m *Machine) requireOwnOf(ctx context.Context, p *flows.Payment) error {
	if checked, _ := m.fingerprint.verdict(); checked || p.HasProcessor() {
		return m.requireOwn(ctx)
	}
	held, err := m.cfg.Store.Fingerprint(ctx)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return nil
	case err != nil:
		return flows.StorageFailed(err)
	}
	if differs := m.otherOrganisation(held); len(differs) > 0 {
		return foreign(&FingerprintError{differs})
	}
	return nil
}

// foreign is the error of a FingerprintError, whose text is for operators alone; it keeps nil.
func foreign(wrong error) error {
	if wrong == nil {
		return nil
	}
	return &flows.Error{Code: flows.ProcessorUnavailable, Detail: flows.DetailPaymentsUnavailable,
		Operator: wrong.Error(), Err: wrong}
}

// CheckFingerprint compares this gateway with the fingerprint in Redis. The first gateway stores it; after a loss in
// Redis, a gateway that was right before stores it again. The error has a FingerprintError if they differ; payments
// are not advanced then. After another error the result is the earlier one.
func (m *Machine) CheckFingerprint(ctx context.Context) error {
	own, err := m.ownFingerprint(ctx)
	if err != nil {
		return err
	}
	wrong, err := m.settleFingerprint(ctx, own)
	if err != nil {
		return err
	}
	f := &m.fingerprint
	f.mu.Lock()
	before := f.wrong
	f.checked, f.wrong = true, wrong
	f.mu.Unlock()
	if wrong != nil && before == nil {
		m.cfg.Log.ErrorContext(ctx, "payments not advanced: redis holds those of others", "error", wrong)
	}
	return foreign(wrong)
}

// settleFingerprint compares own with Redis', and stores what Redis should hold. wrong is a FingerprintError.
func (m *Machine) settleFingerprint(ctx context.Context, own flows.Fingerprint) (wrong, err error) {
	print := &m.fingerprint
	print.mu.Lock()
	agreed := print.agreed
	print.mu.Unlock()
	for range 3 { // another gateway may store one at the same moment
		held, err := m.cfg.Store.Fingerprint(ctx)
		missing := errors.Is(err, flows.ErrNotFound)
		if err != nil && !missing {
			return nil, flows.StorageFailed(err)
		}
		var differs []string
		if !missing {
			if differs, err = m.differences(ctx, own, held, agreed); err != nil {
				return nil, err
			}
		}
		next := held
		switch {
		case missing && agreed != nil:
			next = *agreed
		case missing:
			next = own
		case len(differs) == 0:
			next.Account, next.Payment = cmp.Or(held.Account, own.Account), cmp.Or(held.Payment, own.Payment)
		case agreed != nil && agreed.Precedes(held):
			m.cfg.Log.ErrorContext(ctx, "fingerprint of another gateway replaced, which redis took after it had lost ours",
				"error", &FingerprintError{differs})
			next = *agreed
		default:
			return &FingerprintError{differs}, nil
		}
		if missing || next != held {
			if err = m.cfg.Store.SaveFingerprint(ctx, held, next); errors.Is(err, flows.ErrConflict) {
				continue
			}
			if err != nil {
				return nil, flows.StorageFailed(err)
			}
		}
		print.mu.Lock()
		print.agreed = &next
		print.mu.Unlock()
		return nil, nil
	}
	return nil, flows.StorageFailed(flows.ErrConflict)
}

// ownFingerprint returns this gateway's. The processor is asked once.
func (m *Machine) ownFingerprint(ctx context.Context) (flows.Fingerprint, error) {
	print := &m.fingerprint
	print.mu.Lock()
	account, known, payment := print.account, print.account != "" || print.denied, print.payment
	print.mu.Unlock()
	if !known {
		id, err := m.cfg.Cards.AccountID(ctx)
		denied := errors.Is(err, cards.ErrRefused)
		if err != nil && !denied {
			return flows.Fingerprint{}, processorFailed(err)
		}
		if !denied {
			account = m.cfg.Cards.Name() + " " + id
		}
		print.mu.Lock()
		print.account, print.denied = account, denied
		print.mu.Unlock()
	}
	return flows.Fingerprint{
		Account:      account,
		Organisation: m.cfg.Organisation,
		Environment:  m.cfg.Environment,
		Payment:      payment,
		Since:        m.cfg.Now().UTC().Round(0),
	}, nil
}

// differences says how own differs from what Redis holds. If the account of either is not known, the processor must
// have the payment that a gateway with the right account left; agreed saves reading it again.
func (m *Machine) differences(ctx context.Context, own, held flows.Fingerprint, agreed *flows.Fingerprint) (differs []string, err error) {
	if own.Account != "" && held.Account != "" {
		differs = differ("the card processor's account", own.Account, held.Account)
	} else if held.Payment != "" && (agreed == nil || agreed.Payment != held.Payment) {
		_, err := m.cfg.Cards.Get(ctx, held.Payment)
		switch {
		case errors.Is(err, cards.ErrNotFound):
			differs = append(differs, fmt.Sprintf("the card processor's account does not have the payment %s, which Redis holds "+
				"(the key may not read which account it is)", held.Payment))
		case err != nil:
			return nil, processorFailed(err)
		}
	}
	return append(differs, m.otherOrganisation(held)...), nil
}

// otherOrganisation says how this gateway's organisation and mode differ from those that Redis holds.
func (m *Machine) otherOrganisation(held flows.Fingerprint) []string {
	differs := differ("the organisation (FRONTDESK_CLUB_TOKEN)", cmp.Or(m.cfg.Organisation, "any"), cmp.Or(held.Organisation, "any"))
	return append(differs, differ("the mode (FRONTDESK_MODE)", m.cfg.Environment, held.Environment)...)
}

// differ says that this gateway has one thing and Redis holds the payments of another; nil if they are the same.
func differ(what, mine, theirs string) []string {
	if mine == theirs {
		return nil
	}
	return []string{fmt.Sprintf("%s is %s, but Redis holds the payments of %s", what, mine, theirs)}
}

// ReadFingerprint compares this gateway with Redis and changes nothing. stored reports whether Redis holds one.
func (m *Machine) ReadFingerprint(ctx context.Context) (own flows.Fingerprint, stored bool, err error) {
	if own, err = m.ownFingerprint(ctx); err != nil {
		return own, false, err
	}
	held, err := m.cfg.Store.Fingerprint(ctx)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return own, false, nil
	case err != nil:
		return own, false, flows.StorageFailed(err)
	}
	differs, err := m.differences(ctx, own, held, nil)
	if err == nil && len(differs) > 0 {
		err = &FingerprintError{differs}
	}
	return own, true, err
}

// AdoptFingerprint makes Redis' payments those of this gateway, on an operator's decision. It returns how many have
// not ended: those of another account remain there.
func (m *Machine) AdoptFingerprint(ctx context.Context) (unfinished int, err error) {
	own, err := m.ownFingerprint(ctx)
	if err != nil {
		return 0, err
	}
	held, err := m.cfg.Store.Fingerprint(ctx)
	if err != nil && !errors.Is(err, flows.ErrNotFound) {
		return 0, flows.StorageFailed(err)
	}
	own.Adopted = true
	if err := m.cfg.Store.SaveFingerprint(ctx, held, own); err != nil {
		return 0, flows.StorageFailed(err)
	}
	if err := m.cfg.Store.Audit(ctx, flows.AuditEntry{At: own.Since, Operator: "doctor", Action: flows.AuditAdopt}); err != nil {
		return 0, flows.StorageFailed(err)
	}
	counts, err := m.cfg.Store.CountPayments(ctx)
	for state, count := range counts {
		if !state.Final() && !slices.Contains(flows.Findings, state) {
			unfinished += count.Payments
		}
	}
	return unfinished, flows.StorageFailed(err)
}
