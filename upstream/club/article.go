package club

import "context"

// Article is a line of a sale.
type Article struct {
	IRI     IRI    `json:"@id"`
	Offer   IRI    `json:"offerId"`
	Product IRI    `json:"productId"`
	Name    string `json:"name"`
	PriceTI int64  `json:"priceTI"` // cents, tax included; below zero for a prorata in the buyer's favour
	Parent  IRI    `json:"parent"`  // the article that brought this one along; empty: none
}

// NewArticle is an offer to put into a cart; club system API, section Article.
type NewArticle struct {
	Offer IRI `json:"offerId"`
	// Parent is the article that this one belongs to; empty: none.
	Parent IRI `json:"-"`
	// StartDate is the first day of a subscription, YYYY-MM-DD; empty for a product that
	// needs none.
	StartDate string `json:"-"`
	// Implementations are the details for each behavior of a package.
	Implementations []Implementation `json:"implementations,omitempty"`
	// RepaymentSchedule says when to debit; nil: paid at once.
	RepaymentSchedule *RepaymentScheduleRequest `json:"repaymentSchedule,omitempty"`
}

// Implementation is what one behavior of a product needs to know.
type Implementation struct {
	StartDate string `json:"startDate,omitempty"` // YYYY-MM-DD
}

// RepaymentScheduleRequest says when to debit; club system API, section RepaymentSchedule.
type RepaymentScheduleRequest struct {
	SpecificDay  bool   `json:"specificDay"`            // the buyer asked for a day
	DebitDay     *int   `json:"debitDay"`               // day of the month; nil: none asked for
	StartDate    string `json:"startDate,omitempty"`    // of the first debit, YYYY-MM-DD
	DebitWeekDay *int   `json:"debitWeekDay,omitempty"` // 6 is Saturday
}

// wireArticle is the JSON of NewArticle, where a missing parent is null, as in the API's
// description.
type wireArticle struct {
	NewArticle
	Parent         *IRI            `json:"parent"`
	Implementation *Implementation `json:"implementation,omitempty"`
}

func (in NewArticle) wire() wireArticle {
	w := wireArticle{NewArticle: in}
	if in.Parent != "" {
		w.Parent = &in.Parent
	}
	if in.StartDate != "" {
		w.Implementation = &Implementation{StartDate: in.StartDate}
	}
	return w
}

// AddArticle puts an offer into a cart; club system API, section Sales. An article that
// does not suit the contact is accepted, and CheckSale reports it. Read the sale again
// afterwards, because other articles may have been added.
func (c *Client) AddArticle(ctx context.Context, s Scope, sale IRI, in NewArticle) error {
	_, err := do[noContent](ctx, c, post("AddArticle", s, "sales/{id}/articles", sale, in.wire()))
	return err
}
