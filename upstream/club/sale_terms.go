package club

import (
	"context"
	"net/url"
)

// SaleTerms are a club's own terms of sale, in installations that have them. The description of the API shows none of this: the members
// are assumptions.
type SaleTerms struct {
	Content  string `json:"content"` // HTML or plain text
	Language string `json:"-"`       // as the club system writes it; empty: it does not say
}

// UnmarshalJSON reads terms.
func (t *SaleTerms) UnmarshalJSON(data []byte) error {
	type plain SaleTerms
	var wire struct {
		plain
		Language lenient[string] `json:"language"`
	}
	err := unmarshal(data, &wire)
	*t = SaleTerms(wire.plain)
	t.Language = wire.Language.value
	return err
}

func (t *SaleTerms) check() error { return require("content", t.Content != "") }

type identifiedTerms struct{ identified }

func (i identifiedTerms) check() error { return requireIRI(i.IRI, "sale_terms") }

// CurrentSaleTerms reads the terms that a sale of the acting club has now, in installations that show Club.SaleTerms; others refuse it.
func (c *Client) CurrentSaleTerms(ctx context.Context, scope Scope) (SaleTerms, error) {
	query := url.Values{"club": {string(scope.Club)}}
	current, err := do[identifiedTerms](ctx, c, get("IdentifySaleTerms", scope, "identify_sale_terms", "").withQuery(query))
	if err != nil {
		return SaleTerms{}, err
	}
	return do[SaleTerms](ctx, c, get("GetSaleTerms", scope, "sale_terms/{id}", current.IRI))
}

// AcceptSaleTerms tells the club system that the buyer of a sale has accepted the terms of CurrentSaleTerms. It is not repeated.
func (c *Client) AcceptSaleTerms(ctx context.Context, scope Scope, sale IRI) error {
	return c.write(ctx, post("AcceptSaleTerms", scope, "sales/{id}/accept_gtcs", sale, nil))
}
