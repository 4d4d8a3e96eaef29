package schedule_test

import (
	"strings"
	"testing"

	"frontdesk/flows/schedule"
)

// TestRemaining: what is still debited from a day on, by the contract's end.
func TestRemaining(t *testing.T) {
	t.Parallel()
	paid := endless("monthly", months(0, 3990))
	paid.FirstInstalmentPaid, paid.DueNow = true, 3990
	for what, test := range map[string]struct {
		offer      schedule.Offer
		day        int
		from, end  string
		isKept     bool
		want       string
		total      int64
		isUnlisted bool
	}{
		"an endless one, through its last day": {
			paid, 5, "2026-11-29", "2027-02-05", false, "2026-12-05 3990, 2027-01-05 3990, 2027-02-05 3990", 11970, false,
		},
		"an endless one, until before a debit": {paid, 5, "2026-11-29", "2027-01-04", false, "2026-12-05 3990", 3990, false},
		"a debit of the same day":              {paid, 5, "2026-12-05", "2026-12-19", false, "2026-12-05 3990", 3990, false},
		"nothing any more":                     {paid, 5, "2026-12-06", "2026-12-19", false, "", 0, false},
		"a limited one": {
			limited("P1M", months(9, 1000)), 20, "2026-11-29", "2026-12-31", false, "2026-12-20 1000", 1000, false,
		},
		"a limited one that is kept in full, with a debit after its end": {
			limited("P1W", weeks(25, 700)), 20, "2026-11-29", "2026-12-03", true, "2026-12-05 700", 700, false,
		},
		"without a debit day": {
			paid, 0, "2026-11-29", "2026-12-20", false, "2026-12-19 3990 debit_day_open", 3990, false,
		},
		"what is paid once": {schedule.Offer{DueNow: 45900}, 0, "2026-11-29", "2027-06-18", false, "", 0, false},
		"unknown":           {limited("P1M", months(0, 1000)), 5, "2026-11-29", "2027-06-18", true, "", 0, true},
		"for ever":          {paid, 5, "2026-11-29", "9998-01-01", false, "", 0, true},
	} {
		start := day(t, "2026-06-19")
		terms := schedule.Terms{Offer: test.offer, Today: start, Start: start, DebitDay: test.day, DebitDayOpen: test.day == 0}
		left := schedule.RemainingOf(terms, day(t, test.from), day(t, test.end), test.isKept)
		if (left == nil) != test.isUnlisted {
			t.Errorf("%s: %+v", what, left)
		}
		if left == nil {
			continue
		}
		var got []string
		for _, debit := range left.Debits {
			got = append(got, line(debit.Date.String(), debit.Amount, debit.Verdict))
		}
		if joined := strings.Join(got, ", "); joined != test.want || left.Total != test.total {
			t.Errorf("%s: %s, in all %d; want %s, in all %d", what, joined, left.Total, test.want, test.total)
		}
		if isExact := !strings.Contains(test.want, "_"); isExact != (left.Basis == schedule.Exact) {
			t.Errorf("%s: the basis is %s", what, left.Basis)
		}
	}
}

func TestDateAfter(t *testing.T) {
	t.Parallel()
	for duration, want := range map[string]string{"P1M": "2027-02-28", "P2W": "2027-02-14", "P0D": "2027-01-31", "P1Y": "2028-01-31"} {
		if got, ok := day(t, "2027-01-31").After(duration); !ok || got.String() != want {
			t.Errorf("%s: %s, want %s", duration, got, want)
		}
	}
	for _, duration := range []string{"", "P", "P1M1D", "PT1H", "two weeks"} {
		if got, ok := day(t, "2027-01-31").After(duration); ok {
			t.Errorf("%q: %s", duration, got)
		}
	}
}
