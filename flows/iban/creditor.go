package iban

import (
	"regexp"
	"strings"
)

// creditorForm is a SEPA creditor identifier: the country, two check digits, three characters that the creditor chooses, and the
// national identifier (EPC262-08, section 2).
var creditorForm = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{3}[A-Z0-9]{1,28}$`)

// Compact returns an identifier without spaces and in capitals.
func Compact(text string) string { return strings.ToUpper(strings.ReplaceAll(text, " ", "")) }

// CheckCreditor returns what is wrong with a SEPA creditor identifier, for operators; empty if nothing is. Its check digits are
// those of an account number, computed without the three characters that the creditor chooses.
func CheckCreditor(text string) string {
	identifier := Compact(text)
	switch {
	case !creditorForm.MatchString(identifier):
		return "must be a creditor identifier such as FR72ZZZ123456"
	case !checkDigitsFit(identifier[:4] + identifier[7:]):
		return "has a typing error: its check digits do not fit"
	}
	return ""
}
