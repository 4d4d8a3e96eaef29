package payment

import (
	"context"
	"errors"
	"hash/fnv"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
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
	for i, candidate := range group {
		by := takesPrecedence(group[:i], candidate)
		switch {
		case candidate.lost():
			if err := m.storeDuplicate(ctx, candidate, by); err != nil {
				return err
			}
		case by != "" && candidate.agrees():
			if _, err := m.advance(ctx, candidate.stored, ask{outranked: by, once: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// takesPrecedence returns the processor's id of the payment, among those of a higher place, that counts for the sale of a duplicate;
// empty without one.
func takesPrecedence(before []candidate, a candidate) string {
	for _, other := range before {
		if other.derived.Sale == a.derived.Sale && other.rank().Taken() {
			return other.derived.ProcessorID
		}
	}
	return ""
}

// storeDuplicate stores a payment that does not count, under its own id if that is free.
func (m *Machine) storeDuplicate(ctx context.Context, a candidate, by string) error {
	payment := protocol.Duplicate(a.derived, by, a.other)
	if err := m.storeRebuilt(ctx, nil, payment); !errors.Is(err, flows.ErrConflict) {
		return err
	}
	if found, err := m.findStored(ctx, a); err != nil || !found.lost() {
		return err // another process stored it
	}
	payment.ID = duplicateID(payment.Registration, payment.ProcessorID)
	if err := m.storeRebuilt(ctx, nil, payment); !errors.Is(err, flows.ErrConflict) {
		return err
	}
	return nil // likewise
}
