package protocol_test

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// TestWatch: a payment that ended without money is blocked if the processor holds money of it after all.
func TestWatch(t *testing.T) {
	t.Parallel()
	unread := func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }
	unknown := func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown, Absent: protocol.UnknownThere} }
	foreign := func(f *protocol.Facts) {
		shows(cards.Captured, func(r *protocol.Remote) { r.Ours, r.Absent, r.Err = false, protocol.ForeignThere, errDown })(f)
	}
	neverCreated := func(p *flows.Payment) { p.ProcessorID = "" }
	disputed := func(r *protocol.Remote) { r.Disputed = true }
	for _, state := range []flows.PaymentState{flows.Cancelled, flows.Refunded} {
		check(t, record(state), []row{
			{name: string(state), want: "read"},
			{name: string(state) + ", never created", with: neverCreated, want: "wait 0s"},
			{name: string(state) + ", not readable", facts: unread, want: "wait 15s: no answer"},
			{name: string(state) + ", not there", facts: unknown, want: "wait 0s"},
			{name: string(state) + ", and another program's money is there", facts: foreign, want: "wait 0s"},
			{name: string(state) + ", and cancelled there", facts: shows(cards.Cancelled), want: "wait 0s"},
			{name: string(state) + ", and refunded there", facts: shows(cards.Refunded), want: "wait 0s"},
		})
	}
	const failed = "→ blocked: the refund failed at the processor, which holds the money"
	check(t, record(flows.Refunded), []row{
		{name: "the bank returned the refund", facts: shows(cards.Captured), want: failed},
		{name: "another refund is pending", facts: shows(cards.Captured, func(r *protocol.Remote) { r.Refunding = 1 }), want: "wait 0s"},
		{name: "disputed", facts: shows(cards.Captured, disputed), want: failed},
		{name: "disputed, and an operator ended it", facts: shows(cards.Captured, disputed), want: "wait 0s",
			with: func(p *flows.Payment) { p.Acknowledged = "the buyer disputes it" }},
	})
	check(t, record(flows.Cancelled), []row{
		{name: "the money is there", facts: shows(cards.Captured), want: "→ blocked: it was cancelled, and the processor holds the money"},
	})
}

// TestBlocked: what is blocked waits for an operator, unless the processor had lost it, or it was refunded by hand.
func TestBlocked(t *testing.T) {
	t.Parallel()
	from := func(state flows.PaymentState) func(p *flows.Payment) {
		return func(p *flows.Payment) {
			p.History = []flows.Transition{{State: state}, {State: flows.Blocked}}
			p.MissingSince, p.Payer = now.Add(-time.Hour), &flows.Payer{ReadAt: now}
		}
	}
	notMissing := func(p *flows.Payment) { p.MissingSince = time.Time{} }
	unread := func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }
	unknown := func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown, Absent: protocol.UnknownThere} }
	there := shows(cards.Captured)
	found := func(payer bool) func(p *flows.Payment) string {
		return func(p *flows.Payment) string {
			if !p.MissingSince.IsZero() || payer && !p.Payer.ReadAt.IsZero() {
				return "it is not read again"
			}
			return ""
		}
	}
	seenSettled := func(p *flows.Payment) {
		from(flows.Refunding)(p)
		p.Readings = []flows.Reading{{Evidence: *stateOf("validated")}}
	}
	state := func(state string) func(f *protocol.Facts) {
		return sale(func(s *protocol.Sale) { s.Sale.State = state })
	}
	failed := func(gone bool) func(f *protocol.Facts) {
		return sale(func(s *protocol.Sale) { s.Err, s.Gone = errDown, gone })
	}
	const again = ": the processor has it again"
	check(t, record(flows.Blocked), []row{
		{name: "for another reason", facts: there, want: "wait 0s"},
		{name: "found again before", with: both(from(flows.Captured), notMissing), facts: there, want: "wait 0s"},
		{name: "from a state that it cannot return to", with: from(flows.Sending), facts: there, want: "wait 0s"},
		{name: "looked for", with: from(flows.Captured), want: "read"},
		{name: "not readable", with: from(flows.Captured), facts: unread, want: "wait 15s: no answer"},
		{name: "still not there", with: from(flows.Captured), facts: unknown, want: "wait 0s"},
		{name: "there, and differs", with: from(flows.Captured), facts: shows(cards.Captured, func(r *protocol.Remote) { r.Captured-- }),
			want: "→ blocked: the processor captured another amount", wrote: found(false)},
		{name: "there from intent", with: from(flows.Intent), facts: there, want: "→ intent" + again, wrote: found(true)},
		{name: "there from captured", with: from(flows.Captured), facts: there, want: "→ captured" + again, wrote: found(true)},
		{name: "there from in_doubt", with: from(flows.InDoubt), facts: there, want: "→ in_doubt" + again, wrote: found(true)},
		{name: "there from refunding", with: from(flows.Refunding), facts: there, want: "read_sale"},
		{name: "there from refunding, and open", with: from(flows.Refunding), facts: and(there, state("draft")), want: "→ refunding" + again},
		{name: "there from refunding, and settled", with: from(flows.Refunding), facts: and(there, state("validated")), wrote: found(false),
			want: "→ blocked: a refund was due, and the sale was settled meanwhile, perhaps with this payment"},
		{name: "there from refunding, and settled before", with: seenSettled, facts: there, want: "→ refunding" + again},
		{name: "there from refunding, and the sale is gone", with: from(flows.Refunding), facts: and(there, failed(true)),
			want: "→ refunding" + again},
		{name: "there from refunding, and the sale cannot be read", with: from(flows.Refunding), facts: and(there, failed(false)),
			want: "wait 15s: no answer"},
	})

	held := record(flows.Blocked)
	held.Reason = protocol.HeldAfterAll
	from(flows.Cancelled)(&held)
	check(t, held, []row{
		{name: "held after all", want: "read"},
		{name: "held after all, not readable", facts: unread, want: "wait 15s: no answer"},
		{name: "held after all, not there", facts: unknown, want: "wait 1h0m0s"},
		{name: "still held", facts: there, want: "wait 1h0m0s"},
		{name: "refunded by hand", facts: shows(cards.Refunded),
			want: "→ refunded: it was cancelled, and the money was refunded at the processor"},
		{name: "another program's is refunded", want: "wait 1h0m0s",
			facts: shows(cards.Refunded, func(r *protocol.Remote) { r.Absent, r.Err = protocol.ForeignThere, errDown })},
	})
}

// recordedBefore returns a card payment that was recorded two minutes ago.
func recordedBefore() flows.Payment {
	p := record(flows.Recorded)
	p.UpdatedAt = now.Add(-2 * time.Minute)
	return p
}

const (
	stillRecorded = "→ recorded: as before"
	noDebt        = -1
)

// due asks for the verification, and kept shows a processor that keeps all of the money.
var due, kept = wish(protocol.Verify), and(wish(protocol.Verify), shows(cards.Captured))

// reads returns facts with a reading of the sale in a state.
func reads(state string, with ...func(s *protocol.Sale)) func(f *protocol.Facts) {
	return sale(append([]func(s *protocol.Sale){func(s *protocol.Sale) { s.Sale.State, s.Seen = state, nil }}, with...)...)
}

// down returns facts: the processor cannot be read.
func down(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }

func partlyRefunded(r *protocol.Remote) { r.Refunded = 500 }

// ruleOfTotals knows that a recorded payment leaves nothing to pay, and less debt.
func ruleOfTotals(s *protocol.Sale) {
	s.Rule = &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalTotal, After: "nothing"},
		{Signal: flows.SignalDebt, After: "minus the amount"}}}
}

// Changes of a recorded payment: its sale was seen settled, or not settled; its contact owed money before.
func saleSettled(p *flows.Payment) { p.SaleVerdict = flows.SaleSettled }
func saleOpen(p *flows.Payment)    { p.SaleVerdict = protocol.SaleOpen }
func contactOwed(p *flows.Payment) {
	p.Snapshot = &flows.Evidence{Debt: new(int64)}
	*p.Snapshot.Debt = 1000
}
func acknowledged(p *flows.Payment) { p.Acknowledged = p.Difference }

// differed returns a change of a recorded payment: the processor kept another amount.
func differed(how string) func(p *flows.Payment) {
	return func(p *flows.Payment) { p.SaleVerdict, p.Difference = flows.SaleSettled, how+" of 45.00 EUR is kept" }
}

// finds checks the finding, the verdict on the sale, and the debt that was read; noDebt: none was.
func finds(finding flows.PaymentState, verdict string, debt int64) func(p *flows.Payment) string {
	return func(p *flows.Payment) string {
		read := p.DebtAfter != nil
		if p.Finding() != finding || p.SaleVerdict != verdict || read != (debt != noDebt) || read && *p.DebtAfter != debt {
			return fmt.Sprintf("finding %q, verdict %q, debt %v", p.Finding(), p.SaleVerdict, p.DebtAfter)
		}
		return ""
	}
}

// TestVerifySale: a sale that does not show the recorded payment is a finding, and so is its end; what cannot be read stays due.
func TestVerifySale(t *testing.T) {
	t.Parallel()
	total := func(s *protocol.Sale) { s.Sale.TotalTI = 0 }
	checks := func(valid bool, err error) func(f *protocol.Facts) {
		return func(f *protocol.Facts) { f.Check = &protocol.Check{Valid: valid, Err: err} }
	}
	const open = "→ recorded: recorded, and the sale is not settled"
	check(t, recordedBefore(), []row{
		{name: "nothing asked", facts: shows(cards.Captured), want: "wait 0s"},
		{name: "due", facts: due, want: "read"},
		{name: "the sale next", facts: kept, want: "read_sale"},
		{name: "the sale, though the processor cannot be read", facts: and(due, down), want: "read_sale"},
		{name: "settled", facts: and(kept, reads("validated")), want: stillRecorded, wrote: finds("", flows.SaleSettled, noDebt)},
		{name: "settled before", with: saleSettled, facts: kept, want: "wait 0s"},
		{name: "not settled", facts: and(kept, reads("draft")), want: open, wrote: finds(flows.RecordedUnsettled, protocol.SaleOpen, noDebt)},
		{name: "still not settled", with: saleOpen, facts: and(kept, reads("draft")), want: "wait 0s"},
		{name: "settled by staff", with: saleOpen, facts: and(kept, reads("validated")), wrote: finds("", flows.SaleSettled, noDebt),
			want: "→ recorded: recorded, and no longer contradicted"},
		{name: "settled with another total", facts: and(kept, reads("validated", total)),
			want: "→ recorded: recorded, and the total of the sale is 0.00 EUR instead of 45.00 EUR"},
		{name: "settled with the total that the rule knows", facts: and(kept, reads("validated", total, ruleOfTotals)), want: stillRecorded},
		{name: "without a state", facts: and(kept, reads("")), want: "read_check"},
		{name: "without a state, settled", facts: and(kept, reads(""), checks(false, nil)), want: stillRecorded,
			wrote: finds("", flows.SaleSettled, noDebt)},
		{name: "without a state, not settled", facts: and(kept, reads(""), checks(true, nil)), want: open},
		{name: "without a state, and a check that cannot be read", facts: and(kept, reads(""), checks(false, errDown)),
			want: "wait 0s: no answer"},
		{name: "the sale cannot be read", facts: and(kept, reads("", unread)), want: "wait 0s: no answer"},
		{name: "the sale cannot be read for a day", with: since(24*time.Hour + time.Second), facts: and(kept, reads("", unread)),
			want: "→ recorded: recorded, and the sale could not be read for a day"},
		{name: "not settled, and not readable for a day", with: both(since(25*time.Hour), saleOpen), facts: and(kept, reads("", unread)),
			want: "wait 0s: no answer"},
		{name: "the sale can be read again", facts: and(kept, reads("validated")), want: "→ recorded: recorded, and no longer contradicted",
			with: func(p *flows.Payment) { p.SaleVerdict = "the sale could not be read for a day" }},
		{name: "the sale is gone", facts: and(kept, reads("", gone)), want: "wait 0s: no answer"},
		{name: "the sale is gone for long", with: since(flows.GoneAfter + time.Second), facts: and(kept, reads("", gone)),
			want: "→ recorded: recorded, and the club system no longer has the sale"},
	})
	desk := recordedBefore()
	desk.Method, desk.ProcessorID = flows.InPerson, ""
	check(t, desk, []row{
		{name: "without a processor", facts: due, want: "read_sale"},
		{name: "without a processor, an event", facts: wish(protocol.Reread), want: "wait 0s"},
	})
}

// TestVerifyMoney: money that the processor no longer keeps is a finding. After an event, only that is compared.
func TestVerifyMoney(t *testing.T) {
	t.Parallel()
	unknown := func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown, Absent: protocol.UnknownThere} }
	event := wish(protocol.Reread)
	const part = "→ recorded: recorded, and at the processor 40.00 EUR of 45.00 EUR is kept"
	check(t, recordedBefore(), []row{
		{name: "refunded in part", with: saleSettled, facts: and(due, shows(cards.Captured, partlyRefunded)), want: part,
			wrote: finds(flows.Contradicted, flows.SaleSettled, noDebt)},
		{name: "disputed, and a refund is pending", with: saleSettled,
			facts: and(due, shows(cards.Captured, func(r *protocol.Remote) { r.Refunding, r.Disputed = 4500, true })),
			want:  "→ recorded: recorded, and at the processor 0.00 EUR of 45.00 EUR is kept, and the buyer disputes it"},
		{name: "the difference is known", with: both(differed("40.00 EUR"), acknowledged),
			facts: and(due, shows(cards.Captured, partlyRefunded)), want: "wait 0s"},
		{name: "the bank returned a refund", with: differed("0.00 EUR"), facts: kept, wrote: finds("", flows.SaleSettled, noDebt),
			want: "→ recorded: recorded, and no longer contradicted"},
		{name: "the bank returned a known refund", with: both(differed("0.00 EUR"), acknowledged), facts: kept,
			want: "→ recorded: recorded, and the processor keeps the whole amount again"},
		{name: "the processor cannot be read", with: saleSettled, facts: and(due, down), want: "wait 0s: no answer"},
		{name: "the processor does not have it", with: saleSettled, facts: and(due, unknown), want: "wait 0s"},
		{name: "the processor cannot be read, and the sale is settled", facts: and(due, down, reads("validated")), want: stillRecorded},
		{name: "an event", facts: event, want: "read"},
		{name: "an event about nothing", facts: and(event, shows(cards.Captured)), want: "wait 0s"},
		{name: "an event about a refund", facts: and(event, shows(cards.Captured, partlyRefunded)), want: part},
		{name: "an event, and the processor cannot be read", facts: and(event, down), want: "wait 0s: no answer"},
	})
}

// TestVerifyDebt: a contact who owes less than before may have paid twice. An account that cannot be read is not read for ever.
func TestVerifyDebt(t *testing.T) {
	t.Parallel()
	owes := func(total int64, err error) func(f *protocol.Facts) {
		return func(f *protocol.Facts) { f.Debt = &protocol.Debt{Total: total, Err: err} }
	}
	settled, unreadable := reads("validated"), reads("", unread)
	hours := since(protocol.DebtWithin + time.Second)
	const twice = "→ recorded: recorded, and possibly paid twice: the contact owes less than before"
	check(t, recordedBefore(), []row{
		{name: "too", with: contactOwed, facts: and(kept, settled), want: "read_debt"},
		{name: "alone", with: both(contactOwed, saleSettled), facts: kept, want: "read_sale"},
		{name: "alone, after the sale", with: both(contactOwed, saleSettled), facts: and(kept, settled), want: "read_debt"},
		{name: "later, after a doubt", with: both(contactOwed, saleSettled, func(p *flows.Payment) { p.DoubtSince = now }), facts: kept,
			want: "wait 0s"},
		{name: "as before", with: contactOwed, facts: and(kept, settled, owes(1000, nil)), want: stillRecorded,
			wrote: finds("", flows.SaleSettled, 1000)},
		{name: "smaller", with: contactOwed, facts: and(kept, settled, owes(0, nil)), want: twice,
			wrote: finds(flows.PaidTwice, flows.SaleSettled, 0)},
		{name: "smaller, as the rule knows", with: contactOwed, facts: and(kept, reads("validated", ruleOfTotals), owes(1000-4500, nil)),
			want: stillRecorded, wrote: finds("", flows.SaleSettled, 1000-4500)},
		{name: "unreadable, and the sale is settled", with: contactOwed, facts: and(kept, settled, owes(0, errDown)), want: stillRecorded,
			wrote: finds("", flows.SaleSettled, noDebt)},
		{name: "unreadable", with: both(contactOwed, saleSettled), facts: and(kept, settled, owes(0, errDown)), want: "wait 0s: no answer"},
		{name: "unreadable for hours", with: both(contactOwed, saleSettled, hours), facts: and(kept, settled, owes(0, errDown)),
			want: stillRecorded, wrote: finds("", flows.SaleSettled, 1000)},
		{name: "read, however late", with: both(contactOwed, saleSettled, since(7*time.Hour)), facts: and(kept, settled, owes(500, nil)),
			want: twice},
		{name: "its sale is unreadable for hours", with: both(contactOwed, saleSettled, hours), facts: and(kept, unreadable),
			want: stillRecorded, wrote: finds("", flows.SaleSettled, 1000)},
		{name: "its sale was gone when an operator settled it", with: both(contactOwed, saleSettled, hours),
			facts: and(kept, reads("", gone)), want: stillRecorded, wrote: finds("", flows.SaleSettled, 1000)},
		{name: "was read", with: both(contactOwed, saleSettled, func(p *flows.Payment) { p.DebtAfter = p.Snapshot.Debt }), facts: kept,
			want: "wait 0s"},
	})
}

// TestVerifyAt: a recorded payment is verified a minute later, and a finding again and again, ever less often.
func TestVerifyAt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		with func(p *flows.Payment)
		want time.Duration // from now; zero: never
	}{
		"at first":     {func(*flows.Payment) {}, 50 * time.Second},
		"not recorded": {func(p *flows.Payment) { p.State = flows.InDoubt }, 0},
		"settled":      {func(p *flows.Payment) { p.SaleVerdict = flows.SaleSettled }, 0},
		"settled, and debt": {func(p *flows.Payment) {
			p.SaleVerdict, p.Snapshot = flows.SaleSettled, &flows.Evidence{Debt: new(int64)}
		}, 50 * time.Second},
		"settled, and debt, after a doubt": {func(p *flows.Payment) {
			p.SaleVerdict, p.Snapshot, p.DoubtSince = flows.SaleSettled, &flows.Evidence{Debt: new(int64)}, now
		}, 15*time.Minute - 10*time.Second},
		"a finding":     {func(p *flows.Payment) { p.PaidTwice = true }, 2 * time.Minute},
		"after a while": {func(p *flows.Payment) { p.PaidTwice, p.UpdatedAt = true, now.Add(-10*time.Minute) }, 10 * time.Minute},
		"after a day":   {func(p *flows.Payment) { p.PaidTwice, p.UpdatedAt = true, now.Add(-24*time.Hour) }, time.Hour},
	} {
		p := record(flows.Recorded)
		test.with(&p)
		at := protocol.VerifyAt(&p, now)
		if never := at.IsZero(); never != (test.want == 0) || !never && at.Sub(now) != test.want {
			t.Errorf("%s: %s", name, at)
		}
	}
}

// TestReversed has what a comparison with the processor does not leave as it ended.
func TestReversed(t *testing.T) {
	t.Parallel()
	const disputed = "the buyer disputes it"
	for name, row := range map[string]struct {
		state                  flows.PaymentState
		acknowledged           string
		paid                   cards.Payment
		contradicted, reversed bool
	}{
		"recorded, and kept":                 {flows.Recorded, "", cards.Payment{Captured: 4500}, false, false},
		"recorded, and partly refunded":      {flows.Recorded, "", cards.Payment{Captured: 4500, Refunded: 500}, true, true},
		"recorded, and disputed":             {flows.Recorded, "", cards.Payment{Captured: 4500, Disputed: true}, true, true},
		"recorded, and that is acknowledged": {flows.Recorded, disputed, cards.Payment{Captured: 4500, Disputed: true}, false, false},
		"recorded, and no longer disputed":   {flows.Recorded, disputed, cards.Payment{Captured: 4500}, true, true},
		"in doubt, and refunded":             {flows.InDoubt, "", cards.Payment{Captured: 4500, Refunded: 4500}, false, false},
		"being refunded":                     {flows.Refunding, "", cards.Payment{Captured: 4500, Refunding: 4500}, false, false},
		"being refunded, and that failed":    {flows.Refunding, "", cards.Payment{Captured: 4500, FailedRefunds: 1}, false, true},
		"refunded at the second try":         {flows.Refunded, "", cards.Payment{Captured: 4500, Refunded: 4500, FailedRefunds: 1}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := record(row.state)
			p.Acknowledged = row.acknowledged
			if got := protocol.Contradicted(&p, row.paid); got != row.contradicted {
				t.Errorf("contradicted: %v", got)
			}
			if got := protocol.Reversed(&p, row.paid); got != row.reversed {
				t.Errorf("reversed: %v", got)
			}
		})
	}
}
