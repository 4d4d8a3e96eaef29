package schedule

import (
	"math/big"
	"slices"
)

// The bounds beyond which numbers are a mistake and no offer.
const (
	// maxDebits is weekly for more than ten years.
	maxDebits = 600
	// maxAmount is 10,000,000.00 in a currency with cents; the sum of maxDebits such amounts does not overflow.
	maxAmount = 1_000_000_000
)

// plan is what is debited, by the number of the debit, without dates.
type plan struct {
	rhythm  period
	limited []instalment // debits 0, 1, …
	endless *instalment  // every debit after those
	paid    int          // how many of the first debits are paid at once instead: 0 or 1
	Verdict
}

// instalment is what one debit takes.
type instalment struct {
	amount int64
	Verdict
}

// series is one entry, debited.
type series struct {
	interval period
	loops    *big.Rat
	debits   []instalment
}

func unknown(why Rule) plan { return plan{Verdict: verdict(why)} }

// planOf adds up all entries of an offer; without entries nothing is debited.
func planOf(offer Offer) plan {
	if len(offer.Occurrences)+len(offer.Recurrences) == 0 {
		return plan{Verdict: verdict()}
	}
	rhythm, ok := parsePeriod(offer.Rhythm)
	if !ok || rhythm.isZero() {
		return unknown(PeriodUnreadable)
	}
	var limited []series
	for _, entry := range offer.Occurrences {
		one, why := seriesOf(entry, rhythm)
		if why != "" {
			return unknown(why)
		}
		limited = append(limited, one)
	}
	endless, why := endlessOf(offer.Recurrences, rhythm)
	if why != "" {
		return unknown(why)
	}
	inTurn, known := offer.inTurn(limited, endless)
	plan := plan{rhythm: rhythm, limited: addedUp(limited, inTurn), endless: endless, Verdict: verdict()}
	if !known {
		plan.Verdict = verdict(EntriesInTurn)
	}
	if !inTurn && endless != nil {
		for i := range plan.limited {
			plan.limited[i] = plan.limited[i].with(*endless)
		}
	}
	return plan.firstPaid(offer)
}

// all returns every instalment, the endless one once.
func (p plan) all() []instalment {
	all := slices.Clone(p.limited)
	if p.endless != nil {
		all = append(all, *p.endless)
	}
	return all
}

// RegularDebit returns what each debit of an offer takes, in minor units, without one that is paid at once. ok is false
// if nothing is debited, or the debits are unknown or differ by more than a rounded cent or a remainder at the end.
func RegularDebit(o Offer) (amount int64, basis Basis, ok bool) {
	plan := planOf(o)
	plan.limited = plan.limited[min(plan.paid, len(plan.limited)):]
	all := plan.all()
	if plan.Basis == Unknown || len(all) == 0 {
		return 0, Unknown, false
	}
	first := all[0]
	for _, other := range all[1:] {
		allowed := int64(0)
		if slices.Contains(other.Rules, Rounded) {
			allowed = 1
		}
		differ := max(other.amount, first.amount) - min(other.amount, first.amount)
		if differ > allowed && !slices.Contains(other.Rules, Remainder) {
			return 0, Unknown, false
		}
	}
	return first.amount, plan.and(first.Verdict).Basis, true
}

// firstPaid leaves out the first debit where it is paid at once.
func (p plan) firstPaid(offer Offer) plan {
	all := p.all()
	if slices.ContainsFunc(all, func(i instalment) bool { return i.amount < 0 || i.amount > maxAmount }) || len(p.limited) > maxDebits {
		return unknown(OutOfRange)
	}
	if offer.FirstInstalmentPaid {
		p.paid = 1
		if offer.DueNow-offer.RegistrationFee != all[0].amount {
			p.Verdict = p.and(verdict(FirstInstalmentAssumed))
		}
	}
	return p
}

// seriesOf debits an entry that ends. The price of one debit is that of the
// intervals that it takes; what all of them take is exact, however it is divided.
func seriesOf(entry Entry, rhythm period) (series, Rule) {
	interval, ok := parsePeriod(entry.Interval)
	if !ok || interval.isZero() {
		return series{}, PeriodUnreadable
	}
	loops, rules, why := entry.loops(interval)
	if why != "" {
		return series{}, why
	}
	if entry.Price < -maxAmount || entry.Price > maxAmount {
		return series{}, OutOfRange
	}
	count := rhythm.in(interval)
	rules = append(rules, pricing(entry.Price, interval, rhythm)...)
	result := series{interval: interval, loops: loops}
	taken, before := new(big.Rat), int64(0)
	for taken.Cmp(loops) < 0 {
		if len(result.debits) == maxDebits {
			return series{}, OutOfRange
		}
		taken.Add(taken, count)
		if taken.Cmp(loops) > 0 {
			taken = loops
			rules = append(rules, Remainder)
		}
		until := roundedPrice(entry.Price, taken)
		result.debits = append(result.debits, instalment{until - before, verdict(rules...)})
		before = until
	}
	return result, ""
}

// loops counts how often an entry is repeated.
func (e Entry) loops(interval period) (n *big.Rat, rules []Rule, why Rule) {
	offset, ok := parsePeriod(e.Offset)
	switch {
	case !ok && e.Offset != "":
		return nil, nil, PeriodUnreadable
	case offset.isZero() && e.Loop > 0:
		return big.NewRat(int64(e.Loop), 1), nil, ""
	case offset.isZero():
		return nil, nil, CountUnknown
	}
	n = offset.in(interval)
	if !offset.sameUnit(interval) {
		rules = []Rule{MonthsAsWeeks}
	}
	if loop := big.NewRat(int64(e.Loop), 1); e.Loop > 0 {
		if n.Cmp(loop) != 0 {
			return loop, []Rule{LoopOverOffset}, ""
		}
		return loop, nil, ""
	}
	if !n.IsInt() {
		return nil, nil, CountUnknown
	}
	return n, rules, ""
}

// endlessOf adds up the entries that never end; they run side by side.
func endlessOf(entries []Entry, rhythm period) (*instalment, Rule) {
	if len(entries) == 0 {
		return nil, ""
	}
	var rules []Rule
	sum := new(big.Rat)
	for _, entry := range entries {
		interval, ok := parsePeriod(entry.Interval)
		if !ok || interval.isZero() {
			return nil, PeriodUnreadable
		}
		if entry.Price < -maxAmount || entry.Price > maxAmount {
			return nil, OutOfRange
		}
		if !interval.sameUnit(rhythm) {
			rules = append(rules, MonthsAsWeeks)
		}
		sum.Add(sum, new(big.Rat).Mul(big.NewRat(entry.Price, 1), rhythm.in(interval)))
	}
	if !sum.IsInt() {
		rules = append(rules, Rounded)
	}
	amount := halfUp(sum)
	if !amount.IsInt64() {
		return nil, OutOfRange
	}
	return &instalment{amount.Int64(), verdict(rules...)}, ""
}

// pricing names what keeps the price of a debit from being exact.
func pricing(price int64, interval, rhythm period) (rules []Rule) {
	count := rhythm.in(interval)
	if !interval.sameUnit(rhythm) {
		rules = append(rules, MonthsAsWeeks)
	}
	if !new(big.Rat).Mul(big.NewRat(price, 1), count).IsInt() {
		rules = append(rules, Rounded)
	}
	return rules
}

// inTurn reports whether several entries follow each other or run in parallel, and
// whether that is known. They are cumulative: rule 3 of the API's section Schedule entry says
// no more. The evidence is the amount due now, which shows the first debit, and the
// commitment, which shows how long all of them last.
func (o Offer) inTurn(limited []series, endless *instalment) (inTurn, known bool) {
	if len(limited) == 0 || len(limited) == 1 && endless == nil {
		return true, true
	}
	alone, together := limited[0].debits[0].amount, int64(0)
	for _, one := range limited {
		together += one.debits[0].amount
	}
	if endless != nil {
		together += endless.amount
	}
	switch paid := o.DueNow - o.RegistrationFee; {
	case o.FirstInstalmentPaid && paid == alone:
		return true, true
	case o.FirstInstalmentPaid && paid == together:
		return false, true
	case endless != nil:
		return true, false
	}
	return inTurnBy(o.Commitment, limited)
}

// inTurnBy compares a commitment with the duration of the entries in sequence and
// in parallel.
func inTurnBy(commitment string, limited []series) (inTurn, known bool) {
	length, ok := parsePeriod(commitment)
	if !ok || length.isZero() {
		return true, false
	}
	sum, longest := new(big.Rat), new(big.Rat)
	for _, one := range limited {
		if !length.sameUnit(one.interval) {
			return true, false
		}
		lasts := new(big.Rat).Mul(one.loops, one.interval.in(length))
		sum.Add(sum, lasts)
		if lasts.Cmp(longest) > 0 {
			longest = lasts
		}
	}
	whole := big.NewRat(1, 1)
	return longest.Cmp(whole) != 0, sum.Cmp(whole) == 0 || longest.Cmp(whole) == 0
}

// addedUp joins series in sequence, or adds their debits in parallel.
func addedUp(all []series, inTurn bool) (debits []instalment) {
	for _, one := range all {
		if inTurn {
			debits = append(debits, one.debits...)
			continue
		}
		for i, debit := range one.debits {
			if i == len(debits) {
				debits = append(debits, debit)
			} else {
				debits[i] = debits[i].with(debit)
			}
		}
	}
	return debits
}

// with adds up two instalments that are collected in one debit.
func (i instalment) with(other instalment) instalment {
	return instalment{i.amount + other.amount, i.and(other.Verdict)}
}

func roundedPrice(price int64, times *big.Rat) int64 {
	return halfUp(new(big.Rat).Mul(big.NewRat(price, 1), times)).Int64()
}

// halfUp rounds to the nearest whole number, half upwards.
func halfUp(x *big.Rat) *big.Int {
	doubled := new(big.Int).Lsh(x.Num(), 1)
	doubled.Add(doubled, x.Denom())
	return doubled.Div(doubled, new(big.Int).Lsh(x.Denom(), 1)) // Div rounds down, below zero as well
}
