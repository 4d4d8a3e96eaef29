package club

import "context"

// Club is one club of an organisation.
type Club struct {
	IRI      IRI    `json:"@id"`
	Code     string `json:"code"` // goes into sales and payments as their club code
	Name     string `json:"name"`
	Currency string `json:"currency"`    // ISO 4217
	Node     IRI    `json:"networkNode"` // the club's own network node; empty without a chain
	Address         // its members stand among the club's own
}

func (c Club) check() error { return presentIRI(c.IRI) }

// GetClub reads a club. That this operation exists is an assumption: sales need
// a club code, and the API's description does not say where it comes from.
func (c *Client) GetClub(ctx context.Context, s Scope, club IRI) (Club, error) {
	return do[Club](ctx, c, get("GetClub", s, "clubs/{id}", club))
}
