package club

import "context"

// Club is one club of an organisation. In JSON its address is not nested.
type Club struct {
	IRI      IRI    `json:"@id"`
	Code     string `json:"code"` // the club code of sales and payments
	Name     string `json:"name"`
	Currency string `json:"currency"`    // ISO 4217
	Node     IRI    `json:"networkNode"` // the club's own network node; empty without a chain
	// Telephone and Email are how visitors reach the club; empty if the club system has none.
	Telephone string `json:"telephone"`
	Email     string `json:"email"`
	// SaleTerms: the club has terms of sale of its own. Only some installations show them.
	SaleTerms present `json:"saleTerms"`
	Address
}

func (c Club) check() error { return requireIRI(c.IRI, "clubs") }

func (c Club) identifier() IRI { return c.IRI }

// GetClub reads a club. That this operation exists is an assumption: the API's description
// does not say where the club code of a sale comes from.
func (c *Client) GetClub(ctx context.Context, scope Scope, club IRI) (Club, error) {
	return do[Club](ctx, c, get("GetClub", scope, "clubs/{id}", club))
}
