package clubsim

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// firstID is the first number of a kind in a file without numbers. The demo has none from there on, so that what the operator of
// the demo clubs says about them does not apply to others.
const firstID = 101

// complete fills in what the file leaves out.
func (c *Catalogue) complete() {
	number(c.Clubs, func(at *club) *int { return &at.ID })
	for _, at := range c.Clubs {
		at.Code = cmp.Or(at.Code, fmt.Sprintf("CLUB%d", at.ID))
		at.Address = cmp.Or(at.Address, address{"FR", "Paris", "75001", "1 rue de Rivoli"})
		at.Address.Country = cmp.Or(at.Address.Country, "FR")
		if at.DebitDays == nil {
			at.DebitDays = []int{5, 15, 25}
		}
	}
	number(c.Products, func(p *product) *int { return &p.ID })
	for _, p := range c.Products {
		p.complete()
	}
	c.network = c.nodesOf()
	if c.Persons == nil && len(c.Clubs) > 0 {
		c.Persons = c.demoPersons()
	}
	for i, p := range c.Persons {
		p.complete(i)
		if p.Club == 0 && len(c.Clubs) > 0 {
			p.Club = c.Clubs[0].ID
		}
	}
}

// number gives the entries of a list without a number the one after the entry before.
func number[T any](entries []T, id func(T) *int) {
	last := firstID - 1
	for _, entry := range entries {
		own := id(entry)
		*own = cmp.Or(*own, last+1)
		last = *own
	}
}

func (p *product) complete() {
	p.Kind = cmp.Or(p.Kind, kindSubscription)
	if p.behaviors = p.Includes; p.behaviors == nil {
		p.behaviors = []behavior{{p.Kind, p.behaviorConfiguration}}
	}
	last := p.ID * 100
	for i := range p.Offers {
		o := &p.Offers[i]
		o.ID, o.Name, o.product = cmp.Or(o.ID, last+1), cmp.Or(o.Name, p.Name), p
		last = o.ID
		for j := range o.Debits {
			o.Debits[j].Every = cmp.Or(o.Debits[j].Every, "P1M")
		}
		if o.debited() {
			o.Rhythm = cmp.Or(o.Rhythm, rhythmWords[o.Debits[0].Every], o.Debits[0].Every)
			o.Total = cmp.Or(o.Total, o.least())
		}
		o.Rhythm = cmp.Or(o.Rhythm, "monthly")
	}
}

// least is what is due at signup at least: what the price includes.
func (o *offer) least() int {
	if o.Upfront {
		return o.Fee + o.first()
	}
	return o.Fee
}

// rhythmWords are the words for common rhythms.
var rhythmWords = map[string]string{"P1W": "week1", "P4W": "week4", "P1M": "monthly"}

// nodesOf returns the network with the nodes of the clubs that another one names. Without a network, all clubs are one chain.
func (f *CatalogueFile) nodesOf() (all []*networkNode) {
	given := f.Network
	if given == nil {
		given = []*networkNode{{Name: "All clubs", Clubs: records(f.Clubs, func(c *club) int { return c.ID })}}
	}
	for i, n := range given {
		node := *n
		node.path = fmt.Sprintf("network[%d]", i)
		all = append(all, &node)
		for _, id := range n.Clubs {
			all = append(all, &networkNode{Club: id, parent: &node, path: node.path + ".clubs"})
		}
	}
	number(all, func(n *networkNode) *int { return &n.ID })
	for _, n := range all {
		if of := f.clubOf(n.Club); of != nil {
			n.Name, n.Alias, n.Kind = cmp.Or(n.Name, of.Name), cmp.Or(n.Alias, of.Alias), cmp.Or(n.Kind, nodeClub)
		}
		n.Kind = cmp.Or(n.Kind, nodeGroup)
		if n.parent == nil && n.Parent != 0 {
			above := slices.IndexFunc(all, func(other *networkNode) bool { return other.ID == n.Parent })
			if above >= 0 {
				n.parent = all[above]
			}
		}
	}
	return all
}

func (f *CatalogueFile) clubOf(id int) *club {
	if at := slices.IndexFunc(f.Clubs, func(c *club) bool { return c.ID == id }); at >= 0 {
		return f.Clubs[at]
	}
	return nil
}

// link makes the indexes, and adds the extra products.
func (c *Catalogue) link() {
	last := 0
	for _, p := range c.Products {
		for _, o := range p.Offers {
			last = max(last, p.ID, o.ID/100)
		}
	}
	c.products = append(slices.Clone(c.Products), extras(last)...)
	c.clubs, c.nodes, c.byID, c.offers = map[int]*club{}, map[int]*networkNode{}, map[int]*product{}, map[int]*offer{}
	for _, at := range c.Clubs {
		c.clubs[at.ID] = at
	}
	for _, n := range c.network {
		c.nodes[n.ID] = n
		if at := c.clubs[n.Club]; at != nil {
			at.node = n
		}
	}
	for _, p := range c.products {
		p.complete() // the extra ones
		c.byID[p.ID] = p
		for i := range p.Offers {
			c.offers[p.Offers[i].ID] = &p.Offers[i]
		}
	}
}

// ids are the numbers of a kind that were seen.
type ids map[int]bool

// check refuses a number that is not above zero, or was seen before.
func (seen ids) check(r *reading, path string, id int) {
	r.refuse(id < 1, path, "must be above 0")
	r.refuse(seen[id], path, "%d is the id of another entry", id)
	seen[id] = true
}

// oneOf refuses a word that is not one of a list.
func (r *reading) oneOf(path, word string, words ...string) {
	known := map[string]bool{}
	for _, w := range words {
		known[w] = true
	}
	r.refuse(!known[word], path, "%q is not one of %s%s", word, strings.Join(words, ", "), suggestion(nearest(word, known)))
}

// lengths are ISO 8601 durations of whole days, weeks, months or years.
var lengths = regexp.MustCompile(`^P[1-9][0-9]{0,3}[DWMY]$`)

func (r *reading) length(path, text string) {
	r.refuse(text != "" && !lengths.MatchString(text), path, "%q must be a duration such as P12M, P4W or P10D", text)
}

func (r *reading) price(path string, cents int) {
	r.refuse(cents < 0 || cents > maxPrice, path, "must be a price in whole cents, from 0 to %d", maxPrice)
}

// text refuses a text that is missing, too long for the records of the club system, or has several lines.
func (r *reading) text(path, text string) {
	r.refuse(strings.TrimSpace(text) == "", path, "is missing")
	r.refuse(len([]rune(text)) > maxText || strings.ContainsAny(text, "\n\r"), path, "must be a line of at most %d characters", maxText)
}

// The limits of values in a file.
const (
	maxText  = 200
	maxPrice = 10_000_000
	maxAge   = 150
)

// phones are numbers with the code of their country.
var phones = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// check refuses what is wrong in a file that is complete.
func (c *Catalogue) check(r *reading) {
	clubs, products, offers, keys := ids{}, ids{}, ids{}, map[string]bool{}
	r.refuse(len(c.Clubs) == 0, "clubs", "at least one is needed, such as clubs: [{name: My Club}]")
	codes := map[string]bool{}
	for i, at := range c.Clubs {
		path := fmt.Sprintf("clubs[%d]", i)
		clubs.check(r, path+".id", at.ID)
		r.refuse(codes[at.Code], path+".code", "%q is the code of another club", at.Code)
		codes[at.Code] = true
		at.check(r, path)
	}
	c.checkNetwork(r)
	for i, p := range c.Products {
		path := fmt.Sprintf("products[%d]", i)
		products.check(r, path+".id", p.ID)
		p.check(r, path, clubs)
		for j := range p.Offers {
			offers.check(r, fmt.Sprintf("%s.offers[%d].id", path, j), p.Offers[j].ID)
			p.Offers[j].check(r, fmt.Sprintf("%s.offers[%d]", path, j))
		}
	}
	for i, p := range c.Products {
		for j, o := range p.Offers {
			for k, option := range o.Options {
				path := fmt.Sprintf("products[%d].offers[%d].options[%d]", i, j, k)
				r.refuse(!offers[option] || option == o.ID, path, "%d is not another offer", option)
			}
		}
	}
	for i, p := range c.Persons {
		path := fmt.Sprintf("persons[%d]", i)
		r.text(path+".key", p.Key)
		r.refuse(keys[p.Key], path+".key", "%q is the key of another person", p.Key)
		keys[p.Key] = true
		p.check(r, path, clubs, offers)
	}
}

func (c *club) check(r *reading, path string) {
	r.text(path+".name", c.Name)
	r.text(path+".code", c.Code)
	for name, text := range map[string]string{"city": c.Address.Locality, "postalCode": c.Address.Postal, "street": c.Address.Street} {
		r.text(path+".address."+name, text)
	}
	r.refuse(!countries.MatchString(c.Address.Country), path+".address.country", "%q must be a country such as FR", c.Address.Country)
	r.refuse(c.Phone != "" && !phones.MatchString(c.Phone), path+".phone", "%q must be a number such as +33140000000", c.Phone)
	r.refuse(len(c.DebitDays) == 0, path+".debitDays", "at least one is needed")
	for i, day := range c.DebitDays {
		r.refuse(day < 1 || day > lastDebitDay, fmt.Sprintf("%s.debitDays[%d]", path, i), "must be a day of the month from 1 to %d", lastDebitDay)
	}
	r.length(path+".notice", c.Notice)
	r.price(path+".debtLimit", c.DebtLimit)
}

// lastDebitDay is the last day that every month has.
const lastDebitDay = 28

// countries are ISO 3166-1 codes.
var countries = regexp.MustCompile(`^[A-Z]{2}$`)

func (c *Catalogue) checkNetwork(r *reading) {
	seen, placed := ids{}, map[int]bool{}
	for _, n := range c.network {
		seen.check(r, n.path, n.ID)
		if n.Club == 0 { // a club has a name of its own
			r.text(n.path+".name", n.Name)
		}
		r.refuse(n.Club != 0 && (c.clubOf(n.Club) == nil || placed[n.Club]), n.path, "%d is not a club, or one of another node as well", n.Club)
		placed[n.Club] = true
		r.refuse((n.Kind == nodeClub) != (n.Club != 0), n.path+".type", "a node with club is a club's, and no other one is")
		r.oneOf(n.path+".type", n.Kind, nodeGroup, "franchise", nodeClub)
		r.refuse(n.Parent != 0 && n.parent == nil, n.path+".parent", "there is no node %d", n.Parent)
		r.refuse(n.parent != nil && n.parent.Club != 0, n.path+".parent", "%d is a club's node", n.Parent)
		above := n
		for range c.network {
			if above = above.parent; above == nil {
				break
			}
		}
		r.refuse(above != nil, n.path+".parent", "the node is above itself")
	}
}

func (p *product) check(r *reading, path string, clubs ids) {
	r.text(path+".name", p.Name)
	r.oneOf(path+".type", p.Kind, benefitKinds...)
	own := p.behaviorConfiguration != (behaviorConfiguration{})
	r.length(path+".notice", p.Notice)
	r.refuse(p.tax() < 0 || p.tax() > 100, path+".taxRate", "must be a whole number of percent, from 0 to 100")
	r.refuse(p.Includes != nil && own, path, "validity and quantity belong into the entries of includes")
	for i, b := range p.behaviors {
		within := path
		if p.Includes != nil {
			within = fmt.Sprintf("%s.includes[%d]", path, i)
			r.oneOf(within+".type", b.Kind, benefitKinds...)
		}
		r.length(within+".validity", b.Validity)
		r.refuse(b.Quantity < 0, within+".quantity", "must not be below 0")
	}
	path += ".restrictions"
	for i, id := range p.Rule.Clubs {
		r.refuse(!clubs[id], fmt.Sprintf("%s.clubs[%d]", path, i), "there is no club %d", id)
	}
	for i, channel := range p.Rule.Channels {
		r.oneOf(fmt.Sprintf("%s.channels[%d]", path, i), channel, channels...)
	}
	ages, season := p.Rule.Ages, p.Rule.Months
	r.refuse(ages.Min < 0 || max(ages.Min, ages.Max) > maxAge || ages.Max != 0 && ages.Max < ages.Min, path+".ages",
		"must be from 0 to %d, and max not below min", maxAge)
	isSeason := season.From >= time.January && season.From <= season.Through && season.Through <= time.December
	r.refuse(season != (months{}) && !isSeason, path+".months", "from and through must be months from 1 to 12 of the same year")
}

func (o *offer) check(r *reading, path string) {
	r.text(path+".name", o.Name)
	r.price(path+".registrationFee", o.Fee)
	r.price(path+".listPrice", o.Total)
	r.refuse(o.Total < o.least(), path+".listPrice", "must be at least %d, which it includes", o.least())
	r.refuse(o.Upfront && !o.debited(), path+".firstInstalmentPaid", "there are no debits")
	if !slices.Contains(slices.Collect(maps.Values(rhythmWords)), o.Rhythm) {
		r.length(path+".rhythm", o.Rhythm)
	}
	for i, debit := range o.Debits {
		within := fmt.Sprintf("%s.debits[%d]", path, i)
		r.length(within+".every", debit.Every)
		r.length(within+".for", debit.For)
		r.price(within+".price", debit.Price)
		r.refuse(debit.Price == 0, within+".price", "is missing")
		r.refuse(debit.Times < 0 || debit.Times > 0 && debit.For != "", within, "must have times, which is above 0, or for, or none of them")
	}
}
