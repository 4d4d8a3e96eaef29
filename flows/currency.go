package flows

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/currency"
)

// withoutCents are the currencies whose minor unit is not a hundredth, in ISO 4217 or for card processors. Pages, the club
// system and the processor then disagree about what an amount means, by a factor of up to 1,000. Source: ISO 4217 list
// one, amended by what Stripe documents as zero-decimal, three-decimal and special cases (HUF, UGX, ISK, MGA, TWD). XXX
// is not a currency.
const withoutCents = `BHD BIF CLF CLP DJF GNF HUF IQD ISK JOD JPY KMF KRW KWD LYD MGA MRU OMR PYG RWF TND TWD UGX UYI UYW VND VUV
XAF XOF XPF XXX`

// newCurrencies are newer than the library's list.
const newCurrencies = `SLE VED VES XCG ZWG`

// hasCents reports whether a text is a currency (ISO 4217) whose minor unit is a hundredth everywhere, so that amounts
// are clear.
func hasCents(code string) bool {
	code = strings.ToUpper(code)
	_, err := currency.ParseISO(code)
	known := err == nil || slices.Contains(strings.Fields(newCurrencies), code)
	return known && !slices.Contains(strings.Fields(withoutCents), code)
}

// CheckCurrency returns CartInvalid if the buyer owes an amount that is not clear, now or by direct debit later.
func (r *Registration) CheckCurrency() error {
	if r.Cart.Total <= 0 && !r.AsksForMandate() || hasCents(r.Cart.Currency) {
		return nil
	}
	return &Error{Code: CartInvalid, Detail: DetailCurrency,
		Params: map[string]string{"currency": cmp.Or(r.Cart.Currency, "XXX")}}
}
