package flows

import (
	"slices"
)

// settledProblem is the problem of a cart whose sale somebody settled at the club,
// past this journey: nobody may pay it again, nor have another one made of it.
var settledProblem = CartProblem{"settled", "This cart was settled at the club already, so there is nothing more to pay. If you did not settle it, please ask the club's staff."}

func SettledError() error { return &Error{Code: CartInvalid, Detail: settledProblem.Message} }

// settled tells whether the sale was found settled at the club.
func (c Cart) Settled() bool { return slices.Contains(c.Problems, settledProblem) }

// markIfSettled notes that a sale is no longer in the state of one that nothing has
// settled. Where the club system does not tell states, nothing can be noted.
func (r *Registration) MarkIfSettled(state, untouched string) {
	if untouched != "" && state != "" && state != untouched {
		r.Cart.Valid, r.Cart.Problems = false, []CartProblem{settledProblem}
	}
}

// markIfSettledByPayment notes what the look before the capture found: a payment that was
// cancelled because its sale was settled says so before the cart is read again.
func (r *Registration) MarkIfSettledByPayment(p *Payment) {
	if p != nil && p.State == Cancelled && p.Sale == r.Sale && p.Snapshot != nil && p.Snapshot.SaleState != nil {
		r.MarkIfSettled(*p.Snapshot.SaleState, p.SaleState)
	}
}

func ClosedError(phase RegistrationState) error {
	return &Error{Code: RegistrationClosed, Detail: "The registration is " + string(phase) + "."}
}
