package handlers

import (
	"math"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// amount writes minor units as the language does: €149.00, 149,00 €. A currency that ISO 4217 does not have is written by its code.
func (l *texts) amount(minor int64, code string) string {
	const noBreak = "\u00a0"
	symbol, digits := code, 2
	printer := message.NewPrinter(language.Make(l.Tag))
	if unit, err := currency.ParseISO(code); err == nil {
		symbol = printer.Sprint(currency.Symbol(unit))
		digits, _ = currency.Standard.Rounding(unit)
	}
	// A float64 holds the at most fourteen digits of an amount exactly enough to print.
	figure := printer.Sprint(number.Decimal(float64(minor)/math.Pow10(digits), number.Scale(digits)))
	switch {
	case l.Tag != "en":
		return figure + noBreak + symbol
	case symbol != code:
		return symbol + figure
	}
	return symbol + noBreak + figure
}
