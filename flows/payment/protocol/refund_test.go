package protocol_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

const refundAttempt = "refund-1772476200000-4a2f1d3c-0b7e-4a57-9a37-6f1d9d1f0c11"

// journal returns a change of a reading: the processor's metadata has these entries.
func journal(entries map[string]string) func(r *protocol.Remote) {
	return func(r *protocol.Remote) { r.Journal = protocol.ReadJournal(entries) }
}

// claimed returns facts about the writing of a claim; with a response in a state and a journal if it is done.
func claimed(outcome protocol.Outcome, state cards.State, entries map[string]string) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		called(outcome, state)(f)
		f.Claim, f.Call = f.Call, nil
		if f.Claim.Response != nil {
			journal(entries)(f.Claim.Response)
		}
	}
}

// released returns facts about the writing of a release.
func released(outcome protocol.Outcome) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		f.Release = &protocol.Call{Outcome: outcome}
		if outcome != protocol.Done {
			f.Release.Err = errDown
		}
	}
}

// claims checks which claim the record has, whose it is, and when it may be written.
func claims(n int, prefix string, pause time.Duration) func(p *flows.Payment) string {
	return func(p *flows.Payment) string {
		later := pause > 0 && p.NotBefore.Equal(now.Add(pause)) || pause == 0 && p.NotBefore.IsZero()
		if p.Claim != n || !strings.HasPrefix(p.AttemptID, prefix) || !strings.HasSuffix(p.AttemptID, "-id") || !later {
			return fmt.Sprintf("claim %d of %q, not before %s", p.Claim, p.AttemptID, p.NotBefore)
		}
		return ""
	}
}

func withID(f *protocol.Facts) { f.ID = "id" }

// TestPrepareRefund: a refund claims the number after the last one, which is released first.
func TestPrepareRefund(t *testing.T) {
	t.Parallel()
	owed := func(p *flows.Payment) { p.Claim, p.ReleasePending = 3, true }
	check(t, record(flows.RefundDue), []row{
		{name: "begins", with: func(p *flows.Payment) { p.Claim = 3 }, facts: withID, want: "→ refunding: as before",
			wrote: claims(4, "refund-1772476200000-", 0)},
		{name: "of a payment without a claim", facts: withID, want: "→ refunding: as before", wrote: claims(1, "refund-1772476200000-", 0)},
		{name: "a release is owed", with: owed, want: "release"},
		{name: "it cannot be written", with: owed, facts: released(protocol.Failed), want: "wait 15s: no answer"},
		{name: "it is written", with: owed, facts: released(protocol.Done), want: "→ refund_due: as before",
			wrote: func(p *flows.Payment) string {
				if p.ReleasePending || p.Claim != 3 {
					return "the release is still owed"
				}
				return ""
			}},
		{name: "was missing", with: func(p *flows.Payment) { p.MissingSince = now.Add(-time.Minute) }, want: "read"},
	})
}

// TestRefund: money goes back only under the refund's own claim, never for a payment that may have been recorded, and once.
func TestRefund(t *testing.T) {
	t.Parallel()
	const other = "1772476200000-9b0c55d2-6a54-4a39-8f2e-1c6f4b9a3d77"
	of := record(flows.Refunding)
	of.Claim, of.AttemptID = 2, refundAttempt
	before := map[string]string{"fd_post_1": other, "fd_release_1": other}
	with := func(entries map[string]string) map[string]string {
		all := map[string]string{}
		for _, each := range []map[string]string{before, entries} {
			for key, value := range each {
				all[key] = value
			}
		}
		return all
	}
	own := with(map[string]string{"fd_post_2": refundAttempt})
	given := with(map[string]string{"fd_post_2": refundAttempt, "fd_release_2": refundAttempt})
	reads := func(state cards.State, entries map[string]string, more ...func(r *protocol.Remote)) func(f *protocol.Facts) {
		return shows(state, append([]func(r *protocol.Remote){journal(entries)}, more...)...)
	}
	pending := func(r *protocol.Remote) { r.Refunding = 4500 }
	failedOnce := func(r *protocol.Remote) { r.FailedRefunds = 1 }
	disputed := func(r *protocol.Remote) { r.Disputed = true }
	free, held := reads(cards.Captured, before), reads(cards.Captured, own)
	won := claimed(protocol.Done, cards.Captured, own)
	usedUp := claimed(protocol.KeyUsedUp, "", nil)
	refused := called(protocol.WrongState, "")
	highest := func(p *flows.Payment) { p.Claim = protocol.HighestClaim }
	const otherAttempt, done = "→ blocked: a refund is due, but the journal holds another attempt", "→ refunded: as before"
	check(t, of, []row{
		{name: "begins", want: "read"},
		{name: "pauses", with: func(p *flows.Payment) { p.NotBefore = now.Add(time.Minute) }, facts: free, want: "wait 1m0s"},
		{name: "cannot be read", facts: func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }, want: "wait 15s: no answer"},
		{name: "differs", facts: reads(cards.Captured, before, func(r *protocol.Remote) { r.Captured-- }),
			want: "→ blocked: the processor captured another amount"},
		{name: "recorded", facts: reads(cards.Captured, with(map[string]string{"fd_done_1": other})),
			want: "→ blocked: a refund is due for a payment that was recorded"},
		{name: "recorded, and claimed", facts: reads(cards.Captured, with(map[string]string{"fd_post_2": refundAttempt, "fd_done_1": other})),
			want: "→ blocked: a refund is due for a payment that was recorded"},
		{name: "made before", facts: reads(cards.Refunded, own), want: done},
		{name: "pending", facts: reads(cards.Captured, own, pending), want: "wait 2m0s"},
		{name: "pending, and not claimed", facts: reads(cards.Captured, before, pending), want: "wait 2m0s"},
		{name: "the earlier claim is open", facts: reads(cards.Captured, map[string]string{"fd_post_1": other}), want: otherAttempt},
		{name: "the claim is another's", facts: reads(cards.Captured, with(map[string]string{"fd_post_2": other})), want: otherAttempt},
		{name: "not claimed", facts: free, want: "claim"},
		{name: "not claimed, and refunded by hand", facts: reads(cards.Refunded, before), want: "claim"},
		{name: "claimed before", facts: held, want: "refund"},
		{name: "claimed before, and another gave its number up", want: "refund",
			facts: reads(cards.Captured, with(map[string]string{"fd_post_2": refundAttempt, "fd_release_2": other}))},
		{name: "claimed too late", want: otherAttempt, facts: reads(cards.Captured,
			with(map[string]string{"fd_post_2": refundAttempt, "fd_release_2": other, "fd_post_3": "the next attempt's"}))},
		{name: "claimed before, and failed", facts: reads(cards.Captured, own, failedOnce),
			want: "→ blocked: the refund failed at the processor, which holds the money"},
		{name: "the failure is known", with: func(p *flows.Payment) { p.FailedRefunds = 1 },
			facts: reads(cards.Captured, own, failedOnce), want: "refund"},
		{name: "the claim was given up", facts: and(reads(cards.Captured, given), withID), want: "→ refunding: as before",
			wrote: claims(3, "refund-", 5*time.Minute)},
		{name: "the last claim was given up", with: highest, want: otherAttempt, facts: reads(cards.Captured,
			map[string]string{protocol.EntryName("post", 15): refundAttempt, protocol.EntryName("release", 15): refundAttempt})},

		{name: "claimed", facts: and(free, won), want: "refund"},
		{name: "claimed, and an acceptance came", want: otherAttempt,
			facts: and(free, claimed(protocol.Done, cards.Captured, with(map[string]string{"fd_post_2": refundAttempt, "fd_done_1": other})))},
		{name: "claimed, and another gave its number up", want: "refund",
			facts: and(free, claimed(protocol.Done, cards.Captured, with(map[string]string{"fd_post_2": refundAttempt, "fd_release_2": other})))},
		{name: "claimed, and refunded by hand before", facts: and(reads(cards.Refunded, before), won), want: done},
		{name: "claimed, and failed before", facts: and(reads(cards.Captured, before, failedOnce), won),
			want: "→ blocked: the refund failed at the processor, which holds the money"},
		{name: "another attempt holds the claim", facts: and(free, claimed(protocol.KeyReused, "", nil)),
			want: "→ blocked: a refund is due, but another attempt holds the claim"},
		{name: "the claim has no answer", facts: and(free, claimed(protocol.Failed, "", nil)), want: "wait 15s: no answer"},
		{name: "the claim's key is used up", facts: and(free, usedUp), want: "release"},
		{name: "the claim's key is used up, and the last one", with: highest, want: "wait 15s: no answer",
			facts: and(usedUp, reads(cards.Captured, allReleased()))},
		{name: "it cannot be released", facts: and(free, usedUp, released(protocol.Failed)), want: "wait 15s: no answer"},
		{name: "it is released", facts: and(free, usedUp, released(protocol.Done), withID), want: "→ refunding: as before",
			wrote: claims(3, "refund-", 5*time.Minute)},

		{name: "made", facts: called(protocol.Done, cards.Refunded), want: done},
		{name: "requested", facts: called(protocol.Done, cards.Captured), want: "wait 2m0s"},
		{name: "no answer", facts: called(protocol.Failed, ""), want: "wait 15s: no answer"},
		{name: "the key belongs to another request", facts: called(protocol.KeyReused, ""), want: "wait 15s: no answer"},
		{name: "the key is used up", facts: called(protocol.KeyUsedUp, ""), want: "→ refunding: as before", wrote: usedKeys(1)},
		{name: "refused, and not read", facts: refused, want: "read"},
		{name: "refused, because it was made", facts: and(refused, reads(cards.Refunded, own)), want: done},
		{name: "refused, because it is pending", facts: and(refused, reads(cards.Captured, own, pending)), want: "wait 2m0s"},
		{name: "refused, because it is disputed", facts: and(refused, reads(cards.Captured, own, disputed)),
			want: "→ blocked: the processor refused the refund: the buyer disputes the payment"},
		{name: "refused for good", facts: and(called(protocol.Refused, ""), held), want: "→ blocked: the processor refused the refund"},
	})
}

// allReleased returns a journal whose claims before the highest are released.
func allReleased() map[string]string {
	entries := map[string]string{}
	for n := 1; n < protocol.HighestClaim; n++ {
		entries[protocol.EntryName("post", n)], entries[protocol.EntryName("release", n)] = refundAttempt, refundAttempt
	}
	return entries
}

// TestRefundIsReadAgain: what was read before a refund began, or by whom, does not let money go back.
func TestRefundIsReadAgain(t *testing.T) {
	t.Parallel()
	p := record(flows.Refunding)
	for _, test := range []struct {
		state flows.PaymentState
		kept  bool
	}{{flows.RefundDue, true}, {flows.Refunding, false}} {
		f, latest := protocol.Facts{}, record(test.state)
		f.Remote = remote(&p, cards.Captured)
		change := &protocol.Change{Record: latest}
		if kept := f.Committed(change, now).Remote != nil; kept != test.kept {
			t.Errorf("%s: kept after a commit: %t", test.state, kept)
		}
		if kept := f.Overtaken(change, &latest).Remote != nil; kept != test.kept {
			t.Errorf("%s: kept after another's commit: %t", test.state, kept)
		}
	}
}
