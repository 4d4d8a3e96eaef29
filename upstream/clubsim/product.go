package clubsim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (w *World) productRecord(product *product) record {
	behaviors := records(product.behaviors, func(b behavior) record {
		if w.settings.BehaviorIRIs {
			kind := slices.Index(benefitKinds, b.Kind) + 1
			return record{"@type": "ProductBehavior", "behavior": w.iri("behaviors", kind), "configuration": b.behaviorConfiguration}
		}
		return record{"@type": "ProductBehavior", "type": b.Kind, "configuration": b.behaviorConfiguration}
	})
	return w.record("Product", "products", product.ID, record{
		"id": product.ID, "name": product.Name, "description": product.Description, "type": product.Kind, "productBehaviors": behaviors,
	})
}

// catalogueRecord is a product with its offers, as far as the settings embed them.
func (w *World) catalogueRecord(product *product, at *club) record {
	shown := w.productRecord(product)
	if w.settings.EmbeddedOffers == embedsNone {
		return shown
	}
	offers := []record{}
	for i := range product.Offers {
		if offer := &product.Offers[i]; w.sells(offer, at) {
			offers = append(offers, w.embeddedOffer(offer))
		}
	}
	shown["offers"] = offers
	return shown
}

func (w *World) embeddedOffer(offer *offer) record {
	embedded := w.offerRecord(offer)
	embedded["product"] = w.iri("products", offer.product.ID)
	if w.settings.EmbeddedOffers == embedsSummary {
		for _, detail := range []string{"isFirstMonthPayed", "rhythmBilling", "articleBehaviors", "repaymentSchedule"} {
			delete(embedded, detail)
		}
	}
	return embedded
}

// listProducts: GET products (section Catalogue).
func listProducts(call *request) (response, error) {
	shopper, err := call.shopper()
	if err != nil {
		return response{}, err
	}
	kinds, text := call.req.query.all("type"), strings.ToLower(call.req.query.Get("q"))
	found := filter(call.w.catalogue.products, func(p *product) bool {
		return wanted(kinds, p.Kind) && strings.Contains(strings.ToLower(p.Name), text) &&
			call.w.soldAt(p, shopper.club) && p.available(shopper)
	})
	return paginate(call, "Product", found, func(p *product) record { return call.w.catalogueRecord(p, shopper.club) })
}

// getProduct: GET products/{id}.
func getProduct(call *request, product *product) (response, error) {
	return ok(call.w.catalogueRecord(product, call.club))
}

func (c *request) productAt(id int) (*product, error) {
	return visible(c.w.catalogue.byID[id], func(p *product) bool { return c.w.soldAt(p, c.club) })
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
	if text := cmp.Or(c.req.query.Get("context[date]"), c.req.query.Get("context[sellingDay]")); text != "" { // the latter of offers
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
	verify("context[channel]", func(s string) bool { return slices.Contains(channels, s) })
	verify("context[debt]", func(s string) bool { _, err := strconv.Atoi(s); return err == nil })
	verify("context[date]", isDate)
	verify("context[sellingDay]", isDate)
	for _, kind := range c.req.query.all("type") {
		if benefitCollections[kind] == "" {
			wrong = append(wrong, violation{PropertyPath: "type", Message: messageType})
		}
	}
	for _, name := range []string{"role", "contactState", "contactAge", "productSubscription"} { // which no offer here depends on
		c.req.query.asked["context["+name+"]"] = true
	}
	if len(wrong) > 0 {
		return invalid(wrong...)
	}
	return nil
}

// contextTags reads context[contactTag][] and context[contactTags][], tags by name or by identifier, with or without
// an index between the last brackets.
func (c *request) contextTags() []string {
	var tags []string
	for name, values := range c.req.query.Values {
		if !strings.HasPrefix(name, "context[contactTag]") && !strings.HasPrefix(name, "context[contactTags]") {
			continue
		}
		c.req.query.asked[name] = true
		for _, value := range values {
			if t := c.w.state.Tags.get(c.w.parseIRI("contact_tags", value)); t != nil && !t.Deleted {
				value = t.Name
			}
			tags = append(tags, value)
		}
	}
	return tags
}
