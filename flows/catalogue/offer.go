package catalogue

import (
	"slices"

	"frontdesk/flows/schedule"
	"frontdesk/upstream/club"
)

// Offer is an offer as the public API has it.
type Offer struct {
	IRI             club.IRI
	Type            string // the product's
	Name            string
	DueNow          int64 // minor units, registration fee included
	Currency        string
	RegistrationFee int64 // minor units; 0 means none
	FeeName         string
	Billing         *Billing // nil when nothing is due later
	Commitment      string   // ISO 8601 duration; empty without one
	Prorated        bool
	Needs           []string   // NeedsStartDate and so on
	Extras          []Offer    // what the club system adds to a cart with it, as far as the operator tells
	Listed          club.Offer // the same offer, as the club system has it
}

// Billing is what an offer costs after today.
type Billing struct {
	Rhythm  string // ISO 8601 duration between two debits
	Endless bool
	// FirstPaid: the first instalment is in DueNow, so one less is debited.
	FirstPaid bool
	Entries   []BillingEntry
}

// BillingEntry is a price that repeats. An offer costs the sum of its entries.
type BillingEntry struct {
	Every string // ISO 8601 duration
	Price int64  // minor units
	Times int    // how many periods; 0 when it never ends or cannot be counted
	Tax   *Tax   // nil if the club system tells none, or one that does not add up
}

// Tax is the tax that a price includes.
type Tax struct {
	Percent int64
	Amount  int64 // minor units
	Net     int64 // the price without it, in minor units
}

// taxOf returns the tax of an entry.
func taxOf(entry club.ScheduleEntry) *Tax {
	if entry.PriceTE+entry.Tax != entry.PriceTI || entry.PriceTE*entry.Tax < 0 || entry.TaxRate < 0 {
		return nil
	}
	return &Tax{Percent: int64(entry.TaxRate), Amount: entry.Tax, Net: entry.PriceTE}
}

// DebitChoice returns which day the buyer of an offer can choose, as the public API has it: debits by months
// fall on a day of the month, and those by weeks on a day of the week.
func (o Offer) DebitChoice() string {
	if o.Billing == nil {
		return "none"
	}
	switch months, days := schedule.ParseDuration(o.Billing.Rhythm); {
	case months > 0:
		return "month_day"
	case days > 0 && days%7 == 0:
		return "week_day"
	default:
		return "none"
	}
}

// The needs of an offer. A buyer may leave the debit out; the club then chooses its day.
const (
	NeedsStartDate = "startDate"
	NeedsDebit     = "debit"
	NeedsMandate   = "mandate"
)

// Requires reports whether an offer has a need.
func (o Offer) Requires(need string) bool { return slices.Contains(o.Needs, need) }

// ExtraPrices returns what is due for the extras.
func (o Offer) ExtraPrices() []int64 {
	prices := make([]int64, len(o.Extras))
	for i, extra := range o.Extras {
		prices[i] = extra.DueNow
	}
	return prices
}

func offerOf(product club.Product, offer club.Offer) Offer {
	out := Offer{
		IRI:             offer.IRI,
		Type:            product.Type,
		Name:            offer.Name,
		DueNow:          offer.TotalPriceTI,
		Currency:        offer.Currency,
		RegistrationFee: offer.RegistrationFeeTI,
		FeeName:         offer.RegistrationFeeName,
		Prorated:        offer.IsProrated,
		Billing:         billingOf(offer),
		Needs:           []string{},
		Listed:          offer,
	}
	if commitment, ok := Commitment(product); ok {
		out.Commitment, out.Needs = commitment, []string{NeedsStartDate}
	}
	if out.Billing != nil {
		out.Needs = append(out.Needs, NeedsDebit, NeedsMandate)
	}
	return out
}

// Commitment returns how long a product is subscribed to, an ISO 8601 duration, empty for no limit. It is false for a product that is no
// subscription.
func Commitment(product club.Product) (duration string, ok bool) {
	for _, behavior := range product.Behaviors {
		if behavior.Type == "subscription" {
			duration, ok = behavior.Configuration.ValidityPeriod, true
		}
	}
	return duration, ok
}

// billingOf translates the repayment schedule. An offer without one is paid at once.
func billingOf(offer club.Offer) *Billing {
	listed := offer.RepaymentSchedule
	if len(listed.Occurrences)+len(listed.Recurrences) == 0 {
		return nil
	}
	billing := &Billing{
		Rhythm:    schedule.Duration(offer.RhythmBilling),
		Endless:   len(listed.Recurrences) > 0,
		FirstPaid: offer.IsFirstMonthPayed,
	}
	for _, entry := range listed.Occurrences {
		billing.Entries = append(
			billing.Entries,
			BillingEntry{Every: entry.Interval, Price: entry.PriceTI, Times: repetitions(entry), Tax: taxOf(entry)},
		)
	}
	for _, entry := range listed.Recurrences {
		billing.Entries = append(billing.Entries, BillingEntry{Every: entry.Interval, Price: entry.PriceTI, Tax: taxOf(entry)})
	}
	return billing
}

// repetitions counts an occurrence's billing periods (club system API, Schedule entry): loop
// if given, else offset divided by interval; 0 when that is not a whole number.
func repetitions(entry club.ScheduleEntry) int {
	if entry.Loop != nil && *entry.Loop > 0 {
		return *entry.Loop
	}
	months, days := schedule.ParseDuration(entry.Offset)
	everyMonths, everyDays := schedule.ParseDuration(entry.Interval)
	switch {
	case everyMonths > 0 && days == 0 && months%everyMonths == 0:
		return months / everyMonths
	case everyDays > 0 && months == 0 && days%everyDays == 0:
		return days / everyDays
	default:
		return 0
	}
}
