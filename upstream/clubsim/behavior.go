package clubsim

import "time"

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
}

// benefitCollections names the collection in which each behaviour, or kind of product, leaves its record.
var benefitCollections = map[string]string{
	kindSubscription: "subscriptions", kindOption: "subscription_options", kindBadge: "identificators",
	kindCounter: "counters", kindPackage: "packages", kindCountermark: "countermarks",
	kindTrial: "test_sessions", kindRegular: "shop_items",
}

// runBehaviors applies what was sold to the buyer and makes the buyer a customer.
func (c *request) runBehaviors(s *sale) {
	k := c.w.state.Contacts.get(s.ContactID)
	for _, id := range s.Articles {
		a := c.w.state.Articles.get(id)
		o := catalogue().offers[a.OfferID]
		if o == nil {
			continue
		}
		if o.product.Kind == kindPackage {
			c.grant(s, a, behavior{Kind: kindPackage})
		}
		for _, b := range o.product.Behaviors {
			c.grant(s, a, b)
		}
		if o.debited() {
			c.setAccountingTag(k.ID, tagDirectDebit, true)
		}
	}
	if k.Status != statusCustomer && k.Status != statusBanned {
		k.Status = statusCustomer
		c.emit("contact.updated", c.w.contactObject(k))
	}
}

// grant creates the record of one behaviour and its side effects.
func (c *request) grant(s *sale, a *article, b behavior) {
	start := startDateOr(a, c.now)
	through := ""
	if b.Validity != "" {
		through = mustPeriod(b.Validity).after(start).AddDate(0, 0, -1).Format(time.DateOnly)
	}
	made := c.w.state.Benefits.add(&benefit{
		Kind:         b.Kind,
		ContactID:    s.ContactID,
		ClubID:       s.ClubID,
		SaleID:       s.ID,
		ArticleID:    a.ID,
		Name:         a.Name,
		ValidFrom:    start.Format(time.DateOnly),
		ValidThrough: through,
		Quantity:     b.Quantity,
	})
	switch b.Kind {
	case kindSubscription:
		if through == "" {
			through = noEndDate
		}
		c.addTag(s.ContactID, "member", made.ValidFrom, through)
	case kindBadge:
		c.emit("identificator.created", c.w.identificatorObject(made.ID, s.ContactID))
	case kindTrial:
		c.bookTrial(s, start)
	}
}
