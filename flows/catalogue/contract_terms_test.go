package catalogue_test

import (
	"strings"
	"testing"

	"frontdesk/flows/catalogue"
)

// TestContractTermsProblems: an operator gets all problems of the terms at once, those of the form with their lines.
func TestContractTermsProblems(t *testing.T) {
	t.Parallel()
	for file, wants := range map[string][]string{
		`defaults:
  contract:
    notise: One month
    withdrawal:
      counter: {rights: false}
      badge: {right: maybe}`: {
			"line 3: notise is not a known key", "line 5: rights is not a known key", "line 6: cannot construct",
		},
		`clubs:
  "11":
    contract:
      renewal: {en: " ", french: Il continue}
      notice: {de: Ein Monat, fr: "Un\nmois"}
      noticePeriod: one month
      withdrawal:
        Counter: {}
        badge: {right: false}
        regular: {from: shipping}
        package: {exception: On a fixed day}
        test_session: {right: false, from: contract, exception: On a fixed day}`: {
			"clubs.11.contract.renewal: must not be empty", `.contract.renewal: "french" must be a language`,
			".contract.notice: must have en", ".contract.notice: must be on one line",
			`.contract.noticePeriod: "one month" must be a duration`, ".withdrawal.Counter: must be a type of product",
			".withdrawal.badge.exception: is missing", `.withdrawal.regular.from: "shipping" must be contract or delivery`,
			".withdrawal.package.exception: must be absent", ".withdrawal.test_session.from: must be absent",
		},
		"defaults: {contract: {renewal: " + strings.Repeat("x", 501) + ", noticePeriod: P0D}}": {
			"defaults.contract.renewal: must have at most 500 characters", `defaults.contract.noticePeriod: "P0D" must be`,
		},
	} {
		_, err := catalogue.ParseDirectory([]byte(file), nil)
		if err == nil {
			t.Errorf("%s: no error", file)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is missing in: %v", want, err)
			}
		}
	}
}

// TestContractTermsOfAClub: a club's own terms override the defaults, type by type, and what is left out follows the law.
func TestContractTermsOfAClub(t *testing.T) {
	t.Parallel()
	clubs := must(t, func() (*catalogue.Directory, error) {
		return catalogue.ParseDirectory([]byte(`
defaults:
  contract: {renewal: It continues, notice: One month, noticePeriod: P1M, withdrawal: {counter: {from: delivery}, badge: {from: contract}}}
clubs: {11: {contract: {notice: Two weeks, noticePeriod: P14D, withdrawal: {badge: {right: false, exception: It is cut to size}}}}}`), nil)
	})
	own := clubs.Details("11").Contract
	if own.Renewal.In("en") != "It continues" || own.Words.In("fr") != "Two weeks" || own.Period != "P14D" {
		t.Errorf("the terms are %+v", own)
	}
	for kind, want := range map[string]string{
		"counter": catalogue.FromDelivery, "subscription": catalogue.FromContract, "regular": catalogue.FromDelivery, "": catalogue.FromContract,
	} {
		if rule := own.WithdrawalRule(kind); rule.From != want || !rule.HasRight() {
			t.Errorf("%q can be withdrawn from: %+v", kind, rule)
		}
	}
	if rule := own.WithdrawalRule("badge"); rule.HasRight() || rule.Exception.In("en") != "It is cut to size" {
		t.Errorf("the badge: %+v", rule)
	}
}
