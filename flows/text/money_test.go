package text_test

import (
	"encoding/json"
	"os/exec"
	"testing"

	"frontdesk/flows/text"
)

// shown writes amounts as web-example/format.js does, in the locales that the site uses for a browser without one.
const shown = `
const written = {};
for (const [language, locale] of [["en", "en-GB"], ["fr", "fr-FR"]]) {
  written[language] = JSON.parse(process.argv[1]).map(({ Minor, Currency }) => {
    const format = new Intl.NumberFormat(locale, { style: "currency", currency: Currency });
    return format.format(Minor / 10 ** format.resolvedOptions().maximumFractionDigits);
  });
}
console.log(JSON.stringify(written));`

// TestMoneyIsAsTheSiteShowsIt compares amounts with those of Intl.NumberFormat, to each space. Symbols of currencies that no cart
// can be paid in depend on the version of the browser.
func TestMoneyIsAsTheSiteShowsIt(t *testing.T) {
	t.Parallel()
	type amount struct {
		Minor    int64
		Currency string
	}
	var amounts []amount
	for _, currency := range []string{"EUR", "GBP", "CHF", "USD", "CAD", "SEK", "PLN", "MAD", "TND"} {
		for _, minor := range []int64{0, 5, 4990, 14900, 123456, 1234567_89, -350} {
			amounts = append(amounts, amount{minor, currency})
		}
	}
	input, err := json.Marshal(amounts)
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), "node", "--eval", shown, string(input)).Output()
	if err != nil {
		t.Fatalf("%v: this test needs node", err)
	}
	var written map[string][]string
	if err := json.Unmarshal(output, &written); err != nil {
		t.Fatal(err)
	}
	for tag, of := range written {
		for i, want := range of {
			if got := text.Match(tag).Money(amounts[i].Minor, amounts[i].Currency); got != want {
				t.Errorf("%d %s in %s is %q, and the site shows %q", amounts[i].Minor, amounts[i].Currency, tag, got, want)
			}
		}
	}
	if len(written) != len(text.Languages) {
		t.Errorf("the site writes %d languages, and the texts are in %d", len(written), len(text.Languages))
	}
}

// TestMoneyOfAnUnknownCurrency: it is written by its code.
func TestMoneyOfAnUnknownCurrency(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"en": "XXX\u00a0149.00", "fr": "149,00\u00a0XXX"} {
		if got := text.Match(tag).Money(14900, "XXX"); got != want {
			t.Errorf("in %s it is %q, want %q", tag, got, want)
		}
	}
}
