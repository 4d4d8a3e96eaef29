package schedule_test

import (
	"fmt"
	"time"

	"frontdesk/flows/schedule"
	"frontdesk/upstream/club"
)

func show(plan schedule.Schedule) {
	fmt.Println("now", plan.DueNow.Date, plan.DueNow.Amount)
	for _, debit := range plan.Debits {
		fmt.Println(debit.Date, debit.Amount, debit.Basis)
	}
	if r := plan.Recurrence; r != nil {
		fmt.Println("from", r.From, "every", r.Every, r.Amount, r.Basis)
	}
	if plan.Total != nil {
		fmt.Println("in all", *plan.Total)
	}
}

// An endless subscription: the first month is paid today with the fee, and is
// not debited again.
func ExampleOf() {
	show(schedule.Of(schedule.Terms{
		Offer: schedule.Offer{
			DueNow:              6890,
			RegistrationFee:     2900,
			FirstInstalmentPaid: true,
			Rhythm:              "monthly",
			Recurrences:         []schedule.Entry{{Offset: "P0W", Interval: "P1M", Price: 3990}},
		},
		Today: schedule.Date{Year: 2026, Month: time.November, Day: 21},
		Start: schedule.Date{Year: 2026, Month: time.December, Day: 1}, DebitDay: 5,
	}))
	// Output:
	// now 2026-11-21 6890
	// from 2027-01-05 every P1M 3990 exact
}

// Twelve weeks at 6.90, debited every four weeks: three debits of four weeks each.
func ExampleOf_weeks() {
	show(schedule.Of(schedule.Terms{
		Offer: schedule.Offer{
			DueNow: 1900, RegistrationFee: 1900, Rhythm: "P4W",
			Occurrences: []schedule.Entry{{Offset: "P12W", Interval: "P1W", Price: 690}},
		},
		Today: schedule.Date{Year: 2026, Month: time.November, Day: 21},
		Start: schedule.Date{Year: 2026, Month: time.December, Day: 1}, DebitDay: 5,
	}))
	// Output:
	// now 2026-11-21 1900
	// 2026-12-05 2760 exact
	// 2027-01-02 2760 exact
	// 2027-01-30 2760 exact
	// in all 10180
}

// Where months meet weeks, twelve months count as 52 weeks, and the line says so.
func ExampleOf_estimated() {
	plan := schedule.Of(schedule.Terms{
		Offer: schedule.Offer{
			DueNow: 900, RegistrationFee: 900, Rhythm: "monthly",
			Recurrences: []schedule.Entry{{Offset: "P0W", Interval: "P1W", Price: 590}},
		},
		Today: schedule.Date{Year: 2026, Month: time.November, Day: 21},
		Start: schedule.Date{Year: 2026, Month: time.December, Day: 1}, DebitDay: 5,
	})
	fmt.Println(plan.Recurrence.Amount, plan.Recurrence.Basis, plan.Recurrence.Rules)
	// Output: 2557 estimated [months_as_weeks rounded]
}

// The first bank statement, which looks like a double charge.
func ExampleOf_firstStatement() {
	plan := schedule.Of(schedule.Terms{
		Offer: schedule.Offer{
			DueNow: 990, FirstInstalmentPaid: true, Rhythm: "week1",
			Recurrences: []schedule.Entry{{Offset: "P0W", Interval: "P1W", Price: 990}},
		},
		Today: schedule.Date{Year: 2026, Month: time.November, Day: 21},
		Start: schedule.Date{Year: 2026, Month: time.November, Day: 21}, DebitDay: 5,
	})
	for _, line := range plan.FirstStatement {
		fmt.Println(line.Date, line.Amount, line.Debit)
	}
	// Output:
	// 2026-11-21 990 false
	// 2026-12-05 990 true
	// 2026-12-12 990 true
}

func ExampleOfferOf() {
	loops := 3
	offer := schedule.OfferOf(club.Offer{
		TotalPriceTI: 1900, RegistrationFeeTI: 1900, RhythmBilling: "monthly",
		RepaymentSchedule: club.RepaymentSchedule{
			Occurrences: []club.ScheduleEntry{{Offset: "P0W", Interval: "P1M", Loop: &loops, PriceTI: 2990}},
		},
	}, "P3M")
	fmt.Printf("%+v", offer.Occurrences)
	// Output: [{Offset:P0W Interval:P1M Loop:3 Price:2990}]
}

// Debits on the 31st fall on the last day of a shorter month, then on the 31st again.
func ExampleRecurrence_At() {
	r := schedule.Recurrence{From: schedule.Date{Year: 2028, Month: time.January, Day: 31}, Every: "P1M", Day: 31}
	fmt.Println(r.At(0), r.At(1), r.At(2))
	// Output: 2028-01-31 2028-02-29 2028-03-31
}

func ExampleDateOf() {
	fmt.Println(schedule.DateOf(time.Date(2026, time.November, 21, 23, 59, 0, 0, time.UTC)))
	// Output: 2026-11-21
}

func ExampleDate_String() {
	fmt.Println(schedule.Date{Year: 2027, Month: time.January, Day: 5}.String())
	// Output: 2027-01-05
}

func ExampleDate_Compare() {
	first, second := schedule.Date{Year: 2027, Month: time.January, Day: 5}, schedule.Date{Year: 2027, Month: time.February, Day: 1}
	fmt.Println(first.Compare(second), second.Compare(first), first.Compare(first))
	// Output: -1 1 0
}

func ExampleDate_AddDays() {
	fmt.Println(schedule.Date{Year: 2028, Month: time.February, Day: 1}.AddDays(28))
	// Output: 2028-02-29
}

func ExampleDate_AddMonths() {
	last := schedule.Date{Year: 2027, Month: time.January, Day: 31}
	fmt.Println(last.AddMonths(1), last.AddMonths(2))
	// Output: 2027-02-28 2027-03-31
}
