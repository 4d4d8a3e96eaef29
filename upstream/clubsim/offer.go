package clubsim

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// instalmentRecords are those of the debits that are endless, which are recurrences, or of the others, which are occurrences.
func (o *offer) instalmentRecords(endless bool) []record {
	wanted := filter(o.Debits, func(instalment instalment) bool { return instalment.endless() == endless })
	return records(wanted, func(instalment instalment) record {
		excluded := withoutTax(instalment.Price, o.product.tax())
		members := record{
			"offset": cmp.Or(instalment.For, "P0W"), "interval": instalment.Every, "taxRate": o.product.tax(), "priceTI": instalment.Price,
			"priceTE": excluded, "tax": instalment.Price - excluded, "priceCurrency": currency,
		}
		if !endless { // recurrences have no loop
			members["loop"] = instalment.Times
		}
		return members
	})
}

// tax is the tax, in percent, that the product's price includes.
func (p *product) tax() int {
	if p.TaxRate != nil {
		return *p.TaxRate
	}
	return usualTax
}

// withoutTax is a price before a tax in percent, rounded to the cent, half up.
func withoutTax(price, percent int) int { return (price*200 + 100 + percent) / (2 * (100 + percent)) }

func (w *World) offerRecord(offer *offer) record {
	sold := w.productRecord(offer.product)
	delete(sold, "id")
	delete(sold, "description")
	members := record{
		"id": offer.ID, "name": offer.Name, "priceCurrency": currency, "product": sold, "registrationFeeTI": offer.Fee,
		"registrationFeeName": nil, "totalPriceTI": offer.Total, "isFirstMonthPayed": offer.Upfront, "rhythmBilling": offer.Rhythm,
		"articleBehaviors": record{"implementation": record{"isProrated": offer.Prorated}},
		"repaymentSchedule": record{
			"occurrences": offer.instalmentRecords(false), "recurrences": offer.instalmentRecords(true),
		},
	}
	if offer.Fee != 0 {
		members["registrationFeeName"] = "Registration fee"
	}
	return w.record("Offer", "offers", offer.ID, members)
}

// listOffers: GET offers?product=<product IRI> (section Catalogue). Without the filter it lists every offer of the
// acting club. With context parameters it lists only what the catalogue shows in that context.
func listOffers(call *request) (response, error) {
	products, noProduct := call.filterIRIs("product", "products")
	shopper, noContext := call.shopper()
	if err := cmp.Or(noProduct, noContext); err != nil {
		return response{}, err
	}
	narrowed := slices.ContainsFunc(slices.Collect(maps.Keys(call.req.query.Values)), func(name string) bool {
		return strings.HasPrefix(name, "context[")
	})
	if slices.ContainsFunc(products, func(id int) bool { return call.w.catalogue.byID[id] == nil }) {
		return response{}, itemNotFound()
	}
	kinds, names := call.req.query.all("product.type"), call.req.query.all("name")
	var found []*offer
	for _, p := range call.w.catalogue.products {
		for i := range p.Offers {
			offered := wanted(products, p.ID) && wanted(kinds, p.Kind) && wanted(names, p.Offers[i].Name)
			if offered && call.w.sells(&p.Offers[i], shopper.club) && (!narrowed || p.available(shopper)) {
				found = append(found, &p.Offers[i])
			}
		}
	}
	return paginate(call, "Offer", found, call.w.offerRecord)
}

func (w *World) sells(offer *offer, at *club) bool {
	return w.soldAt(offer.product, at) && !slices.Contains(w.settings.WithdrawnOffers, offer.ID)
}

func (c *request) offerAt(id int) (*offer, error) {
	return visible(c.w.catalogue.offers[id], func(o *offer) bool { return c.w.sells(o, c.club) })
}
