package schedule

import "slices"

// Basis says how reliable an amount and its date are.
type Basis string

// The bases, from the best to the worst.
const (
	Exact     Basis = "exact"     // derived from the club system's data, to the cent
	Estimated Basis = "estimated" // a rule filled a gap; Rules names it
	Unknown   Basis = "unknown"   // the data allows no estimate; Rules says why
)

// Rule names why something is not exact.
type Rule string

// Rules of an estimate: each names an assumption.
const (
	// MonthsAsWeeks: the offer mixes months and weeks, so 12 months count as 52 weeks.
	MonthsAsWeeks Rule = "months_as_weeks"
	// Rounded: the price of a debit has a fraction of a cent. It is rounded,
	// half a cent up, and for a limited time so that the sum is right.
	Rounded Rule = "rounded"
	// Remainder: the periods do not divide evenly, so the last debit covers the remaining ones.
	Remainder Rule = "remainder"
	// EntriesInTurn: nothing in the offer shows whether several entries run in
	// parallel, so they are assumed to follow each other.
	EntriesInTurn Rule = "entries_in_turn"
	// LoopOverOffset: loop and offset give different numbers; the loop counts.
	LoopOverOffset Rule = "loop_over_offset"
	// FirstInstalmentAssumed: the amount due now should include the first instalment, but
	// is not the fee plus that instalment; the first debit is omitted anyway.
	FirstInstalmentAssumed Rule = "first_instalment_assumed"
	// DebitDayOpen: no debit day was chosen, and the club may choose another.
	DebitDayOpen Rule = "debit_day_open"
	// CalendarMonths: a prorated offer is assumed to be billed by calendar months
	// after the month in which it starts.
	CalendarMonths Rule = "calendar_months"
	// ProrataByDays: the first month is charged by its days, including the first
	// day, with half a cent rounded up.
	ProrataByDays Rule = "prorata_by_days"
	// StartAssumed: the club system added a line to the cart, and does not say when it starts. It is assumed to start and to be
	// debited with the line that it belongs to.
	StartAssumed Rule = "start_assumed"
	// PriceDiffers: a line of the cart costs another price than its offer, such as after a discount. Later debits are
	// assumed to be those of the offer.
	PriceDiffers Rule = "price_differs"
)

// Rules that leave the schedule unknown.
const (
	// PeriodUnreadable: a rhythm, an interval or an offset is not a duration.
	PeriodUnreadable Rule = "period_unreadable"
	// CountUnknown: the number of an entry's repetitions is unknown.
	CountUnknown Rule = "count_unknown"
	// ProrataUnknown: the prorated first instalment is not a month.
	ProrataUnknown Rule = "prorata_unknown"
	// OutOfRange: amounts, debits or dates are outside the range of a plausible offer.
	OutOfRange Rule = "out_of_range"
	// OfferUnknown: the club no longer offers to this buyer what is in the cart.
	OfferUnknown Rule = "offer_unknown"
	// OffersUnread: the club's offers cannot be read at the moment.
	OffersUnread Rule = "offers_unread"
)

// Verdict is a basis with the rules behind it; no rule means exact.
type Verdict struct {
	Basis Basis
	Rules []Rule
}

// verdict weighs rules: each once, in their order.
func verdict(rules ...Rule) Verdict {
	weighed := Verdict{Basis: Exact}
	for _, rule := range rules {
		if slices.Contains(weighed.Rules, rule) {
			continue
		}
		weighed.Rules = append(weighed.Rules, rule)
		switch rule {
		case PeriodUnreadable, CountUnknown, ProrataUnknown, OutOfRange, OfferUnknown, OffersUnread:
			weighed.Basis = Unknown
		default:
			if weighed.Basis == Exact {
				weighed.Basis = Estimated
			}
		}
	}
	return weighed
}

// and is the verdict over two things together.
func (v Verdict) and(other Verdict) Verdict {
	return verdict(slices.Concat(v.Rules, other.Rules)...)
}
