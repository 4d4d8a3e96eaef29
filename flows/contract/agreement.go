package contract

import (
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// Needed lists the documents without which a club cannot sell to consumers. The authorisation of a mandate is not among them: a club
// without one of its own has the usual one.
func Needed() []flows.DocumentName {
	return []flows.DocumentName{
		flows.DocumentTerms, flows.DocumentPrivacy, flows.DocumentWithdrawalInformation, flows.DocumentEarlyStartRequest,
	}
}

// Required lists what the buyer of a registration's cart must agree to now, in the versions of the club. Of a document that the club
// does not have, the version is empty.
func Required(r *flows.Registration, club catalogue.Details, now time.Time) (required []flows.Agreed) {
	for _, name := range Needed() {
		if name == flows.DocumentEarlyStartRequest && !startsEarly(r, club, now) {
			continue
		}
		document, _ := club.Document(name, "")
		required = append(required, flows.Agreed{Document: name, Version: document.Version})
	}
	return required
}

// startsEarly reports whether a service starts while its buyer can still withdraw. A club that has not been asked to may then charge
// nothing for it after a withdrawal (Directive 2011/83/EU, articles 8(8) and 14(4)).
func startsEarly(r *flows.Registration, club catalogue.Details, now time.Time) bool {
	last := LastWithdrawalDay(dayOf(club, now)).String()
	return slices.ContainsFunc(r.Items, func(item flows.Item) bool {
		rule := club.Contract.WithdrawalRule(item.Type)
		return r.Holds(item) && rule.HasRight() && rule.From == catalogue.FromContract &&
			item.StartDate <= last // one without a start date starts at once
	})
}
