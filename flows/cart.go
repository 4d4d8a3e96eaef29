package flows

import (
	"reflect"
	"slices"

	"frontdesk/upstream/club"
)

// NewItem asks for an offer to be put into the cart.
type NewItem struct {
	OfferID   string `json:"offerId"`
	StartDate string `json:"startDate,omitempty"` // YYYY-MM-DD
	Debit     *Debit `json:"debit,omitempty"`     // in the cart, with the day of the first debit
}

// Debit says when the direct debits of an item fall.
type Debit struct {
	Day     *int   `json:"day,omitempty"`     // of the month
	WeekDay *int   `json:"weekDay,omitempty"` // 1 is Monday
	From    string `json:"from,omitempty"`    // YYYY-MM-DD: not before; in the cart, the day of the first debit
}

// Item is what the visitor asked for, once it is in the cart.
type Item struct {
	NewItem
	Offer   club.IRI `json:"offer"`
	Mandate bool     `json:"mandate"` // it needs a signed direct debit mandate before it can be paid
}

// Cart is the sale as the club system held it when it was last read.
type Cart struct {
	Lines    []Line        `json:"lines"`
	Total    int64         `json:"total"` // due now, minor units
	Currency string        `json:"currency"`
	Valid    bool          `json:"valid"`
	Problems []CartProblem `json:"problems,omitempty"`
	Gone     []Line        `json:"gone,omitempty"` // lines that the club system took out since the cart was shown before
}

// Line is an article of the cart.
type Line struct {
	Offer     club.IRI `json:"offer,omitempty"`
	Name      string   `json:"name"`
	Price     int64    `json:"price"` // minor units
	StartDate string   `json:"startDate,omitempty"`
	Debit     *Debit   `json:"debit,omitempty"` // as it was asked for; nil where the club chooses
	Added     bool     `json:"added,omitempty"` // the club system put it there on its own
	Was       *int64   `json:"was,omitempty"`   // what it cost before, to whom resumed since; nil where that is the same
}

// CartProblem is a reason why the club system does not accept the cart.
type CartProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"` // fit to be shown
}

// RequestedItems are the items as they were asked for.
func (r *Registration) RequestedItems() []NewItem {
	items := make([]NewItem, len(r.Items))
	for i, item := range r.Items {
		items[i] = item.NewItem
	}
	return items
}

// ApplySale takes over what was read of the sale.
func (r *Registration) ApplySale(currency string, sale club.Sale, check club.SaleCheck) {
	if r.SaleState == "" {
		r.SaleState = sale.State
	}
	r.Cart = cartOf(sale, check, r.Items, r.NeedsMandate())
	if r.Cart.Currency == "" {
		r.Cart.Currency = currency
	}
	r.MarkIfSettled(sale.State, r.SaleState)
}

func cartOf(sale club.Sale, check club.SaleCheck, items []Item, mandateMissing bool) Cart {
	cart := Cart{Total: sale.TotalTI, Currency: sale.Currency, Valid: check.Valid}
	asked := slices.Clone(items)
	for _, article := range sale.Articles {
		line := Line{Offer: article.Offer, Name: article.Name, Price: article.PriceTI, Added: true}
		i := slices.IndexFunc(asked, func(item Item) bool { return item.Offer == article.Offer })
		if i >= 0 && article.Parent == "" {
			line.Added, line.StartDate, line.Debit = false, asked[i].StartDate, asked[i].Debit
			asked = slices.Delete(asked, i, i+1)
		}
		cart.Lines = append(cart.Lines, line)
	}
	for _, violation := range check.Violations {
		cart.Problems = append(cart.Problems, ProblemOf(violation))
	}
	if !check.Valid && len(cart.Problems) == 0 {
		cart.Problems = append(cart.Problems, ProblemOf(club.Violation{}))
	}
	const mandate = "api.error.sale.mandate-required"
	told := slices.ContainsFunc(check.Violations, func(v club.Violation) bool { return v.Code == mandate })
	if mandateMissing && !told { // our own rule, whether the club system has it or not
		cart.Valid, cart.Problems = false, append(cart.Problems, ProblemOf(club.Violation{Code: mandate}))
	}
	return cart
}

// ProblemOf puts a violation into words for a visitor. The club system's own
// words are not passed on: they are not written for visitors, and may name others.
func ProblemOf(v club.Violation) CartProblem {
	switch v.Code {
	case "api.error.sale.empty":
		return CartProblem{"cart_empty", "There is nothing in the cart."}
	case "api.error.sale.article.age-restricted":
		return CartProblem{"age_restricted", "One of the offers is not open to people of your age."}
	case "api.error.sale.article.start-date-required":
		return CartProblem{"start_date_required", "One of the offers needs a start date."}
	case "api.error.sale.mandate-required":
		return CartProblem{string(MandateRequired), "A direct debit mandate has to be signed first."}
	case "api.error.sale.contact-incomplete":
		return CartProblem{"person_incomplete", "The club needs more of your details."}
	case "api.error.sale.article.debit-day-not-allowed":
		return CartProblem{"debit_day_not_allowed", "The club cannot debit on the day that was chosen."}
	case "api.error.sale.article.not-available":
		return CartProblem{"not_available", "One of the offers is not available any more."}
	case "api.error.sale.debt":
		return CartProblem{"debt", "The club asks you to settle what is open first."}
	default:
		return CartProblem{"not_accepted", "The club does not accept this cart. Please choose another offer, or ask the club."}
	}
}

// Wire is what an article is told of the debits; nil when the club chooses.
func (d *Debit) Wire() *club.RepaymentScheduleRequest {
	if d == nil {
		return nil
	}
	return &club.RepaymentScheduleRequest{
		SpecificDay: d.Day != nil || d.WeekDay != nil, DebitDay: d.Day, DebitWeekDay: d.WeekDay, StartDate: d.From,
	}
}

// MandateSigned takes the demand for a mandate out of the cart's problems.
func (c *Cart) MandateSigned() {
	kept := c.Problems[:0]
	asked := false
	for _, problem := range c.Problems {
		if problem.Code == string(MandateRequired) {
			asked = true
			continue
		}
		kept = append(kept, problem)
	}
	c.Problems = kept
	if asked && len(kept) == 0 {
		c.Valid = true
	}
}

// Agreed lists what the amount is for, to be compared before it is settled.
func (c Cart) Agreed() []CartLine {
	lines := make([]CartLine, len(c.Lines))
	for i, line := range c.Lines {
		lines[i] = CartLine{Offer: line.Offer, Price: line.Price}
	}
	return lines
}

// Equal compares carts as they were read, whatever was marked in them since.
func (c Cart) Equal(before Cart) bool {
	unmarked := func(c Cart) Cart {
		c.Lines = append([]Line{}, c.Lines...)
		for i := range c.Lines {
			c.Lines[i].Was = nil
		}
		c.Gone = nil
		c.Problems = append([]CartProblem{}, c.Problems...)
		return c
	}
	return reflect.DeepEqual(unmarked(c), unmarked(before))
}

// MarkChanges notes what each line cost in a cart that was shown before, and what
// is not there any more.
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

// settledProblem is the problem of a cart whose sale somebody settled at the club,
// past this journey: nobody may pay it again, nor have another one made of it.
var settledProblem = CartProblem{"settled", "This cart was settled at the club already, so there is nothing more to pay. If you did not settle it, please ask the club's staff."}

// SettledError refuses to change or pay a cart whose sale was settled at the club.
func SettledError() error { return &Error{Code: CartInvalid, Detail: settledProblem.Message} }

// Settled tells whether the sale was found settled at the club.
func (c Cart) Settled() bool { return slices.Contains(c.Problems, settledProblem) }

// MarkIfSettled notes that a sale is no longer in the state of one that nothing has
// settled. Where the club system does not tell states, nothing can be noted.
func (r *Registration) MarkIfSettled(state, untouched string) {
	if untouched != "" && state != "" && state != untouched {
		r.Cart.Valid, r.Cart.Problems = false, []CartProblem{settledProblem}
	}
}

// MarkIfSettledByPayment notes what the look before the capture found: a payment that was
// cancelled because its sale was settled says so before the cart is read again.
func (r *Registration) MarkIfSettledByPayment(p *Payment) {
	if p != nil && p.State == Cancelled && p.Sale == r.Sale && p.Snapshot != nil && p.Snapshot.SaleState != nil {
		r.MarkIfSettled(*p.Snapshot.SaleState, p.SaleState)
	}
}

// ClosedError refuses to change or pay a registration that is closed in this phase.
func ClosedError(phase RegistrationState) error {
	return &Error{Code: RegistrationClosed, Detail: "The registration is " + string(phase) + "."}
}
