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
func calendarOf(terms Terms, p plan) calendar {
	c := calendar{rhythm: p.rhythm, day: terms.DebitDay, Verdict: verdict()}
	isWeekly := terms.WeekDay > 0 && p.rhythm.days%7 == 0 && p.rhythm.months == 0
	if terms.DebitDayOpen || terms.DebitDay == 0 && !isWeekly {
		c.Verdict = verdict(DebitDayOpen)
	}
	from := p.rhythm.after(terms.Start, p.paid)
	if terms.prorates() { // what is paid today lasts until the end of the month, whichever way it is prorated
		from = Date{terms.Start.Year, terms.Start.Month, 1}.plusMonths(1)
		c.Verdict = c.and(verdict(CalendarMonths))
	}
	isPostponed := from.Compare(terms.NotBefore) < 0
	if isPostponed {
		from = terms.NotBefore
	}
	switch {
	case c.day > 0:
		c.first = from.nextOn(c.day)
	case terms.WeekDay > 0:
		c.first = from.nextWeekDay(terms.WeekDay)
		c.day = c.first.Day
	case isPostponed || terms.prorates():
		c.first, c.day = from, from.Day
	default:
		c.first, c.day = from, terms.Start.Day
	}
	return c
}

func (c calendar) date(n int) Date {
	date := c.rhythm.after(c.first, n)
	if c.rhythm.months > 0 {
		return date.onDay(c.day) // an earlier, shorter month must not move this date
	}
	return date
}

// collect dates the plan's debits.
func (s *Schedule) collect(t Terms, p plan) {
	if len(p.limited) == 0 && p.endless == nil {
		return
	}
	calendar := calendarOf(t, p)
	common := p.and(calendar.Verdict)
	next := max(p.paid, len(p.limited))
	if calendar.date(next-p.paid+statementDebits).Year > lastYear {
		s.Verdict = verdict(OutOfRange)
		return
	}
	for n := p.paid; n < len(p.limited); n++ {
		if one := p.limited[n]; one.amount != 0 { // a period that is free is not debited
			s.Debits = append(s.Debits, Debit{calendar.date(n - p.paid), one.amount, common.and(one.Verdict)})
			s.Verdict = s.and(common).and(one.Verdict)
		}
	}
	if p.endless != nil && p.endless.amount != 0 {
		s.Recurrence = &Recurrence{
			From:    calendar.date(next - p.paid),
			Every:   p.rhythm.String(),
			Amount:  p.endless.amount,
			Verdict: common.and(p.endless.Verdict),
		}
		if p.rhythm.months > 0 {
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
