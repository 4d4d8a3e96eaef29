package text

import "github.com/bojanz/currency"

// Money writes an amount in minor units as the language does, and as the site shows it: €149.00, 149,00 €. A currency that
// ISO 4217 does not have gets two decimals and its code.
func (l *Language) Money(minor int64, code string) string {
	formatter := currency.NewFormatter(currency.NewLocale(l.locale.Locale()))
	amount, err := currency.NewAmountFromInt64(minor, code)
	if err != nil {
		const other = "EUR"
		amount, _ = currency.NewAmountFromInt64(minor, other)
		formatter.SymbolMap[other] = code
	}
	return formatter.Format(amount)
}
