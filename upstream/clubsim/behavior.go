package clubsim

import (
	"maps"
	"slices"
	"time"
)

// benefit is what a contact got from a sale: the record that a behaviour leaves.
type benefit struct {
	numbered
	Kind         string `json:"kind"`
	ContactID    int    `json:"contactId"`
	ClubID       int    `json:"clubId"`
	SaleID       int    `json:"saleId"`
	ArticleID    int    `json:"articleId"`
	Name         string `json:"name"`
	ValidFrom    string `json:"validFrom"`
	ValidThrough string `json:"validThrough"` // empty: without end
	Quantity     int    `json:"quantity"`     // sessions or tokens credited
	State        string `json:"state"`        // empty: in force; else "disabled" or "deleted"
	terms               // of a subscription
}

// benefitKinds are the kinds of behaviors, by their number less one.
var benefitKinds = slices.Sorted(maps.Keys(benefitCollections))

// benefitCollections names the collection in which each behaviour, or kind of product, leaves its record.
var benefitCollections = map[string]string{
	kindSubscription: "subscriptions", kindOption: "subscription_options", kindBadge: "identificators",
	kindCounter: "counters", kindPackage: "packages", kindCountermark: "countermarks",
	kindTrial: "test_sessions", kindRegular: "shop_items",
}

// runBehaviors applies what was sold to the buyer and makes the buyer a customer.
func (c *request) runBehaviors(sale *sale) {
	contact := c.w.state.Contacts.get(sale.ContactID)
	for _, id := range sale.Articles {
		article := c.w.state.Articles.get(id)
		offer := c.w.catalogue.offers[article.OfferID]
		if offer == nil {
			continue
		}
		if offer.product.Kind == kindPackage {
			c.grant(sale, article, behavior{Kind: kindPackage})
		}
		for _, b := range offer.product.behaviors {
			c.grant(sale, article, b)
		}
		if offer.debited() {
			c.setAccountingTag(contact.ID, tagDirectDebit, true)
		}
	}
	if contact.Status != statusCustomer && contact.Status != statusBanned {
		contact.Status = statusCustomer
		c.contactUpdated(contact)
	}
}

// grant creates the record of one behaviour and its side effects.
func (c *request) grant(sale *sale, article *article, behavior behavior) {
	start := startDateOr(article, c.now)
	through := ""
	if behavior.Validity != "" {
		through = mustPeriod(behavior.Validity).after(start).AddDate(0, 0, -1).Format(time.DateOnly)
	}
	made := c.w.state.Benefits.add(&benefit{
		Kind:         behavior.Kind,
		ContactID:    sale.ContactID,
		ClubID:       sale.ClubID,
		SaleID:       sale.ID,
		ArticleID:    article.ID,
		Name:         article.Name,
		ValidFrom:    start.Format(time.DateOnly),
		ValidThrough: through,
		Quantity:     behavior.Quantity,
	})
	switch behavior.Kind {
	case kindSubscription:
		made.terms = c.w.catalogue.offers[article.OfferID].sold(c.w.catalogue.club(sale.ClubID), start, through, article.Repayment)
		if through == "" {
			through = noEndDate
		}
		c.addTag(sale.ContactID, tagMember, made.ValidFrom, through)
	case kindBadge:
		c.emit("identificator.created", c.w.identificatorObject(made.ID, sale.ContactID))
	case kindTrial:
		c.bookTrial(sale, start)
	}
}
