package registration

import (
	"context"

	"frontdesk/flows"
)

// settledExternally answers whoever asks for the payment of a sale that turns out to be
// settled: with the payment of ours that did it, be it of the same moment or one that
// Redis had lost; else it is stored that somebody else did.
func (f *Registrations) settledExternally(ctx context.Context, r *flows.Registration) (*flows.Payment, error) {
	if ours, err := f.livePayment(ctx, r.ID); ours != nil || err != nil {
		return ours, err
	}
	if err := f.cfg.Payments.RebuildOnDemand(ctx); err != nil {
		return nil, err
	}
	if ours, err := f.livePayment(ctx, r.ID); ours != nil || err != nil {
		return ours, err
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return nil, flows.StorageFailed(err)
	}
	return nil, flows.SettledError()
}

// livePayment reads a registration's payment; nil when none lives.
func (f *Registrations) livePayment(ctx context.Context, id string) (*flows.Payment, error) {
	_, p, err := f.cfg.Store.Registration(ctx, id)
	if err != nil || !p.Live() {
		return nil, flows.StorageFailed(err)
	}
	return p, nil
}
