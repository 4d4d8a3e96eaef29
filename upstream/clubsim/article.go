package clubsim

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// article is a line of a sale.
type article struct {
	numbered
	SaleID    int        `json:"saleId"`
	OfferID   int        `json:"offerId"` // zero: a line of its own, such as a prorata
	Name      string     `json:"name"`
	Price     int        `json:"price"`     // cents; a prorata line can be negative
	Parent    int        `json:"parent"`    // zero: added by the buyer
	StartDate string     `json:"startDate"` // when what was bought begins; empty: not given
	Repayment *repayment `json:"repayment"` // how the buyer wants to be debited; nil: not sent
}

// repayment is the repaymentSchedule of an article (section RepaymentSchedule).
type repayment struct {
	SpecificDay bool   `json:"specificDay"`
	DebitDay    *int   `json:"debitDay"`
	StartDate   string `json:"startDate,omitempty"`
	WeekDay     *int   `json:"debitWeekDay"`
}

// taxOf is the tax of an article's product, in percent; a line of its own, such as a prorata, has that of the article that it belongs to.
func (w *World) taxOf(article *article) int {
	for at := article; at != nil; at = w.state.Articles.get(at.Parent) {
		if sold := w.catalogue.offers[at.OfferID]; sold != nil {
			return sold.product.tax()
		}
	}
	return usualTax
}

func (w *World) articleRecord(article *article) record {
	rate := w.taxOf(article)
	excluded := withoutTax(article.Price, rate)
	members := record{
		"offerId":           w.iriOrNil("offers", article.OfferID),
		"productId":         nil,
		"sale":              w.iri("sales", article.SaleID),
		"parent":            w.iriOrNil("articles", article.Parent),
		"name":              article.Name,
		"priceTI":           article.Price,
		"priceTE":           excluded,
		"tax":               article.Price - excluded,
		"taxRate":           rate,
		"priceCurrency":     currency,
		"implementation":    nil,
		"mandatory":         article.Parent != 0 && article.OfferID != 0,
		"packageId":         nil,
		"contractModelId":   w.contractModel(),
		"repaymentSchedule": article.Repayment,
	}
	if article.StartDate != "" {
		members["implementation"] = record{"startDate": article.StartDate}
	}
	mistakes := []violation{}
	if o := w.catalogue.offers[article.OfferID]; o != nil {
		members["productId"] = w.iri("products", o.product.ID)
		mistakes = append(mistakes, article.checkDates(o, w.catalogue.club(w.state.Sales.get(article.SaleID).ClubID), "")...)
	}
	members["hasImplementationErrors"], members["implementationErrors"] = len(mistakes) > 0, mistakes
	w.addTotals(members, article)
	return w.record("Article", "articles", article.ID, members)
}

// addTotals adds the amounts of installations in which only totalTI adds up to the sale.
func (w *World) addTotals(members record, article *article) {
	if w.settings.ArticleAmounts == "price" {
		return
	}
	fee, discount := 0, article.Price/10
	if offer := w.catalogue.offers[article.OfferID]; offer != nil {
		fee = offer.Fee
	}
	price, rate := article.Price-fee+discount, w.taxOf(article)
	excluded := withoutTax(price, rate)
	maps.Copy(members, record{
		"priceTI": price, "priceTE": excluded, "tax": price - excluded, "proratedPriceTI": nil, "registrationFeeTI": fee,
		"priceDiscountTI": discount, "registrationFeeDiscountTI": 0,
		"totalTI": article.Price, "totalTaxes": article.Price - withoutTax(article.Price, rate),
	})
	switch w.settings.ArticleAmounts {
	case "total":
		delete(members, "priceTI")
	case "none":
		delete(members, "priceTI")
		delete(members, "totalTI")
	case "wrong":
		members["totalTI"] = article.Price + 1
	}
}

func (w *World) articles(s *sale) []*article { return records(s.Articles, w.state.Articles.get) }

func (c *request) articleAt(id int) (*article, error) {
	return visible(c.w.state.Articles.get(id), func(a *article) bool { return c.sees(c.w.state.Sales.get(a.SaleID).ClubID) })
}

// findArticles: GET articles, those of the sales that the request may see. The description does not show it, installations have it.
func findArticles(call *request) (response, error) {
	matches, err := call.saleFilter("sale.")
	if err != nil {
		return response{}, err
	}
	var saleIDs []int
	if call.w.settings.SaleFilters {
		if saleIDs, err = call.filterIRIs("sale", "sales"); err != nil {
			return response{}, err
		}
	}
	found := filter(call.w.state.Articles.Rows, func(a *article) bool {
		sale := call.w.state.Sales.get(a.SaleID)
		return slices.Contains(sale.Articles, a.ID) && wanted(saleIDs, sale.ID) && matches(sale)
	})
	return paginate(call, "Article", found, call.w.articleRecord)
}

// listArticles: GET sales/{saleId}/articles, as the articles must be read again after
// each addition.
func listArticles(c *request, sale *sale) (response, error) {
	return paginate(c, "Article", c.w.articles(sale), c.w.articleRecord)
}

// addArticle: POST sales/{saleId}/articles. An article that does not suit the buyer is
// accepted, unless the settings refuse it; the check finds it. A mandatory option and a prorata line are added
// automatically.
func addArticle(call *request, sale *sale) (response, error) {
	form := call.form()
	article := article{
		SaleID:    sale.ID,
		OfferID:   form.iri("offerId", "offers", true),
		Parent:    form.iri("parent", "articles", false),
		StartDate: form.startDate(),
		Repayment: form.repayment(),
	}
	offer := call.w.catalogue.offers[article.OfferID]
	parts := form.bundle(offer)
	article.StartDate = cmp.Or(article.StartDate, parts)
	if err := form.whole(); err != nil {
		return response{}, err
	}
	if offer == nil || article.Parent != 0 && !slices.Contains(sale.Articles, article.Parent) {
		return response{}, itemNotFound()
	}
	if refused := call.w.restrictions(sale, &article, "offerId", call.now); call.w.settings.RefuseAtAdd && len(refused) > 0 {
		return response{}, invalid(refused...)
	}
	article.Name, article.Price = offer.Name, offer.Total
	added := call.w.append(sale, article)
	if line, needed := offer.prorata(added); needed {
		call.w.append(sale, line)
	}
	call.w.addMandatoryOptions(sale, added, offer)
	return call.created(call.w.articleRecord(added))
}

func (w *World) append(sale *sale, article article) *article {
	article.SaleID = sale.ID
	added := w.state.Articles.add(&article)
	sale.Articles = append(sale.Articles, added.ID)
	return added
}

// addMandatoryOptions adds the options that the offer requires, each once per sale.
func (w *World) addMandatoryOptions(sale *sale, parent *article, offer *offer) {
	for _, id := range offer.Options {
		present := slices.ContainsFunc(sale.Articles, func(n int) bool { return w.state.Articles.get(n).OfferID == id })
		if option := w.catalogue.offers[id]; !present {
			w.append(sale, article{
				OfferID:   id,
				Name:      option.Name,
				Price:     option.Total,
				Parent:    parent.ID,
				StartDate: parent.StartDate,
			})
		}
	}
}

// prorata returns the line that adapts the price to the days that are left of the first
// month: it is added to what is due now, or deducted from a first month that the price
// includes. A subscription that starts on the first of a month needs none.
func (o *offer) prorata(added *article) (line article, needed bool) {
	start, err := time.Parse(time.DateOnly, added.StartDate)
	if !o.Prorated || err != nil || start.Day() == 1 {
		return article{}, false
	}
	last := time.Date(start.Year(), start.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	days := last.Day() - start.Day() + 1
	price := (2*o.first()*days + last.Day()) / (2 * last.Day()) // half a cent is rounded up
	if o.Upfront {
		price -= o.first()
	}
	name := fmt.Sprintf("Prorata %s to %s", added.StartDate, last.Format(time.DateOnly))
	return article{Name: name, Price: price, Parent: added.ID, StartDate: added.StartDate}, true
}

// startDate reads implementation.startDate, or the same in one of the implementations of
// a package, which may be a list or an object by behaviour.
func (f *form) startDate() string {
	const name = "implementations"
	var implementations []*form
	if bytes.HasPrefix(f.values[name], []byte("{")) {
		byBehavior := f.object(name, false)
		for _, behavior := range slices.Sorted(maps.Keys(byBehavior.values)) {
			implementations = append(implementations, byBehavior.object(behavior, false))
		}
	} else {
		implementations = f.list(name, false)
	}
	start := ""
	for _, details := range append(implementations, f.object("implementation", false)) {
		if details == nil {
			continue
		}
		details.text("type", false) // the behavior
		if date := details.date("startDate", false); date != "" {
			start = date
		}
	}
	return start
}

// bundle reads bundleContent, the details of a package's parts by the identifiers of their offers, and returns the latest start
// date of a part.
func (f *form) bundle(offer *offer) (start string) {
	const name = "bundleContent"
	parts := f.object(name, false)
	if parts == nil {
		return ""
	}
	if offer != nil && offer.product.Kind != kindPackage {
		f.addViolation(name, "This field belongs to packages.")
	}
	for _, key := range slices.Sorted(maps.Keys(parts.values)) {
		part, id := parts.object(key, true), f.w.parseIRI("offers", key)
		if part == nil {
			continue
		}
		part.iri("parent", "articles", false)
		if named := part.iri("offerId", "offers", false); id == 0 || f.w.catalogue.offers[id] == nil || named != 0 && named != id {
			parts.addViolation(key, "This is not the offer of a part.")
		}
		start = max(start, part.startDate())
		part.repayment()
	}
	return start
}

// repayment reads the repaymentSchedule of an article; nil when it is missing.
func (f *form) repayment() *repayment {
	form := f.object("repaymentSchedule", false)
	if form == nil {
		return nil
	}
	return &repayment{
		SpecificDay: form.boolean("specificDay", false),
		DebitDay:    form.optionalInteger("debitDay", 1, 31),
		StartDate:   form.date("startDate", false),
		WeekDay:     form.optionalInteger("debitWeekDay", 0, 7), // 6 is Saturday; Sunday may be 0 or 7
	}
}
