package club

import (
	"context"
	"net/url"
	"strconv"
)

// ChannelWeb is the channel of sales online; the others are club and terminal.
const ChannelWeb = "web"

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
	if len(q.ContactTags) > 0 { // the description has the first name, and installations the second one; each ignores the other
		values["context[contactTag][]"], values["context[contactTags][]"] = q.ContactTags, q.ContactTags
	}
	return values
}

// Product is something that a club sells, by one or more offers.
type Product struct {
	IRI         IRI    `json:"@id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Type is subscription, subscription_option, badge, counter (session booklets), package,
	// countermark, test_session or regular (shop products); club system API, section Product
	// categories.
	Type      string            `json:"type"`
	Behaviors []ProductBehavior `json:"productBehaviors"`
	// Offers are those in the product's own document, if it has them complete; else ListOffers reads them.
	Offers []Offer `json:"-"`
}

// plainProduct is a Product without its methods.
type plainProduct Product

// UnmarshalJSON reads a product.
func (p *Product) UnmarshalJSON(data []byte) error {
	var wire struct {
		plainProduct
		Offers lenient[records[embeddedOffer]] `json:"offers"`
	}
	if err := unmarshal(data, &wire); err != nil {
		return err
	}
	*p = Product(wire.plainProduct)
	p.nameBehaviors()
	offers := wire.Offers.value
	for _, embedded := range offers.readable() {
		if len(offers.unreadable()) == 0 && embedded.isOf(p.IRI) {
			p.Offers = append(p.Offers, embedded.Offer)
		}
	}
	return nil
}

// productOfOffer is the summary of a product in an offer. It has no offers of its own, which could have products again, and so on.
type productOfOffer Product

// UnmarshalJSON reads a summary, or only the IRI where the API refers to a product.
func (p *productOfOffer) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return unmarshal(data, &p.IRI)
	}
	err := unmarshal(data, (*plainProduct)(p))
	(*Product)(p).nameBehaviors()
	return err
}

// nameBehaviors gives behaviors a type that have none.
func (p *Product) nameBehaviors() {
	for i, behavior := range p.Behaviors {
		if behavior.Type == "" {
			p.Behaviors[i].Type = p.kindOf(behavior)
		}
	}
}

// kindOf returns the type of a behavior that names only the IRI of its kind: that of its product. A package has behaviors of several
// types; what is valid for a time counts as a subscription, so that its buyer is asked when it starts.
func (p *Product) kindOf(behavior ProductBehavior) string {
	if p.Type == "package" && behavior.Configuration.ValidityPeriod != "" {
		return "subscription"
	}
	return p.Type
}

func (p *Product) check() error { return requireIRI(p.IRI, "products") }

// ProductBehavior is an effect of buying the product.
type ProductBehavior struct {
	Type          string                `json:"type"` // such as "subscription"
	Configuration BehaviorConfiguration `json:"configuration"`
}

// BehaviorConfiguration is the details of a behavior.
type BehaviorConfiguration struct {
	ValidityPeriod string `json:"validityPeriod"` // ISO 8601 duration, such as "P52W"; empty: not limited
}

// ListProducts reads the catalogue for a sale, all pages; club system API, section
// Catalogue.
func (c *Client) ListProducts(ctx context.Context, scope Scope, q ProductQuery) ([]Product, error) {
	return c.ListProductsConcurrently(ctx, scope, q, func([]Product) {})
}

// ListProductsConcurrently is ListProducts that also passes each page to page as soon as it
// is read, in any order and from several goroutines.
func (c *Client) ListProductsConcurrently(ctx context.Context, scope Scope, q ProductQuery, page func([]Product)) ([]Product, error) {
	return listConcurrently(ctx, c, get("ListProducts", scope, "products", "").withQuery(q.values()), page)
}
