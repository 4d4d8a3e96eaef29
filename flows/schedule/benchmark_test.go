package schedule_test

import (
	"testing"
	"time"

	"frontdesk/flows/schedule"
)

// BenchmarkOf measures the schedule of an endless subscription whose first month is paid at once, as a
// catalogue page needs it for each of its offers.
func BenchmarkOf(b *testing.B) {
	terms := schedule.Terms{
		Offer: schedule.Offer{
			DueNow:              6890,
			RegistrationFee:     2900,
			FirstInstalmentPaid: true,
			Rhythm:              "monthly",
			Recurrences:         []schedule.Entry{{Offset: "P0W", Interval: "P1M", Price: 3990}},
		},
		Today: schedule.Date{Year: 2026, Month: time.November, Day: 21},
		Start: schedule.Date{Year: 2026, Month: time.December, Day: 1}, DebitDay: 5,
	}
	b.ReportAllocs()
	for b.Loop() {
		schedule.Of(terms)
	}
}
