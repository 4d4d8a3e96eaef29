package schedule_test

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"frontdesk/flows/schedule"
)

// drawCart draws a cart of offers at their price, some with an adjustment, and some lines of offers that are not known.
func drawCart(t *rapid.T) schedule.Cart {
	cart := schedule.Cart{Today: drawDay(t, "today")}
	add := func(line schedule.CartLine) {
		cart.Lines = append(cart.Lines, line)
		cart.Total += line.Price
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "lines") {
		line := schedule.CartLine{ID: strconv.Itoa(i), Price: prices.Draw(t, "price")}
		if rapid.IntRange(0, 9).Draw(t, "unknown offer") == 0 {
			line.Rules = []schedule.Rule{schedule.OfferUnknown}
			add(line)
			continue
		}
		terms := drawTerms(t)
		if rapid.Bool().Draw(t, "first paid") {
			terms = payFirst(terms, prices.Draw(t, "first"))
		}
		terms.Today, terms.Start = cart.Today, cart.Today.AddDays(rapid.IntRange(0, 400).Draw(t, "days until the start"))
		line.Price, line.Terms = schedule.Due(terms).Amount, &terms
		adjusted := rapid.SampledFrom([]int64{0, 0, -500, 700}).Draw(t, "adjustment")
		line.Price -= adjusted
		add(line)
		if adjusted != 0 {
			add(schedule.CartLine{ID: line.ID + " adjusted", Parent: line.ID, Price: adjusted})
		}
	}
	return cart
}

// TestEveryCartHolds checks the properties that the schedule of every cart has: it is the sum of the schedules of its lines.
func TestEveryCartHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cart := drawCart(t)
		computed := schedule.OfCart(cart)
		if computed.DueNow.Amount != cart.Total || computed.DueNow.Date != cart.Today || computed.DueNow.Basis != schedule.Exact {
			t.Fatalf("due now %+v of %d", computed.DueNow, cart.Total)
		}
		holdShares(t, computed.DueNow.Amount, computed.DueNow.Shares)
		if slices.Contains(computed.Rules, schedule.OutOfRange) {
			return
		}
		last := cart.Today.AddDays(-1)
		for _, debit := range computed.Debits {
			holdShares(t, debit.Amount, debit.Shares)
			if debit.Date.Compare(last) <= 0 {
				t.Fatalf("%s follows %s", debit.Date, last)
			}
			last = debit.Date
		}
		for _, endless := range computed.Recurrences {
			holdShares(t, endless.Amount, endless.Shares)
			if endless.From.Compare(last) <= 0 {
				t.Fatalf("continues from %s, before the debit of %s", endless.From, last)
			}
		}
		holdLines(t, cart, computed)
		holdCartTotal(t, computed)
	})
}

func holdShares(t *rapid.T, amount int64, shares []schedule.Share) {
	for _, share := range shares {
		amount -= share.Amount
	}
	if amount != 0 {
		t.Fatalf("%d is not in %+v", amount, shares)
	}
}

// holdLines compares, line by line, the first hundred debits of the cart with those of the offer alone.
func holdLines(t *rapid.T, cart schedule.Cart, computed schedule.CartSchedule) {
	for i, line := range cart.Lines {
		if line.Terms == nil {
			if (computed.Lines[i].Basis == schedule.Unknown) != (len(line.Rules) > 0) {
				t.Fatalf("line %d without terms is %+v", i, computed.Lines[i])
			}
			continue
		}
		got, want := map[schedule.Date]int64{}, debitsOf(schedule.Of(*line.Terms))
		for _, debit := range computed.Debits {
			got[debit.Date] += shareOf(line.ID, debit.Shares)
		}
		for _, endless := range computed.Recurrences {
			for n := range 100 {
				got[endless.At(n)] += shareOf(line.ID, endless.Shares)
			}
		}
		maps.DeleteFunc(got, func(_ schedule.Date, amount int64) bool { return amount == 0 })
		for _, debit := range want[:min(100, len(want))] {
			if got[debit.Date] != debit.Amount {
				t.Fatalf("line %d is debited %d on %s, want %d", i, got[debit.Date], debit.Date, debit.Amount)
			}
		}
		if len(got) < len(want) || len(want) == 0 && len(got) > 0 {
			t.Fatalf("line %d has %d debits, want %d", i, len(got), len(want))
		}
	}
}

func shareOf(line string, shares []schedule.Share) (amount int64) {
	for _, share := range shares {
		if share.Line == line {
			amount += share.Amount
		}
	}
	return amount
}

// debitsOf returns the debits of an offer, and the first hundred endless ones.
func debitsOf(s schedule.Schedule) []schedule.Debit {
	debits := slices.Clone(s.Debits)
	if r := s.Recurrence; r != nil {
		for n := range 100 {
			debits = append(debits, schedule.Debit{Date: r.At(n), Amount: r.Amount})
		}
	}
	return debits
}

// holdCartTotal: the total is the sum of everything, unless it never ends or a line is unknown. The statement begins with
// today, and has the next two dates.
func holdCartTotal(t *rapid.T, computed schedule.CartSchedule) {
	sum := computed.DueNow.Amount
	for _, debit := range computed.Debits {
		sum += debit.Amount
	}
	isKnown := len(computed.Recurrences) == 0 && computed.Basis != schedule.Unknown
	if (computed.Total != nil) != isKnown || isKnown && *computed.Total != sum {
		t.Fatalf("in all %v, want %d: %+v", computed.Total, sum, computed)
	}
	debits := slices.DeleteFunc(slices.Clone(computed.FirstStatement), func(line schedule.Movement) bool { return !line.Debit })
	for i, line := range debits[:min(len(debits), len(computed.Debits))] {
		if line.Date != computed.Debits[i].Date || line.Amount != computed.Debits[i].Amount {
			t.Fatalf("the statement has %+v, want %+v", line, computed.Debits[i])
		}
	}
	if computed.Basis == schedule.Unknown && len(debits) > 0 {
		t.Fatalf("the statement of an unknown cart is %+v", debits)
	}
	worst := schedule.Exact
	for _, line := range computed.Lines {
		if line.Basis == schedule.Unknown || worst == schedule.Exact {
			worst = line.Basis
		}
	}
	if computed.Basis != worst {
		t.Fatalf("the whole is %s, its lines %+v", computed.Basis, computed.Lines)
	}
}

// endlessTerms are those of a subscription without end at a price a month.
func endlessTerms(price int64, start schedule.Date, day int) *schedule.Terms {
	return &schedule.Terms{
		Offer: schedule.Offer{Rhythm: "monthly", Recurrences: []schedule.Entry{{Offset: "P0W", Interval: "P1M", Price: price}}},
		Today: start, Start: start, DebitDay: day,
	}
}

// TestCartListsEndlessDebitsUntilTheLastOther: a cart with a limited and an endless subscription shows the sum of each date.
func TestCartListsEndlessDebitsUntilTheLastOther(t *testing.T) {
	t.Parallel()
	today := schedule.Date{Year: 2026, Month: 12, Day: 1}
	limited := endlessTerms(0, today, 5)
	limited.Recurrences, limited.Occurrences = nil, []schedule.Entry{{Offset: "P0W", Interval: "P1M", Loop: 2, Price: 1000}}
	computed := schedule.OfCart(schedule.Cart{Today: today, Lines: []schedule.CartLine{
		{ID: "a", Terms: limited}, {ID: "b", Terms: endlessTerms(300, today, 5)}, {ID: "c", Terms: endlessTerms(50, today, 5)},
	}})
	debits := computed.Debits
	if len(debits) != 2 || debits[0].Amount != 1350 || debits[1].Amount != 1350 || debits[1].Date.String() != "2027-01-05" {
		t.Errorf("the debits are %+v", debits)
	}
	if len(computed.Recurrences) != 1 || computed.Recurrences[0].From.String() != "2027-02-05" ||
		!reflect.DeepEqual(computed.Recurrences[0].Shares, []schedule.Share{{Line: "b", Amount: 300}, {Line: "c", Amount: 50}}) {
		t.Errorf("continues with %+v", computed.Recurrences)
	}
}

// TestCartWithADiscount: the later debits of a line with another price than its offer are an estimate, and so are those of all
// lines where the discount belongs to none of them.
func TestCartWithADiscount(t *testing.T) {
	t.Parallel()
	today := schedule.Date{Year: 2026, Month: 12, Day: 1}
	lines := []schedule.CartLine{
		{ID: "a", Terms: endlessTerms(300, today, 5)},
		{ID: "b", Price: 500, Terms: &schedule.Terms{Offer: schedule.Offer{DueNow: 500}, Today: today, Start: today}},
	}
	differs := schedule.Verdict{Basis: schedule.Estimated, Rules: []schedule.Rule{schedule.PriceDiffers}}
	for what, cart := range map[string]schedule.Cart{
		"of the line":       {Today: today, Total: 400, Lines: append(slices.Clone(lines), schedule.CartLine{ID: "c", Parent: "a", Price: -100})},
		"of no line":        {Today: today, Total: 400, Lines: append(slices.Clone(lines), schedule.CartLine{ID: "c", Price: -100})},
		"in the total only": {Today: today, Total: 400, Lines: lines},
	} {
		s := schedule.OfCart(cart)
		if !reflect.DeepEqual(s.Lines[0], differs) || s.Lines[1].Basis != schedule.Exact || s.DueNow.Amount != 400 {
			t.Errorf("a discount %s: %+v", what, s)
		}
	}
}

// TestDebitsWait: no debit falls before the day from which the buyer wants them, or on another weekday than the chosen one.
func TestDebitsWait(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms := drawTerms(t)
		terms.NotBefore = terms.Today.AddDays(rapid.IntRange(-10, 500).Draw(t, "not before"))
		weekly := rapid.Bool().Draw(t, "weekly")
		if weekly {
			terms.Rhythm, terms.DebitDay, terms.WeekDay = "week1", 0, rapid.IntRange(1, 7).Draw(t, "weekday")
		}
		before := schedule.Of(schedule.Terms{Offer: terms.Offer, Today: terms.Today, Start: terms.Start, DebitDay: terms.DebitDay})
		for i, debit := range debitsOf(schedule.Of(terms)) {
			if debit.Date.Compare(terms.NotBefore) < 0 || debit.Date.Compare(debitsOf(before)[i].Date) < 0 {
				t.Fatalf("a debit on %s, not before %s", debit.Date, terms.NotBefore)
			}
			date := debit.Date
			if at := time.Date(date.Year, date.Month, date.Day, 0, 0, 0, 0, time.UTC); weekly && int(at.Weekday()) != terms.WeekDay%7 {
				t.Fatalf("a debit on a %s, not on weekday %d", at.Weekday(), terms.WeekDay)
			}
		}
	})
}
