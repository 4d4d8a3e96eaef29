package clubsim

import (
	"bytes"
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

func (w *World) articleRecord(a *article) record {
	r := record{
		"offerId": w.iriOrNil(
			"offers", a.OfferID,
		),
		"productId":         nil,
		"sale":              w.iri("sales", a.SaleID),
		"parent":            w.iriOrNil("articles", a.Parent),
		"name":              a.Name,
		"priceTI":           a.Price,
		"priceCurrency":     currency,
		"implementation":    nil,
		"repaymentSchedule": a.Repayment,
	}
	if a.StartDate != "" {
		r["implementation"] = record{"startDate": a.StartDate}
	}
	if o := catalogue().offers[a.OfferID]; o != nil {
		r["productId"] = w.iri("products", o.product.ID)
	}
	return w.record("Article", "articles", a.ID, r)
}

func (w *World) articles(s *sale) []*article { return records(s.Articles, w.state.Articles.get) }

func (c *request) articleAt(id int) (*article, error) {
	return visible(c.w.state.Articles.get(id), func(a *article) bool { return c.sees(c.w.state.Sales.get(a.SaleID).ClubID) })
}

// listArticles: GET sales/{saleId}/articles, as the articles must be read again after
// each addition.
func listArticles(c *request, s *sale) (response, error) {
	return paginate(c, "Article", c.w.articles(s), c.w.articleRecord)
}

// addArticle: POST sales/{saleId}/articles. An article that does not suit the buyer is
// accepted; the check finds it. A mandatory option and a prorata line are added
// automatically.
func addArticle(c *request, s *sale) (response, error) {
	f := c.form()
	a := article{
		SaleID:    s.ID,
		OfferID:   f.iri("offerId", "offers", true),
		Parent:    f.iri("parent", "articles", false),
		StartDate: f.startDate(),
		Repayment: f.repayment(),
	}
	if err := f.err(); err != nil {
		return response{}, err
	}
	o := catalogue().offers[a.OfferID]
	if o == nil || a.Parent != 0 && !slices.Contains(s.Articles, a.Parent) {
		return response{}, itemNotFound()
	}
	a.Name, a.Price = o.Name, o.Total
	added := c.w.append(s, a)
	if line, needed := o.prorata(added); needed {
		c.w.append(s, line)
	}
	c.w.addMandatoryOptions(s, added, o)
	return c.created(c.w.articleRecord(added))
}

func (w *World) append(s *sale, a article) *article {
	a.SaleID = s.ID
	added := w.state.Articles.add(&a)
	s.Articles = append(s.Articles, added.ID)
	return added
}

// addMandatoryOptions adds the options that the offer requires, each once per sale.
func (w *World) addMandatoryOptions(s *sale, parent *article, o *offer) {
	for _, id := range o.Options {
		present := slices.ContainsFunc(s.Articles, func(n int) bool { return w.state.Articles.get(n).OfferID == id })
		if option := catalogue().offers[id]; !present {
			w.append(s, article{
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
func (o *offer) prorata(a *article) (line article, needed bool) {
	start, err := time.Parse(time.DateOnly, a.StartDate)
	if !o.Prorated || err != nil || start.Day() == 1 {
		return article{}, false
	}
	last := time.Date(start.Year(), start.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	days := last.Day() - start.Day() + 1
	price := (2*o.first()*days + last.Day()) / (2 * last.Day()) // half a cent is rounded up
	if o.Upfront {
		price -= o.first()
	}
	name := fmt.Sprintf("Prorata %s to %s", a.StartDate, last.Format(time.DateOnly))
	return article{Name: name, Price: price, Parent: a.ID, StartDate: a.StartDate}, true
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
		if date := details.date("startDate", false); date != "" {
			start = date
		}
	}
	return start
}

// repayment reads the repaymentSchedule of an article; nil when it is missing.
func (f *form) repayment() *repayment {
	s := f.object("repaymentSchedule", false)
	if s == nil {
		return nil
	}
	return &repayment{
		SpecificDay: s.boolean("specificDay", false), DebitDay: s.optionalInteger("debitDay", 1, 31), StartDate: s.date("startDate", false),
		WeekDay: s.optionalInteger("debitWeekDay", 0, 7), // 6 is Saturday; Sunday may be 0 or 7
	}
}
