package flows

import (
	"slices"
	"time"
)

// Purchase is what a buyer begins to pay, to find out whether they have just bought the same.
type Purchase struct {
	Buyer   []string // pseudonyms of the contact and of the person
	Alike   []string // pseudonyms of people who are probably the same, for staff
	Offers  []string // IRIs, one for each item
	Payment PaymentID
	At      time.Time
}

// PastPurchase is a purchase of the same buyer, or of a similar one, with one of the same offers, in another registration.
type PastPurchase struct {
	Payment PaymentID
	At      time.Time // when its payment was requested
	Same    bool      // by the same buyer; otherwise by a similar one
}

// KeepPurchase is how long a purchase counts as recent: a buyer repeats one by mistake on the same day, and a sale can
// be paid for 20 hours.
const KeepPurchase = 24 * time.Hour

// Purchased reports whether the payment has paid something, or still may: paying for it elsewhere would be paying twice.
func (p *Payment) Purchased() bool {
	return p.Live() && p.State != Cancelling && p.State != RefundDue && p.State != Refunding
}

// PurchaseOf returns what a payment pays for. contact has the pseudonyms of the buyer's contact.
func (r *Registration) PurchaseOf(p *Payment, contact []string) Purchase {
	in := Purchase{Buyer: slices.Concat(contact, r.BuyerPseudonyms), Alike: r.AlikePseudonyms, Payment: p.ID, At: p.CreatedAt}
	for _, item := range r.Items {
		in.Offers = append(in.Offers, string(item.Offer))
	}
	return in
}
