package schedule

import "slices"

// Cart is what a cart says about money.
type Cart struct {
	Today Date
	Total int64 // due now, as the club system computes it
	Lines []CartLine
}

// CartLine is a line of a cart. The club system says what is due now; what follows comes from the offer.
type CartLine struct {
	ID     string
	Parent string // ID of the line that this one belongs to; empty: none
	Price  int64  // due now
	// Terms are those of its offer, without extras, which are lines of the cart. nil: nothing follows, or Rules say why that is
	// not known.
	Terms *Terms
	Rules []Rule // why what follows is not exact, besides the rules of its offer
}

// isAdjustment reports whether a line only changes what is due now.
func (line CartLine) isAdjustment() bool { return line.Terms == nil && len(line.Rules) == 0 }

// CartSchedule is what a cart costs, and when.
type CartSchedule struct {
	DueNow      CartDebit
	Debits      []CartDebit      // one for each date, in the order of their dates
	Recurrences []CartRecurrence // continue after Debits
	Total       *int64           // DueNow and Debits; nil if it never ends or is not known
	Lines       []Verdict        // on what follows each line of the cart
	Verdict                      // the worst of all parts, with all their rules
	// FirstStatement is what leaves the account from today to the second debit; only today if the whole is Unknown.
	FirstStatement []Movement
}

// CartDebit is what lines of a cart cost on one day.
type CartDebit struct {
	Debit
	Shares []Share // add up to Amount, unless a discount is for the whole cart
}

// CartRecurrence is a debit of lines of a cart that is repeated without end.
type CartRecurrence struct {
	Recurrence
	Shares []Share // add up to Amount
}

// Share is the part of a debit that a line of the cart causes.
type Share struct {
	Line   string
	Amount int64
}

// OfCart computes the schedule of a cart from those of its lines. It never fails: debits that follow an Unknown line are
// left out, and the whole is Unknown.
func OfCart(cart Cart) CartSchedule {
	sum := CartSchedule{DueNow: cart.dueNow(), Verdict: verdict()}
	following, last := cart.following()
	for i, line := range following {
		if !sum.add(cart.Lines[i].ID, line, last) {
			return cart.outOfRange()
		}
		sum.Lines, sum.Verdict = append(sum.Lines, line.Verdict), sum.and(line.Verdict)
	}
	// The schedule of one offer has its total and its statement by the same rules.
	offer := Schedule{DueNow: DueNow{Date: cart.Today, Amount: cart.Total, Verdict: verdict()}, Verdict: sum.Verdict}
	if sum.Basis != Unknown {
		offer.Debits = sum.next()
	}
	sum.FirstStatement = offer.firstStatement()
	if len(sum.Recurrences) == 0 {
		sum.Total = offer.total()
	}
	return sum
}

// outOfRange is the schedule of a cart with more debits than any cart has.
func (cart Cart) outOfRange() CartSchedule {
	cart.Lines = slices.Clone(cart.Lines)
	for i := range cart.Lines {
		cart.Lines[i].Terms, cart.Lines[i].Rules = nil, []Rule{OutOfRange}
	}
	return OfCart(cart)
}

func (cart Cart) dueNow() CartDebit {
	due := CartDebit{Debit: Debit{Date: cart.Today, Amount: cart.Total, Verdict: verdict()}}
	for _, line := range cart.Lines {
		if line.Price != 0 {
			due.Shares = append(due.Shares, Share{line.ID, line.Price})
		}
	}
	return due
}

// following returns the schedule of each line, and the date of the last debit that is not endless. A line that costs another
// price than its offer has a discount, of which the club system does not say whether it continues.
func (cart Cart) following() (lines []Schedule, last Date) {
	paid, rest := map[string]int64{}, cart.Total
	for _, line := range cart.Lines {
		if !line.isAdjustment() {
			paid[line.ID] += line.Price
		} else if line.Parent != "" {
			paid[line.Parent] += line.Price
		}
	}
	for _, line := range cart.Lines {
		if !line.isAdjustment() {
			rest -= paid[line.ID]
		}
	}
	for _, line := range cart.Lines {
		one := line.follows(paid[line.ID], rest == 0)
		for _, debit := range one.Debits {
			if debit.Date.Compare(last) > 0 {
				last = debit.Date
			}
		}
		lines = append(lines, one)
	}
	return lines, last
}

// follows returns the schedule of a line after today. Its verdict is on what follows: the line itself says what is due now.
func (line CartLine) follows(paid int64, isCartListed bool) Schedule {
	if line.Terms == nil {
		return Schedule{Verdict: verdict(line.Rules...)}
	}
	if len(line.Terms.Occurrences)+len(line.Terms.Recurrences) == 0 {
		return Schedule{Verdict: verdict()}
	}
	offer := Of(*line.Terms)
	if offer.Basis == Unknown {
		return Schedule{Verdict: offer.and(verdict(line.Rules...))}
	}
	added := verdict(line.Rules...)
	if paid != offer.DueNow.Amount || !isCartListed {
		added = added.and(verdict(PriceDiffers))
	}
	offer.Verdict = verdict()
	for i := range offer.Debits {
		offer.Debits[i].Verdict = offer.Debits[i].and(added)
		offer.Verdict = offer.and(offer.Debits[i].Verdict)
	}
	if endless := offer.Recurrence; endless != nil {
		endless.Verdict = endless.and(added)
		offer.Verdict = offer.and(endless.Verdict)
	}
	return offer
}

// add adds what follows a line. Until the last debit that is not endless, endless debits are listed one by one, so that the
// sum of each date is right. It is false if there are too many.
func (s *CartSchedule) add(id string, line Schedule, last Date) bool {
	for _, debit := range line.Debits {
		s.put(id, debit)
		if len(s.Debits) > maxDebits {
			return false
		}
	}
	if line.Recurrence == nil {
		return true
	}
	repeated := *line.Recurrence
	for n := 0; ; n++ {
		repeated.From = line.Recurrence.At(n)
		switch {
		case repeated.From.Year > lastYear || len(s.Debits) > maxDebits:
			return false
		case repeated.From.Compare(last) > 0:
			s.repeat(id, repeated)
			return true
		}
		s.put(id, Debit{repeated.From, repeated.Amount, repeated.Verdict})
	}
}

// put adds a debit to those of its date.
func (s *CartSchedule) put(id string, debit Debit) {
	i, found := slices.BinarySearchFunc(s.Debits, debit.Date, func(one CartDebit, date Date) int { return one.Date.Compare(date) })
	if !found {
		s.Debits = slices.Insert(s.Debits, i, CartDebit{Debit: Debit{Date: debit.Date, Verdict: verdict()}})
	}
	one := &s.Debits[i]
	one.Amount += debit.Amount
	one.Verdict = one.and(debit.Verdict)
	one.Shares = append(one.Shares, Share{id, debit.Amount})
}

// repeat adds an endless debit to one of the same dates.
func (s *CartSchedule) repeat(id string, endless Recurrence) {
	i := slices.IndexFunc(s.Recurrences, func(one CartRecurrence) bool {
		return one.From == endless.From && one.Every == endless.Every && one.Day == endless.Day
	})
	if i < 0 {
		i = len(s.Recurrences)
		s.Recurrences = append(s.Recurrences, CartRecurrence{Recurrence: Recurrence{
			From: endless.From, Every: endless.Every, Day: endless.Day, Verdict: verdict(),
		}})
	}
	one := &s.Recurrences[i]
	one.Amount += endless.Amount
	one.Verdict = one.and(endless.Verdict)
	one.Shares = append(one.Shares, Share{id, endless.Amount})
}

// next returns the debits, and after them the first endless ones of each kind.
func (s *CartSchedule) next() []Debit {
	merged := CartSchedule{Debits: slices.Clone(s.Debits)}
	for _, r := range s.Recurrences {
		for n := range statementDebits {
			merged.put("", Debit{r.At(n), r.Amount, r.Verdict})
		}
	}
	var debits []Debit
	for _, debit := range merged.Debits {
		debits = append(debits, debit.Debit)
	}
	return debits
}
