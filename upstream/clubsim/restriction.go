package clubsim

import (
	"fmt"
	"slices"
	"time"
)

// restrictions returns why the contact of a sale may not buy an article: what the check of every installation knows, and what only
// installations with RefuseAtAdd or RestrictionsAtPayment enforce.
func (w *World) restrictions(sale *sale, article *article, path string, now time.Time) []violation {
	offer, contact := w.catalogue.offers[article.OfferID], w.state.Contacts.get(sale.ContactID)
	if offer == nil {
		return nil
	}
	found := w.checkedRestrictions(sale, contact, article, path, now)
	refuse := func(message, code string) {
		found = append(found, violation{path, message, "api.error.sale.article." + code})
	}
	rule := offer.product.Rule
	if w.lacksTag(sale, article, now) {
		refuse("The contact lacks the tag that the offer requires.", "tag-required")
	}
	if rule.Newcomers && contact.Status == statusCustomer {
		refuse("The offer is not for customers.", "state-restricted")
	}
	if !rule.Months.include(now) {
		refuse("The offer is not sold at this time of the year.", "period-restricted")
	}
	return found
}

// checkedRestrictions are the restrictions that the check reports, unless RestrictionsAtPayment leaves them to the payment.
func (w *World) checkedRestrictions(sale *sale, contact *contact, article *article, path string, now time.Time) []violation {
	var found []violation
	offer, at := w.catalogue.offers[article.OfferID], w.catalogue.club(sale.ClubID)
	if !w.sells(offer, at) {
		found = append(found, violation{path, "The club does not sell this.", "api.error.sale.article.not-available"})
	}
	if offer.product.has(kindSubscription) && at.DebtLimit > 0 && w.debt(contact.ID, now) > at.DebtLimit {
		found = append(found, violation{path, "The contact's debt is too high for a subscription.", "api.error.sale.debt"})
	}
	if !offer.product.Rule.allowsAge(contact, startDateOr(article, now)) {
		found = append(found, violation{path, "The contact's age does not fit the offer.", "api.error.sale.article.age-restricted"})
	}
	return found
}

// firstPayment refuses what would settle a sale with restrictions, in installations that enforce them only then. Once a sale has a payment,
// they do not count any more.
func (c *request) firstPayment(sale *sale) error {
	if !c.w.settings.RestrictionsAtPayment || sale.State != saleBuilding || len(c.w.state.paymentsFor(sale.ID)) > 0 {
		return nil
	}
	var found []violation
	for i, article := range c.w.articles(sale) {
		found = append(found, c.w.restrictions(sale, article, fmt.Sprintf("articles[%d]", i), c.now)...)
	}
	if len(found) > 0 {
		return invalid(found...)
	}
	return nil
}

// tagMember is the tag that a subscription gives.
const tagMember = "member"

// neededTags are the tags of which a buyer needs one; none: it suits everyone. An option belongs to a subscription.
func (p *product) neededTags() []string {
	if p.Kind == kindOption {
		return []string{tagMember}
	}
	return p.Rule.Tags
}

// tags is a set of tags.
type tags []string

func (t tags) has(name string) bool { return slices.Contains(t, name) }

// tagsAround are the tags of a sale's contact, and those that the other articles of the sale would give.
func (w *World) tagsAround(sale *sale, article *article, now time.Time) tags {
	names := w.state.tagNames(sale.ContactID, now)
	for _, other := range w.articles(sale) {
		offer := w.catalogue.offers[other.OfferID]
		if other.ID != article.ID && offer != nil && offer.product.has(kindSubscription) {
			names = append(names, tagMember)
		}
	}
	return names
}

// removeArticle: DELETE articles/{id}, as staff do in the club's own screens. What was added with an article goes with it. With
// RemoveDependents, so do the articles that need a tag which nothing else gives.
func removeArticle(call *request, article *article) (response, error) {
	sale, err := call.openSaleAt(article.SaleID)
	if err != nil {
		return response{}, err
	}
	if !slices.Contains(sale.Articles, article.ID) {
		return response{}, itemNotFound()
	}
	removed := []int{article.ID}
	for len(removed) > 0 {
		sale.Articles = slices.DeleteFunc(sale.Articles, func(id int) bool { return slices.Contains(removed, id) })
		removed = nil
		for _, left := range call.w.articles(sale) {
			isOrphan := left.Parent != 0 && !slices.Contains(sale.Articles, left.Parent)
			if isOrphan || call.w.settings.RemoveDependents && call.w.lacksTag(sale, left, call.now) {
				removed = append(removed, left.ID)
			}
		}
	}
	return noContent()
}

func (w *World) lacksTag(sale *sale, article *article, now time.Time) bool {
	offer := w.catalogue.offers[article.OfferID]
	if offer == nil {
		return false
	}
	needed := offer.product.neededTags()
	return len(needed) > 0 && !slices.ContainsFunc(needed, w.tagsAround(sale, article, now).has)
}
