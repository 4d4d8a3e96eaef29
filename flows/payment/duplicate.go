package payment

import (
	"context"
	"errors"
	"hash/fnv"

	"frontdesk/flows"
)

// firstDuplicate is the first number of payments that are told of under a generation
// which another payment holds; no registration begins so many.
const firstDuplicate = 1 << 20

// duplicateID names a payment whose generation is held by another one. It derives
// from the processor's id, so that every gateway gives it the same name.
func duplicateID(p *flows.Payment) flows.PaymentID {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(p.ProcessorID)) // a hash never fails
	return flows.NewPaymentID(p.Registration, firstDuplicate+int(sum.Sum32()>>1))
}

// settleDuplicates deals with what the processor holds beside the payment that
// counts. The processor forgets its keys after a day, so that a request which was
// on its way for so long can make a payment a second time. Such a one is given up
// or given back, unless it may have been recorded.
func (m *Machine) settleDuplicates(ctx context.Context, accounts []candidate) error {
	for i, a := range accounts {
		s := duplicateStep(accounts[:i], a)
		switch {
		case a.lost():
			if err := m.storeDuplicate(ctx, a.derived, s); err != nil {
				return err
			}
		case s.to != "" && a.agrees():
			if _, err := m.commit(ctx, a.stored, s); err != nil && !errors.Is(err, flows.ErrConflict) {
				return flows.StorageFailed(err)
			}
		}
	}
	return nil
}

// duplicateStep is the step of a payment whose money must not be taken, or not be kept,
// since one before it counts. Nothing for one that may have been recorded.
func duplicateStep(before []candidate, a candidate) step {
	to := map[flows.PaymentState]flows.PaymentState{flows.Intent: flows.Cancelling, flows.Captured: flows.RefundDue}[a.derived.State]
	for _, other := range before {
		if to != "" && other.derived.Sale == a.derived.Sale && other.rank() >= rankCaptured {
			return step{to: to, reason: "another payment of the sale counts: " + other.derived.ProcessorID}
		}
	}
	return step{}
}

// storeDuplicate stores a payment beside the one that counts, under its own id if
// that is still to be had. It never leads to another recording.
func (m *Machine) storeDuplicate(ctx context.Context, p *flows.Payment, s step) error {
	switch {
	case s.to != "":
		p.State, p.Reason = s.to, s.reason
	case p.State == flows.Intent:
		p.State, p.Reason = flows.Cancelling, "rebuilt: a later payment of the registration is known"
	case p.State == flows.Captured:
		p.State, p.Reason = flows.RefundDue, "rebuilt: a later payment of the registration is known"
	}
	stored, err := m.storeRebuilt(ctx, nil, p)
	if stored || err != nil {
		return err
	}
	if known, err := m.findStored(ctx, p); known != nil || err != nil {
		return err // somebody else was faster
	}
	p.ID = duplicateID(p)
	_, err = m.storeRebuilt(ctx, nil, p)
	return err
}
