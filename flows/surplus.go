package flows

import (
	"context"
	"errors"
	"hash/fnv"
)

// surplusFrom is the first number of payments that are told of under a generation
// which another payment holds; no registration begins so many.
const surplusFrom = 1 << 20

// surplusID names a payment whose generation is held by another one. It derives
// from the processor's id, so that every gateway gives it the same name.
func surplusID(p *Payment) PaymentID {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(p.ProcessorID)) // a hash never fails
	return NewPaymentID(p.Registration, surplusFrom+int(sum.Sum32()>>1))
}

// settleSurplus deals with what the processor holds beside the payment that
// counts. The processor forgets its keys after a day, so that a request which was
// on its way for so long can make a payment a second time. Such a one is given up
// or given back, unless it may have been recorded.
func (m *Payments) settleSurplus(ctx context.Context, accounts []account) error {
	for i, a := range accounts {
		s := surplus(accounts[:i], a)
		switch {
		case a.lost():
			if err := m.storeSurplus(ctx, a.proven, s); err != nil {
				return err
			}
		case s.to != "" && a.agrees():
			if _, err := m.commit(ctx, a.known, s); err != nil && !errors.Is(err, ErrConflict) {
				return storageFailed(err)
			}
		}
	}
	return nil
}

// surplus is the step of a payment whose money must not be taken, or not be kept,
// since one before it counts. Nothing for one that may have been recorded.
func surplus(before []account, a account) step {
	to := map[PaymentState]PaymentState{Intent: Cancelling, Captured: RefundDue}[a.proven.State]
	for _, other := range before {
		if to != "" && other.proven.Sale == a.proven.Sale && other.weight() >= taken {
			return step{to: to, reason: "another payment of the sale counts: " + other.proven.ProcessorID}
		}
	}
	return step{}
}

// storeSurplus stores a payment beside the one that counts, under its own id if
// that is still to be had. It never leads to another recording.
func (m *Payments) storeSurplus(ctx context.Context, p *Payment, s step) error {
	switch {
	case s.to != "":
		p.State, p.Reason = s.to, s.reason
	case p.State == Intent:
		p.State, p.Reason = Cancelling, "rebuilt: a later payment of the registration is known"
	case p.State == Captured:
		p.State, p.Reason = RefundDue, "rebuilt: a later payment of the registration is known"
	}
	stored, err := m.storeRebuilt(ctx, nil, p)
	if stored || err != nil {
		return err
	}
	if known, err := m.lookUp(ctx, p); known != nil || err != nil {
		return err // somebody else was faster
	}
	p.ID = surplusID(p)
	_, err = m.storeRebuilt(ctx, nil, p)
	return err
}
