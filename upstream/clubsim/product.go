package clubsim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (w *World) productRecord(product *product) record {
	behaviors := records(product.Behaviors, func(b behavior) record {
		return record{"@type": "ProductBehavior", "type": b.Kind, "configuration": b.behaviorConfiguration}
	})
	return w.record("Product", "products", product.ID, record{
		"id": product.ID, "name": product.Name, "description": product.Description, "type": product.Kind, "productBehaviors": behaviors,
	})
}

// listProducts: GET products (section Catalogue).
func listProducts(call *request) (response, error) {
	shopper, err := call.shopper()
	if err != nil {
		return response{}, err
	}
	kind := call.req.query.Get("type")
	found := filter(catalogue().products, func(p *product) bool {
		return (kind == "" || p.Kind == kind) && call.w.soldAt(p, shopper.club) && p.available(shopper)
	})
	return paginate(call, "Product", found, call.w.productRecord)
}

func (c *request) productAt(id int) (*product, error) {
	return visible(catalogue().byID[id], func(p *product) bool { return c.w.soldAt(p, c.club) })
}

// shopper reads the context parameters. Without context[club] it is the acting
// club; a contact that is named brings its tags and its debt along.
func (c *request) shopper() (shopper, error) {
	at, noClub := named(c, "context[club]", "clubs", c.clubAt)
	contact, noContact := named(c, "context[contactId]", "contacts", c.contactAt)
	if err := cmp.Or(c.verifyContext(), noClub, noContact); err != nil {
		return shopper{}, err
	}
	shopper := shopper{club: cmp.Or(at, c.club), contact: contact, channel: c.req.query.Get("context[channel]"), date: c.now}
	if contact != nil {
		shopper.tags, shopper.debt = c.w.state.tagNames(contact.ID, c.now), c.w.debt(contact.ID, c.now)
	}
	shopper.tags = append(shopper.tags, c.contextTags()...)
	if text := c.req.query.Get("context[debt]"); text != "" {
		shopper.debt, _ = strconv.Atoi(text)
	}
	if text := c.req.query.Get("context[date]"); text != "" {
		shopper.date, _ = time.Parse(time.DateOnly, text)
	}
	return shopper, nil
}

// verifyContext names every context parameter that cannot be read.
func (c *request) verifyContext() error {
	var wrong []violation
	verify := func(name string, valid func(string) bool) {
		if text := c.req.query.Get(name); text != "" && !valid(text) {
			wrong = append(wrong, violation{PropertyPath: name, Message: messageType})
		}
	}
	verify("context[channel]", func(s string) bool { return slices.Contains([]string{"club", "web", "terminal"}, s) })
	verify("context[debt]", func(s string) bool { _, err := strconv.Atoi(s); return err == nil })
	verify("context[date]", isDate)
	verify("type", func(s string) bool { return benefitCollections[s] != "" })
	if len(wrong) > 0 {
		return invalid(wrong...)
	}
	return nil
}

// contextTags reads context[contactTag][], tags by name or by identifier, with
// or without an index between the last brackets.
func (c *request) contextTags() []string {
	var tags []string
	for name, values := range c.req.query {
		if !strings.HasPrefix(name, "context[contactTag]") {
			continue
		}
		for _, value := range values {
			if t := c.w.state.Tags.get(c.w.parseIRI("contact_tags", value)); t != nil && !t.Deleted {
				value = t.Name
			}
			tags = append(tags, value)
		}
	}
	return tags
}
