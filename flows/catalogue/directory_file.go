package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4" // which the reader of the contract brings along

	"frontdesk/flows"
)

// directoryFile is the form of the operator's file.
type directoryFile struct {
	Defaults Details            `yaml:"defaults"` // for every club
	Clubs    map[string]Details `yaml:"clubs"`    // by their ids
}

// ParseDirectory reads the operator's file, which is YAML or JSON, and the documents that it names, from its folder. The error
// lists every problem. An empty file is an empty directory; nil files are an empty folder.
func ParseDirectory(file []byte, files fs.FS) (*Directory, error) {
	var read directoryFile
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	decoder.KnownFields(true)
	err := decoder.Decode(&read)
	if mistyped, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		var problems []error
		for _, problem := range mistyped.Errors {
			text := unknownKey.ReplaceAllString(problem.Message, "$1 is not a known key")
			problems = append(problems, fmt.Errorf("line %d: %s", problem.Mark.Line, text))
		}
		return nil, errors.Join(problems...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("is neither YAML nor JSON: %w", err)
	}
	directory := &Directory{defaults: read.Defaults.located(), clubs: map[string]Details{}}
	var found problems
	found.checkDetails("defaults", read.Defaults)
	found.readDocuments("defaults", read.Defaults.Documents, files)
	found.checkOffers("defaults", read.Defaults, read.Defaults.Groups)
	for id, own := range read.Clubs {
		found.refuse(
			!flows.PublicIDPattern.MatchString(id), "clubs."+id,
			"is not a club's id, which has only letters, digits, hyphens and underscores",
		)
		found.checkDetails("clubs."+id, own)
		found.readDocuments("clubs."+id, own.Documents, files)
		directory.clubs[id] = own.located().or(directory.defaults)
		found.checkOffers("clubs."+id, own, directory.clubs[id].Groups)
	}
	if len(found) > 0 {
		slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, errors.Join(found...)
	}
	return directory, nil
}

// located returns details with the time zone that they name.
func (d Details) located() Details {
	if zone, err := time.LoadLocation(d.TimeZone); err == nil && d.TimeZone != "" { // checkDetails reports the error
		d.zone = zone
	}
	return d
}

// The decoder's message, and the forms of values.
var (
	unknownKey = regexp.MustCompile(`^field (.*) not found in type .*$`)
	currencies = regexp.MustCompile(`^[A-Z]{3}$`)
	countries  = regexp.MustCompile(`^[A-Z]{2}$`)
	phones     = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)
	clocks     = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$`)
	vatIDs     = regexp.MustCompile(`^[A-Z]{2}[0-9A-Z+*]{2,12}$`)
	tags       = regexp.MustCompile(`^([a-z]{2})?$`)
)

var weekDays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// The most that a file may have of one kind, as in the public contract, and the longest text.
const (
	maxText         = 200
	maxDescription  = 2000
	maxOpeningHours = 50
	maxImages       = 20
	maxOrder        = 10000
	maxFacts        = 5
	maxExtras       = 20
	maxAge          = 150 // years
)

// problems collects what is wrong with a file.
type problems []error

// refuse adds a problem of a value if it is wrong.
func (p *problems) refuse(wrong bool, at, format string, args ...any) {
	if wrong {
		*p = append(*p, errors.New(at+": "+fmt.Sprintf(format, args...)))
	}
}

// checkForm refuses a value that is neither empty nor of a form.
func (p *problems) checkForm(at, value string, form *regexp.Regexp, what string) {
	p.refuse(value != "" && !form.MatchString(value), at, "%q must be %s", value, what)
}

// checkText refuses a text that is too long or has more than one line.
func (p *problems) checkText(at, text string) {
	p.refuse(len([]rune(text)) > maxText, at, "must have at most %d characters", maxText)
	p.refuse(strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }), at, "must be on one line")
}

func (p *problems) checkDetails(at string, details Details) {
	_, err := time.LoadLocation(details.TimeZone)
	p.refuse(err != nil || details.TimeZone == "Local", at+".timeZone", "%q must be a time zone such as Europe/Paris", details.TimeZone)
	p.checkForm(at+".currency", details.Currency, currencies, "a currency such as EUR")
	p.checkAddress(at+".address", details.Address)
	if l := details.Location; l != nil {
		p.refuse(l.Latitude < -90 || l.Latitude > 90, at+".location.latitude", "must be from -90 to 90")
		p.refuse(l.Longitude < -180 || l.Longitude > 180, at+".location.longitude", "must be from -180 to 180")
	}
	p.checkContact(at, details.Phone, details.Email)
	p.checkStatements(at, details)
	p.checkProducts(at, details)
	p.checkContract(at+".contract", details.Contract)
	p.checkCreditor(at, details)
	p.checkMediator(at+".mediator", details.Mediator)
	p.checkGuardian(at+".guardian", details.Guardian)
	p.refuse(details.URL != "" && !isWebAddress(details.URL), at+".url", "%q must be an address that begins with https:// or http://",
		details.URL)
	p.refuse(len(details.OpeningHours) > maxOpeningHours, at+".openingHours", "must have at most %d entries", maxOpeningHours)
	for i, hours := range details.OpeningHours {
		p.checkHours(fmt.Sprintf("%s.openingHours[%d]", at, i), hours)
	}
	p.refuse(len(details.Images) > maxImages, at+".images", "must have at most %d entries", maxImages)
	for i, image := range details.Images {
		p.checkImage(fmt.Sprintf("%s.images[%d]", at, i), image)
	}
	if trader := details.Trader; trader != nil {
		p.refuse(trader.Name == "", at+".trader.name", "is missing: a trader must have its legal name")
		for name, text := range map[string]string{
			"name":               trader.Name,
			"legalForm":          trader.LegalForm,
			"registrationNumber": trader.RegistrationNumber,
		} {
			p.checkText(at+".trader."+name, text)
		}
		p.checkForm(at+".trader.vatId", strings.ReplaceAll(trader.VATID, " ", ""), vatIDs, "a VAT number with its country, such as FR32123456789")
		p.checkAddress(at+".trader.address", trader.Address)
		p.checkContact(at+".trader", trader.Phone, trader.Email)
	}
}

func (p *problems) checkAddress(at string, a Address) {
	p.checkText(at+".street", a.Street)
	p.checkText(at+".postalCode", a.PostalCode)
	p.checkText(at+".city", a.City)
	p.checkForm(at+".country", a.Country, countries, "a country such as FR")
	p.refuse(a != (Address{}) && a.City == "", at+".city", "is missing: an address must have a city")
}

func (p *problems) checkContact(at, phone, email string) {
	p.checkForm(at+".phone", phone, phones, "an international number without spaces, such as +33140000000")
	parsed, err := mail.ParseAddress(email)
	p.refuse(
		email != "" && (err != nil || parsed.Address != email || len(email) > maxText), at+".email",
		"%q must be an e-mail address", email,
	)
}

func (p *problems) checkHours(at string, hours OpeningHours) {
	p.refuse(len(hours.Days) == 0, at+".days", "is missing: list days from monday to sunday")
	for _, day := range hours.Days {
		p.refuse(!slices.Contains(weekDays, day), at+".days", "%q must be a day from monday to sunday", day)
	}
	for name, clock := range map[string]string{"opens": hours.Opens, "closes": hours.Closes} {
		p.refuse(!clocks.MatchString(clock), at+"."+name, "%q must be a time such as 06:30, in quotes", clock)
	}
	p.refuse(hours.Opens == hours.Closes && hours.Opens != "", at, "opens and closes must differ; a whole day is from 00:00 to 24:00")
}

func (p *problems) checkImage(at string, image Image) {
	local := strings.HasPrefix(image.URL, "/") && !strings.HasPrefix(image.URL, "//")
	secure := strings.HasPrefix(image.URL, "https:") && isWebAddress(image.URL)
	p.refuse(!local && !secure, at+".url",
		"%q must begin with https://, or with / for a file that the gateway serves", image.URL)
	p.refuse(len(image.Alt) == 0, at+".alt", "is missing: describe the image for those who cannot see it")
	p.checkTranslations(at+".alt", image.Alt)
}

func (p *problems) checkTranslations(at string, text Text) {
	p.checkNames(at, text)
	p.refuse(len(text) > 1 && text["en"] == "", at, "must have en among its languages")
}

// checkNames checks a text that may lack languages, because the club system has it too.
func (p *problems) checkNames(at string, text Text) {
	for _, tag := range slices.Sorted(maps.Keys(text)) {
		p.refuse(!tags.MatchString(tag), at, "%q must be a language such as en", tag)
		p.refuse(strings.TrimSpace(text[tag]) == "", at, "must not be empty")
		p.checkText(at, text[tag])
	}
}

// checkProducts checks what products, and other texts of the club system, are called, and the products' notice.
func (p *problems) checkProducts(at string, details Details) {
	for _, id := range slices.Sorted(maps.Keys(details.Products)) {
		at := at + ".products." + id
		p.refuse(!flows.PublicIDPattern.MatchString(id), at, "must have only letters, digits, hyphens and underscores as its id")
		p.checkNames(at+".name", details.Products[id].Name)
		p.checkNotice(at, details.Products[id].Notice)
		for tag, text := range details.Products[id].Description {
			p.refuse(!tags.MatchString(tag), at+".description", "%q must be a language such as en", tag)
			p.refuse(len([]rune(text)) > maxDescription, at+".description", "must have at most %d characters", maxDescription)
		}
	}
	for _, original := range slices.Sorted(maps.Keys(details.Labels)) {
		p.checkNames(at+".labels."+original, details.Labels[original])
	}
}

// checkOffers checks how a club shows its offers. groups are its own and those of the defaults.
func (p *problems) checkOffers(at string, details Details, groups map[string]Text) {
	for _, id := range slices.Sorted(maps.Keys(details.Groups)) {
		p.refuse(!flows.PublicIDPattern.MatchString(id), at+".groups."+id, "must have only letters, digits, hyphens and underscores as its id")
		p.refuse(details.Groups[id].In("en") == "", at+".groups."+id, "must have a name")
		p.checkTranslations(at+".groups."+id, details.Groups[id])
	}
	for _, id := range slices.Sorted(maps.Keys(details.Offers)) {
		offer, at := details.Offers[id], at+".offers."+id
		p.checkNames(at+".name", offer.Name)
		p.refuse(len(offer.Facts) > maxFacts, at+".facts", "must have at most %d entries", maxFacts)
		for _, fact := range offer.Facts {
			p.refuse(fact.In("en") == "", at+".facts", "must not be empty")
			p.checkTranslations(at+".facts", fact)
		}
		if ages := offer.Ages; ages != nil {
			p.refuse(ages.Min < 0 || ages.Min > maxAge || ages.Max < 0 || ages.Max > maxAge, at+".ages", "min and max must be from 0 to %d", maxAge)
			p.refuse(ages.Max != 0 && ages.Max < ages.Min, at+".ages", "max must not be below min")
		}
		p.refuse(len(offer.Extras) > maxExtras, at+".extras", "must have at most %d entries", maxExtras)
		for _, extra := range offer.Extras {
			p.refuse(!flows.PublicIDPattern.MatchString(extra) || extra == id, at+".extras", "%q must be the id of another offer", extra)
		}
		_, grouped := groups[offer.Group]
		p.refuse(offer.Group != "" && !grouped, at+".group", "%q is not one of the groups", offer.Group)
		p.refuse(offer.Order < 0 || offer.Order > maxOrder, at+".order", "must be from 1 to %d", maxOrder)
		if offer.Image != nil {
			p.checkImage(at+".image", *offer.Image)
		}
		for name, day := range map[string]string{"earliestStart": offer.EarliestStart, "latestStart": offer.LatestStart} {
			_, err := time.Parse(time.DateOnly, day)
			p.refuse(day != "" && err != nil, at+"."+name, "%q must be a date such as 2030-01-15", day)
		}
		p.refuse(offer.LatestStart != "" && offer.LatestStart < offer.EarliestStart, at+".latestStart", "must not be before earliestStart")
	}
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && len(text) <= maxText*10
}

// UnmarshalYAML reads one text for all languages, or one for each.
func (t *Text) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = Text{"": node.Value}
		return nil
	}
	var byLanguage map[string]string
	err := node.Decode(&byLanguage)
	*t = byLanguage
	return err
}
