package schedule

import "frontdesk/upstream/club"

// OfferOf takes from an offer of the club system what a schedule is computed
// from. The commitment comes from its product: the ValidityPeriod of the
// behavior that is a subscription, empty for none.
func OfferOf(offer club.Offer, commitment string) Offer {
	return Offer{
		DueNow:              offer.TotalPriceTI,
		RegistrationFee:     offer.RegistrationFeeTI,
		FirstInstalmentPaid: offer.IsFirstMonthPayed,
		Prorated:            offer.IsProrated,
		Rhythm:              offer.RhythmBilling,
		Commitment:          commitment,
		Occurrences:         entriesOf(offer.RepaymentSchedule.Occurrences),
		Recurrences:         entriesOf(offer.RepaymentSchedule.Recurrences),
	}
}

func entriesOf(listed []club.ScheduleEntry) []Entry {
	entries := make([]Entry, len(listed))
	for i, e := range listed {
		entries[i] = Entry{Offset: e.Offset, Interval: e.Interval, Price: e.PriceTI}
		if e.Loop != nil {
			entries[i].Loop = *e.Loop
		}
	}
	return entries
}
