package clubsim

import "slices"

type offerRecord struct {
	resource
	ID                  int              `json:"id"`
	Name                string           `json:"name"`
	Currency            string           `json:"priceCurrency"`
	Product             *productRecord   `json:"product"`
	RegistrationFeeTI   int              `json:"registrationFeeTI"`
	RegistrationFeeName *string          `json:"registrationFeeName"`
	TotalPriceTI        int              `json:"totalPriceTI"`
	IsFirstMonthPayed   bool             `json:"isFirstMonthPayed"`
	RhythmBilling       string           `json:"rhythmBilling"`
	ArticleBehaviors    articleBehaviors `json:"articleBehaviors"`
	RepaymentSchedule   repaymentRecord  `json:"repaymentSchedule"`
}

type articleBehaviors struct {
	Implementation struct {
		IsProrated bool `json:"isProrated"`
	} `json:"implementation"`
}

type repaymentRecord struct {
	Occurrences []instalmentRecord `json:"occurrences"`
	Recurrences []instalmentRecord `json:"recurrences"`
}

type instalmentRecord struct {
	Offset   string `json:"offset"`
	Interval string `json:"interval"`
	Loop     *int   `json:"loop,omitempty"` // absent in recurrences
	TaxRate  int    `json:"taxRate"`
	PriceTI  int    `json:"priceTI"`
	PriceTE  int    `json:"priceTE"`
	Tax      int    `json:"tax"`
	Currency string `json:"priceCurrency"`
}

func instalmentRecords(entries []instalment, counted bool) []instalmentRecord {
	records := make([]instalmentRecord, len(entries))
	for i, e := range entries {
		excluded := withoutTax(e.price)
		records[i] = instalmentRecord{
			Offset: e.offset, Interval: e.interval, TaxRate: vatPercent,
			PriceTI: e.price, PriceTE: excluded, Tax: e.price - excluded, Currency: currency,
		}
		if counted {
			records[i].Loop = &entries[i].loop
		}
	}
	return records
}

// withoutTax is a price before tax, rounded to the cent, half up.
func withoutTax(price int) int { return (price*200 + 100 + vatPercent) / (2 * (100 + vatPercent)) }

func (w *World) offerRecord(o *offer) *offerRecord {
	sold := w.productRecord(o.product)
	sold.ID, sold.Description = 0, ""
	r := &offerRecord{
		resource: w.resource("Offer", "offers", o.id), ID: o.id, Name: o.name, Currency: currency, Product: sold,
		RegistrationFeeTI: o.fee, RegistrationFeeName: textOrNil(o.feeName), TotalPriceTI: o.total,
		IsFirstMonthPayed: o.upfront, RhythmBilling: o.rhythm,
		RepaymentSchedule: repaymentRecord{instalmentRecords(o.occurrences, true), instalmentRecords(o.recurrences, false)},
	}
	r.ArticleBehaviors.Implementation.IsProrated = o.prorated
	return r
}

// listOffers: GET offers?product=<product IRI> (section Catalogue). Without the
// filter it lists every offer of the acting club.
func listOffers(c *request) (response, error) {
	wanted, err := c.filterIRI("product", "products")
	if err != nil {
		return response{}, err
	}
	if wanted != 0 && c.w.catalogue.byID[wanted] == nil {
		return response{}, itemNotFound()
	}
	var found []*offer
	for _, p := range c.w.catalogue.products {
		for i := range p.offers {
			if (wanted == 0 || p.id == wanted) && c.w.sells(&p.offers[i], c.club) {
				found = append(found, &p.offers[i])
			}
		}
	}
	return paginate(c, "Offer", found, c.w.offerRecord)
}

// sells reports whether a club sells an offer at all.
func (w *World) sells(o *offer, at *club) bool {
	return w.soldAt(o.product, at) && !slices.Contains(w.settings.WithdrawnOffers, o.id)
}

// offerAt returns an offer that the acting club sells.
func (c *request) offerAt(id int) (*offer, error) {
	o := c.w.catalogue.offers[id]
	if o == nil || !c.w.sells(o, c.club) {
		return nil, itemNotFound()
	}
	return o, nil
}
