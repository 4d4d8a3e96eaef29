package protocol_test

import (
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// This file has what the walk begins with, and every way in which an action can end.

// start is a payment before the walk, with what is asked of it and all that the other systems may show of it.
type start struct {
	name     string
	p        *flows.Payment
	asked    protocol.Facts
	readings []*reading
	sales    []*saleReading
}

// reading is what the processor may show.
type reading struct {
	name string
	*protocol.Remote
	wrong  bool // it cannot be read, or is not the agreed payment
	holds  bool // the record's attempt holds its claim
	others bool // another attempt may record the payment, or one has recorded it
}

// saleReading is what the club system may show.
type saleReading struct {
	name string
	*protocol.Sale
	agreed  bool
	settled bool
}

// asked is what a person, an event or the schedule asks of a payment, or that this process owns it.
type asked struct {
	name string
	of   func(f *protocol.Facts)
}

// starts returns every start in a state. It makes new ones each time.
func starts(state flows.PaymentState) (all []*start) {
	for _, method := range flows.Methods() {
		if method != flows.ByCard && !slices.Contains([]flows.PaymentState{flows.Priced, flows.Sending, flows.Recorded, flows.Cancelled,
			flows.InDoubt, flows.Blocked}, state) {
			continue
		}
		for _, h := range histories(state) {
			for _, asked := range asks(state, method) {
				began := &start{name: string(state) + ", " + string(method) + ", " + h.name + asked.name, p: usual(state, method)}
				h.with(began.p)
				if began.p.AttemptID != "" {
					began.p.AttemptID = attemptAt(began.p.UpdatedAt)
				}
				if state == flows.Refunding || state == flows.Refunded {
					began.p.AttemptID = protocol.RefundPrefix + began.p.AttemptID
				}
				began.readings, began.sales = everyReading(began.p), everySale(began.p)
				began.asked.ID = "id"
				asked.of(&began.asked)
				all = append(all, began)
			}
		}
	}
	return all
}

// usual returns a payment in a state as it usually is: its sale was read five seconds ago, and it leads to a person unless it ended.
func usual(state flows.PaymentState, method flows.Method) *flows.Payment {
	payment := record(state)
	payment.Method = method
	if method != flows.ByCard {
		payment.ProcessorID = ""
	}
	switch state {
	case flows.Sending, flows.Recorded, flows.InDoubt, flows.Blocked, flows.Refunding, flows.Refunded:
		payment.Claim, payment.AttemptID = 1, attempt
	}
	payment.Snapshot = stateOf("draft")
	debt := int64(1000)
	payment.Snapshot.Debt = &debt
	if !state.Final() {
		seen(5 * time.Second)(&payment)
		payment.Contact, payment.Desk = "/club/contacts/1", &flows.Desk{}
	}
	return &payment
}

// history is what a payment has been through.
type history struct {
	name string
	with func(p *flows.Payment)
}

func histories(state flows.PaymentState) []history {
	aged := func(age time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) {
			p.CreatedAt, p.UpdatedAt = now.Add(-age), now.Add(-age)
			if p.Payer != nil {
				p.Payer.ReadAt = now.Add(-age)
			}
		}
	}
	missing := func(ago time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) { p.MissingSince = now.Add(-ago) }
	}
	been := func(states ...flows.PaymentState) func(p *flows.Payment) {
		return func(p *flows.Payment) {
			for _, each := range states {
				p.History = append(p.History, flows.Transition{State: each, At: p.UpdatedAt})
			}
		}
	}
	claim := func(n int) func(p *flows.Payment) {
		return func(p *flows.Payment) { p.Claim, p.AttemptID = n, attempt }
	}
	all := []history{
		{"new", func(*flows.Payment) {}},
		{"forty seconds old", aged(40 * time.Second)},
		{"a minute old", aged(61 * time.Second)},
		{"half an hour old", aged(31 * time.Minute)},
		{"a day old", aged(25 * time.Hour)},
		{"under its second claim", claim(2)},
		{"under its last claim", claim(protocol.MaxClaims)},
		{"missing", missing(29 * time.Minute)},
		{"missing for long", missing(31 * time.Minute)},
		{"once in doubt", both(aged(time.Minute), been(flows.InDoubt, state))},
		{"rebuilt", both(aged(time.Minute), func(p *flows.Payment) { p.Rebuilt = true })},
		{"owing a release", both(claim(1), func(p *flows.Payment) { p.ReleasePending = true })},
		{"paused", notBefore(10 * time.Second)},
		{"in a limit's pause", notBefore(6 * time.Hour)},
		{"on hold", heldBefore},
		{"in the bank's hands", func(p *flows.Payment) { p.Processing = true }},
		{"declined", func(p *flows.Payment) { p.DeclineCode, p.Decline, p.Declines = "expired_card", "d1", 1 }},
		{"with a sale that is long gone", func(p *flows.Payment) { p.SaleMissingSince = now.Add(-31 * time.Minute) }},
		{"of a sale without states", func(p *flows.Payment) { p.SaleState = "" }},
	}
	if state == flows.InDoubt || state == flows.Blocked {
		all = append(all, history{"before its first claim", both(aged(20*time.Minute), func(p *flows.Payment) { p.Claim, p.AttemptID = 0, "" })})
	}
	if state != flows.Blocked {
		return all
	}
	for _, before := range flows.PaymentStates {
		if before.Final() || !before.CanBecome(flows.Blocked) {
			continue
		}
		all = append(all, history{"missing when it was " + string(before), both(been(before, state), missing(time.Hour))})
	}
	return append(all, history{"held after all", func(p *flows.Payment) { p.Reason = protocol.HeldAfterAll }})
}

// asks returns what can be asked of a payment in a state.
func asks(state flows.PaymentState, method flows.Method) []asked {
	all := []asked{{"", func(*protocol.Facts) {}}}
	wishes := map[flows.PaymentState][]protocol.Wish{flows.Priced: {protocol.GiveUp}, flows.Intent: {protocol.GiveUp, protocol.Again},
		flows.InDoubt: {protocol.Reread}, flows.Recorded: {protocol.Reread, protocol.Verify}}
	for _, each := range wishes[state] {
		all = append(all, asked{", asked to " + string(each), wish(each)})
	}
	switch state {
	case flows.Sending:
		all = append(all, asked{", owned", owns(time.Second)})
	case flows.Intent, flows.Authorised, flows.Captured:
		all = append(all, asked{", outranked", func(f *protocol.Facts) { f.Outranked = "pi_2" }})
	case flows.InDoubt, flows.Blocked, flows.Recorded:
		for _, choice := range []protocol.Choice{protocol.ConfirmRecorded, protocol.SendAgain, protocol.GiveBack, protocol.CallOff} {
			all = append(all, asked{", decided to " + string(choice), decides(choice, false)},
				asked{", decided in any case to " + string(choice), decides(choice, true)})
		}
	}
	return all
}

// journaled returns the journal as the record has it: earlier claims are given up, and so is the latest one of a payment that is to be
// sent or refunded. The claim that is about to be written is not there.
func journaled(payment *flows.Payment) []protocol.Entry {
	before := slices.Repeat([]protocol.Entry{{Attempt: claimant, Release: claimant}}, max(0, payment.Claim-1))
	switch {
	case payment.Claim == 0, claiming(payment):
		return before
	case (payment.State == flows.Captured || payment.State == flows.RefundDue) && !payment.ReleasePending:
		return append(before, protocol.Entry{Attempt: payment.AttemptID, Release: payment.AttemptID})
	}
	return append(before, protocol.Entry{Attempt: payment.AttemptID})
}

// claiming reports whether a payment is about to write its claim.
func claiming(p *flows.Payment) bool { return p.State == flows.Sending || p.State == flows.Refunding }

// everyReading returns what the processor may show of a payment.
func everyReading(payment *flows.Payment) (all []*reading) {
	add := func(name string, state cards.State, with ...func(r *reading)) {
		r := &reading{name: name, Remote: remote(payment, state)}
		r.Journal.Entries = journaled(payment)
		last, _ := r.Journal.Last()
		r.others = last > 0 && r.Journal.Entry(last).Release == "" && !claiming(payment)
		for _, each := range with {
			each(r)
		}
		all = append(all, r)
	}
	for _, state := range []cards.State{cards.RequiresAction, cards.Processing, cards.Authorised, cards.Cancelled, cards.Refunded} {
		add(string(state), state)
	}
	add(string(cards.Captured), cards.Captured)
	add("declined", cards.Declined, func(r *reading) { r.DeclineCode, r.Decline, r.Declines = "card_declined", "d2", 2 })
	add("being captured", cards.Processing, func(r *reading) { r.Capturing = true })
	add("refunded in part", cards.Captured, func(r *reading) { r.Refunded = 1 })
	add("being refunded", cards.Captured, func(r *reading) { r.Refunding = payment.Amount })
	add("refunded in vain", cards.Captured, func(r *reading) { r.FailedRefunds = 1 })
	add("disputed", cards.Captured, func(r *reading) { r.Disputed = true })
	add("an older response", cards.Captured, func(r *reading) { r.Replayed = true })
	add("reserved by another method", cards.Authorised, func(r *reading) { r.OtherMethod = "klarna" })
	add("taken by another method", cards.Captured, func(r *reading) { r.OtherMethod = "klarna" })

	wrong := func(r *reading) { r.wrong = true }
	add("unreadable", "", wrong, func(r *reading) { r.Err = errDown })
	add("unknown", "", wrong, func(r *reading) { r.Err, r.Absent = errDown, protocol.UnknownThere })
	add("another organisation's", cards.Captured, wrong,
		func(r *reading) { r.Ours, r.Err, r.Absent = false, errDown, protocol.ForeignThere })
	add("another amount", cards.Authorised, wrong, func(r *reading) { r.Amount++ })
	add("another amount, taken", cards.Captured, wrong, func(r *reading) { r.Captured-- })
	add("unsigned", cards.Captured, wrong, func(r *reading) { r.Signed = false })
	add("ended by an operator", cards.Captured, wrong, func(r *reading) { r.Ended = true })

	another := protocol.NewAttemptID(payment.UpdatedAt, "9b0c55d2-6a54-4a39-8f2e-1c6f4b9a3d77")
	refund := protocol.Entry{Attempt: protocol.RefundPrefix + another}
	free := payment.Claim + 1
	if claiming(payment) {
		free = payment.Claim
	}
	entry := func(n int, e protocol.Entry) func(r *reading) {
		return func(r *reading) {
			for len(r.Journal.Entries) < n {
				r.Journal.Entries = append(r.Journal.Entries, protocol.Entry{})
			}
			r.Journal.Entries[n-1] = e
		}
	}
	others := func(r *reading) { r.others = true }
	acceptance := func(r *reading) { r.Journal.Accepted, r.others = true, true }
	add("another's claim", cards.Captured, entry(free, protocol.Entry{Attempt: another}), others)
	add("another refund's claim", cards.Captured, entry(free, refund))
	add("an acceptance", cards.Captured, acceptance)
	if payment.Claim > 1 {
		add("an earlier claim", cards.Captured, entry(1, protocol.Entry{Attempt: another}), others)
	}
	if payment.Claim == 0 {
		return all
	}
	held := entry(payment.Claim, protocol.Entry{Attempt: payment.AttemptID})
	given := func(r *reading) {
		entry(payment.Claim, protocol.Entry{Attempt: payment.AttemptID, Release: payment.AttemptID})(r)
		r.others = false
	}
	ours := func(r *reading) { r.holds, r.others = claiming(payment), !claiming(payment) }
	add("our claim", cards.Captured, held, ours)
	add("our claim, and an acceptance", cards.Captured, held, ours, acceptance)
	add("our claim, and its money is gone", cards.Refunded, held, ours)
	add("our claim, and its money goes back", cards.Captured, held, ours, func(r *reading) { r.Refunding = 1 })
	add("our claim, given up", cards.Captured, given)
	add("our claim, given up by an operator", cards.Captured, given, func(r *reading) { r.Journal.ByOperator = true })
	add("our claim, given up, and a refund's", cards.Captured, given, entry(payment.Claim+1, refund))
	add("our claim, which another gave up", cards.Captured, ours,
		entry(payment.Claim, protocol.Entry{Attempt: payment.AttemptID, Release: another}),
		func(r *reading) { r.others = payment.State != flows.Refunding })
	if payment.Claim > 1 {
		add("our claim, and an earlier one", cards.Captured, held, ours, entry(1, protocol.Entry{Attempt: another}), others)
	}
	return all
}

// everySale returns what the club system may show of a payment's sale.
func everySale(payment *flows.Payment) (all []*saleReading) {
	add := func(name string, with func(s *saleReading)) {
		s := &saleReading{name: name, Sale: &protocol.Sale{At: now, Rule: settledRule(), Check: club.SaleCheck{Valid: true},
			Sale: club.Sale{State: payment.SaleState, TotalTI: payment.Amount, Contact: "/club/contacts/1"}}}
		if with(s); s.Err == nil {
			s.Seen = stateOf(s.Sale.Sale.State)
		}
		all = append(all, s)
	}
	add("as agreed", func(s *saleReading) { s.agreed = true })
	add("settled", func(s *saleReading) {
		if s.settled = true; payment.SaleState == "" {
			s.Check.Valid = false
			return
		}
		s.Sale.Sale.State = "validated"
	})
	add("another total", func(s *saleReading) { s.Sale.Sale.TotalTI++ })
	add("another article", func(s *saleReading) { s.Sale.Sale.Articles = []club.Article{{Offer: "/club/offers/2"}} })
	add("fails its check", func(s *saleReading) { s.Check.Valid = false })
	add("unreadable", func(s *saleReading) { s.Err = errDown })
	add("gone", func(s *saleReading) { s.Err, s.Gone = errDown, true })
	add("busy", func(s *saleReading) { s.Err, s.Busy = errDown, true })
	return all
}
