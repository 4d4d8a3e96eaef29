package clubsim

import (
	"fmt"
	"slices"
	"time"
)

// The violation codes of a check. The description shows none; these follow the pattern of
// the documented ones.
const (
	codeEmpty        = "api.error.sale.empty"
	codeIncomplete   = "api.error.sale.contact-incomplete"
	codeBanned       = "api.error.sale.contact-banned"
	codeDebt         = "api.error.sale.debt"
	codeMandate      = "api.error.sale.mandate-required"
	codeAge          = "api.error.sale.article.age-restricted"
	codeStartDate    = "api.error.sale.article.start-date-required"
	codeDebitDay     = "api.error.sale.article.debit-day-not-allowed"
	codeNotAvailable = "api.error.sale.article.not-available"
)

// checkSale: GET sales/{id}/check: 204 when the sale can be settled, 400 with every reason
// why not. A recorded sale is always valid.
func checkSale(c *request, s *sale) (response, error) {
	if s.State == saleBuilding {
		if err := c.validForRecording(s); err != nil {
			return response{}, err
		}
	}
	return noContent()
}

// check returns everything that keeps a sale from being settled.
func (w *World) check(s *sale, now time.Time) []violation {
	found := s.missingFields()
	if len(s.Articles) == 0 {
		found = append(found, violation{"articles", "The sale has no article.", codeEmpty})
	}
	k := w.state.Contacts.get(s.ContactID)
	if k.Deleted {
		return append(found, violation{"contactId", "The contact was migrated or deleted.", codeIncomplete})
	}
	if k.Status == statusBanned {
		found = append(found, violation{"contactId", "The contact is banned.", codeBanned})
	}
	for i, id := range s.Articles {
		found = append(found, w.checkArticle(s, k, w.state.Articles.get(id), fmt.Sprintf("articles[%d]", i), now)...)
	}
	if w.settings.MandateRequired && w.debited(s) && !w.state.signedMandate(s.ContactID, s.ClubID) {
		found = append(found, violation{"mandate", "A direct debit mandate must be signed first.", codeMandate})
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
			found = append(found, violation{field.name, messageBlank, codeIncomplete})
		}
	}
	return found
}

func (w *World) checkArticle(s *sale, k *contact, a *article, path string, now time.Time) []violation {
	o := catalogue().offers[a.OfferID]
	if o == nil {
		return nil
	}
	var found []violation
	at, p := clubByID(s.ClubID), o.product
	if !w.sells(o, at) {
		found = append(found, violation{path, "The club does not sell this.", codeNotAvailable})
	}
	if p.has(kindSubscription) && at.debtLimit > 0 && w.debt(k.ID, now) > at.debtLimit {
		found = append(found, violation{path, "The contact's debt is too high for a subscription.", codeDebt})
	}
	if !p.Rule.allowsAge(k, startDateOr(a, now)) {
		found = append(found, violation{path, "The contact's age does not fit the offer.", codeAge})
	}
	return append(found, a.checkDates(o, at, path)...)
}

// allowsAge reports whether a contact has the age that an offer requires on the day it
// starts.
func (r rule) allowsAge(k *contact, on time.Time) bool {
	if r.MinAge == 0 && r.MaxAge == 0 {
		return true
	}
	age, known := k.age(on)
	return known && age >= r.MinAge && (r.MaxAge == 0 || age <= r.MaxAge)
}

// startDateOr is the day on which the article begins; without one, today.
func startDateOr(a *article, now time.Time) time.Time {
	if start, err := time.Parse(time.DateOnly, a.StartDate); err == nil {
		return start
	}
	return now
}

func (a *article) checkDates(o *offer, at *club, path string) []violation {
	var found []violation
	if o.product.has(kindSubscription) && a.StartDate == "" {
		found = append(found, violation{path + ".implementation.startDate", messageBlank, codeStartDate})
	}
	r := a.Repayment
	if o.debited() && r != nil && r.SpecificDay && r.DebitDay != nil && !slices.Contains(at.debitDays, *r.DebitDay) {
		found = append(found, violation{path + ".repaymentSchedule.debitDay", "The club does not debit on this day.", codeDebitDay})
	}
	return found
}

func (w *World) debited(s *sale) bool {
	return slices.ContainsFunc(s.Articles, func(id int) bool {
		o := catalogue().offers[w.state.Articles.get(id).OfferID]
		return o != nil && o.debited()
	})
}
