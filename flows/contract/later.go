package contract

import (
	"strconv"

	"frontdesk/flows/schedule"
	"frontdesk/flows/text"
)

// The texts about taxes and about what is paid after the order, with their parameters. The signup site has the same ones.
const (
	textDebit         text.ContractCode = "later_debit"       // price, date
	textDebits        text.ContractCode = "later_debits"      // count, price, first, last
	textEndless       text.ContractCode = "later_endless"     // price, every, date
	textOnDay         text.ContractCode = "later_on_day"      // every, day
	textOnLateDay     text.ContractCode = "later_on_late_day" // every, day
	textTaxIncluded   text.ContractCode = "tax_included"      // amount, percent
	textTaxesIncluded text.ContractCode = "taxes_included"
	textEstimated     text.ContractCode = "estimated" // words
)

// Later says in a language what is paid by direct debit after the order: equal debits in one line, then what is repeated without end.
func (o Ordered) Later(in *text.Language) (lines []string) {
	w := writer{Language: in}
	for rest := o.Debits; len(rest) > 0; {
		equal := 1
		for equal < len(rest) && rest[equal].Price == rest[0].Price {
			equal++
		}
		lines = append(lines, w.debits(rest[:equal]))
		rest = rest[equal:]
	}
	return append(lines, w.endless(o.Endless)...)
}

// TaxesIncluded says in a language which taxes are in what is due with the order.
func (o Ordered) TaxesIncluded(in *text.Language) (lines []string) {
	w := writer{Language: in}
	if len(o.Taxes) == 0 {
		return []string{w.say(textTaxesIncluded)}
	}
	for _, tax := range o.Taxes {
		if tax.Included.Amount != 0 {
			lines = append(lines, w.say(textTaxIncluded, "amount", w.money(tax.Included), "percent", strconv.FormatInt(tax.Percent, 10)))
		}
	}
	return lines
}

// debits says when equal debits are due.
func (w writer) debits(equal []Debit) string {
	first, last := equal[0], equal[len(equal)-1]
	if len(equal) == 1 {
		return w.basedOn(first.Basis, w.say(textDebit, "price", w.money(first.Price), "date", first.Date))
	}
	return w.basedOn(first.Basis, w.say(textDebits, "count", strconv.Itoa(len(equal)), "price", w.money(first.Price),
		"first", first.Date, "last", last.Date))
}

// endless says what is repeated until the buyer cancels, each in a line.
func (w writer) endless(all []Endless) (lines []string) {
	for _, one := range all {
		every := w.duration(one.Every, rhythms)
		if one.Day > 0 {
			every = w.onDay(every, one.Day)
		}
		lines = append(lines, w.basedOn(one.Basis, w.say(textEndless, "price", w.money(one.Price), "every", every, "date", one.From)))
	}
	return lines
}

// lastShort is the last day that every month has.
const lastShort = 28

// onDay adds the day of the month to a rhythm.
func (w writer) onDay(every string, day int) string {
	code := textOnDay
	if day > lastShort {
		code = textOnLateDay
	}
	return w.say(code, "every", every, "day", w.Ordinal(day))
}

// basedOn adds to words about an amount whether it is an estimate.
func (w writer) basedOn(basis schedule.Basis, words string) string {
	if basis == schedule.Exact {
		return words
	}
	return w.say(textEstimated, "words", words)
}
