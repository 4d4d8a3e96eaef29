package catalogue

import (
	"cmp"
	"strconv"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/iban"
)

// Creditor is who collects the club's direct debits, as the SEPA rulebook wants it: with a structured address.
type Creditor struct {
	Name       string  `yaml:"name"`
	Identifier Placed  `yaml:"identifier"`
	Address    Address `yaml:"address"`
}

const (
	// maxCreditorName and maxNotice are limits of the SEPA Core rulebook: characters of a name (AT-E001), and more days than any
	// agreement shortens or extends the pre-notification to.
	maxCreditorName = 70
	maxNotice       = 60
	// usualNotice is the rulebook's own pre-notification, in days (section 4.3.4).
	usualNotice = 14
)

// checkCreditor checks who collects direct debits.
func (p *problems) checkCreditor(at string, details Details) {
	if days := details.PreNotificationDays; days != nil {
		p.refuse(*days < 1 || *days > maxNotice, at+".preNotificationDays", "must be from 1 to %d", maxNotice)
	}
	creditor, at := details.Creditor, at+".creditor"
	if creditor == nil {
		return
	}
	p.refuse(creditor.Name == "", at+".name", "is missing: the debtor must know who collects")
	p.refuse(len([]rune(creditor.Name)) > maxCreditorName, at+".name", "must have at most %d characters", maxCreditorName)
	p.checkText(at+".name", creditor.Name)
	if problem := iban.CheckCreditor(creditor.Identifier.Text); problem != "" {
		p.refuse(true, creditor.Identifier.at(at+".identifier"), "%q %s", creditor.Identifier.Text, problem)
	}
	p.checkAddress(at+".address", creditor.Address)
	for name, part := range map[string]string{
		"street": creditor.Address.Street, "postalCode": creditor.Address.PostalCode, "country": creditor.Address.Country,
	} {
		p.refuse(part == "", at+".address."+name, "is missing: direct debits need street, postal code, city and country apart")
	}
	p.refuse(creditor.Address == Address{}, at+".address.city", "is missing: an address must have a city")
}

// CollectedBy returns who collects the club's direct debits; without an entry of the creditor, the trader, or the club by its name.
func (d Details) CollectedBy(club string) flows.Creditor {
	if c := d.Creditor; c != nil {
		return flows.Creditor{Name: c.Name, Identifier: iban.Compact(c.Identifier.Text), Address: c.Address.domain()}
	}
	if t := d.Trader; t != nil {
		return flows.Creditor{Name: t.Name, Address: t.Address.domain()}
	}
	return flows.Creditor{Name: club, Address: d.Address.domain()}
}

func (a Address) domain() flows.Address {
	return flows.Address{Street: a.Street, PostalCode: a.PostalCode, City: a.City, Country: a.Country}
}

// NoticeDays is how many days before a debit the club announces it.
func (d Details) NoticeDays() int {
	if d.PreNotificationDays == nil {
		return usualNotice
	}
	return *d.PreNotificationDays
}

// MandateText returns the authorisation that a mandate's code signs, from the club's own document; ok is false without one.
func (d Details) MandateText(language string, by flows.Creditor) (text, spoken string, ok bool) {
	document, ok := d.Document(flows.DocumentMandateText, language)
	if !ok {
		return "", "", false
	}
	var pairs []string
	for gap, value := range mandateGaps(by, d.NoticeDays()) {
		pairs = append(pairs, gap, value)
	}
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(string(document.Body))), document.Language, true
}

// mandateGaps are what an authorisation has in place of values, with the values.
func mandateGaps(by flows.Creditor, noticeDays int) map[string]string {
	return map[string]string{
		"{creditor}":   by.Name,
		"{identifier}": cmp.Or(by.Identifier, "–"),
		"{address}":    cmp.Or(AddressLine(by.Address), "–"),
		"{days}":       strconv.Itoa(noticeDays),
	}
}

// AddressLine is an address on one line.
func AddressLine(a flows.Address) string {
	town := strings.TrimSpace(a.PostalCode + " " + a.City)
	var parts []string
	for _, part := range []string{a.Street, town, a.Country} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}
