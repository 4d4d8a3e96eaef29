package clubsim

import (
	"slices"
	"time"
)

// currency of every price.
const currency = "EUR"

// vatPercent is the tax included in every price of the catalogue.
const vatPercent = 20

// The product categories (club system API, section Product categories).
const (
	kindSubscription = "subscription"
	kindOption       = "subscription_option"
	kindBadge        = "badge"
	kindCounter      = "counter"
	kindPackage      = "package"
	kindCountermark  = "countermark"
	kindTrial        = "test_session"
	kindRegular      = "regular"
)

// productKinds are all categories.
var productKinds = []string{kindSubscription, kindOption, kindBadge, kindCounter, kindPackage, kindCountermark, kindTrial, kindRegular}

// channels are where a sale can take place.
var channels = []string{"club", "web", "terminal"}

// product is a product of the catalogue, which is built once and shared by all worlds.
type product struct {
	id          int
	name        string
	description string
	kind        string
	behaviors   []behavior
	offers      []offer
	rule        rule
	extra       int // its number among the products of Settings.ExtraProducts; 0: every world has it
}

// behavior is an effect that a product has once it is sold.
type behavior struct {
	kind     string
	validity string // ISO 8601 duration; empty: without end, or none
	quantity int    // sessions or tokens credited
}

// rule says to whom, where and when a product is offered. Its zero value is no restriction.
type rule struct {
	clubs        []int
	channels     []string
	tags         []string // any of them
	minAge       int
	maxAge       int // zero: no limit
	fromMonth    time.Month
	throughMonth time.Month // zero: the whole year
	newcomers    bool       // not for customers
}

// offer is one way to pay for a product.
type offer struct {
	id       int
	product  *product
	name     string
	fee      int // registration fee in cents, included in total
	feeName  string
	total    int    // due at once, in cents
	upfront  bool   // the first instalment is included in total
	rhythm   string // billing rhythm
	prorated bool
	// occurrences are instalments for a limited duration, recurrences for an unlimited one.
	occurrences []instalment
	recurrences []instalment
	options     []int // offers that are added automatically
}

// instalment is an entry of a repayment schedule (club system API, section Schedule entry).
type instalment struct {
	offset   string
	interval string
	loop     int
	price    int
}

// debited reports whether the offer continues by direct debit after the first payment.
func (o *offer) debited() bool { return len(o.occurrences)+len(o.recurrences) > 0 }

// first is the price of the first instalment, in cents: that of the first occurrence, as
// occurrences follow each other, or of all recurrences, which run in parallel.
func (o *offer) first() int {
	if len(o.occurrences) > 0 {
		return o.occurrences[0].price
	}
	sum := 0
	for _, i := range o.recurrences {
		sum += i.price
	}
	return sum
}

// has reports whether one of the product's behaviours is of a kind.
func (p *product) has(kind string) bool {
	return slices.ContainsFunc(p.behaviors, func(b behavior) bool { return b.kind == kind })
}

// shopper is the person and the date for which the catalogue is read.
type shopper struct {
	club    *club
	channel string // empty: any
	tags    []string
	debt    int
	date    time.Time
	contact *contact // nil: unknown
}

// available reports whether the catalogue shows a product to a shopper.
func (p *product) available(s shopper) bool {
	r := p.rule
	switch {
	case len(r.clubs) > 0 && !slices.Contains(r.clubs, s.club.id),
		len(r.channels) > 0 && s.channel != "" && !slices.Contains(r.channels, s.channel),
		len(r.tags) > 0 && !slices.ContainsFunc(r.tags, func(t string) bool { return slices.Contains(s.tags, t) }),
		r.fromMonth != 0 && (s.date.Month() < r.fromMonth || s.date.Month() > r.throughMonth):
		return false
	case p.has(kindSubscription) && s.club.debtLimit > 0 && s.debt > s.club.debtLimit:
		return false
	}
	return s.contact == nil || p.suits(s)
}

// suits reports whether the catalogue shows the product to a known contact. Ages are left
// to the check of the sale, which is where the club system refuses them.
func (p *product) suits(s shopper) bool {
	switch s.contact.Status {
	case statusBanned:
		return p.kind == kindRegular
	case statusCustomer:
		return !p.rule.newcomers
	}
	return true
}

// catalogue is all products, with indexes.
type catalogue struct {
	products []*product
	byID     map[int]*product
	offers   map[int]*offer
}

// newCatalogue builds the catalogue and numbers the offers: those of product 7 are 701,
// 702, ….
func newCatalogue() *catalogue {
	c := &catalogue{byID: map[int]*product{}, offers: map[int]*offer{}}
	c.products = slices.Concat(subscriptionProducts(), debitProducts(), optionProducts(), passProducts(), shopProducts(), extraProducts())
	for _, p := range c.products {
		c.byID[p.id] = p
		for i := range p.offers {
			o := &p.offers[i]
			o.id, o.product = p.id*100+i+1, p
			if o.name == "" {
				o.name = p.name
			}
			if o.rhythm == "" {
				o.rhythm = "monthly"
			}
			c.offers[o.id] = o
		}
	}
	return c
}

// soldAt reports whether a club sells the product at all.
func (w *World) soldAt(p *product, c *club) bool {
	return p.extra <= w.settings.ExtraProducts && (len(p.rule.clubs) == 0 || slices.Contains(p.rule.clubs, c.id))
}
