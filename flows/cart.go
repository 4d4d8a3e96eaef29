package flows

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"frontdesk/upstream/club"
)

// NewItem is a request to add an offer to the cart.
type NewItem struct {
	ID        string `json:"id,omitempty"` // in the cart; stays the same in a new sale
	OfferID   string `json:"offerId"`
	StartDate string `json:"startDate,omitempty"` // YYYY-MM-DD
	Debit     *Debit `json:"debit,omitempty"`     // in the cart: with the day of the first debit
}

// Debit is when an item's direct debits are due.
type Debit struct {
	Day     *int   `json:"day,omitempty"`     // of the month
	WeekDay *int   `json:"weekDay,omitempty"` // 1 is Monday
	From    string `json:"from,omitempty"`    // YYYY-MM-DD: not before; in the cart: the first debit
}

// Item is a request that is in the cart.
type Item struct {
	NewItem
	Offer      club.IRI `json:"offer"`
	Mandate    bool     `json:"mandate"`              // it cannot be paid without a signed direct debit mandate
	Type       string   `json:"type,omitempty"`       // of the product, when it was added
	Commitment string   `json:"commitment,omitempty"` // ISO 8601 duration, when it was added; empty without one
}

// Cart is the sale as last read from the club system.
type Cart struct {
	Lines    []Line        `json:"lines"`
	Total    int64         `json:"total"`           // due now, minor units
	Taxes    []Tax         `json:"taxes,omitempty"` // in the total, by rate; none if the club system does not give all of them
	Currency string        `json:"currency"`
	Valid    bool          `json:"valid"`
	Problems []CartProblem `json:"problems,omitempty"`
	Gone     []Line        `json:"gone,omitempty"` // lines that the club system removed since the cart was last shown
}

// Tax is the tax of a rate that an amount includes.
type Tax struct {
	Percent  int64 `json:"percent"`
	Included int64 `json:"included"` // minor units
	Net      int64 `json:"net"`      // the amount without it, in minor units
}

// Line is an article of the cart.
type Line struct {
	ID        string   `json:"id,omitempty"`     // of the item, or of the article that the club system added
	Parent    string   `json:"parent,omitempty"` // id of the line that brought it along; empty: none
	Offer     club.IRI `json:"offer,omitempty"`
	Name      string   `json:"name"`
	Price     int64    `json:"price"` // minor units
	StartDate string   `json:"startDate,omitempty"`
	Debit     *Debit   `json:"debit,omitempty"`    // as requested; nil if the club chooses
	Added     bool     `json:"added,omitempty"`    // by the club system
	Required  bool     `json:"required,omitempty"` // as the club system says: another line requires it
	Was       *int64   `json:"was,omitempty"`      // the price when the cart was shown before; nil if it is the same
}

// CartProblem is a reason why the club system does not accept the cart.
type CartProblem struct {
	Code  CartProblemCode `json:"code"`
	Line  string          `json:"line,omitempty"`  // id of the line that it is about; empty: the whole cart, or not known
	Field string          `json:"field,omitempty"` // of the line, as its pointer within the item, such as /startDate; empty: not known
}

// CartProblemCode says why a cart is not accepted. The list is that of the public API; package text has its texts in
// each language.
type CartProblemCode string

// The codes of a cart's problems.
const (
	ProblemCartEmpty          CartProblemCode = "cart_empty"
	ProblemAgeRestricted      CartProblemCode = "age_restricted"
	ProblemStartDateRequired  CartProblemCode = "start_date_required"
	ProblemMandateRequired    CartProblemCode = "mandate_required"
	ProblemPersonIncomplete   CartProblemCode = "person_incomplete"
	ProblemDebitDayNotAllowed CartProblemCode = "debit_day_not_allowed"
	ProblemNotAvailable       CartProblemCode = "not_available"
	ProblemDebt               CartProblemCode = "debt"
	ProblemNotAccepted        CartProblemCode = "not_accepted" // where no other code says more
	ProblemNoMethod           CartProblemCode = "no_method"    // that its holder may use
	ProblemSettled            CartProblemCode = "settled"      // at the club, outside this registration
)

// RequestedItems returns the items as requested, without those that the club system has removed from the sale since. A sale that shows no
// articles has all of them.
func (r *Registration) RequestedItems() []NewItem {
	items := make([]NewItem, 0, len(r.Items))
	for _, item := range r.Items {
		if r.Holds(item) {
			items = append(items, item.NewItem)
		}
	}
	return items
}

// Holds reports whether the club system has not removed an item from the sale since it was requested. A sale that shows no articles has
// all of them.
func (r *Registration) Holds(item Item) bool {
	return len(r.Cart.Lines) == 0 || slices.ContainsFunc(r.Cart.Lines, func(line Line) bool { return line.Offer == item.Offer })
}

// ApplySale sets the cart to a sale that was just read.
func (r *Registration) ApplySale(currency string, sale club.Sale, check club.SaleCheck) {
	r.SaleState = cmp.Or(r.SaleState, sale.State)
	r.HasContract = slices.ContainsFunc(sale.Articles, func(article club.Article) bool { return bool(article.HasContract) })
	r.Cart = cartOf(sale, check, r.Items, r.NeedsMandate())
	r.Cart.Currency = cmp.Or(r.Cart.Currency, currency)
	if r.CheckCurrency() != nil {
		r.Cart.Valid, r.Cart.Problems = false, append(r.Cart.Problems, CartProblem{Code: ProblemNoMethod})
	}
	r.Cart = r.Cart.MarkedIfSettled(sale.State, r.SaleState)
}

func cartOf(sale club.Sale, check club.SaleCheck, items []Item, mandateMissing bool) Cart {
	cart := Cart{Total: sale.TotalTI, Taxes: taxesOf(sale), Currency: sale.Currency, Valid: check.Valid}
	requested := slices.Clone(items)
	ids := map[club.IRI]string{} // of the lines, by their article
	for _, article := range sale.Articles {
		line := Line{
			ID:     article.IRI.ID(),
			Parent: ids[article.Parent],
			Offer:  article.Offer,
			Name:   article.Name,
			Price:  article.PriceTI,
			Added:  true,

			Required: article.IsMandatory(),
		}
		i := slices.IndexFunc(requested, func(item Item) bool { return item.Offer == article.Offer })
		if i >= 0 && article.Parent == "" && !line.Required {
			line.Added, line.StartDate, line.Debit = false, requested[i].StartDate, requested[i].Debit
			line.ID = cmp.Or(requested[i].ID, line.ID)
			requested = slices.Delete(requested, i, i+1)
		}
		ids[article.IRI] = line.ID
		cart.Lines = append(cart.Lines, line)
	}
	cart.Problems = cart.problems(check.Violations)
	for i, article := range sale.Articles {
		for _, mistake := range article.ImplementationErrors() {
			problem := ProblemOf(mistake)
			problem.Line = cart.Lines[i].ID
			cart.addProblem(problem)
		}
	}
	if !check.Valid && len(cart.Problems) == 0 {
		cart.Problems = append(cart.Problems, ProblemOf(club.Violation{}))
	}
	// Our own rule, whether the club system checks it or not.
	missing := CartProblem{Code: ProblemMandateRequired}
	if mandateMissing && !slices.Contains(cart.Problems, missing) {
		cart.Valid, cart.Problems = false, append(cart.Problems, missing)
	}
	return cart
}

// addProblem adds a problem of a line, unless the cart has it. The check may have said the same without the field.
func (c *Cart) addProblem(problem CartProblem) {
	c.Valid = false
	at := slices.IndexFunc(c.Problems, func(known CartProblem) bool {
		isSameField := known.Field == problem.Field || known.Field == "" || problem.Field == ""
		return known.Code == problem.Code && known.Line == problem.Line && isSameField
	})
	if at < 0 {
		c.Problems = append(c.Problems, problem)
		return
	}
	c.Problems[at].Field = cmp.Or(c.Problems[at].Field, problem.Field)
}

// problems translates violations, and finds the lines that they are about.
func (c Cart) problems(violations []club.Violation) (problems []CartProblem) {
	for _, violation := range violations {
		problem := ProblemOf(violation)
		var i int
		if n, _ := fmt.Sscanf(violation.Field, "articles[%d]", &i); n == 1 && i >= 0 && i < len(c.Lines) {
			problem.Line = c.Lines[i].ID
		}
		problems = append(problems, problem)
	}
	return problems
}

// taxesOf returns the taxes of a sale by rate; none unless the club system gives those of all articles, which add up to the total.
func taxesOf(sale club.Sale) (taxes []Tax) {
	rest := sale.TotalTI
	for _, article := range sale.Articles {
		rest -= article.PriceTI
		rate, included, ok := article.Tax()
		if !ok {
			return nil
		}
		i := slices.IndexFunc(taxes, func(tax Tax) bool { return tax.Percent == rate })
		if i < 0 {
			i, taxes = len(taxes), append(taxes, Tax{Percent: rate})
		}
		taxes[i].Included += included
		taxes[i].Net += article.PriceTI - included
	}
	if rest != 0 {
		return nil
	}
	return taxes
}

// cartProblems are the codes by the club system's.
var cartProblems = map[string]CartProblemCode{
	"api.error.sale.empty":                         ProblemCartEmpty,
	"api.error.sale.article.age-restricted":        ProblemAgeRestricted,
	"api.error.sale.article.start-date-required":   ProblemStartDateRequired,
	"api.error.sale.mandate-required":              ProblemMandateRequired,
	"api.error.sale.contact-incomplete":            ProblemPersonIncomplete,
	"api.error.sale.article.debit-day-not-allowed": ProblemDebitDayNotAllowed,
	"api.error.sale.article.not-available":         ProblemNotAvailable,
	"api.error.sale.debt":                          ProblemDebt,
}

// ProblemOf translates a violation for the visitor. The club system's own text is dropped:
// it is not written for visitors and may name other people.
func ProblemOf(v club.Violation) CartProblem {
	return CartProblem{Code: cmp.Or(cartProblems[v.Code], ProblemNotAccepted), Field: fieldOf(v)}
}

// FieldProblemOf says which field of an item a violation is about, and what is wrong with it.
func FieldProblemOf(violation club.Violation) FieldProblem {
	problem := ProblemOf(violation)
	pointer := cmp.Or(problem.Field, "/offerId")
	code, known := itemProblems[problem.Code]
	switch {
	case known:
	case pointer == "/offerId":
		code = FieldNotForBuyer
	default:
		code = FieldNotAccepted
	}
	return FieldProblem{Pointer: pointer, Code: code}
}

// fieldOf returns the pointer within an item to the field that a violation is about; empty if it is about none of them.
func fieldOf(violation club.Violation) string {
	for _, field := range fieldsOfItems {
		if strings.HasSuffix(violation.Field, field.path) {
			return field.pointer
		}
	}
	return ""
}

// fieldsOfItems are the fields of an item by the end of the club system's path, longer ends first: a package has its start dates in
// implementations, and an installation may name a field of the implementation alone.
var fieldsOfItems = []struct{ path, pointer string }{
	{"repaymentSchedule.startDate", "/debit/from"},
	{"startDate", "/startDate"},
	{"debitDay", "/debit/day"},
	{"debitWeekDay", "/debit/weekDay"},
}

// itemProblems are the codes of an item's field by those of a cart.
var itemProblems = map[CartProblemCode]FieldCode{
	ProblemAgeRestricted:     FieldAgeRestricted,
	ProblemDebt:              FieldDebt,
	ProblemNotAvailable:      FieldNotOffered,
	ProblemStartDateRequired: FieldRequired,
}

// Wire returns the debits for the club system; nil if the club chooses.
func (d *Debit) Wire() *club.RepaymentScheduleRequest {
	if d == nil {
		return nil
	}
	return &club.RepaymentScheduleRequest{
		SpecificDay: d.Day != nil || d.WeekDay != nil, DebitDay: d.Day, DebitWeekDay: d.WeekDay, StartDate: d.From,
	}
}

// MandateSigned removes the missing mandate from the cart's problems.
func (c *Cart) MandateSigned() {
	before := len(c.Problems)
	c.Problems = slices.DeleteFunc(c.Problems, func(problem CartProblem) bool { return problem.Code == ProblemMandateRequired })
	if before > 0 && len(c.Problems) == 0 {
		c.Valid = true
	}
}

// Agreed lists what the amount is for; the sale is compared with it before it is settled.
func (c Cart) Agreed() []CartLine {
	lines := make([]CartLine, len(c.Lines))
	for i, line := range c.Lines {
		lines[i] = CartLine{Offer: line.Offer, Price: line.Price}
	}
	return lines
}

// Dated returns a line of the cart with the start date and the debit of the line that brought it along, as far as it has none of its own.
// inherits is false if no line brought it along.
func (c Cart) Dated(line Line) (dated Line, inherits bool) {
	parent := slices.IndexFunc(c.Lines, func(one Line) bool { return line.Parent != "" && one.ID == line.Parent })
	if !line.Added || parent < 0 {
		return line, false
	}
	line.StartDate, line.Debit = cmp.Or(line.StartDate, c.Lines[parent].StartDate), cmp.Or(line.Debit, c.Lines[parent].Debit)
	return line, true
}

// LineID returns the id of the line at an index: its own, or else its place.
func (c Cart) LineID(i int) string { return cmp.Or(c.Lines[i].ID, strconv.Itoa(i)) }

// Revision names what a buyer agrees to: lines, prices, start dates, debits and the amount. The marks
// of MarkChanges, ids, the check and its problems do not count.
func (c Cart) Revision() string {
	lines := slices.Clone(c.Lines)
	for i := range lines {
		lines[i].ID, lines[i].Parent, lines[i].Was, lines[i].Required = "", "", nil, false
	}
	text, _ := json.Marshal([]any{lines, c.Total, c.Currency}) // strings and numbers can be encoded
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// KeepMarks keeps the marks of a cart that the visitor may not have seen yet; if its lines have changed
// since, it marks these changes.
func (c *Cart) KeepMarks(before Cart) {
	sameLines := slices.EqualFunc(c.Lines, before.Lines, func(a, b Line) bool {
		a.Was, b.Was = nil, nil
		return reflect.DeepEqual(a, b)
	})
	if sameLines {
		c.Lines, c.Gone = before.Lines, before.Gone
	} else {
		c.MarkChanges(before)
	}
}

// MarkChanges marks changed prices and removed lines since the cart was shown before.
func (c *Cart) MarkChanges(before Cart) {
	old := slices.Clone(before.Lines)
	for i, line := range c.Lines {
		at := slices.IndexFunc(old, func(o Line) bool { return o.Offer == line.Offer && o.Name == line.Name && o.Added == line.Added })
		if at < 0 {
			continue
		}
		if was := old[at].Price; was != line.Price {
			c.Lines[i].Was = &was
		}
		old = slices.Delete(old, at, at+1)
	}
	c.Gone = old
}

// settledProblem is the problem of a cart whose sale was settled at the club, outside this
// registration. It can neither be paid again nor replaced.
var settledProblem = CartProblem{Code: ProblemSettled}

// SettledError is the error for a change or payment of a cart that was settled at the club.
func SettledError() error { return &Error{Code: CartInvalid, Detail: DetailCartSettled} }

// Settled reports whether the sale was settled at the club.
func (c Cart) Settled() bool { return slices.Contains(c.Problems, settledProblem) }

// MarkedIfSettled returns the cart, marked as settled if the sale has left the state of an unsettled one.
// A club system without states marks nothing.
func (c Cart) MarkedIfSettled(state, untouched string) Cart {
	if untouched != "" && state != "" && state != untouched {
		c.Valid, c.Problems = false, []CartProblem{settledProblem}
	}
	return c
}

// CartAfter returns the cart with what its latest payment (nil: none) found out, if that ended without effect: the sale may be settled, so
// that the cart need not be read again, or the club system does not sell it to the buyer. The check knows nothing of that, so the cart has
// to change first.
func (r *Registration) CartAfter(payment *Payment) Cart {
	if !r.endedUnpaid(payment) {
		return r.Cart
	}
	cart := r.Cart
	if r.isRestricted(payment) {
		cart.Valid, cart.Problems = false, cart.problems(payment.Restrictions)
	}
	return cart.MarkedIfSettled(payment.seenSaleState(), payment.SaleState)
}

// endedUnpaid reports whether a payment of the registration's sale ended without effect.
func (r *Registration) endedUnpaid(payment *Payment) bool {
	return payment != nil && (payment.State == Cancelled || payment.State == Refunded) && payment.Sale == r.Sale
}

// isRestricted reports whether the club system refused the payment of this very cart because of a restriction, so that no check helps.
func (r *Registration) isRestricted(payment *Payment) bool {
	return r.endedUnpaid(payment) && payment.IsRestricted() && payment.CartRevision == r.Cart.Revision()
}
