package clubsim

import (
	"fmt"
	"slices"
	"time"
)

// checkSale: GET sales/{id}/check: 204 when the sale can be settled, 400 with every reason
// why not. A recorded sale is always valid.
func checkSale(c *request, sale *sale) (response, error) {
	if sale.State == saleBuilding {
		if err := c.validForRecording(sale); err != nil {
			return response{}, err
		}
	}
	return noContent()
}

// check returns everything that keeps a sale from being settled. The description shows no
// codes; these follow the pattern of the documented ones.
func (w *World) check(sale *sale, now time.Time) []violation {
	found := sale.missingFields()
	if len(sale.Articles) == 0 {
		found = append(found, violation{"articles", "The sale has no article.", "api.error.sale.empty"})
	}
	contact := w.state.Contacts.get(sale.ContactID)
	if contact.Deleted {
		return append(found, violation{"contactId", "The contact was migrated or deleted.", "api.error.sale.contact-incomplete"})
	}
	if contact.Status == statusBanned {
		found = append(found, violation{"contactId", "The contact is banned.", "api.error.sale.contact-banned"})
	}
	for i, id := range sale.Articles {
		found = append(found, w.checkArticle(sale, contact, w.state.Articles.get(id), fmt.Sprintf("articles[%d]", i), now)...)
	}
	if w.settings.MandateRequired && w.debited(sale) && !w.state.signedMandate(sale.ContactID, sale.ClubID) {
		found = append(found, violation{"mandate", "A direct debit mandate must be signed first.", "api.error.sale.mandate-required"})
	}
	return found
}

func (s *sale) missingFields() []violation {
	var found []violation
	for _, field := range []struct{ name, value string }{
		{"contactFamilyName", s.FamilyName}, {"contactGivenName", s.GivenName}, {"contactNumber", s.Number},
		{"address.addressCountry", s.Address.Country}, {"address.addressLocality", s.Address.Locality},
		{"address.postalCode", s.Address.Postal}, {"address.streetAddress", s.Address.Street},
	} {
		if field.value == "" {
			found = append(found, violation{field.name, messageBlank, "api.error.sale.contact-incomplete"})
		}
	}
	return found
}

func (w *World) checkArticle(sale *sale, contact *contact, article *article, path string, now time.Time) []violation {
	offer := w.catalogue.offers[article.OfferID]
	if offer == nil {
		return nil
	}
	found := article.checkDates(offer, w.catalogue.club(sale.ClubID), path)
	if !w.settings.RestrictionsAtPayment {
		found = append(w.checkedRestrictions(sale, contact, article, path, now), found...)
	}
	return found
}

// allowsAge reports whether a contact has the age that an offer requires on the day it
// starts.
func (r rule) allowsAge(contact *contact, on time.Time) bool {
	if r.Ages == (ages{}) {
		return true
	}
	age, known := contact.age(on)
	return known && age >= r.Ages.Min && (r.Ages.Max == 0 || age <= r.Ages.Max)
}

// startDateOr is the day on which the article begins; without one, today.
func startDateOr(article *article, now time.Time) time.Time {
	if start, err := time.Parse(time.DateOnly, article.StartDate); err == nil {
		return start
	}
	return now
}

func (a *article) checkDates(offer *offer, at *club, path string) []violation {
	var found []violation
	if offer.product.has(kindSubscription) && a.StartDate == "" {
		found = append(found, violation{path + ".implementation.startDate", messageBlank, "api.error.sale.article.start-date-required"})
	}
	r := a.Repayment
	if offer.debited() && r != nil && r.SpecificDay && r.DebitDay != nil && !slices.Contains(at.DebitDays, *r.DebitDay) {
		const code = "api.error.sale.article.debit-day-not-allowed"
		found = append(found, violation{path + ".repaymentSchedule.debitDay", "The club does not debit on this day.", code})
	}
	return found
}

func (w *World) debited(sale *sale) bool {
	return slices.ContainsFunc(sale.Articles, func(id int) bool {
		o := w.catalogue.offers[w.state.Articles.get(id).OfferID]
		return o != nil && o.debited()
	})
}
