package handlers

import (
	"math"
	"strings"

	locale "github.com/go-playground/locales/currency"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// amount writes minor units as the language does: €149.00, 149,00 €. A currency that ISO 4217 does not have is written by its code.
func (l *texts) amount(minor int64, code string) string {
	const noBreak = "\u00a0"
	symbol, digits := code, 2
	if unit, err := currency.ParseISO(code); err == nil {
		symbol = message.NewPrinter(language.Make(l.Tag)).Sprint(currency.Symbol(unit)) // the locale has few symbols
		digits, _ = currency.Standard.Rounding(unit)
	}
	// A float64 holds the at most fourteen digits of an amount exactly enough to print.
	figure := l.locale.FmtNumber(float64(minor)/math.Pow10(digits), uint64(digits)) // #nosec G115 -- never negative
	symbolLast := strings.HasPrefix(l.locale.FmtCurrency(0, 0, locale.EUR), "0")
	switch {
	case symbolLast:
		return figure + noBreak + symbol
	case symbol != code:
		return symbol + figure
	}
	return symbol + noBreak + figure
}
