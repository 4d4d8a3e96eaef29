package catalogue

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"time"

	"frontdesk/flows"
)

// Directory is the operator's file about the clubs: what the club system does not provide. Its zero value
// knows nothing. ParseDirectory reads it.
type Directory struct {
	defaults Details
	clubs    map[string]Details
}

// Details is what a visitor wants to know about a club besides its name. Empty values are not known.
type Details struct {
	TimeZone     string                  `yaml:"timeZone"` // IANA, such as Europe/Paris
	Currency     string                  `yaml:"currency"` // ISO 4217
	Address      Address                 `yaml:"address"`
	Location     *Location               `yaml:"location"`
	Phone        string                  `yaml:"phone"` // E.164
	Email        string                  `yaml:"email"`
	URL          string                  `yaml:"url"`
	OpeningHours []OpeningHours          `yaml:"openingHours"`
	Images       []Image                 `yaml:"images"`
	Trader       *Trader                 `yaml:"trader"`
	Groups       map[string]Text         `yaml:"groups"`   // of offers: their names, by id
	Products     map[string]Naming       `yaml:"products"` // by their ids
	Offers       map[string]Presentation `yaml:"offers"`   // by their ids
	Labels       map[string]Text         `yaml:"labels"`   // for texts of the club system, by themselves
	Cancellation CancellationTerms       `yaml:"cancellation"`
	Proofs       Proofs                  `yaml:"proofs"`
	Contract     ContractTerms           `yaml:"contract"`

	Documents           Documents `yaml:"documents"`
	Creditor            *Creditor `yaml:"creditor"`
	PreNotificationDays *int      `yaml:"preNotificationDays"` // before a direct debit

	Mediator *Mediator     `yaml:"mediator"`
	Guardian *GuardianRule `yaml:"guardian"`

	zone *time.Location // of TimeZone; nil if it is not known
}

// Address is a postal address.
type Address struct {
	Street     string `yaml:"street"`
	PostalCode string `yaml:"postalCode"`
	City       string `yaml:"city"`
	Country    string `yaml:"country"` // ISO 3166-1 alpha-2
}

// Location is a point in degrees (WGS 84).
type Location struct {
	Latitude  float64 `yaml:"latitude"`
	Longitude float64 `yaml:"longitude"`
}

// OpeningHours are the same on several days of the week. A club that closes earlier than it opens closes
// on the next day.
type OpeningHours struct {
	Days   []string `yaml:"days"`  // monday to sunday
	Opens  string   `yaml:"opens"` // HH:MM, at the club
	Closes string   `yaml:"closes"`
}

// Image is a picture, at an https address or at a path of the gateway.
type Image struct {
	URL string `yaml:"url"`
	Alt Text   `yaml:"alt"`
}

// Trader is the legal entity that sells.
type Trader struct {
	Name               string  `yaml:"name"`
	LegalForm          string  `yaml:"legalForm"`
	RegistrationNumber string  `yaml:"registrationNumber"`
	VATID              string  `yaml:"vatId"`
	Address            Address `yaml:"address"`
	Phone              string  `yaml:"phone"`
	Email              string  `yaml:"email"`
}

// Naming is what a product is called, and the notice of its contracts. A language that is missing has the club system's text.
type Naming struct {
	Name        Text             `yaml:"name"`
	Description Text             `yaml:"description"`
	Notice      `yaml:",inline"` // where it is not the club's
}

// Presentation is how an offer is shown, and when it may start.
type Presentation struct {
	Name          Text     `yaml:"name"`   // as in Naming
	Facts         []Text   `yaml:"facts"`  // in a few words each, such as when it is valid
	Ages          *Ages    `yaml:"ages"`   // of buyers, on the day it starts
	Extras        []string `yaml:"extras"` // offers that the club system adds to a cart with this one
	Group         string   `yaml:"group"`  // a key of Details.Groups
	Order         int      `yaml:"order"`  // from 1; 0: after the others
	Highlight     bool     `yaml:"highlight"`
	Image         *Image   `yaml:"image"`
	EarliestStart string   `yaml:"earliestStart"` // YYYY-MM-DD
	LatestStart   string   `yaml:"latestStart"`
}

// Ages are the ages in years that an offer is for.
type Ages struct {
	Min int `yaml:"min"`
	Max int `yaml:"max"` // 0: no limit
}

// Text is a text in several languages, by their tags. A text without a tag is for every language.
type Text map[string]string

// In returns the text in a language; without one, in English, or in the only language there is.
func (t Text) In(language string) string {
	for _, tag := range []string{language, "", "en"} {
		if text, ok := t[tag]; ok {
			return text
		}
	}
	for _, text := range t { // there is only one: check requires "en" otherwise
		return text
	}
	return ""
}

// ProductName returns what a product is called in a language. fallback is the club system's name.
func (d Details) ProductName(id, language, fallback string) string {
	return d.translate(d.Products[id].Name, language, fallback)
}

// ProductDescription returns the description of a product in a language. fallback is the club system's.
func (d Details) ProductDescription(id, language, fallback string) string {
	return d.translate(d.Products[id].Description, language, fallback)
}

// OfferName returns what an offer, and a cart's line of it, is called in a language. fallback is the
// club system's name.
func (d Details) OfferName(id, language, fallback string) string {
	return d.translate(d.Offers[id].Name, language, fallback)
}

// Label returns a text of the club system that belongs to no product and no offer, in a language.
func (d Details) Label(language, fallback string) string { return d.translate(nil, language, fallback) }

// translate returns the text in exactly this language, else the label for the club system's text, else that
// text itself.
func (d Details) translate(text Text, language, fallback string) string {
	for _, text := range []Text{text, d.Labels[fallback]} {
		for _, tag := range []string{language, ""} {
			if found, ok := text[tag]; ok {
				return found
			}
		}
	}
	return fallback
}

// IDs lists the clubs that have entries of their own.
func (d *Directory) IDs() []string { return slices.Sorted(maps.Keys(d.clubs)) }

// ImageOrigins lists the origins, such as https://lumen.example, of all images that the gateway does not serve.
func (d *Directory) ImageOrigins() []string {
	origins := map[string]bool{}
	add := func(images ...Image) {
		for _, image := range images {
			if at, err := url.Parse(image.URL); err == nil && at.Host != "" {
				origins[at.Scheme+"://"+at.Host] = true
			}
		}
	}
	for _, details := range append(slices.Collect(maps.Values(d.clubs)), d.defaults) {
		add(details.Images...)
		for _, offer := range details.Offers {
			if offer.Image != nil {
				add(*offer.Image)
			}
		}
	}
	return slices.Sorted(maps.Keys(origins))
}

// Details returns what the file says about a club; its defaults for a club without an entry.
func (d *Directory) Details(clubID string) Details {
	if details, ok := d.clubs[clubID]; ok {
		return details
	}
	return d.defaults
}

// Zone returns the time zone of a club; nil if it is not known.
func (d *Directory) Zone(clubID string) *time.Location { return d.Details(clubID).zone }

// or returns details in which others replace those that are not known. Groups, products, offers, labels, documents and the terms of
// contracts are merged.
func (d Details) or(other Details) Details {
	if d.TimeZone == "" {
		d.TimeZone, d.zone = other.TimeZone, other.zone
	}
	d.Currency, d.Phone, d.Email, d.URL = cmp.Or(
		d.Currency, other.Currency,
	), cmp.Or(
		d.Phone, other.Phone,
	), cmp.Or(
		d.Email, other.Email,
	), cmp.Or(
		d.URL, other.URL,
	)
	d.Address, d.Location, d.Trader = cmp.Or(d.Address, other.Address), cmp.Or(d.Location, other.Location), cmp.Or(d.Trader, other.Trader)
	if d.OpeningHours == nil {
		d.OpeningHours = other.OpeningHours
	}
	if d.Images == nil {
		d.Images = other.Images
	}
	d.Groups, d.Offers = merged(d.Groups, other.Groups), merged(d.Offers, other.Offers)
	d.Products, d.Labels = merged(d.Products, other.Products), merged(d.Labels, other.Labels)
	d.Contract = d.Contract.or(other.Contract)
	d.Documents, d.Creditor = d.Documents.or(other.Documents), cmp.Or(d.Creditor, other.Creditor)
	d.PreNotificationDays = cmp.Or(d.PreNotificationDays, other.PreNotificationDays)
	d.Mediator, d.Guardian = cmp.Or(d.Mediator, other.Mediator), cmp.Or(d.Guardian, other.Guardian)
	return d.orStatements(other)
}

// merged returns the entries of both maps; those of the first one win.
func merged[V any](first, second map[string]V) map[string]V {
	if len(second) == 0 {
		return first
	}
	if len(first) == 0 {
		return second
	}
	all := maps.Clone(second)
	maps.Copy(all, first)
	return all
}

// The time zones that are furthest from UTC.
var (
	lastTimeZone  = time.FixedZone("last", -12*60*60)
	firstTimeZone = time.FixedZone("first", 14*60*60)
)

// Today returns the club's day at an instant, as midnight UTC; UTC's day if its time zone is not known.
func (d Details) Today(now time.Time) time.Time { return dayIn(cmp.Or(d.zone, time.UTC), now) }

// days returns the first and the last day that it can be at the club. They differ only if its time zone is
// not known.
func (d Details) days(now time.Time) (first, last time.Time) {
	return dayIn(cmp.Or(d.zone, lastTimeZone), now), dayIn(cmp.Or(d.zone, firstTimeZone), now)
}

// DayEnds returns when the club's day ends. Where its time zone is not known, the dates that are accepted
// change at noon, UTC, too.
func (d Details) DayEnds(now time.Time) time.Time {
	if d.zone == nil {
		const half = 12 * time.Hour
		return now.UTC().Truncate(half).Add(half)
	}
	year, month, day := now.In(d.zone).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, d.zone)
}

func dayIn(zone *time.Location, now time.Time) time.Time {
	year, month, day := now.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// startHorizon is in years. No membership is booked further ahead.
const startHorizon = 5

// StartDates returns the first and the last start date that a club accepts, YYYY-MM-DD; of an offer, if one
// is named. A day that is today in some time zone is accepted where the club's is not known.
func (d Details) StartDates(now time.Time, offerID string) (earliest, latest string) {
	first, last := d.days(now)
	offer := d.Offers[offerID]
	earliest, latest = max(first.Format(time.DateOnly), offer.EarliestStart), last.AddDate(startHorizon, 0, 0).Format(time.DateOnly)
	if offer.LatestStart != "" {
		latest = min(latest, offer.LatestStart)
	}
	return earliest, latest
}

// FirstStart returns the day on which an offer starts if the buyer names none: today, or its earliest start.
func (d Details) FirstStart(now time.Time, offerID string) time.Time {
	start := max(d.Today(now).Format(time.DateOnly), d.Offers[offerID].EarliestStart)
	first, _ := time.Parse(time.DateOnly, start) // ParseDirectory has parsed the earliest start
	return first
}

// StartDateProblem returns what is wrong with a start date; nil if it is valid.
func (d Details) StartDateProblem(pointer, date string, now time.Time, offerID string) *flows.FieldProblem {
	earliest, latest := d.StartDates(now, offerID)
	return flows.DateProblem(pointer, date, earliest, latest)
}

// DueDateProblem returns what is wrong with a day by which the buyer must pay; nil if it is valid.
func (d Details) DueDateProblem(pointer, date string, now time.Time, methods flows.MethodPolicy) *flows.FieldProblem {
	first, last := d.days(now)
	return flows.DateProblem(pointer, date, first.Format(time.DateOnly), methods.LatestDueDate(last))
}
