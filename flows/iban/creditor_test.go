package iban_test

import (
	"strings"
	"testing"

	"frontdesk/flows/iban"
)

// TestCheckCreditor has identifiers from the documents of national communities, and their typing errors.
func TestCheckCreditor(t *testing.T) {
	t.Parallel()
	for identifier, wrong := range map[string]string{
		"FR72ZZZ123456":      "",
		"fr72 zzz 123456":    "",
		"FR72ABC123456":      "", // the business code does not count
		"DE98ZZZ09999999999": "",
		"FR49ZZZ000001":      "",
		"FR73ZZZ123456":      "check digits",
		"FR72ZZZ123465":      "check digits",
		"FR72ZZZ":            "must be a creditor identifier",
		"FR72ZZZ12345é":      "must be a creditor identifier",
		"":                   "must be a creditor identifier",
		"ZZZFR72123456":      "must be a creditor identifier",
	} {
		problem := iban.CheckCreditor(identifier)
		if (problem == "") != (wrong == "") || !strings.Contains(problem, wrong) {
			t.Errorf("%q: %q", identifier, problem)
		}
	}
}
