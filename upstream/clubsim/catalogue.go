package clubsim

import (
	_ "embed"
	"slices"
	"sync"
	"time"
)

// currency of every price.
const currency = "EUR"

// usualTax is the tax, in percent, that the price of a product without a taxRate includes.
const usualTax = 20

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

// Catalogue is what a world begins with: clubs, the network of their chains, what they sell, and the persons that they know.
// ParseCatalogue makes one. It never changes, and worlds share it.
type Catalogue struct {
	CatalogueFile
	source   []byte
	network  []*networkNode // with those of the clubs that another one names
	products []*product     // with the extras
	clubs    map[int]*club
	nodes    map[int]*networkNode
	byID     map[int]*product
	offers   map[int]*offer
}

// CatalogueFile is the form of a catalogue's file; the head of demo.yaml describes it.
type CatalogueFile struct {
	Clubs    []*club        `yaml:"clubs"`
	Network  []*networkNode `yaml:"network,omitempty"`
	Products []*product     `yaml:"products,omitempty"`
	Persons  []*person      `yaml:"persons,omitempty"`
}

//go:embed demo.yaml
var demo []byte

var (
	readDemo      sync.Once
	demoCatalogue *Catalogue
)

// Demo is the catalogue of the demo organisation.
func Demo() *Catalogue {
	readDemo.Do(func() {
		var err error
		if demoCatalogue, err = ParseCatalogue(demo); err != nil {
			panic(err) // the file is part of the program
		}
	})
	return demoCatalogue
}

// Source is the file from which the catalogue was read.
func (c *Catalogue) Source() []byte { return c.source }

// Names are the names of all "clubs", "products" or "offers", by id.
func (c *Catalogue) Names(kind string) map[string]string {
	names := map[string]string{}
	for id, at := range c.clubs {
		if kind == "clubs" {
			names[itoa(id)] = at.Name
		}
	}
	for id, p := range c.byID {
		if kind == "products" {
			names[itoa(id)] = p.Name
		}
	}
	for id, o := range c.offers {
		if kind == "offers" {
			names[itoa(id)] = o.Name
		}
	}
	return names
}

func (c *Catalogue) club(id int) *club { return c.clubs[id] }

func (c *Catalogue) node(id int) *networkNode { return c.nodes[id] }

// channels are where a sale is made.
var channels = []string{"club", "web", "terminal"}

// product is a product of the catalogue.
type product struct {
	ID          int    `yaml:"id"`
	Kind        string `yaml:"type"`
	Name        string `yaml:"name"`
	Description string `yaml:"description,omitempty"`

	behaviorConfiguration `yaml:",inline"` // of the product itself; not used if it includes others
	Includes              []behavior       `yaml:"includes,omitempty,flow"`
	Notice                string           `yaml:"notice,omitempty"`  // as that of a club, which it replaces
	TaxRate               *int             `yaml:"taxRate,omitempty"` // percent of the price without tax; nil: usualTax

	Rule   rule    `yaml:"restrictions,omitempty,flow"`
	Offers []offer `yaml:"offers"`

	behaviors []behavior
	extra     int // its number among the products of Settings.ExtraProducts; 0: every world has it
}

// behavior is an effect that a product has once it is sold.
type behavior struct {
	Kind                  string `yaml:"type"`
	behaviorConfiguration `yaml:",inline"`
}

type behaviorConfiguration struct {
	Validity string `json:"validityPeriod,omitempty" yaml:"validity,omitempty"` // ISO 8601 duration; empty: without end, or none
	Quantity int    `json:"quantity,omitempty"       yaml:"quantity,omitempty"` // sessions or tokens credited
}

// rule restricts the buyers, places and times of a product. Its zero value restricts nothing.
type rule struct {
	Clubs     []int    `yaml:"clubs,omitempty"`
	Channels  []string `yaml:"channels,omitempty"`
	Tags      []string `yaml:"tags,omitempty"` // any of them
	Ages      ages     `yaml:"ages,omitempty"`
	Months    months   `yaml:"months,omitempty"`
	Newcomers bool     `yaml:"newcomers,omitempty"` // not for customers
}

type ages struct {
	Min int `yaml:"min,omitempty"`
	Max int `yaml:"max,omitempty"` // zero: no limit
}

// months are the first and the last one; zero: the whole year.
type months struct {
	From    time.Month `yaml:"from"`
	Through time.Month `yaml:"through"`
}

func (m months) include(date time.Time) bool {
	return m.From == 0 || date.Month() >= m.From && date.Month() <= m.Through
}

// offer is one way to pay for a product.
type offer struct {
	ID       int          `yaml:"id"`
	Name     string       `yaml:"name"`
	Fee      int          `yaml:"registrationFee,omitempty"`     // in cents, included in Total
	Total    int          `yaml:"listPrice,omitempty"`           // due at once, in cents
	Upfront  bool         `yaml:"firstInstalmentPaid,omitempty"` // the first instalment is included in Total
	Rhythm   string       `yaml:"rhythm,omitempty"`              // billing rhythm
	Prorated bool         `yaml:"prorated,omitempty"`
	Debits   []instalment `yaml:"debits,omitempty,flow"`
	Options  []int        `yaml:"options,omitempty,flow"` // offers that are added automatically
	product  *product
}

// instalment is a debit that recurs.
type instalment struct {
	Every string `yaml:"every,omitempty"` // ISO 8601 duration
	Times int    `yaml:"times,omitempty"`
	For   string `yaml:"for,omitempty"` // ISO 8601 duration. Without Times and For it is endless
	Price int    `yaml:"price"`         // in cents
}

func (i instalment) endless() bool { return i.Times == 0 && i.For == "" }

// debited reports whether the offer continues by direct debit after the first payment.
func (o *offer) debited() bool { return len(o.Debits) > 0 }

// first is the price of the first instalment, in cents: that of the first limited one, as they follow each other, or of all endless
// ones, which run in parallel.
func (o *offer) first() int {
	sum := 0
	for _, i := range o.Debits {
		if !i.endless() {
			return i.Price
		}
		sum += i.Price
	}
	return sum
}

func (p *product) has(kind string) bool {
	return slices.ContainsFunc(p.behaviors, func(b behavior) bool { return b.Kind == kind })
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
		!r.Months.include(shopper.date),
		p.has(kindSubscription) && shopper.club.DebtLimit > 0 && shopper.debt > shopper.club.DebtLimit:
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

// soldAt reports whether a club sells a product.
func (w *World) soldAt(product *product, c *club) bool {
	return product.extra <= w.settings.ExtraProducts && (len(product.Rule.Clubs) == 0 || slices.Contains(product.Rule.Clubs, c.ID))
}
