package flows

import (
	"frontdesk/flows/schedule"
	"frontdesk/upstream/club"
)

// ShownOffer is an offer in the cart as its buyer was last shown it: what the order says about it, beside the cart.
type ShownOffer struct {
	Product      club.IRI       `json:"product,omitempty"` // empty: the club does not offer it to this buyer, and nothing else is known
	Type         string         `json:"type,omitempty"`    // of the product
	Terms        schedule.Offer `json:"terms,omitzero"`
	DebitDay     int            `json:"debitDay,omitempty"`     // of the month: the club's next one, if the buyer chose none; 0: none
	Personalised bool           `json:"personalised,omitempty"` // its price depends on the buyer's tags or debt
}

// Debited reports whether something is debited after today.
func (o ShownOffer) Debited() bool { return len(o.Terms.Occurrences)+len(o.Terms.Recurrences) > 0 }

// TypeOf returns the type of the product that a line of the cart is; empty: it is none, or it is not known.
func (r *Registration) TypeOf(line Line) string {
	if offer := r.Offers[line.Offer.ID()]; offer.Type != "" {
		return offer.Type
	}
	for _, item := range r.Items {
		if item.ID == line.ID {
			return item.Type
		}
	}
	return ""
}
