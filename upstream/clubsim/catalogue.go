package clubsim

import (
	"cmp"
	_ "embed"
	"slices"
	"sync"
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

// product is a product of the catalogue.
type product struct {
	ID          int
	Name        string
	Description string
	Kind        string
	Behaviors   []behavior
	Offers      []offer
	Rule        rule
	extra       int // its number among the products of Settings.ExtraProducts; 0: every world has it
}

// behavior is an effect that a product has once it is sold.
type behavior struct {
	Kind string
	behaviorConfiguration
}

type behaviorConfiguration struct {
	Validity string `json:"validityPeriod,omitempty"` // ISO 8601 duration; empty: without end, or none
	Quantity int    `json:"quantity,omitempty"`       // sessions or tokens credited
}

// rule restricts the buyers, places and times of a product. Its zero value restricts nothing.
type rule struct {
	Clubs        []int
	Channels     []string
	Tags         []string // any of them
	MinAge       int
	MaxAge       int // zero: no limit
	FromMonth    time.Month
	ThroughMonth time.Month // zero: the whole year
	Newcomers    bool       // not for customers
}

// offer is one way to pay for a product.
type offer struct {
	ID          int
	product     *product
	Name        string
	Fee         int    // registration fee in cents, included in Total
	Total       int    // due at once, in cents
	Upfront     bool   // the first instalment is included in Total
	Rhythm      string // billing rhythm
	Prorated    bool
	Occurrences []instalment // instalments for a limited duration, recurrences for an unlimited one
	Recurrences []instalment
	Options     []int // offers that are added automatically
}

// instalment is an entry of a repayment schedule (club system API, section Schedule entry).
type instalment struct {
	Offset   string
	Interval string
	Loop     int
	Price    int
}

// debited reports whether the offer continues by direct debit after the first payment.
func (o *offer) debited() bool { return len(o.Occurrences)+len(o.Recurrences) > 0 }

// first is the price of the first instalment, in cents: that of the first occurrence, as
// occurrences follow each other, or of all recurrences, which run in parallel.
func (o *offer) first() int {
	if len(o.Occurrences) > 0 {
		return o.Occurrences[0].Price
	}
	sum := 0
	for _, i := range o.Recurrences {
		sum += i.Price
	}
	return sum
}

func (p *product) has(kind string) bool {
	return slices.ContainsFunc(p.Behaviors, func(b behavior) bool { return b.Kind == kind })
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

// available reports whether the catalogue shows the product, which the club sells, to the shopper.
func (p *product) available(shopper shopper) bool {
	r := p.Rule
	switch {
	case len(r.Channels) > 0 && shopper.channel != "" && !slices.Contains(r.Channels, shopper.channel),
		len(r.Tags) > 0 && !slices.ContainsFunc(r.Tags, func(t string) bool { return slices.Contains(shopper.tags, t) }),
		r.FromMonth != 0 && (shopper.date.Month() < r.FromMonth || shopper.date.Month() > r.ThroughMonth),
		p.has(kindSubscription) && shopper.club.debtLimit > 0 && shopper.debt > shopper.club.debtLimit:
		return false
	}
	return shopper.contact == nil || p.suits(shopper)
}

// suits reports whether the catalogue shows the product to a known contact. Ages are left
// to the check of the sale, which is where the club system refuses them.
func (p *product) suits(shopper shopper) bool {
	switch shopper.contact.Status {
	case statusBanned:
		return p.Kind == kindRegular
	case statusCustomer:
		return !p.Rule.Newcomers
	}
	return true
}

//go:embed catalogue.json
var catalogueJSON []byte

// maxExtraProducts is the number of the extras: ten things in ten colours and five sizes, 17
// pages more than the catalogue has without them.
const maxExtraProducts = 500

// catalogue returns all products, with indexes by number. It is read once, never changed and shared by all worlds.
var catalogue = sync.OnceValue(readCatalogue)

type catalogueIndex struct {
	products []*product
	byID     map[int]*product
	offers   map[int]*offer
}

// extras describes the clothes in a long catalogue. A world sells Settings.ExtraProducts of them.
type extras struct {
	Things []struct {
		Name, Description string
		Price             int
	}
	Colours, Sizes []string
}

// readCatalogue reads the file and numbers the offers: those of product 7 are 701, 702, ….
// An offer without a name has the product's, one without a rhythm is monthly.
func readCatalogue() *catalogueIndex {
	var file struct {
		Products []*product
		Extras   extras
	}
	if err := decodeStrict(catalogueJSON, &file); err != nil {
		panic(err) // the file is part of the program
	}
	index := &catalogueIndex{products: append(file.Products, file.Extras.products()...), byID: map[int]*product{}, offers: map[int]*offer{}}
	for _, p := range index.products {
		index.byID[p.ID] = p
		for i := range p.Offers {
			o := &p.Offers[i]
			o.ID, o.product = p.ID*100+i+1, p
			o.Name, o.Rhythm = cmp.Or(o.Name, p.Name), cmp.Or(o.Rhythm, "monthly")
			index.offers[o.ID] = o
		}
	}
	return index
}

func (e extras) products() []*product {
	var products []*product
	for _, size := range e.Sizes {
		for _, colour := range e.Colours {
			for _, thing := range e.Things {
				number := len(products) + 1
				products = append(products, &product{
					ID:          1000 + number,
					extra:       number,
					Kind:        kindRegular,
					Name:        thing.Name + ", " + colour + ", " + size,
					Description: thing.Description,
					Behaviors:   []behavior{{Kind: kindRegular}},
					Offers:      []offer{{Total: thing.Price}},
				})
			}
		}
	}
	return products
}

// soldAt reports whether a club sells a product.
func (w *World) soldAt(product *product, c *club) bool {
	return product.extra <= w.settings.ExtraProducts && (len(product.Rule.Clubs) == 0 || slices.Contains(product.Rule.Clubs, c.id))
}
