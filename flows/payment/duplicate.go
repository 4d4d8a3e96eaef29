package payment

import (
	"context"
	"errors"
	"hash/fnv"

	"frontdesk/flows"
)

// firstDuplicate is the first generation for the ids of duplicates; no registration
// begins so many payments.
const firstDuplicate = 1 << 20

// duplicateID names a payment whose generation belongs to another one. It derives from the
// processor's id, so that every gateway gives it the same name.
func duplicateID(registration, processorID string) flows.PaymentID {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(processorID)) // a hash never fails
	return flows.NewPaymentID(registration, firstDuplicate+int(sum.Sum32()>>1))
}

// settleDuplicates cancels or refunds the payments of a group, sorted by rank, that do not
// count. The processor forgets its keys after a day, so a request delayed for so long can
// create a second payment. One that may have been recorded stays.
func (m *Machine) settleDuplicates(ctx context.Context, group []candidate) error {
	for i, a := range group {
		s := duplicateStep(group[:i], a)
		switch {
		case a.lost():
			if err := m.storeDuplicate(ctx, a, s); err != nil {
				return err
			}
		case s.to != "" && a.agrees():
			if _, err := m.commit(ctx, a.stored, m.change(a.stored, s)); err != nil && !errors.Is(err, flows.ErrConflict) {
				return flows.StorageFailed(err)
			}
		}
	}
	return nil
}

// undo returns the state that ends a duplicate; empty if it may have been recorded, or is ending.
func undo(state flows.PaymentState) flows.PaymentState {
	switch state {
	case flows.Intent:
		return flows.Cancelling
	case flows.Captured:
		return flows.RefundDue
	default:
		return ""
	}
}

// duplicateStep is the step of a duplicate if a payment of a higher rank counts for its sale.
func duplicateStep(before []candidate, a candidate) step {
	to := undo(a.derived.State)
	for _, other := range before {
		if to != "" && other.derived.Sale == a.derived.Sale && other.rank() >= rankCaptured {
			return step{to: to, reason: "another payment of the sale takes precedence: " + other.derived.ProcessorID}
		}
	}
	return step{}
}

// storeDuplicate stores a payment that does not count, under its own id if that is free.
// It never leads to another recording. If the record that has its number settles the sale
// too, only an operator can tell what to undo.
func (m *Machine) storeDuplicate(ctx context.Context, a candidate, s step) error {
	p := a.derived
	switch {
	case s.to != "":
	case p.State == flows.Recorded && a.other.Live() && !a.other.HasProcessor():
		s = step{to: flows.Blocked, reason: "rebuilt: recorded, and the sale may be settled by another payment too: " + string(a.other.Method)}
	default:
		s = step{to: undo(p.State), reason: "rebuilt: the registration has a later payment"}
	}
	if s.to != "" {
		p.State, p.Reason = s.to, s.reason
	}
	if err := m.storeRebuilt(ctx, nil, p); !errors.Is(err, flows.ErrConflict) {
		return err
	}
	if err := m.findStored(ctx, &a); err != nil || !a.lost() {
		return err // another process stored it
	}
	p.ID = duplicateID(p.Registration, p.ProcessorID)
	if err := m.storeRebuilt(ctx, nil, p); !errors.Is(err, flows.ErrConflict) {
		return err
	}
	return nil // likewise
}
