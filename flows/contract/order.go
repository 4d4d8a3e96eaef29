// Package contract is what a buyer orders: the words that the order button must have, and what the buyer must see directly above it
// (Directive 2011/83/EU, article 8(2)). Start reading at OrderOf.
package contract

import (
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
)

// Button says which words the order button must have. A duty to pay later, or under a condition, counts too (CJEU C-249/21, C-400/22).
type Button string

// The buttons.
const (
	WithObligation Button = "order_with_obligation_to_pay" // a debit or another payment follows today's, or may follow
	PayNow         Button = "pay_now"                      // all of it is due today
	Free           Button = "free"                         // nothing is ever due
)

// Order is what a buyer agrees to with the order button.
type Order struct {
	Button Button
	Items  []Item // the lines of the cart
	schedule.CartSchedule
	// MinimumTerm is the longest commitment of the items, an ISO 8601 duration; empty: none.
	MinimumTerm string
	// Renewal is the operator's text about contracts with a minimum term that do not end with it; empty: the order has none, or the
	// operator says nothing.
	Renewal catalogue.Text
}

// Item is a line of the cart, as its buyer orders it.
type Item struct {
	Type         string          // of the product; empty: not known
	Commitment   string          // ISO 8601 duration; empty: none
	Parts        []schedule.Part // of what is due for it now, two or more; nil: there is one, or the parts are not known
	Withdrawal   Withdrawal
	Notice       catalogue.Text // how it ends if it does not end by itself; empty: it does, or the operator says nothing
	Personalised bool           // its price depends on the buyer's tags or debt
	// ProratedFrom is the start of the offer whose first month the line makes fit its days; zero: the line is another one.
	ProratedFrom schedule.Date
}

// Withdrawal is the buyer's right to withdraw from the contract.
type Withdrawal struct {
	Right     bool
	From      string         // catalogue.FromContract or catalogue.FromDelivery; empty without a right
	Until     schedule.Date  // the last day, which ends at the club's midnight; zero: it depends on the delivery, or there is no right
	Exception catalogue.Text // why there is no right
}

// withdrawalDays is the period of article 9 of Directive 2011/83/EU. The day on which it begins does not count.
const withdrawalDays = 14

// OrderOf returns the order of a registration: the cart and its offers as they are noted there, so that it is the same whenever it is
// shown, paid and confirmed. As long as an offer has not been read, what follows today's payment is unknown, and the button is that of a
// duty to pay. Nothing but its arguments counts.
func OrderOf(view flows.View, club catalogue.Details, now time.Time) Order {
	today := dayOf(club, agreedOn(view, now))
	costs := schedule.Cart{Today: today, Total: view.Cart.Total}
	for i := range view.Cart.Lines {
		costs.Lines = append(costs.Lines, lineOf(view, i, today))
	}
	order := Order{Items: make([]Item, len(costs.Lines)), CartSchedule: schedule.OfCart(costs)}
	made := dayOf(club, madeOn(view, now))
	for i, line := range costs.Lines {
		kind, commitment := soldAs(view, i)
		order.Items[i] = Item{
			Type:         kind,
			Commitment:   commitment,
			Parts:        partsOf(line),
			Withdrawal:   withdrawalOf(club.Contract.WithdrawalRule(kind), made),
			Personalised: view.Offers[view.Cart.Lines[i].Offer.ID()].Personalised,
			ProratedFrom: proratedFrom(view, i),
		}
		if isLonger(commitment, order.MinimumTerm) {
			order.MinimumTerm = commitment
		}
		if mayContinue(line) {
			order.Items[i].Notice = club.NoticeOf(view.Offers[view.Cart.Lines[i].Offer.ID()].Product.ID()).Words
			if commitment != "" {
				order.Renewal = club.Contract.Renewal
			}
		}
	}
	order.Button = buttonOf(view, order.CartSchedule)
	return order
}

// HasGoods reports whether something is handed over: its buyer must learn of the legal guarantee before the contract.
func (o Order) HasGoods() bool {
	return slices.ContainsFunc(o.Items, func(item Item) bool { return item.Type == catalogue.Goods })
}

// lineOf returns a line of the cart, as package schedule adds it up.
func lineOf(view flows.View, i int, today schedule.Date) schedule.CartLine {
	line := view.Cart.Lines[i]
	out := schedule.CartLine{ID: view.Cart.LineID(i), Parent: line.Parent, Price: line.Price}
	if line.Offer == "" {
		return out
	}
	offer, read := view.Offers[line.Offer.ID()]
	switch {
	case !read:
		out.Rules = []schedule.Rule{schedule.OffersUnread}
	case offer.Product == "":
		out.Rules = []schedule.Rule{schedule.OfferUnknown}
	default:
		if dated, inherits := view.Cart.Dated(line); inherits && offer.Debited() {
			line, out.Rules = dated, []schedule.Rule{schedule.StartAssumed}
		}
		out.Terms = termsOf(offer, line, today)
	}
	return out
}

// termsOf returns the terms of a line. Without a debit day it has the club's next one, as a single offer has.
func termsOf(offer flows.ShownOffer, line flows.Line, today schedule.Date) *schedule.Terms {
	terms := &schedule.Terms{Offer: offer.Terms, Today: today, Start: today}
	if start, err := time.Parse(time.DateOnly, line.StartDate); err == nil {
		terms.Start = schedule.DateOf(start)
	}
	debit := flows.Debit{}
	if line.Debit != nil {
		debit = *line.Debit
	}
	switch {
	case debit.Day != nil:
		terms.DebitDay = *debit.Day
	case debit.WeekDay != nil:
		terms.WeekDay = *debit.WeekDay
	case offer.Debited():
		terms.DebitDay, terms.DebitDayOpen = offer.DebitDay, true
	}
	if from, err := time.Parse(time.DateOnly, debit.From); err == nil {
		terms.NotBefore = schedule.DateOf(from)
	}
	return terms
}

// partsOf returns the parts of what is due now for a line, where they explain its price.
func partsOf(line schedule.CartLine) []schedule.Part {
	if line.Terms == nil {
		return nil
	}
	due := schedule.Due(*line.Terms)
	if len(due.Parts) < 2 || due.Amount != line.Price {
		return nil
	}
	return due.Parts
}

// buttonOf decides on the safe side: unless it is certain that nothing follows, the button says that the buyer must pay.
func buttonOf(view flows.View, costs schedule.CartSchedule) Button {
	isDebited := slices.ContainsFunc(view.Items, func(item flows.Item) bool { return item.Mandate })
	switch {
	case len(costs.Debits) > 0, len(costs.Recurrences) > 0, costs.Basis != schedule.Exact, isDebited, isDeferred(view):
		return WithObligation
	case costs.DueNow.Amount > 0:
		return PayNow
	}
	return Free
}

// isDeferred reports whether the buyer has agreed to pay later, or can pay in no other way.
func isDeferred(view flows.View) bool {
	if view.Payment.Live() && view.Payment.Method == flows.Deferred {
		return true
	}
	return len(view.Methods) > 0 && !slices.ContainsFunc(view.Methods, func(method flows.Method) bool { return method != flows.Deferred })
}

// mayContinue reports whether a line is debited without end, or may be.
func mayContinue(line schedule.CartLine) bool {
	if line.Terms == nil {
		return len(line.Rules) > 0
	}
	return len(line.Terms.Recurrences) > 0
}

// soldAs returns the product type and the commitment of a line, by its offer or, where that is not read, by what was known when the
// buyer chose it. An adjustment is sold as the line that it belongs to.
func soldAs(view flows.View, i int) (kind, commitment string) {
	line := view.Cart.Lines[i]
	if offer := view.Offers[line.Offer.ID()]; offer.Product != "" {
		return offer.Type, offer.Terms.Commitment
	}
	if at := slices.IndexFunc(view.Items, func(item flows.Item) bool { return item.ID == line.ID }); at >= 0 {
		return view.Items[at].Type, view.Items[at].Commitment
	}
	parent := slices.IndexFunc(view.Cart.Lines, func(one flows.Line) bool { return one.ID != "" && one.ID == line.Parent })
	if line.Offer == "" && parent >= 0 && parent < i {
		kind, _ = soldAs(view, parent)
	}
	return kind, ""
}

// proratedFrom returns the start of the offer whose first month a line makes fit its days: the line is an adjustment of an offer that is
// prorated, and that starts within a month. Zero for any other line.
func proratedFrom(view flows.View, i int) schedule.Date {
	cart, line := view.Cart, view.Cart.Lines[i]
	parent := slices.IndexFunc(cart.Lines, func(one flows.Line) bool { return one.ID != "" && one.ID == line.Parent })
	if line.Offer != "" || !line.Added || parent < 0 || !view.Offers[cart.Lines[parent].Offer.ID()].Terms.Prorated {
		return schedule.Date{}
	}
	start, ok := schedule.ParseDate(cart.Lines[parent].StartDate)
	if !ok || start.Day == 1 {
		return schedule.Date{}
	}
	return start
}

// withdrawalOf applies a rule to a contract that is made on a day.
func withdrawalOf(rule catalogue.WithdrawalRule, made schedule.Date) Withdrawal {
	if !rule.HasRight() {
		return Withdrawal{Exception: rule.Exception}
	}
	right := Withdrawal{Right: true, From: rule.From}
	if rule.From == catalogue.FromContract {
		right.Until = LastWithdrawalDay(made)
	}
	return right
}

// LastWithdrawalDay returns the last day of a withdrawal period that begins on a day. A period that would end on a Saturday or Sunday ends
// on the next Monday (Regulation (EEC, Euratom) No 1182/71, article 3). Public holidays are not known, and would make it longer.
func LastWithdrawalDay(from schedule.Date) schedule.Date {
	last := from.AddDays(withdrawalDays)
	switch time.Date(last.Year, last.Month, last.Day, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		return last.AddDays(2)
	case time.Sunday:
		return last.AddDays(1)
	}
	return last
}

// isLonger compares ISO 8601 durations. A month counts as 30 days.
func isLonger(one, other string) bool {
	length := func(duration string) int {
		months, days := schedule.ParseDuration(duration)
		return 30*months + days
	}
	return length(one) > length(other)
}

// agreedOn is when the buyer agrees to the cart, or has done.
func agreedOn(view flows.View, now time.Time) time.Time {
	if view.Payment != nil && view.Phase != flows.Open {
		return view.Payment.CreatedAt
	}
	return now
}

// madeOn is when the contract is made: when the club system has recorded the payment, or else when the buyer agrees.
func madeOn(view flows.View, now time.Time) time.Time {
	if view.Phase == flows.Completed {
		return view.Payment.Since(flows.Recorded)
	}
	return agreedOn(view, now)
}

func dayOf(club catalogue.Details, at time.Time) schedule.Date {
	return schedule.DateOf(club.Today(at))
}
