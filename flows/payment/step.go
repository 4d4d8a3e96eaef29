package payment

import (
	"context"
	"errors"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// read returns the processor's payment: fresh, if the step before has just read it, else
// from the processor. The error is a mismatch if it differs from the record, and missing if
// the processor does not have it. A payment without a processor reads as zero.
func (m *Machine) read(ctx context.Context, p *flows.Payment, fresh *cards.Payment) (cards.Payment, error) {
	switch {
	case fresh != nil:
		return *fresh, nil
	case !p.HasProcessor():
		return cards.Payment{}, nil
	}
	remote, err := m.cfg.Cards.Get(ctx, p.ProcessorID)
	if errors.Is(err, cards.ErrNotFound) {
		return remote, missing(protocol.UnknownThere)
	}
	if err != nil {
		return remote, processorFailed(err)
	}
	if !m.names(p, remote) {
		return remote, missing(protocol.ForeignThere)
	}
	if differs := m.compare(p, remote); differs != "" {
		return remote, mismatch(differs)
	}
	return remote, nil
}

// names reports whether the metadata of the processor's payment names the record's registration, whatever else it says.
func (m *Machine) names(p *flows.Payment, remote cards.Payment) bool {
	return m.remote(remote, m.cfg.Now()).Names(p)
}

// compare says how the processor's payment differs from the record; empty if it does not.
func (m *Machine) compare(p *flows.Payment, remote cards.Payment) string {
	return protocol.Differs(p, m.remote(remote, m.cfg.Now()))
}

// refuseOtherMethod is the step for a buyer who did not pay by card, whatever the processor offered:
// what is only reserved is cancelled, and what is taken waits for an operator to have it refunded.
func refuseOtherMethod(remote cards.Payment) step {
	to := flows.Cancelling
	if remote.State == cards.Captured {
		to = flows.Blocked
	}
	return step{to: to, reason: "the buyer paid by " + remote.OtherMethod + " and not by card"}
}

// holdsWholeAmount reports whether the money is captured and none of it was refunded, or is
// about to be.
func holdsWholeAmount(remote cards.Payment) bool {
	return (&protocol.Remote{Payment: remote}).HoldsAll()
}

// find reads a payment at the processor, whatever it says; zero if the processor does not have it.
func (m *Machine) find(ctx context.Context, processorID string) (cards.Payment, error) {
	remote, err := m.cfg.Cards.Get(ctx, processorID)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		return cards.Payment{}, nil
	case err != nil:
		return cards.Payment{}, processorFailed(err)
	}
	return remote, nil
}

// processorFailed is the error for a processor that did not respond as expected.
func processorFailed(err error) error {
	return &flows.Error{Code: flows.ProcessorUnavailable, Detail: "The card processor did not respond as expected.", Err: err}
}
