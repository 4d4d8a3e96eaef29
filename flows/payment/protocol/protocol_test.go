package protocol_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// TestTransition: a change of state or reason is in the history, and what belongs to the state before ends with it.
func TestTransition(t *testing.T) {
	t.Parallel()
	payment := record(flows.Capturing)
	payment.Processing, payment.MissingSince = true, now.Add(-time.Minute)
	payment.Payer, payment.Contact, payment.Desk = &flows.Payer{Contact: "/club/contacts/1"}, "/club/contacts/1", &flows.Desk{}
	by := flows.Decision{Operator: "ada", Reason: "seen"}
	move := func(to flows.PaymentState, reason string) *flows.Payment {
		return &protocol.Transition(&payment, payment, to, reason, by, now).Record
	}

	same := move(flows.Capturing, payment.Reason)
	if len(same.History) != 0 || !same.UpdatedAt.Equal(payment.UpdatedAt) || !same.Processing || same.Payer == nil {
		t.Errorf("no transition: %+v", same)
	}
	next := move(flows.Captured, "taken")
	if len(next.History) != 2 || next.History[0].State != flows.Capturing || !next.History[0].At.Equal(payment.UpdatedAt) ||
		next.History[1].State != flows.Captured || next.History[1].Operator != "ada" || next.History[1].OperatorReason != "seen" {
		t.Errorf("the history is %+v", next.History)
	}
	if next.Processing || next.Payer == nil || next.MissingSince.IsZero() || !next.UpdatedAt.Equal(now) || next.Reason != "taken" {
		t.Errorf("after a transition: %+v", next)
	}
	final := move(flows.Cancelled, "over")
	if final.Payer != nil || final.Contact != "" || final.Desk != nil || !final.MissingSince.IsZero() {
		t.Errorf("a final record leads to a person: %+v", final)
	}

	doubt := move(flows.InDoubt, "unknown")
	if !doubt.DoubtSince.Equal(now) {
		t.Errorf("in doubt since %s", doubt.DoubtSince)
	}
	lifted := *doubt
	lifted.State, lifted.DoubtSince = flows.Blocked, now.Add(-time.Hour)
	if again := protocol.Transition(&lifted, lifted, flows.InDoubt, "found", by, now).Record; !again.DoubtSince.Equal(now.Add(-time.Hour)) {
		t.Errorf("a block in between made the doubt younger: %s", again.DoubtSince)
	}

	for n := range 2 * flows.MaxHistory {
		payment = *move(flows.Capturing, strconv.Itoa(n))
	}
	if n := len(payment.History); n != flows.MaxHistory || payment.History[n-1].Reason != strconv.Itoa(2*flows.MaxHistory-1) {
		t.Errorf("the history has %d entries", n)
	}
}

// TestTable: the table of transitions excludes what must never happen. Only what is recorded stays so for good.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, from := range flows.PaymentStates {
		if ends := from == flows.Recorded; slices.ContainsFunc(flows.PaymentStates, from.CanBecome) == ends {
			t.Errorf("%s leads somewhere: %t", from, !ends)
		}
	}
	for from, never := range map[flows.PaymentState][]flows.PaymentState{
		flows.Captured:  {flows.Cancelling},
		flows.Sending:   {flows.Refunding, flows.Cancelling},
		flows.InDoubt:   {flows.Sending, flows.Refunding},
		flows.Blocked:   {flows.Sending},
		flows.Recorded:  {flows.RefundDue},
		flows.RefundDue: {flows.Blocked}, // only once its refund has a claim
		flows.Refunding: {flows.Captured},
		flows.Refunded:  {flows.Refunding},
		flows.Cancelled: {flows.Captured, flows.Refunding},
	} {
		for _, to := range never {
			if from.CanBecome(to) {
				t.Errorf("%s → %s is in the table", from, to)
			}
		}
	}
}

// TestForeign: payments of others are left alone, whatever their state, whatever was seen of them, and whatever is asked.
func TestForeign(t *testing.T) {
	t.Parallel()
	foreign := func(f *protocol.Facts) { f.Foreign = errDown }
	for _, state := range flows.PaymentStates {
		check(t, record(state), []row{
			{name: string(state), facts: foreign, want: "wait 15s: no answer"},
			{name: string(state) + ", and the processor shows money", facts: and(foreign, shows(cards.Captured)), want: "wait 15s: no answer"},
			{name: string(state) + ", and an operator decides", facts: and(foreign, recorded), want: "wait 15s: no answer"},
			{name: string(state) + ", and the buyer gives up", facts: and(foreign, wish(protocol.GiveUp)), want: "wait 15s: no answer"},
		})
	}
}

// BenchmarkNext measures one answer: a payment is asked about some twenty times on its way.
func BenchmarkNext(b *testing.B) {
	p := record(flows.Authorised)
	f := protocol.Facts{ID: "id"}
	and(brake(0), shows(cards.Authorised), sale())(&f)
	b.ReportAllocs()
	for b.Loop() {
		protocol.Next(&p, f, now)
	}
}
