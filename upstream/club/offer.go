package club

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Offer is a way to buy a product: a price, and for subscriptions a schedule.
// Amounts are in cents, tax included; club system API, section Offer.
type Offer struct {
	IRI                 IRI     `json:"@id"`
	Name                string  `json:"name"`
	Product             Product `json:"product"` // a summary of it
	RegistrationFeeTI   int64   `json:"registrationFeeTI"`
	RegistrationFeeName string  `json:"registrationFeeName"`
	// TotalPriceTI is due at once. It includes the registration fee and, where
	// IsFirstMonthPayed, the first instalment.
	TotalPriceTI      int64             `json:"totalPriceTI"`
	IsFirstMonthPayed bool              `json:"isFirstMonthPayed"`
	RhythmBilling     string            `json:"rhythmBilling"` // week1, week4, monthly or an ISO 8601 duration
	IsProrated        bool              `json:"-"`             // the first instalment depends on the start date
	Currency          string            `json:"priceCurrency"` // ISO 4217
	RepaymentSchedule RepaymentSchedule `json:"repaymentSchedule"`
}

// RepaymentSchedule is how a price is spread. Entries are billing periods, not
// debits: the offer's rhythm says how they are debited. Entries are cumulative.
type RepaymentSchedule struct {
	Occurrences []ScheduleEntry `json:"occurrences"` // of limited duration
	Recurrences []ScheduleEntry `json:"recurrences"` // without end; empty for a fixed term
}

// ScheduleEntry is one part of a schedule; club system API, section Schedule entry.
type ScheduleEntry struct {
	Offset        string  `json:"offset"`   // ISO 8601: how long it is repeated; P0W: Loop says how often
	Interval      string  `json:"interval"` // ISO 8601: how long one period is
	Loop          *int    `json:"loop"`     // repetitions; 0: Offset divided by Interval; nil in recurrences
	TaxRate       Percent `json:"taxRate"`
	PriceTI       int64   `json:"priceTI"` // cents for one interval, tax included
	PriceTE       int64   `json:"priceTE"` // cents for one interval, tax excluded
	Tax           int64   `json:"tax"`     // cents
	PriceCurrency string  `json:"priceCurrency"`
}

// maxScheduleEntries of an offer: one for each debit, weekly for more than ten years.
const maxScheduleEntries = 600

// plainOffer is an Offer without its methods.
type plainOffer Offer

// UnmarshalJSON reads an offer, whose proration is nested on the wire.
func (o *Offer) UnmarshalJSON(data []byte) error {
	var wire struct {
		plainOffer
		Product   productOfOffer `json:"product"`
		Behaviors behaviors      `json:"articleBehaviors"`
	}
	if err := unmarshal(data, &wire); err != nil {
		return err
	}
	*o = Offer(wire.plainOffer)
	o.Product = Product(wire.Product)
	o.IsProrated = slices.ContainsFunc(wire.Behaviors, func(b articleBehavior) bool { return b.Implementation.IsProrated })
	entries := slices.Concat(o.RepaymentSchedule.Occurrences, o.RepaymentSchedule.Recurrences)
	err := cmp.Or(checkAmount("registrationFeeTI", o.RegistrationFeeTI), checkAmount("totalPriceTI", o.TotalPriceTI),
		checkLength("repaymentSchedule", len(entries), maxScheduleEntries))
	for _, entry := range entries {
		err = cmp.Or(err, checkAmount("repaymentSchedule.priceTI", entry.PriceTI))
	}
	return err
}

// MarshalJSON writes an offer as UnmarshalJSON reads it, for caches.
func (o Offer) MarshalJSON() ([]byte, error) {
	var behavior articleBehavior
	behavior.Implementation.IsProrated = o.IsProrated
	return json.Marshal(struct {
		plainOffer
		Behaviors articleBehavior `json:"articleBehaviors"`
	}{plainOffer(o), behavior})
}

// behaviors is a list of article behaviors. The API's description writes it as one object; a
// package has several.
type behaviors []articleBehavior

type articleBehavior struct {
	Implementation struct {
		IsProrated bool `json:"isProrated"`
	} `json:"implementation"`
}

// UnmarshalJSON reads one behavior or several.
func (b *behaviors) UnmarshalJSON(data []byte) error {
	if err := unmarshal(data, (*[]articleBehavior)(b)); err == nil || data[0] == '[' {
		return err
	}
	*b = make(behaviors, 1)
	return unmarshal(data, &(*b)[0])
}

func (o *Offer) check() error { return requireIRI(o.IRI, "offers") }

// embeddedOffer is an offer in the document of its product. It may be a summary, in which a missing member, or null, says nothing.
type embeddedOffer struct{ Offer }

// UnmarshalJSON fails unless all documented members are there. Only the rhythm may be null: that of an offer without instalments.
func (o *embeddedOffer) UnmarshalJSON(data []byte) error {
	var given, schedule map[string]jsontext.Value
	if err := unmarshal(data, &given); err != nil {
		return err
	}
	err := cmp.Or(unmarshal(given["repaymentSchedule"], &schedule), require("rhythmBilling", given["rhythmBilling"] != nil))
	for _, member := range []string{"registrationFeeTI", "totalPriceTI", "isFirstMonthPayed", "articleBehaviors"} {
		err = cmp.Or(err, require(member, hasValue(given[member])))
	}
	for _, member := range []string{"occurrences", "recurrences"} {
		err = cmp.Or(err, require("repaymentSchedule."+member, hasValue(schedule[member])))
	}
	return cmp.Or(err, unmarshal(data, &o.Offer))
}

func hasValue(member jsontext.Value) bool { return len(member) > 0 && member.Kind() != 'n' }

// isOf reports whether an offer names a product, or none.
func (o *Offer) isOf(product IRI) bool { return o.Product.IRI == "" || o.Product.IRI == product }

// ListOffers reads the offers of a product, or all if it is empty; club system API, section Catalogue. ErrUnreadable when it has some, and
// none can be read. An offer that names another product is left out, in case the filter is ignored.
func (c *Client) ListOffers(ctx context.Context, scope Scope, product IRI) ([]Offer, error) {
	query := url.Values{"product": {string(product)}}
	listed, err := list[Offer](ctx, c, get("ListOffers", scope, "offers", "").withQuery(query))
	return slices.DeleteFunc(listed, func(o Offer) bool { return product != "" && !o.isOf(product) }), err
}
