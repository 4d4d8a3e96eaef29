// Package schedule computes what an offer of the club system costs, and when: the
// amount due now, every debit with its date, or the debit that never ends.
//
// It only computes: no clock, no requests, no floating point. It uses two types of
// the club system's client, in offer.go. Package catalogue knows the offers and
// debit days. A schedule is a preview: a visitor always pays the cart's amount.
//
// The club system describes billing periods, and the rhythm in which they are
// debited (club system API, sections Offer and Schedule entry). One debit is the
// price of an entry times the number of its intervals in one rhythm. Where the
// club system's data leaves a gap, a line names the rule that filled it; it never
// looks more exact than it is.
//
// Start reading at Of; OfCart adds up the schedules of a cart. What is due now, with the prorata of the first month, comes from
// due_now.go; the amounts of the debits come from plan.go, and their dates from debit.go.
package schedule

// Offer is what an offer says about money. Amounts are in minor units.
type Offer struct {
	// DueNow is paid at once. It includes the fee and, where
	// FirstInstalmentPaid, the first instalment (totalPriceTI).
	DueNow              int64
	RegistrationFee     int64
	FirstInstalmentPaid bool   // isFirstMonthPayed
	Prorated            bool   // the first instalment depends on the start date (isProrated)
	Rhythm              string // ISO 8601, or week1, week4, monthly (rhythmBilling)
	Commitment          string // ISO 8601, empty for none (validityPeriod)
	Occurrences         []Entry
	Recurrences         []Entry // without end
}

// Entry is one part of a schedule, a billing period and its repetition.
type Entry struct {
	Offset   string // ISO 8601: how long it is repeated; P0W: Loop says how often
	Interval string // ISO 8601: the billing period
	Loop     int    // repetitions; 0: Offset divided by Interval
	Price    int64  // for one interval
}

// Terms is an offer with the buyer's choices.
type Terms struct {
	Offer
	Extras []int64 // prices of what is sold with the offer, and paid at once
	Today  Date
	Start  Date // one before Today counts as Today
	// DebitDay is a day of the month; 0: debits keep the day of the start.
	DebitDay int
	// DebitDayOpen: DebitDay was not chosen, so every date is an estimate. A
	// DebitDay of 0 is always open, unless debits by weeks have a WeekDay.
	DebitDayOpen bool
	WeekDay      int  // of the debits, 1 is Monday, instead of DebitDay; 0: none
	NotBefore    Date // no debit falls before it; the zero Date: none
}

// Schedule is what an offer costs, and when.
type Schedule struct {
	DueNow     DueNow
	Debits     []Debit     // in the order of their dates
	Recurrence *Recurrence // continues after Debits; nil: nothing does
	Total      *int64      // DueNow and Debits; nil if it never ends or is not known
	Verdict                // the worst of all parts, with all their rules
	// FirstStatement is what leaves the account from today to the second debit.
	FirstStatement []Movement
}

// DueNow is paid today, by card or at the desk.
type DueNow struct {
	Date   Date
	Amount int64
	Parts  []Part // add up to Amount, with the extras
	Verdict
}

// Part is a part of what is due now.
type Part struct {
	Kind   PartKind
	Amount int64 // a prorata can be below zero
}

// PartKind says what a part pays for.
type PartKind string

// The kinds of parts.
const (
	Price           PartKind = "price" // the offer itself
	Fee             PartKind = "registration_fee"
	FirstInstalment PartKind = "first_instalment" // which is not debited again
	Prorata         PartKind = "prorata"          // makes the first month fit its days
)

// Debit is one direct debit.
type Debit struct {
	Date   Date
	Amount int64
	Verdict
}

// Recurrence is a debit that is repeated without end.
type Recurrence struct {
	From   Date
	Every  string // ISO 8601
	Day    int    // of the month, or the last one of a shorter month; 0 where weeks are counted
	Amount int64
	Verdict
}

// Movement is a line of a bank statement.
type Movement struct {
	Date   Date
	Amount int64
	Debit  bool // else the payment that is made now
	Verdict
}

// Of computes the schedule of an offer. It never fails: a schedule that cannot be derived is
// Unknown and has no debits.
func Of(terms Terms) Schedule {
	if terms.Start.Compare(terms.Today) < 0 {
		terms.Start = terms.Today
	}
	plan := planOf(terms.Offer)
	schedule := Schedule{DueNow: dueNow(terms, plan)}
	schedule.Verdict = schedule.DueNow.and(plan.Verdict)
	if schedule.Basis != Unknown {
		schedule.collect(terms, plan)
	}
	if schedule.Basis == Unknown { // found so, or become so by dates that no calendar has
		schedule.Debits, schedule.Recurrence = nil, nil
	}
	schedule.Total = schedule.total()
	schedule.FirstStatement = schedule.firstStatement()
	return schedule
}

// total returns the sum of all movements; nil if they do not end, or are unknown.
func (s *Schedule) total() *int64 {
	if s.Recurrence != nil || s.Basis == Unknown {
		return nil
	}
	sum := s.DueNow.Amount
	for _, debit := range s.Debits {
		sum += debit.Amount
	}
	return &sum
}

// statementDebits: the second debit shows that the first was no double charge.
const statementDebits = 2

// firstStatement is today's payment and the first two debits, as far as there are any.
func (s *Schedule) firstStatement() []Movement {
	var lines []Movement
	if s.DueNow.Amount != 0 {
		lines = append(lines, Movement{Date: s.DueNow.Date, Amount: s.DueNow.Amount, Verdict: s.DueNow.Verdict})
	}
	debits := s.Debits
	if r := s.Recurrence; r != nil {
		for n := range statementDebits {
			debits = append(debits[:len(debits):len(debits)], Debit{Date: r.At(n), Amount: r.Amount, Verdict: r.Verdict})
		}
	}
	for _, debit := range debits[:min(len(debits), statementDebits)] {
		lines = append(lines, Movement{Date: debit.Date, Amount: debit.Amount, Debit: true, Verdict: debit.Verdict})
	}
	return lines
}
