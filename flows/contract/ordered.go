package contract

import (
	"slices"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
	"frontdesk/flows/text"
)

// maxWords is the length of a text on one line, in characters, as in the public API.
const maxWords = 500

// Ordered is an order as its buyer saw it, in their language. Its JSON is that of the public API's confirmation.
type Ordered struct {
	Button  Button      `json:"button"`
	Items   []Ordering  `json:"items"`
	DueNow  flows.Money `json:"dueNow"`
	Taxes   []Tax       `json:"taxes,omitempty"` // in DueNow
	Debits  []Debit     `json:"debits"`
	Endless []Endless   `json:"recurrence,omitempty"`

	Total       *flows.Money   `json:"total,omitempty"`
	MinimumTerm string         `json:"minimumTerm,omitempty"` // ISO 8601 duration
	Renewal     string         `json:"renewal,omitempty"`
	Notice      string         `json:"notice,omitempty"` // those of the items; empty if they are too long together
	Basis       schedule.Basis `json:"basis"`
}

// Ordering is a line of the cart, as ordered.
type Ordering struct {
	Name         string           `json:"name"`
	Type         string           `json:"type,omitempty"`  // of the product
	Price        flows.Money      `json:"price"`           // due now
	Parts        []Part           `json:"parts,omitempty"` // of Price
	Commitment   string           `json:"commitment,omitempty"`
	StartDate    string           `json:"startDate,omitempty"`
	Personalised bool             `json:"personalised,omitempty"`
	Notice       string           `json:"notice,omitempty"`
	Withdrawal   WithdrawalPeriod `json:"withdrawal"`
}

// Tax is the tax of a rate that an amount includes.
type Tax struct {
	Percent  int64       `json:"percent"`
	Included flows.Money `json:"included"`
	Net      flows.Money `json:"net"`
}

// Part is a part of what is due for an item with the order.
type Part struct {
	Kind  schedule.PartKind `json:"kind"`
	Price flows.Money       `json:"price"`
}

// WithdrawalPeriod is Withdrawal in the buyer's language.
type WithdrawalPeriod struct {
	Right     bool   `json:"right"`
	From      string `json:"from,omitempty"`
	Until     string `json:"until,omitempty"` // YYYY-MM-DD
	Exception string `json:"exception,omitempty"`
}

// Debit is what leaves the buyer's account on a day.
type Debit struct {
	Date  string         `json:"date"` // YYYY-MM-DD
	Price flows.Money    `json:"price"`
	Basis schedule.Basis `json:"basis"`
}

// Endless is a debit that is repeated until the buyer cancels.
type Endless struct {
	From  string         `json:"from"`  // YYYY-MM-DD
	Every string         `json:"every"` // ISO 8601 duration
	Day   int            `json:"day,omitempty"`
	Price flows.Money    `json:"price"`
	Basis schedule.Basis `json:"basis"`
}

// In returns the order of a registration as its buyer sees it in a language.
func (o Order) In(language string, view flows.View, club catalogue.Details) Ordered {
	money := func(minor int64) flows.Money { return flows.Money{Amount: minor, Currency: view.Cart.Currency} }
	words := func(text string) string { return flows.SingleLine(text, maxWords) }
	out := Ordered{
		Button:      o.Button,
		DueNow:      money(o.DueNow.Amount),
		Debits:      []Debit{},
		MinimumTerm: words(o.MinimumTerm),
		Renewal:     words(o.Renewal.In(language)),
		Basis:       o.Basis,
	}
	for _, tax := range view.Cart.Taxes {
		out.Taxes = append(out.Taxes, Tax{tax.Percent, money(tax.Included), money(tax.Net)})
	}
	for i, item := range o.Items {
		line := view.Cart.Lines[i]
		var parts []Part
		for _, part := range item.Parts {
			parts = append(parts, Part{part.Kind, money(part.Amount)})
		}
		starts := line.StartDate
		if item.Type == catalogue.Goods { // which are handed over
			starts = ""
		}
		out.Items = append(out.Items, Ordering{
			Name:         words(item.NameIn(language, line, club)),
			Type:         item.Type,
			Price:        money(line.Price),
			Parts:        parts,
			Commitment:   words(item.Commitment),
			StartDate:    starts,
			Personalised: item.Personalised,
			Notice:       words(item.Notice.In(language)),
			Withdrawal:   item.Withdrawal.in(language),
		})
	}
	if all := strings.Join(out.Notices(text.Match(language)), " "); words(all) == all { // what binds is not cut
		out.Notice = all
	}
	for _, debit := range o.Debits {
		out.Debits = append(out.Debits, Debit{Date: debit.Date.String(), Price: money(debit.Amount), Basis: debit.Basis})
	}
	for _, endless := range o.Recurrences {
		out.Endless = append(out.Endless, Endless{From: endless.From.String(), Every: words(endless.Every), Day: endless.Day,
			Price: money(endless.Amount), Basis: endless.Basis})
	}
	if o.Total != nil {
		out.Total = new(money(*o.Total))
	}
	return out
}

// Notices says how what continues ends: each notice once, with the names of its items if they differ in it.
func (o Ordered) Notices(in *text.Language) []string {
	notices := o.apart(in, func(item Ordering) string { return item.Notice })
	if notices == nil && o.Notice != "" { // ordered before its items had theirs
		return []string{o.Notice}
	}
	return notices
}

// Withdrawals says what the buyer can withdraw from, and until when: each right once, with the names of its items if they differ in it.
func (o Ordered) Withdrawals(in *text.Language) []string {
	return o.apart(in, func(item Ordering) string { return item.Withdrawal.say(in) })
}

// apart lists what is said of the items, if anything, each once, with the names of the items if they differ in it.
func (o Ordered) apart(in *text.Language, said func(Ordering) string) (lines []string) {
	names := map[string][]string{}
	for _, item := range o.Items {
		words := said(item)
		if words == "" {
			continue
		}
		if names[words] == nil {
			lines = append(lines, words)
		}
		if !slices.Contains(names[words], item.Name) {
			names[words] = append(names[words], item.Name)
		}
	}
	if len(lines) > 1 {
		w := writer{Language: in}
		for i, words := range lines {
			lines[i] = w.say(textAbout, "names", strings.Join(names[words], ", "), "words", words)
		}
	}
	return lines
}

// say says in a language whether the buyer can withdraw, and until when.
func (p WithdrawalPeriod) say(in *text.Language) string {
	w := writer{Language: in}
	switch {
	case !p.Right:
		return strings.TrimSpace(w.say(textNoRight, "reason", p.Exception))
	case p.Until != "":
		return w.say(textUntil, "date", p.Until)
	}
	return w.say(textAfterGoods)
}

// The names of a prorata, with their parameters month and days: one that is paid for the days left, and one that is deducted for the days
// gone.
const (
	textProrata  text.ContractCode = "prorata_paid"
	textDeducted text.ContractCode = "prorata_deducted"
)

// NameIn is what the item's line of the cart is called in a language.
func (i Item) NameIn(language string, line flows.Line, club catalogue.Details) string {
	from := i.ProratedFrom
	if from == (schedule.Date{}) {
		return club.OfferName(line.Offer.ID(), language, line.Name)
	}
	in := text.Match(language)
	last := schedule.Date{Year: from.Year, Month: from.Month, Day: 1}.AddMonths(1).AddDays(-1)
	code, days := textProrata, in.Days(from.Month, from.Day, last.Day)
	if line.Price < 0 {
		code, days = textDeducted, in.Days(from.Month, 1, from.Day-1)
	}
	return in.Fill(in.Contract[code], map[string]string{"month": in.Month(from.Month), "days": days})
}

// mayContinue reports whether debits go on without end, or may. A minimum term then is one: else the contract ends with it.
func (o Ordered) mayContinue() bool { return len(o.Endless) > 0 || o.Basis == schedule.Unknown }

// hasDebits reports whether something is paid after today, or may be.
func (o Ordered) hasDebits() bool { return len(o.Debits) > 0 || o.mayContinue() }

// Lasting says how long the contract lasts: its minimum term, or how long it runs if it ends by itself. Empty without either.
func (o Ordered) Lasting(in *text.Language) string {
	if o.MinimumTerm == "" {
		return ""
	}
	w, term := writer{Language: in}, textItemRuns
	if o.mayContinue() {
		term = textCommitment
	}
	return w.say(term, "period", w.period(o.MinimumTerm))
}

func (w Withdrawal) in(language string) WithdrawalPeriod {
	period := WithdrawalPeriod{Right: w.Right, From: w.From, Exception: flows.SingleLine(w.Exception.In(language), maxWords)}
	if w.Until != (schedule.Date{}) {
		period.Until = w.Until.String()
	}
	return period
}
