package club

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
)

// The categories of products; club system API, section Product categories.
const (
	ProductSubscription       = "subscription"
	ProductSubscriptionOption = "subscription_option"
	ProductBadge              = "badge"
	ProductCounter            = "counter" // session booklets
	ProductPackage            = "package"
	ProductCountermark        = "countermark"
	ProductTestSession        = "test_session"
	ProductRegular            = "regular" // shop products
)

// The channels of a sale, for ProductQuery.
const (
	ChannelClub     = "club"
	ChannelWeb      = "web"
	ChannelTerminal = "terminal"
)

// ProductQuery is the sale for which the catalogue is read; the offers may depend on all of
// it. Zero fields are not sent.
type ProductQuery struct {
	Channel     string   // where the sale takes place, such as ChannelWeb
	Club        IRI      // the club of the sale
	ContactTags []string // the tags of the contact, by IRI
	Contact     IRI      // the buyer
	Debt        *int64   // the buyer's debt in cents; some clubs offer less to debtors
	Date        string   // day of the purchase, YYYY-MM-DD
	Type        string   // one category of products only
}

func (q ProductQuery) values() url.Values {
	values := url.Values{}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("context[channel]", q.Channel)
	set("context[club]", string(q.Club))
	set("context[contactId]", string(q.Contact))
	set("context[date]", q.Date)
	set("type", q.Type)
	if q.Debt != nil {
		set("context[debt]", strconv.FormatInt(*q.Debt, 10))
	}
	if len(q.ContactTags) > 0 {
		values["context[contactTag][]"] = q.ContactTags
	}
	return values
}

// Product is something that a club sells, by one or more offers.
type Product struct {
	IRI         IRI               `json:"@id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Type        string            `json:"type"` // ProductSubscription and so on
	Behaviors   []ProductBehavior `json:"productBehaviors"`
}

// UnmarshalJSON reads a product, or only its IRI where it is referred to.
func (p *Product) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return unmarshal(data, &p.IRI)
	}
	type plain Product
	return unmarshal(data, (*plain)(p))
}

// ProductBehavior is an effect of buying the product.
type ProductBehavior struct {
	Type           string // such as "subscription"
	ValidityPeriod string // ISO 8601 duration, such as "P52W"; empty: not limited
}

// UnmarshalJSON reads a behavior, whose details are nested on the wire.
func (b *ProductBehavior) UnmarshalJSON(data []byte) error {
	var wire struct {
		Type          string `json:"type"`
		Configuration struct {
			ValidityPeriod string `json:"validityPeriod"`
		} `json:"configuration"`
	}
	err := unmarshal(data, &wire)
	b.Type, b.ValidityPeriod = wire.Type, wire.Configuration.ValidityPeriod
	return err
}

// MarshalJSON writes a behavior as UnmarshalJSON reads it, for caches.
func (b ProductBehavior) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"type": b.Type, "configuration": map[string]string{"validityPeriod": b.ValidityPeriod}})
}

// ListProducts reads the catalogue for a sale, all pages; club system API, section
// Catalogue.
func (c *Client) ListProducts(ctx context.Context, s Scope, q ProductQuery) ([]Product, error) {
	return c.ListProductsConcurrently(ctx, s, q, func([]Product) {})
}

// ListProductsConcurrently is ListProducts that also passes each page to page as soon as it
// was read, in any order and from several goroutines.
func (c *Client) ListProductsConcurrently(ctx context.Context, s Scope, q ProductQuery, page func([]Product)) ([]Product, error) {
	return listConcurrently(ctx, c, get("ListProducts", s, "products", "").withQuery(q.values()), page)
}
