package schedule_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"frontdesk/flows/schedule"
)

// drawDay draws a day of the coming years, often one at the end of a month or in a leap year.
func drawDay(t *rapid.T, label string) schedule.Date {
	if rapid.Bool().Draw(t, label+" at a month's end") {
		first := schedule.Date{
			Year:  rapid.IntRange(2026, 2032).Draw(t, label+" year"),
			Month: time.Month(rapid.IntRange(1, 12).Draw(t, label+" month")),
			Day:   1,
		}
		return first.AddMonths(1).AddDays(-rapid.IntRange(1, 4).Draw(t, label+" before the end"))
	}
	return schedule.Date{Year: 2026, Month: time.November, Day: 21}.AddDays(rapid.IntRange(0, 2500).Draw(t, label))
}

var (
	rhythms   = rapid.SampledFrom([]string{"week1", "week4", "monthly", "P1W", "P4W", "P1M", "P2W", "P3M", "P1Y", "P10D"})
	intervals = rapid.SampledFrom([]string{"P1W", "P4W", "P1M", "P2M", "P1Y", "P7D", "P10D"})
	prices    = rapid.Int64Range(0, 100_000)
)

// drawTerms draws an offer of one limited entry, one endless, or both.
func drawTerms(t *rapid.T) schedule.Terms {
	terms := schedule.Terms{Today: drawDay(t, "today"), DebitDay: rapid.IntRange(0, 31).Draw(t, "debit day")}
	terms.Start = terms.Today.AddDays(rapid.IntRange(0, 400).Draw(t, "days until the start"))
	offer := &terms.Offer
	offer.Rhythm = rhythms.Draw(t, "rhythm")
	offer.RegistrationFee = prices.Draw(t, "fee")
	kind := rapid.SampledFrom([]string{"limited", "endless", "both"}).Draw(t, "kind")
	if kind != "endless" {
		offer.Occurrences = []schedule.Entry{
			{Offset: "P0W", Interval: intervals.Draw(t, "interval"), Loop: rapid.IntRange(1, 60).Draw(t, "loop"), Price: prices.Draw(t, "price")},
		}
	}
	if kind != "limited" {
		offer.Recurrences = []schedule.Entry{{
			Offset:   "P0W",
			Interval: intervals.Draw(t, "endless interval"),
			Price:    prices.Draw(t, "endless price"),
		}}
	}
	offer.DueNow = offer.RegistrationFee
	return terms
}

// payFirst includes the first instalment in the amount paid at once.
func payFirst(terms schedule.Terms, amount int64) schedule.Terms {
	terms.FirstInstalmentPaid = true
	terms.DueNow += amount
	return terms
}

// TestSumsAreExact: a limited entry costs exactly its price times its periods, however it is split into debits
// and whether or not the first is paid at once.
func TestSumsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms := drawTerms(t)
		terms.Recurrences = nil
		entry := schedule.Entry{
			Offset:   "P0W",
			Interval: intervals.Draw(t, "the interval"),
			Price:    rapid.Int64Range(100, 100_000).Draw(t, "the price"),
		}
		longest := 60
		if entry.Interval == "P1Y" {
			longest = 10 // no weekly offer runs for more years
		}
		entry.Loop = rapid.IntRange(1, longest).Draw(t, "times")
		terms.Occurrences = []schedule.Entry{entry}
		whole := terms.RegistrationFee + terms.Occurrences[0].Price*int64(terms.Occurrences[0].Loop)
		plan := schedule.Of(terms)
		if plan.Total == nil || *plan.Total != whole {
			t.Fatalf("costs %v, want %d: %+v", plan.Total, whole, plan)
		}
		paid := schedule.Of(payFirst(terms, plan.Debits[0].Amount))
		if paid.Total == nil || *paid.Total != whole || len(paid.Debits) != len(plan.Debits)-1 {
			t.Fatalf("with the first paid at once it costs %v in %d debits, want %d in %d", paid.Total, len(paid.Debits), whole, len(plan.Debits)-1)
		}
		for _, rule := range paid.Rules {
			if rule == schedule.FirstInstalmentAssumed {
				t.Fatal("the first instalment was not known again")
			}
		}
	})
}

// TestEveryScheduleHolds checks the properties that every schedule has.
func TestEveryScheduleHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms := drawTerms(t)
		if rapid.Bool().Draw(t, "first paid") {
			terms = payFirst(terms, prices.Draw(t, "first"))
		}
		terms.Prorated = rapid.Bool().Draw(t, "prorated")
		plan := schedule.Of(terms)
		parts := int64(0)
		for _, part := range plan.DueNow.Parts {
			parts += part.Amount
		}
		if parts != plan.DueNow.Amount {
			t.Fatalf("the parts add up to %d of %d", parts, plan.DueNow.Amount)
		}
		dates := []schedule.Date{terms.Start.AddDays(-1)}
		for _, debit := range plan.Debits {
			dates = append(dates, debit.Date)
			if debit.Amount <= 0 {
				t.Fatalf("a debit of %d", debit.Amount)
			}
		}
		if r := plan.Recurrence; r != nil {
			for n := range 30 {
				dates = append(dates, r.At(n))
			}
			if plan.Total != nil || r.From != r.At(0) {
				t.Fatalf("endless, and yet %v in all from %s", plan.Total, r.From)
			}
		}
		holdDates(t, terms, dates)
		holdStatement(t, plan)
		holdVerdicts(t, plan)
	})
}

// holdDates: each date exists in the calendar, is later than the one before, and is the debit day or the last
// day of a shorter month.
func holdDates(t *rapid.T, terms schedule.Terms, dates []schedule.Date) {
	for i, date := range dates {
		if again, err := time.Parse(time.DateOnly, date.String()); err != nil || schedule.DateOf(again) != date {
			t.Fatalf("%s is not a date (%v)", date, err)
		}
		if i == 0 {
			continue
		}
		if date.Compare(dates[i-1]) <= 0 {
			t.Fatalf("%s comes after %s", date, dates[i-1])
		}
		if monthly := map[string]bool{"monthly": true, "P1M": true, "P3M": true, "P1Y": true}[terms.Rhythm]; !monthly || terms.DebitDay == 0 {
			continue
		}
		if last := date.AddDays(1).Day == 1; date.Day != terms.DebitDay && (!last || date.Day > terms.DebitDay) {
			t.Fatalf("%s is not on day %d", date, terms.DebitDay)
		}
	}
}

// holdStatement: the first statement is today's payment and the first two debits.
func holdStatement(t *rapid.T, plan schedule.Schedule) {
	if plan.Basis == schedule.Unknown && plan.Total != nil {
		t.Fatal("what is unknown has a total")
	}
	debits := 0
	for i, line := range plan.FirstStatement {
		if i > 0 && line.Date.Compare(plan.FirstStatement[i-1].Date) < 0 {
			t.Fatalf("%+v is out of order", plan.FirstStatement)
		}
		if line.Debit {
			debits++
		} else if i != 0 || line.Amount != plan.DueNow.Amount {
			t.Fatalf("%+v is not due now", line)
		}
	}
	if want := min(2, len(plan.Debits)); plan.Recurrence == nil && debits != want || plan.Recurrence != nil && debits != 2 {
		t.Fatalf("%d debits on the statement of %+v", debits, plan)
	}
}

// holdVerdicts: the whole is never more certain than its parts, and names its rules.
func holdVerdicts(t *rapid.T, plan schedule.Schedule) {
	verdicts := []schedule.Verdict{plan.DueNow.Verdict}
	for _, debit := range plan.Debits {
		verdicts = append(verdicts, debit.Verdict)
	}
	if plan.Recurrence != nil {
		verdicts = append(verdicts, plan.Recurrence.Verdict)
	}
	for _, v := range append(verdicts, plan.Verdict) {
		if (v.Basis == schedule.Exact) != (len(v.Rules) == 0) {
			t.Fatalf("%s by %v", v.Basis, v.Rules)
		}
		if plan.Basis == schedule.Exact && v.Basis != schedule.Exact || v.Basis == schedule.Unknown && plan.Basis != schedule.Unknown {
			t.Fatalf("the whole is %s, a part %s", plan.Basis, v.Basis)
		}
	}
}

// TestMonthsAgreeWithTheCalendar compares the dates with those of the standard library, which overflows into
// the next month where this package stays in the month.
func TestMonthsAgreeWithTheCalendar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, n := drawDay(t, "from"), rapid.IntRange(0, 600).Draw(t, "months")
		got := from.AddMonths(n)
		first := time.Date(from.Year, from.Month+time.Month(n), 1, 12, 0, 0, 0, time.UTC)
		if got.Year != first.Year() || got.Month != first.Month() {
			t.Fatalf("%s and %d months is %s", from, n, got)
		}
		if next := first.AddDate(0, 1, -1).Day(); got.Day != min(from.Day, next) {
			t.Fatalf("%s and %d months is %s", from, n, got)
		}
	})
}

// FuzzOf: no data of a club system causes a panic, or yields an exact schedule from unreadable entries.
func FuzzOf(f *testing.F) {
	f.Add("monthly", "P0W", "P1M", "P12M", 12, int64(2990), int64(4890), int64(1900), true, true, 5, 9000)
	f.Add("P9999Y", "P9999M", "P9999D", "", -1, int64(-1)<<62, int64(1)<<62, int64(-1)<<63, true, false, 31, 0)
	f.Fuzz(func(
		t *testing.T, rhythm, offset, interval, commitment string,
		loop int, price, due, fee int64, first, prorated bool, day, days int,
	) {
		entry := schedule.Entry{Offset: offset, Interval: interval, Loop: loop, Price: price}
		today := schedule.Date{Year: 2026, Month: time.November, Day: 21}
		plan := schedule.Of(schedule.Terms{
			Offer: schedule.Offer{
				DueNow:              due,
				RegistrationFee:     fee,
				FirstInstalmentPaid: first,
				Prorated:            prorated,
				Rhythm:              rhythm,
				Commitment:          commitment,
				Occurrences:         []schedule.Entry{entry, entry},
				Recurrences:         []schedule.Entry{entry},
			},
			Today:    today,
			Start:    today.AddDays(days % 4000),
			DebitDay: min(31, max(0, day)),
		})
		if plan.Basis == schedule.Unknown && len(plan.Debits) > 0 {
			t.Errorf("%v, and yet %d debits", plan.Rules, len(plan.Debits))
		}
	})
}
