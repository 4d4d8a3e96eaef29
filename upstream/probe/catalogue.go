package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// Catalogue reads the clubs of an installation, their network, and what they sell to someone whom they do not know, as a file for
// clubsim.ParseCatalogue. It has no persons, and only the restrictions that reads show: to clubs and channels. An error with a file is a
// list of mistakes in what the installation has; one without a file says why there is none.
func Catalogue(ctx context.Context, cfg Config) (file []byte, seen CatalogueSeen, err error) {
	read := &catalogueReading{source: cfg.source(cfg.Transport, cfg.Calls), sold: map[club.IRI]*soldProduct{}}
	if err := read.clubs(ctx); err != nil {
		return nil, CatalogueSeen{}, err
	}
	read.offers(ctx)
	seen = CatalogueSeen{Clubs: len(read.places), Left: read.left, Products: len(read.order), Calls: read.calls, Halted: read.halted}
	raw, err := yaml.Marshal(entry{"clubs": read.places, "network": read.network, "products": read.products()})
	if err != nil {
		return nil, seen, err
	}
	catalogue, mistakes := clubsim.ParseCatalogue(raw)
	if mistakes != nil {
		return raw, seen, mistakes
	}
	written := catalogue.CatalogueFile
	written.Persons = nil
	return written.Encode(), seen, nil
}

// CatalogueSeen is how much of an installation's catalogue was read.
type CatalogueSeen struct {
	Clubs, Products, Calls int
	Left                   int   // clubs that were not read
	Halted                 error // why the reading ended early; nil: it did not
}

// entry is an object of the file.
type entry = map[string]any

type catalogueReading struct {
	*source
	places  []entry // the clubs
	left    int
	network []entry
	order   []club.IRI // of the products, as they were first seen
	sold    map[club.IRI]*soldProduct
}

// soldProduct is a product with where it is sold.
type soldProduct struct {
	club.Product
	scope    club.Scope // in which it was first seen
	clubs    []int
	channels []string
	offers   []entry
	taxRate  club.Percent // that of a debit; below zero: not known
}

// channels are those for which the catalogue is read.
var channels = []string{club.ChannelWeb, "club", "terminal"}

// clubs reads the network, and each club with what it sells.
func (r *catalogueReading) clubs(ctx context.Context) error {
	network, err := r.client.NetworkNodes(ctx, club.Scope{ClientToken: r.token})
	if err != nil {
		return cmp.Or(r.halted, err)
	}
	for _, node := range network.Clubs() {
		scope := club.Scope{ClientToken: r.token, Club: node.Club, Node: node.IRI}
		if err = r.club(ctx, scope); err != nil || r.halted != nil {
			r.left++
			continue
		}
		r.addNodes(network.Path(node.Club))
	}
	if len(r.places) == 0 {
		return cmp.Or(r.halted, err, errors.New("the installation shows no club to these credentials"))
	}
	return nil
}

func (r *catalogueReading) club(ctx context.Context, scope club.Scope) error {
	at, err := r.client.GetClub(ctx, scope, scope.Club)
	if err != nil {
		return err
	}
	place := entry{"id": number(scope.Club), "code": at.Code, "name": at.Name}
	if phoneNumbers.MatchString(at.Telephone) {
		place["phone"] = at.Telephone
	}
	if where := at.Address; where.Street != "" && where.Locality != "" && where.PostalCode != "" {
		place["address"] = entry{"street": where.Street, "postalCode": where.PostalCode, "city": where.Locality, "country": where.Country}
	}
	if days, err := r.client.ListAllowedDebitDays(ctx, scope, r.now().Format(time.DateOnly)); err == nil && len(days) > 0 {
		place["debitDays"] = slices.Sorted(each(days, func(day club.DebitDay) int { return day.Day }))
	}
	r.places = append(r.places, place)
	for _, channel := range channels {
		products, _ := r.client.ListProducts(ctx, scope, club.ProductQuery{Channel: channel, Club: scope.Club}) // others are read
		for _, product := range products {
			r.add(product, scope, channel)
		}
	}
	return nil
}

// add notes that a club sells a product through a channel.
func (r *catalogueReading) add(product club.Product, scope club.Scope, channel string) {
	sold := r.sold[product.IRI]
	if sold == nil {
		sold = &soldProduct{Product: product, scope: scope}
		r.sold[product.IRI], r.order = sold, append(r.order, product.IRI)
	}
	if at := number(scope.Club); !slices.Contains(sold.clubs, at) {
		sold.clubs = append(sold.clubs, at)
	}
	if !slices.Contains(sold.channels, channel) {
		sold.channels = append(sold.channels, channel)
	}
}

// addNodes adds the nodes from the top of a chain to a club, without those that were added for another one.
func (r *catalogueReading) addNodes(path []club.NetworkNode) {
	parent := 0
	for _, node := range path {
		id := number(node.IRI)
		if !slices.ContainsFunc(r.network, func(known entry) bool { return known["id"] == id }) {
			made := entry{"id": id, "name": node.Name, "alias": node.Alias, "parent": parent}
			if node.Club != "" {
				made["club"] = number(node.Club)
			} else if node.Type == "franchise" {
				made["type"] = node.Type
			}
			r.network = append(r.network, made)
		}
		parent = id
	}
}

// offers reads the offers of each product where it was first seen.
func (r *catalogueReading) offers(ctx context.Context) {
	for _, iri := range r.order {
		sold := r.sold[iri]
		offers := sold.Offers
		if offers == nil {
			offers, _ = r.client.ListOffers(ctx, sold.scope, iri) // those of other products are read
		}
		for _, offer := range offers {
			sold.offers = append(sold.offers, offerEntry(offer))
			for _, debit := range slices.Concat(offer.RepaymentSchedule.Occurrences, offer.RepaymentSchedule.Recurrences) {
				sold.taxRate = debit.TaxRate
			}
		}
	}
}

func offerEntry(offer club.Offer) entry {
	made := entry{
		"id": number(offer.IRI), "name": offer.Name, "listPrice": offer.TotalPriceTI, "registrationFee": offer.RegistrationFeeTI,
		"prorated": offer.IsProrated,
	}
	var debits []entry
	for _, scheduled := range slices.Concat(offer.RepaymentSchedule.Occurrences, offer.RepaymentSchedule.Recurrences) {
		debit := entry{"every": scheduled.Interval, "price": scheduled.PriceTI}
		switch limited := scheduled.Loop != nil; {
		case limited && *scheduled.Loop > 0:
			debit["times"] = *scheduled.Loop
		case limited:
			debit["for"] = scheduled.Offset
		}
		if scheduled.PriceTI > 0 {
			debits = append(debits, debit)
		}
	}
	if debits != nil {
		made["debits"], made["rhythm"], made["firstInstalmentPaid"] = debits, offer.RhythmBilling, offer.IsFirstMonthPayed
	}
	return made
}

// products are the entries of the products.
func (r *catalogueReading) products() (all []entry) {
	for _, iri := range r.order {
		sold, restrictions := r.sold[iri], entry{}
		if len(sold.clubs) < len(r.places) {
			restrictions["clubs"] = sold.clubs
		}
		if len(sold.channels) < len(channels) {
			restrictions["channels"] = sold.channels
		}
		made := entry{
			"id": number(iri), "name": sold.Name, "description": sold.Description, "type": sold.Type, "offers": sold.offers,
			"restrictions": restrictions,
		}
		if sold.taxRate > 0 {
			made["taxRate"] = sold.taxRate
		}
		parts := slices.Collect(each(sold.Behaviors, func(b club.ProductBehavior) entry {
			return entry{"type": b.Type, "validity": b.Configuration.ValidityPeriod}
		}))
		if len(parts) == 1 && parts[0]["type"] == sold.Type {
			made["validity"] = parts[0]["validity"]
		} else if len(parts) > 0 {
			made["includes"] = parts
		}
		all = append(all, made)
	}
	return all
}

// each returns what f makes of each entry of a list.
func each[T, R any](list []T, f func(T) R) func(yield func(R) bool) {
	return func(yield func(R) bool) {
		for _, one := range list {
			if !yield(f(one)) {
				return
			}
		}
	}
}

// number is an identifier's number; 0, which means the next one, if it is none.
func number(iri club.IRI) int {
	id, _ := strconv.Atoi(iri.ID())
	return id
}

// phoneNumbers are those that a catalogue may have.
var phoneNumbers = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// String says what was read.
func (s CatalogueSeen) String() string {
	text := fmt.Sprintf("%d clubs and %d products were read with %d calls", s.Clubs, s.Products, s.Calls)
	if s.Left > 0 {
		text += fmt.Sprintf("; %d clubs were left out", s.Left)
	}
	if s.Halted != nil {
		text += fmt.Sprintf(", because %v", s.Halted)
	}
	return text
}
