package clubsim

import "slices"

func instalmentRecords(entries []instalment, counted bool) []record {
	return records(entries, func(e instalment) record {
		excluded := withoutTax(e.Price)
		r := record{
			"offset": e.Offset, "interval": e.Interval, "taxRate": vatPercent, "priceTI": e.Price, "priceTE": excluded,
			"tax": e.Price - excluded, "priceCurrency": currency,
		}
		if counted { // recurrences have no loop
			r["loop"] = e.Loop
		}
		return r
	})
}

// withoutTax is a price before tax, rounded to the cent, half up.
func withoutTax(price int) int { return (price*200 + 100 + vatPercent) / (2 * (100 + vatPercent)) }

func (w *World) offerRecord(o *offer) record {
	sold := w.productRecord(o.product)
	delete(sold, "id")
	delete(sold, "description")
	r := record{
		"id": o.ID, "name": o.Name, "priceCurrency": currency, "product": sold, "registrationFeeTI": o.Fee, "registrationFeeName": nil,
		"totalPriceTI": o.Total, "isFirstMonthPayed": o.Upfront, "rhythmBilling": o.Rhythm,
		"articleBehaviors": record{"implementation": record{"isProrated": o.Prorated}},
		"repaymentSchedule": record{
			"occurrences": instalmentRecords(o.Occurrences, true), "recurrences": instalmentRecords(o.Recurrences, false),
		},
	}
	if o.Fee != 0 {
		r["registrationFeeName"] = "Registration fee"
	}
	return w.record("Offer", "offers", o.ID, r)
}

// listOffers: GET offers?product=<product IRI> (section Catalogue). Without the
// filter it lists every offer of the acting club.
func listOffers(c *request) (response, error) {
	wanted, err := c.filterIRI("product", "products")
	if err != nil {
		return response{}, err
	}
	if wanted != 0 && catalogue().byID[wanted] == nil {
		return response{}, itemNotFound()
	}
	var found []*offer
	for _, p := range catalogue().products {
		for i := range p.Offers {
			if (wanted == 0 || p.ID == wanted) && c.w.sells(&p.Offers[i], c.club) {
				found = append(found, &p.Offers[i])
			}
		}
	}
	return paginate(c, "Offer", found, c.w.offerRecord)
}

func (w *World) sells(o *offer, at *club) bool {
	return w.soldAt(o.product, at) && !slices.Contains(w.settings.WithdrawnOffers, o.ID)
}

func (c *request) offerAt(id int) (*offer, error) {
	return visible(catalogue().offers[id], func(o *offer) bool { return c.w.sells(o, c.club) })
}
