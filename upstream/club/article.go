package club

import (
	"context"
	"math"
)

// Article is a line of a sale.
type Article struct {
	IRI     IRI    `json:"@id"`
	Offer   IRI    `json:"offerId"`
	Product IRI    `json:"productId"`
	Name    string `json:"name"`
	PriceTI int64  `json:"priceTI"` // cents, tax included: what the line adds to the sale; negative for a prorata in the buyer's favour
	Parent  IRI    `json:"parent"`  // the article that added this one; empty: none

	PriceTE    lenient[*int64] `json:"priceTE"` // cents, tax excluded; see Tax
	TaxRate    *Percent        `json:"taxRate"`
	TotalTaxes lenient[*int64] `json:"totalTaxes"` // cents, of installations whose articles have a totalTI
	hasTotal   bool            // PriceTI is its totalTI

	Mandatory lenient[bool]                 `json:"mandatory"` // of some installations, as the next; see IsMandatory
	Mistakes  lenient[[]lenient[violation]] `json:"implementationErrors"`
	// HasContract: the sale has a contract document once it is recorded; see GetContract.
	HasContract present `json:"contractModelId"`
}

// IsMandatory reports whether the club system says that it added the article because another one requires it.
func (a Article) IsMandatory() bool { return a.Mandatory.value }

// ImplementationErrors returns what is wrong with the buyer's details of the article, such as its start, if the club system says so.
func (a Article) ImplementationErrors() []Violation { return violationsOf(a.Mistakes.value) }

// Tax returns the tax that the price includes, in cents, and its rate in percent. It is false if the club system gives none, or one
// that does not add up.
func (a Article) Tax() (rate, included int64, ok bool) {
	switch {
	case a.TaxRate == nil:
		return 0, 0, false
	case a.hasTotal && a.TotalTaxes.value != nil:
		included = *a.TotalTaxes.value
	case !a.hasTotal && a.PriceTE.value != nil:
		included = a.PriceTI - *a.PriceTE.value
	default:
		return 0, 0, false
	}
	rate = int64(*a.TaxRate)
	return rate, included, rate >= 0 && included*a.PriceTI >= 0 && (a.PriceTI-included)*a.PriceTI >= 0
}

// Percent is a tax rate: a whole number from 0 to 100, or -1 if the club system's is none.
type Percent int64

// UnmarshalJSON reads a percentage, or hundredths of one, which some installations send: no rate is above 100%, and none between
// 0% and 1%. It never fails, because nothing is computed from a rate.
func (p *Percent) UnmarshalJSON(data []byte) error {
	var rate float64
	*p = -1
	if unmarshal(data, &rate) != nil {
		return nil
	}
	if rate > 100 {
		rate /= 100
	}
	if rate >= 0 && rate <= 100 && rate == math.Trunc(rate) {
		*p = Percent(rate)
	}
	return nil
}

// NewArticle is an offer to put into a cart; club system API, section Article.
type NewArticle struct {
	Offer IRI `json:"offerId"`
	// StartDate is the first day of a subscription, YYYY-MM-DD. Other products have none.
	StartDate string `json:"-"`
	// RepaymentSchedule says when to debit; nil: paid at once.
	RepaymentSchedule *RepaymentScheduleRequest `json:"repaymentSchedule,omitempty"`
	// Bundle has the details of a package's parts, where these have offers of their own.
	Bundle []NewArticle `json:"-"`
}

// articleBody is the JSON of an article.
type articleBody struct {
	NewArticle
	Parent         *IRI                `json:"parent"` // null: the article belongs to no other, as the API describes it
	Implementation *implementation     `json:"implementation,omitempty"`
	Bundle         map[IRI]articleBody `json:"bundleContent,omitempty"`
}

// implementation is the buyer's choice.
type implementation struct {
	StartDate string `json:"startDate"`
}

func (a NewArticle) body() articleBody {
	body := articleBody{NewArticle: a}
	if a.StartDate != "" {
		body.Implementation = &implementation{a.StartDate}
	}
	for _, part := range a.Bundle {
		if body.Bundle == nil {
			body.Bundle = make(map[IRI]articleBody)
		}
		body.Bundle[part.Offer] = part.body()
	}
	return body
}

// RepaymentScheduleRequest says when to debit; club system API, section RepaymentSchedule.
type RepaymentScheduleRequest struct {
	SpecificDay  bool   `json:"specificDay"`            // the buyer chose a day
	DebitDay     *int   `json:"debitDay"`               // of the month; nil: not chosen
	StartDate    string `json:"startDate,omitempty"`    // of the first debit, YYYY-MM-DD
	DebitWeekDay *int   `json:"debitWeekDay,omitempty"` // 6 is Saturday
}

// AddArticle puts an offer into a cart; club system API, section Sales. An article that the
// contact may not buy is accepted, and CheckSale reports it. Read the sale again afterwards:
// the club system may add other articles. Unknown after an empty response.
func (c *Client) AddArticle(ctx context.Context, scope Scope, sale IRI, in NewArticle) error {
	return c.write(ctx, post("AddArticle", scope, "sales/{id}/articles", sale, in.body()).withRecord())
}
