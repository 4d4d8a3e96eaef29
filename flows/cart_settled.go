package flows

import (
	"context"
	"slices"
)

// settledProblem is the problem of a cart whose sale somebody settled at the club,
// past this journey: nobody may pay it again, nor have another one made of it.
var settledProblem = CartProblem{"settled", "This cart was settled at the club already, so there is nothing more to pay. If you did not settle it, please ask the club's staff."}

func SettledError() error { return &Error{Code: CartInvalid, Detail: settledProblem.Message} }

// settled tells whether the sale was found settled at the club.
func (c Cart) settled() bool { return slices.Contains(c.Problems, settledProblem) }

// markIfSettled notes that a sale is no longer in the state of one that nothing has
// settled. Where the club system does not tell states, nothing can be noted.
func (r *Registration) markIfSettled(state, untouched string) {
	if untouched != "" && state != "" && state != untouched {
		r.Cart.Valid, r.Cart.Problems = false, []CartProblem{settledProblem}
	}
}

// markIfSettledByPayment notes what the look before the capture found: a payment that was
// cancelled because its sale was settled says so before the cart is read again.
func (r *Registration) markIfSettledByPayment(p *Payment) {
	if p != nil && p.State == Cancelled && p.Sale == r.Sale && p.Snapshot != nil && p.Snapshot.SaleState != nil {
		r.markIfSettled(*p.Snapshot.SaleState, p.SaleState)
	}
}

// settledExternally answers whoever asks for the payment of a sale that turns out to be
// settled: with the payment of ours that did it, be it of the same moment or one that
// Redis had lost; else it is stored that somebody else did.
func (f *Registrations) settledExternally(ctx context.Context, r *Registration) (*Payment, error) {
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
		return nil, storageFailed(err)
	}
	return nil, SettledError()
}

// livePayment reads a registration's payment; nil when none lives.
func (f *Registrations) livePayment(ctx context.Context, id string) (*Payment, error) {
	_, p, err := f.cfg.Store.Registration(ctx, id)
	if err != nil || !p.Live() {
		return nil, storageFailed(err)
	}
	return p, nil
}
