package flows

import (
	"slices"
	"strings"
)

// withoutCents are the currencies whose minor unit is not a hundredth, in ISO 4217 or for card processors. Pages, the club
// system and the processor then disagree about what an amount means, by a factor of up to 1,000. Source: ISO 4217 list
// one, amended by what Stripe documents as zero-decimal, three-decimal and special cases (HUF, UGX, ISK, MGA, TWD).
const withoutCents = `BHD BIF CLF CLP DJF GNF HUF IQD ISK JOD JPY KMF KRW KWD LYD MGA MRU OMR PYG RWF TND TWD UGX UYI UYW VND VUV
XAF XOF XPF`

// HasCents reports whether the minor unit of a currency (ISO 4217) is a hundredth everywhere, so that amounts are clear.
func HasCents(currency string) bool {
	return !slices.Contains(strings.Fields(withoutCents), strings.ToUpper(currency))
}
