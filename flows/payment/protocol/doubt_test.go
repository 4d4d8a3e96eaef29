package protocol_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// attemptAt returns the name of an attempt that began at an instant.
func attemptAt(at time.Time) string {
	return protocol.NewAttemptID(at, "4a2f1d3c-0b7e-4a57-9a37-6f1d9d1f0c11")
}

// settledRule recognises a paid sale: its state goes from draft to validated.
func settledRule() *flows.Rule {
	return &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "draft", After: "validated"}}}
}

func stateOf(state string) *flows.Evidence { return &flows.Evidence{At: now, SaleState: &state} }

// evidence returns a reading of the sale in a state, with the rule.
func evidence(state string) func(f *protocol.Facts) {
	return sale(func(s *protocol.Sale) { s.Seen, s.Rule = stateOf(state), settledRule() })
}

// sentAt is the attempt of doubted, and sentAfter the rule's reason to end it.
var sentAt = attemptAt(now.Add(-40 * time.Second))

const sentAfter = "→ recorded: the evidence matches recorded payments: sale_state went from draft to validated"

// doubted returns a card payment whose doubt began ten seconds after its attempt, half a minute ago.
func doubted() flows.Payment {
	p := record(flows.InDoubt)
	p.Claim, p.AttemptID, p.Snapshot, p.DoubtSince = 1, sentAt, stateOf("draft"), now.Add(-30*time.Second)
	return p
}

// holds returns facts: the processor holds the money, and its journal has these entries.
func holds(entries map[string]string, more ...func(r *protocol.Remote)) func(f *protocol.Facts) {
	return shows(cards.Captured, append(more, journal(entries))...)
}

// claimedBefore returns facts: the processor holds the money, and an attempt claimed it so long ago.
func claimedBefore(ago time.Duration, more ...func(r *protocol.Remote)) func(f *protocol.Facts) {
	return holds(map[string]string{"fd_post_1": attemptAt(now.Add(-ago))}, more...)
}

// readings checks how many readings the record has, and whether the latest one, of now, failed.
func readings(n, failures int) func(p *flows.Payment) string {
	return func(p *flows.Payment) string {
		if len(p.Readings) != n || p.Readings[n-1].Failures != failures || !p.Readings[n-1].At.Equal(now) {
			return fmt.Sprintf("the readings are %+v", p.Readings)
		}
		return ""
	}
}

// decidedByRule checks that the rule's decision and its one reading are in the record.
func decidedByRule(p *flows.Payment) string {
	if p.DecisionOperator() != flows.ByRule {
		return "the rule's decision is not in the history"
	}
	return readings(1, 0)(p)
}

// TestResolve: a doubt ends by what the journal has, and otherwise waits for evidence, which is read on a schedule.
func TestResolve(t *testing.T) {
	t.Parallel()
	held := claimedBefore(40 * time.Second)
	since := func(ago time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) { p.DoubtSince, p.UpdatedAt = now.Add(-ago), now.Add(-ago) }
	}
	read := func(age time.Duration, failures int) func(p *flows.Payment) {
		return func(p *flows.Payment) {
			p.Readings = append(p.Readings, flows.Reading{Evidence: flows.Evidence{At: now.Add(-age)}, Failures: failures})
		}
	}
	reread := wish(protocol.Reread)
	check(t, doubted(), []row{
		{name: "begins", want: "read"},
		{name: "cannot be read", facts: func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }, want: "wait 15s: no answer"},
		{name: "differs", facts: shows(cards.Captured, func(r *protocol.Remote) { r.Amount-- }),
			want: "→ blocked: the processor holds another amount or currency"},
		{name: "accepted", facts: holds(map[string]string{"fd_post_1": sentAt, "fd_done_1": sentAt}),
			want: "→ recorded: the journal holds the club system's acceptance"},
		{name: "a refund was begun", want: "→ blocked: a refund was begun, and Redis lost it",
			facts: holds(map[string]string{"fd_post_1": sentAt, "fd_release_1": sentAt, "fd_post_2": refundAttempt})},
		{name: "a refund was begun, and another gave its number up", want: "→ blocked: a refund was begun, and Redis lost it",
			facts: holds(map[string]string{"fd_post_1": sentAt, "fd_release_1": sentAt, "fd_post_2": refundAttempt, "fd_release_2": sentAt})},
		{name: "a refund that could not begin", with: since(20 * time.Second), want: "wait 10s",
			facts: holds(map[string]string{"fd_post_1": sentAt, "fd_post_2": refundAttempt})},

		{name: "not due", with: since(20 * time.Second), facts: held, want: "wait 10s"},
		{name: "due", facts: held, want: "read_evidence"},
		{name: "long before the next", with: both(since(20*time.Minute), read(time.Minute, 0)), facts: held, want: "wait 2m0s"},
		{name: "the schedule is over", with: both(since(25*time.Hour), read(time.Minute, 0)), facts: held, want: "wait 2m0s"},
		{name: "due, as all gateways were down", with: since(25 * time.Hour), facts: held, want: "read_evidence"},
		{name: "read once after all gateways were down", with: both(since(2*time.Hour), read(0, 0)), facts: held, want: "wait 2m0s"},
		{name: "failed a minute ago", with: both(since(3*time.Minute), read(time.Minute, 1)), facts: held, want: "wait 1m0s"},
		{name: "an event", with: both(since(20*time.Minute), read(time.Minute, 0)), facts: and(held, reread), want: "read_evidence"},
		{name: "an event right after a reading", with: both(since(20*time.Minute), read(29*time.Second, 0)), facts: and(held, reread),
			want: "wait 2m0s"},
		{name: "an event right after the beginning", with: since(20 * time.Second), facts: and(held, reread), want: "wait 10s"},
	})
	desk := doubted()
	desk.Method, desk.ProcessorID = flows.InPerson, ""
	check(t, desk, []row{{name: "without a processor", want: "read_evidence"}})
}

// TestWeigh: the rule ends a doubt only soon after an attempt that may have left, never by a sale that staff may have settled, and
// never while the money is not held.
func TestWeigh(t *testing.T) {
	t.Parallel()
	held, settled := claimedBefore(40*time.Second), evidence("validated")
	released := map[string]string{"fd_post_1": sentAt, "fd_release_1": sentAt}
	claimedAgain := map[string]string{"fd_post_1": sentAt, "fd_release_1": sentAt, "fd_post_2": attemptAt(now)}
	unread := sale(func(s *protocol.Sale) { s.Err, s.Seen = errDown, nil })
	rule := func(conditions ...flows.Condition) func(f *protocol.Facts) {
		return func(f *protocol.Facts) { f.Sale.Rule = &flows.Rule{Conditions: conditions} }
	}
	paid := settledRule().Conditions[0]
	const asBefore = "→ in_doubt: as before"
	check(t, doubted(), []row{
		{name: "settled", facts: and(held, settled), want: sentAfter + ", then journal", wrote: decidedByRule},
		{name: "a minute after the attempt", facts: and(claimedBefore(time.Minute), settled), want: sentAfter + ", then journal"},
		{name: "later", facts: and(claimedBefore(time.Minute+time.Millisecond), settled), want: asBefore, wrote: readings(1, 0)},
		{name: "as before", facts: and(held, evidence("draft")), want: asBefore, wrote: readings(1, 0)},
		{name: "unreadable", facts: and(held, unread), want: asBefore, wrote: readings(1, 1)},
		{name: "unreadable again", facts: and(held, unread), want: asBefore, wrote: readings(1, 3), with: func(p *flows.Payment) {
			p.Readings = []flows.Reading{{Evidence: flows.Evidence{At: now.Add(-time.Hour)}, Failures: 2}}
		}},
		{name: "without a rule", facts: and(held, settled, func(f *protocol.Facts) { f.Sale.Rule = nil }), want: asBefore},
		{name: "by a rule of nothing", facts: and(held, settled, rule()), want: asBefore},
		{name: "by half of a rule", want: asBefore,
			facts: and(held, settled, rule(flows.Condition{Signal: flows.SignalDebt, Before: "nothing", After: "the amount"}, paid))},
		{name: "by a rule of another state before", want: asBefore,
			facts: and(held, settled, rule(flows.Condition{Signal: flows.SignalSaleState, Before: "open", After: "validated"}))},
		{name: "of a sale that no longer shows its state", facts: and(held, sale(func(s *protocol.Sale) { s.Rule = settledRule() })),
			want: asBefore},
		{name: "without a snapshot", with: func(p *flows.Payment) { p.Snapshot = nil }, facts: and(held, settled), want: asBefore},
		{name: "no gateway claimed it", facts: and(shows(cards.Captured), settled), want: asBefore},
		{name: "the claim was released", facts: and(holds(released), settled), want: asBefore},
		{name: "the claim of another gateway", facts: and(holds(claimedAgain), settled), want: sentAfter + ", then journal"},
		{name: "a refund claimed it, too", want: asBefore,
			facts: and(holds(map[string]string{"fd_post_1": sentAt, "fd_post_2": protocol.RefundPrefix + sentAt}), settled)},
		{name: "some was refunded", want: asBefore,
			facts: and(claimedBefore(time.Second, func(r *protocol.Remote) { r.Refunded = 1 }), settled)},
		{name: "a refund is pending", want: asBefore,
			facts: and(claimedBefore(time.Second, func(r *protocol.Remote) { r.Refunding = 1 }), settled)},
	})
	desk := doubted()
	desk.Method, desk.ProcessorID = flows.InPerson, ""
	check(t, desk, []row{
		{name: "without a processor, settled", facts: settled, want: sentAfter, wrote: decidedByRule},
		{name: "without a processor, settled before it was sent", with: func(p *flows.Payment) { p.AttemptID = "" }, facts: settled,
			want: asBefore},
		{name: "without a processor, as before", facts: evidence("draft"), want: asBefore},
	})
}

// both joins changes of a record.
func both(all ...func(p *flows.Payment)) func(p *flows.Payment) {
	return func(p *flows.Payment) {
		for _, each := range all {
			each(p)
		}
	}
}

// TestNextReading: evidence is read on the schedule, each time once, however late.
func TestNextReading(t *testing.T) {
	t.Parallel()
	payment := record(flows.InDoubt)
	payment.DoubtSince = now
	var at []time.Duration
	for {
		due, more := protocol.NextReading(&payment)
		if !more {
			break
		}
		at = append(at, due.Sub(now))
		payment.Readings = protocol.WithReading(payment.Readings, flows.Reading{Evidence: flows.Evidence{At: due}})
	}
	if !slices.Equal(at, protocol.ReadingAt[:]) {
		t.Errorf("read at %s", at)
	}
	for range 2 * protocol.MaxReadings {
		payment.Readings = protocol.WithReading(payment.Readings, flows.Reading{Evidence: *stateOf("draft")})
	}
	if n := len(payment.Readings); n != protocol.MaxReadings || protocol.SeenSettled(&payment) {
		t.Errorf("%d readings, settled %t", n, protocol.SeenSettled(&payment))
	}
	payment.Readings = append(payment.Readings, flows.Reading{Evidence: *stateOf("validated")}, flows.Reading{Failures: 1})
	if !protocol.SeenSettled(&payment) {
		t.Error("the latest evidence that could be read is not seen")
	}
}
