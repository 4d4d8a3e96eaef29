// Package iban checks account numbers: form, country and check digits (ISO 13616).
package iban

import (
	"regexp"
	"strconv"
	"strings"
)

// IBAN is an international bank account number that was checked, without
// spaces and in capitals (ISO 13616). It goes to the club system and is kept
// nowhere: whatever prints, logs or stores one by mistake gets it masked.
type IBAN struct{ Number string }

// start is what an account number begins with: the country and the check digits.
var start = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}`)

// Parse reads an account number as people write it: with spaces, in small
// letters. problem is the public API's code for what is wrong with it, with the
// parameters of its text; empty when the country's form and the check digits are right.
func Parse(text string) (iban IBAN, problem string, params map[string]string) {
	number := strings.ToUpper(strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "\t", "").Replace(text))
	if !start.MatchString(number) {
		return IBAN{}, "iban", nil
	}
	form, known := accountForms[number[:2]]
	if !known {
		return IBAN{}, "iban_country", nil
	}
	account := number[4:]
	if want := form.length(); len(account) != want {
		return IBAN{}, "iban_length", map[string]string{"expected": strconv.Itoa(4 + want), "given": strconv.Itoa(len(number))}
	}
	if !form.matches(account) {
		return IBAN{}, "iban_account", nil
	}
	if !checkDigitsFit(number) {
		return IBAN{}, "iban_check_digits", nil
	}
	return IBAN{number}, "", nil
}

// Masked is what may be shown and stored: the country and the last four
// characters, which are enough for its holder to recognise it.
func (i IBAN) Masked() string {
	if len(i.Number) < 8 {
		return "****"
	}
	return i.Number[:2] + "** **** " + i.Number[len(i.Number)-4:]
}

// String is Masked.
func (i IBAN) String() string { return i.Masked() }

// GoString is Masked, so that %#v does not show the number either.
func (i IBAN) GoString() string { return i.Masked() }

// MarshalText is Masked, which is what a record or a response gets.
func (i IBAN) MarshalText() ([]byte, error) { return []byte(i.Masked()), nil }

// checkDigitsFit divides the number by 97, its first four characters moved to
// the end and letters read as 10 to 35: the remainder must be 1 (ISO 7064).
func checkDigitsFit(number string) bool {
	rest := 0
	for _, r := range number[4:] + number[:4] {
		switch {
		case r <= '9':
			rest = (rest*10 + int(r-'0')) % 97
		default:
			rest = (rest*100 + int(r-'A') + 10) % 97
		}
	}
	return rest == 1
}

// accountForm is the form of a country's account numbers behind the check
// digits, in the notation of the IBAN registry without its exclamation marks:
// a count and n for digits, a for letters, c for either, such as 10n11c2n.
type accountForm string

var (
	part    = regexp.MustCompile(`(\d+)([nac])`)
	classes = strings.NewReplacer("n", "[0-9]", "a", "[A-Z]", "c", "[A-Z0-9]")
)

func (f accountForm) length() (n int) {
	for _, found := range part.FindAllStringSubmatch(string(f), -1) {
		count, _ := strconv.Atoi(found[1])
		n += count
	}
	return n
}

func (f accountForm) matches(account string) bool {
	pattern := classes.Replace(part.ReplaceAllString(string(f), "$2{$1}"))
	fits, _ := regexp.MatchString("^"+pattern+"$", account) // every form makes a valid pattern
	return fits
}

// accountForms are the countries of the IBAN registry that SWIFT publishes for
// ISO 13616, neighbouring parts of one kind drawn together.
var accountForms = map[string]accountForm{
	"AD": "8n12c", "AE": "19n", "AL": "8n16c", "AT": "16n", "AZ": "4a20c", "BA": "16n", "BE": "12n", "BG": "4a6n8c",
	"BH": "4a14c", "BI": "23n", "BR": "23n1a1c", "BY": "4c4n16c", "CH": "5n12c", "CR": "18n", "CY": "8n16c", "CZ": "20n",
	"DE": "18n", "DJ": "23n", "DK": "14n", "DO": "4c20n", "EE": "16n", "EG": "25n", "ES": "20n", "FI": "14n",
	"FK": "2a12n", "FO": "14n", "FR": "10n11c2n", "GB": "4a14n", "GE": "2a16n", "GI": "4a15c", "GL": "14n", "GR": "7n16c",
	"GT": "24c", "HN": "4a20n", "HR": "17n", "HU": "24n", "IE": "4a14n", "IL": "19n", "IQ": "4a15n", "IS": "22n",
	"IT": "1a10n12c", "JO": "4a4n18c", "KW": "4a22c", "KZ": "3n13c", "LB": "4n20c", "LC": "4a24c", "LI": "5n12c", "LT": "16n",
	"LU": "3n13c", "LV": "4a13c", "LY": "21n", "MC": "10n11c2n", "MD": "20c", "ME": "18n", "MK": "3n10c2n", "MN": "16n",
	"MR": "23n", "MT": "4a5n18c", "MU": "4a19n3a", "NI": "4a20n", "NL": "4a10n", "NO": "11n", "OM": "3n16c", "PK": "4a16c",
	"PL": "24n", "PS": "4a21c", "PT": "21n", "QA": "4a21c", "RO": "4a16c", "RS": "18n", "RU": "14n15c", "SA": "2n18c",
	"SC": "4a20n3a", "SD": "14n", "SE": "20n", "SI": "15n", "SK": "20n", "SM": "1a10n12c", "SO": "19n", "ST": "21n",
	"SV": "4a20n", "TL": "19n", "TN": "20n", "TR": "6n16c", "UA": "6n19c", "VA": "18n", "VG": "4a16n", "XK": "16n",
	"YE": "4a4n18c",
}

// BICForm is a business identifier code: institution, country, place, and a
// branch that may be left out (ISO 9362).
var BICForm = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$`)
