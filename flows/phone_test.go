package flows_test

import (
	"testing"

	"frontdesk/flows"
)

// TestCompletePhone: every spelling of a number is one number, and different numbers stay different.
func TestCompletePhone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ number, home, want string }{
		{"+33 6 12 34 56 78", "", "+33612345678"},
		{"+33 (0)6 12 34 56 78", "DE", "+33612345678"},
		{"+330612345678", "", "+33612345678"},
		{"0033-6.12.34.56.78", "", "+33612345678"},
		{"06 12 34 56 78", "FR", "+33612345678"},
		{"\u200e+33612345678", "", "+33612345678"},
		{"+33612345678", "", "+33612345678"},
		{"06 12 34 56 78", "", ""},
		{"0151 12345678", "DE", "+4915112345678"},
		{"+49 171 12345678", "", "+4917112345678"},
		{"(212) 555-0123", "US", "+12125550123"},
		{"1 312 555 0123", "US", "+13125550123"},
		{"787 555 0123", "PR", "+17875550123"},
		{"+39 06 69812345", "", "+390669812345"},
		{"06 69812345", "IT", "+390669812345"},
		{"06 20 123 4567", "HU", "+36201234567"},
		{"8 912 345 67 89", "RU", "+79123456789"},
		{"+3361234", "", ""},
		{"+999123456789", "", ""},
		{"+3361234567812345", "", ""},
		{"ada@example.com", "FR", ""},
		{"", "FR", ""},
	} {
		if got := flows.CompletePhone(test.number, test.home); got != test.want {
			t.Errorf("%q in %q is %q, not %q", test.number, test.home, got, test.want)
		}
	}
}

// TestAbbreviatePhone: limits take odd spellings for one number, and numbers of two countries for two.
func TestAbbreviatePhone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ number, home, want string }{
		{"+33612345678", "", "33 612345678"}, {"06 12 34 56 78", "FR", "33 612345678"}, {"06 12 34 56 78", "", "612345678"},
		{"+32612345678", "", "32 612345678"}, {"+12125550123", "", "1 125550123"}, {"none", "FR", ""},
	} {
		if got := flows.AbbreviatePhone(test.number, test.home); got != test.want {
			t.Errorf("%q in %q is %q, not %q", test.number, test.home, got, test.want)
		}
	}
}
