package schedule

import "slices"

// Basis says how far an amount and its date can be trusted.
type Basis string

// The bases, from the best to the worst.
const (
	Exact     Basis = "exact"     // follows from what the club system says, to the cent
	Estimated Basis = "estimated" // a rule filled a gap; it is named
	Unknown   Basis = "unknown"   // nothing honest can be said; the rule says why
)

// Rule names why something is not exact.
type Rule string

// Rules of an estimate: each says what was taken for granted.
const (
	// MonthsAsWeeks: months meet weeks, so 12 months are taken for 52 weeks.
	MonthsAsWeeks Rule = "months_as_weeks"
	// Rounded: the price of a debit has a fraction of a cent. It is rounded,
	// half a cent up, and for a limited time so that the sum is right.
	Rounded Rule = "rounded"
	// Remainder: the periods do not fill the last debit, which takes those that are left.
	Remainder Rule = "remainder"
	// EntriesInTurn: nothing tells whether several entries run side by side, so
	// they are taken to follow each other.
	EntriesInTurn Rule = "entries_in_turn"
	// LoopOverOffset: loop and offset tell different numbers; the loop counts.
	LoopOverOffset Rule = "loop_over_offset"
	// FirstInstalmentAssumed: what is paid at once is not the fee and the first
	// instalment, though it is said to hold it; the first debit is left out anyway.
	FirstInstalmentAssumed Rule = "first_instalment_assumed"
	// DebitDayOpen: no debit day was chosen, and the club may choose another.
	DebitDayOpen Rule = "debit_day_open"
	// CalendarMonths: a prorated offer is taken to be billed by calendar months
	// once the month in which it starts is over.
	CalendarMonths Rule = "calendar_months"
	// ProrataByDays: the first month costs its share of days, the first day
	// included, half a cent up.
	ProrataByDays Rule = "prorata_by_days"
)

// Rules that leave the schedule unknown.
const (
	// PeriodUnreadable: a rhythm, an interval or an offset is not a duration.
	PeriodUnreadable Rule = "period_unreadable"
	// CountUnknown: how often an entry repeats is not known.
	CountUnknown Rule = "count_unknown"
	// ProrataUnknown: the prorated first instalment is not a month.
	ProrataUnknown Rule = "prorata_unknown"
	// OutOfRange: amounts, debits or dates are beyond what an offer can mean.
	OutOfRange Rule = "out_of_range"
)

// Verdict is a basis with the rules behind it; no rule means exact.
type Verdict struct {
	Basis Basis
	Rules []Rule
}

// verdict weighs rules: each once, in their order.
func verdict(rules ...Rule) Verdict {
	v := Verdict{Basis: Exact}
	for _, rule := range rules {
		if slices.Contains(v.Rules, rule) {
			continue
		}
		v.Rules = append(v.Rules, rule)
		switch rule {
		case PeriodUnreadable, CountUnknown, ProrataUnknown, OutOfRange:
			v.Basis = Unknown
		default:
			if v.Basis == Exact {
				v.Basis = Estimated
			}
		}
	}
	return v
}

// and is the verdict over two things together.
func (v Verdict) and(other Verdict) Verdict {
	return verdict(slices.Concat(v.Rules, other.Rules)...)
}
