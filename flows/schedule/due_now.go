package schedule

import "math/big"

// Due returns the schedule's DueNow alone.
func Due(t Terms) DueNow { return dueNow(t, planOf(t.Offer)) }

// dueNow is what is paid today, the prorata of the first month included.
func dueNow(terms Terms, plan plan) DueNow {
	due := DueNow{Date: terms.Today, Amount: terms.DueNow, Verdict: verdict()}
	if max(terms.DueNow, terms.RegistrationFee, -terms.DueNow, -terms.RegistrationFee) > maxAmount {
		due.Verdict = verdict(OutOfRange)
	}
	rest := Part{Kind: Price, Amount: terms.DueNow - terms.RegistrationFee}
	if plan.paid > 0 {
		rest.Kind = FirstInstalment
	}
	due.add(Part{Kind: Fee, Amount: terms.RegistrationFee}, rest)
	for _, price := range terms.Extras {
		due.Amount += price
		if max(price, -price) > maxAmount {
			due.Verdict = due.and(verdict(OutOfRange))
		}
	}
	if !terms.prorates() {
		return due
	}
	all := plan.all()
	if len(all) == 0 || plan.rhythm != (period{months: 1}) {
		due.Verdict = due.and(verdict(ProrataUnknown))
		return due
	}
	first := all[0].amount
	share := prorata(first, terms.Start)
	if plan.paid > 0 {
		share -= first
	}
	due.Amount += share
	due.add(Part{Kind: Prorata, Amount: share})
	due.Verdict = due.and(verdict(ProrataByDays))
	return due
}

func (d *DueNow) add(parts ...Part) {
	for _, part := range parts {
		if part.Amount != 0 {
			d.Parts = append(d.Parts, part)
		}
	}
}

// prorates reports whether the first month is shortened: a start on the first of a month is not prorated.
func (t Terms) prorates() bool { return t.Prorated && t.Start.Day != 1 }

// prorata is the price of a month's days from a day on, that day included.
func prorata(month int64, from Date) int64 {
	days := from.daysOfMonth()
	return roundedPrice(month, big.NewRat(int64(days-from.Day+1), int64(days)))
}
