package schedule

// lastYear is the last one that a date of four digits can name.
const lastYear = 9999

// calendar dates the debits that are still to come, counted from 0.
type calendar struct {
	rhythm period
	first  Date
	day    int // of the month, which monthly debits keep
	Verdict
}

// calendarOf finds the first debit; the others follow by the rhythm. A debit never precedes the period that it pays for. So the
// first one is on the first debit day from the start on, or from the end of what is paid today.
func calendarOf(terms Terms, plan plan) calendar {
	calendar := calendar{rhythm: plan.rhythm, day: terms.DebitDay, Verdict: verdict()}
	isWeekly := terms.WeekDay > 0 && plan.rhythm.days%7 == 0 && plan.rhythm.months == 0
	if terms.DebitDayOpen || terms.DebitDay == 0 && !isWeekly {
		calendar.Verdict = verdict(DebitDayOpen)
	}
	from := plan.rhythm.after(terms.Start, plan.paid)
	if terms.prorates() { // what is paid today lasts until the end of the month, whichever way it is prorated
		from = Date{terms.Start.Year, terms.Start.Month, 1}.plusMonths(1)
		calendar.Verdict = calendar.and(verdict(CalendarMonths))
	}
	isPostponed := from.Compare(terms.NotBefore) < 0
	if isPostponed {
		from = terms.NotBefore
	}
	switch {
	case calendar.day > 0:
		calendar.first = from.nextOn(calendar.day)
	case terms.WeekDay > 0:
		calendar.first = from.nextWeekDay(terms.WeekDay)
		calendar.day = calendar.first.Day
	case isPostponed || terms.prorates():
		calendar.first, calendar.day = from, from.Day
	default:
		calendar.first, calendar.day = from, terms.Start.Day
	}
	return calendar
}

func (c calendar) date(n int) Date {
	date := c.rhythm.after(c.first, n)
	if c.rhythm.months > 0 {
		return date.onDay(c.day) // an earlier, shorter month must not move this date
	}
	return date
}

// collect dates the plan's debits.
func (s *Schedule) collect(terms Terms, plan plan) {
	if len(plan.limited) == 0 && plan.endless == nil {
		return
	}
	calendar := calendarOf(terms, plan)
	common := plan.and(calendar.Verdict)
	next := max(plan.paid, len(plan.limited))
	if calendar.date(next-plan.paid+statementDebits).Year > lastYear {
		s.Verdict = verdict(OutOfRange)
		return
	}
	for n := plan.paid; n < len(plan.limited); n++ {
		if one := plan.limited[n]; one.amount != 0 { // a period that is free is not debited
			s.Debits = append(s.Debits, Debit{calendar.date(n - plan.paid), one.amount, common.and(one.Verdict)})
			s.Verdict = s.and(common).and(one.Verdict)
		}
	}
	if plan.endless != nil && plan.endless.amount != 0 {
		s.Recurrence = &Recurrence{
			From:    calendar.date(next - plan.paid),
			Every:   plan.rhythm.String(),
			Amount:  plan.endless.amount,
			Verdict: common.and(plan.endless.Verdict),
		}
		if plan.rhythm.months > 0 {
			s.Recurrence.Day = calendar.day
		}
		s.Verdict = s.and(s.Recurrence.Verdict)
	}
}

// At is the date of the n-th debit of the recurrence, 0 being From.
func (r Recurrence) At(n int) Date {
	rhythm, _ := parsePeriod(r.Every)
	return calendar{rhythm: rhythm, first: r.From, day: r.Day}.date(n)
}
