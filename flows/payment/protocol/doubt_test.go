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

// TestResolve: a doubt ends by an acceptance in the journal, or by the rule soon after an attempt that may have left; never by a
// sale that staff may have settled, and never while the money is not held.
func TestResolve(t *testing.T) {
	t.Parallel()
	doubt := record(flows.InDoubt)
	doubt.Claim, doubt.AttemptID, doubt.Snapshot = 1, attemptAt(now.Add(-40*time.Second)), stateOf("draft")
	doubt.DoubtSince = now.Add(-30 * time.Second)
	open := func(ago time.Duration) func(r *protocol.Remote) {
		return journal(map[string]string{"fd_post_1": attemptAt(now.Add(-ago))})
	}
	held := shows(cards.Captured, open(40*time.Second))
	a := attemptAt(now.Add(-40 * time.Second))
	entries := func(all map[string]string) func(f *protocol.Facts) { return shows(cards.Captured, journal(all)) }
	since := func(ago time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) { p.DoubtSince, p.UpdatedAt = now.Add(-ago), now.Add(-ago) }
	}
	read := func(ages ...time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) {
			for _, age := range ages {
				p.Readings = append(p.Readings, flows.Reading{Evidence: flows.Evidence{At: now.Add(-age)}})
			}
		}
	}
	readings := func(n, failures int) func(p *flows.Payment) string {
		return func(p *flows.Payment) string {
			if len(p.Readings) != n || p.Readings[n-1].Failures != failures || !p.Readings[n-1].At.Equal(now) {
				return fmt.Sprintf("the readings are %+v", p.Readings)
			}
			return ""
		}
	}
	byRule := func(p *flows.Payment) string {
		if p.DecisionOperator() != flows.ByRule {
			return "the rule's decision is not in the history"
		}
		return readings(1, 0)(p)
	}
	unread := sale(func(s *protocol.Sale) { s.Err, s.Seen = errDown, nil })
	reread := wish(protocol.Reread)
	const recorded = "→ recorded: the evidence matches recorded payments: sale_state went from draft to validated, then journal"
	const asBefore = "→ in_doubt: as before"
	check(t, doubt, []row{
		{name: "begins", want: "read"},
		{name: "cannot be read", facts: func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }, want: "wait 15s: no answer"},
		{name: "differs", facts: shows(cards.Captured, func(r *protocol.Remote) { r.Amount-- }),
			want: "→ blocked: the processor holds another amount or currency"},
		{name: "accepted", facts: entries(map[string]string{"fd_post_1": a, "fd_done_1": a}),
			want: "→ recorded: the journal holds the club system's acceptance"},
		{name: "a refund was begun", facts: entries(map[string]string{"fd_post_1": a, "fd_release_1": a, "fd_post_2": refundAttempt}),
			want: "→ blocked: a refund was begun, and Redis lost it"},
		{name: "a refund was begun, and another gave its number up", want: "→ blocked: a refund was begun, and Redis lost it",
			facts: entries(map[string]string{"fd_post_1": a, "fd_release_1": a, "fd_post_2": refundAttempt, "fd_release_2": a})},
		{name: "a refund that could not begin", with: since(20 * time.Second), want: "wait 10s",
			facts: entries(map[string]string{"fd_post_1": a, "fd_post_2": refundAttempt})},

		{name: "not due", with: since(20 * time.Second), facts: held, want: "wait 10s"},
		{name: "due", facts: held, want: "read_evidence"},
		{name: "long before the next", with: both(since(20*time.Minute), read(time.Minute)), facts: held, want: "wait 2m0s"},
		{name: "the schedule is over", with: both(since(25*time.Hour), read(time.Minute)), facts: held, want: "wait 2m0s"},
		{name: "due, as all gateways were down", with: since(25 * time.Hour), facts: held, want: "read_evidence"},
		{name: "failed a minute ago", with: func(p *flows.Payment) {
			since(3 * time.Minute)(p)
			p.Readings = []flows.Reading{{Evidence: flows.Evidence{At: now.Add(-time.Minute)}, Failures: 1}}
		}, facts: held, want: "wait 1m0s"},
		{name: "an event", with: both(since(20*time.Minute), read(time.Minute)), facts: and(held, reread), want: "read_evidence"},
		{name: "an event right after a reading", with: both(since(20*time.Minute), read(29*time.Second)), facts: and(held, reread),
			want: "wait 2m0s"},
		{name: "an event right after the beginning", with: since(20 * time.Second), facts: and(held, reread), want: "wait 10s"},

		{name: "settled", facts: and(held, evidence("validated")), want: recorded, wrote: byRule},
		{name: "a minute after the attempt", facts: and(shows(cards.Captured, open(time.Minute)), evidence("validated")), want: recorded},
		{name: "later", facts: and(shows(cards.Captured, open(time.Minute+time.Millisecond)), evidence("validated")), want: asBefore,
			wrote: readings(1, 0)},
		{name: "as before", facts: and(held, evidence("draft")), want: asBefore, wrote: readings(1, 0)},
		{name: "unreadable", facts: and(held, unread), want: asBefore, wrote: readings(1, 1)},
		{name: "unreadable again", facts: and(held, unread), want: asBefore, wrote: readings(1, 3), with: func(p *flows.Payment) {
			p.Readings = []flows.Reading{{Evidence: flows.Evidence{At: now.Add(-time.Hour)}, Failures: 2}}
		}},
		{name: "without a rule", facts: and(held, evidence("validated"), func(f *protocol.Facts) { f.Sale.Rule = nil }), want: asBefore},
		{name: "without a snapshot", with: func(p *flows.Payment) { p.Snapshot = nil }, facts: and(held, evidence("validated")), want: asBefore},
		{name: "no gateway claimed it", facts: and(shows(cards.Captured), evidence("validated")), want: asBefore},
		{name: "the claim was released", facts: and(entries(map[string]string{"fd_post_1": a, "fd_release_1": a}), evidence("validated")),
			want: asBefore},
		{name: "the claim of another gateway", want: recorded,
			facts: and(entries(map[string]string{"fd_post_1": a, "fd_release_1": a, "fd_post_2": attemptAt(now)}), evidence("validated"))},
		{name: "some was refunded", facts: and(shows(cards.Captured, open(time.Second), func(r *protocol.Remote) { r.Refunded = 1 }),
			evidence("validated")), want: asBefore},
		{name: "a refund is pending", facts: and(shows(cards.Captured, open(time.Second), func(r *protocol.Remote) { r.Refunding = 1 }),
			evidence("validated")), want: asBefore},
	})

	desk := doubt
	desk.Method, desk.ProcessorID, desk.AttemptID = flows.InPerson, "", a
	check(t, desk, []row{
		{name: "without a processor", want: "read_evidence"},
		{name: "without a processor, settled", facts: evidence("validated"),
			want: "→ recorded: the evidence matches recorded payments: sale_state went from draft to validated", wrote: byRule},
		{name: "without a processor, settled before it was sent", with: func(p *flows.Payment) { p.AttemptID = "" }, facts: evidence("validated"),
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
	p := record(flows.InDoubt)
	p.DoubtSince = now
	var at []time.Duration
	for {
		due, more := protocol.NextReading(&p)
		if !more {
			break
		}
		at = append(at, due.Sub(now))
		p.Readings = protocol.WithReading(p.Readings, flows.Reading{Evidence: flows.Evidence{At: due}})
	}
	if !slices.Equal(at, protocol.ReadingAt[:]) {
		t.Errorf("read at %s", at)
	}
	for range 2 * protocol.MaxReadings {
		p.Readings = protocol.WithReading(p.Readings, flows.Reading{Evidence: *stateOf("draft")})
	}
	if n := len(p.Readings); n != protocol.MaxReadings || protocol.SeenSettled(&p) {
		t.Errorf("%d readings, settled %t", n, protocol.SeenSettled(&p))
	}
	p.Readings = append(p.Readings, flows.Reading{Evidence: *stateOf("validated")}, flows.Reading{Failures: 1})
	if !protocol.SeenSettled(&p) {
		t.Error("the latest evidence that could be read is not seen")
	}
}
