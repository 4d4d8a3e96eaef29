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
	missing := func(p *flows.Payment) { p.MissingSince = now.Add(-time.Hour) }
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
		{name: "was missing", with: missing, facts: withID, want: "→ refunding: as before"},
		{name: "is missing", with: missing, facts: and(withID, absent), want: "→ refunding: as before"},
	})
}

// sentBefore is the attempt of the first claim of a payment to refund, which was released.
const sentBefore = "1772476200000-9b0c55d2-6a54-4a39-8f2e-1c6f4b9a3d77"

// refunding returns a payment whose refund has the second claim.
func refunding() flows.Payment {
	p := record(flows.Refunding)
	p.Claim, p.AttemptID = 2, refundAttempt
	return p
}

// after returns a journal whose first claim was released, and which has these entries, too: keys and values in turn.
func after(entries ...string) map[string]string {
	all := map[string]string{"fd_post_1": sentBefore, "fd_release_1": sentBefore}
	for i := 0; i < len(entries); i += 2 {
		all[entries[i]] = entries[i+1]
	}
	return all
}

// What else the processor may show of a payment to refund.
func pendingRefund(r *protocol.Remote) { r.Refunding = 4500 }
func failedRefund(r *protocol.Remote)  { r.FailedRefunds = 1 }

const (
	otherAttempt = "→ blocked: a refund is due, but the journal holds another attempt"
	refundMade   = "→ refunded: as before"
	refundFails  = "→ blocked: the refund failed at the processor, which holds the money"
)

func highestClaim(p *flows.Payment) { p.Claim = protocol.HighestClaim }

// TestRefund: money goes back only under the refund's own claim, never for a payment that may have been recorded, and once.
func TestRefund(t *testing.T) {
	t.Parallel()
	refunded := func(entries map[string]string) func(f *protocol.Facts) {
		return shows(cards.Refunded, journal(entries))
	}
	own, free := after("fd_post_2", refundAttempt), after()
	const wasRecorded = "→ blocked: a refund is due for a payment that was recorded"
	check(t, refunding(), []row{
		{name: "begins", want: "read"},
		{name: "pauses", with: func(p *flows.Payment) { p.NotBefore = now.Add(time.Minute) }, facts: holds(free), want: "wait 1m0s"},
		{name: "cannot be read", facts: func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }, want: "wait 15s: no answer"},
		{name: "differs", facts: holds(free, func(r *protocol.Remote) { r.Captured-- }),
			want: "→ blocked: the processor captured another amount"},
		{name: "recorded", facts: holds(after("fd_done_1", sentBefore)), want: wasRecorded},
		{name: "recorded, and claimed", facts: holds(after("fd_post_2", refundAttempt, "fd_done_1", sentBefore)), want: wasRecorded},
		{name: "made before", facts: refunded(own), want: refundMade},
		{name: "pending", facts: holds(own, pendingRefund), want: "wait 2m0s"},
		{name: "pending, and not claimed", facts: holds(free, pendingRefund), want: "wait 2m0s"},
		{name: "the earlier claim is open", facts: holds(map[string]string{"fd_post_1": sentBefore}), want: otherAttempt},
		{name: "the earlier claim is open, and it was refunded by hand", facts: refunded(map[string]string{"fd_post_1": sentBefore}),
			want: otherAttempt},
		{name: "the claim is another's", facts: holds(after("fd_post_2", sentBefore)), want: otherAttempt},
		{name: "not claimed", facts: holds(free), want: "claim"},
		{name: "not claimed, and refunded by hand", facts: refunded(free), want: "claim"},
		{name: "claimed before", facts: holds(own), want: "refund"},
		{name: "claimed before, and another gave its number up", want: "refund",
			facts: holds(after("fd_post_2", refundAttempt, "fd_release_2", sentBefore))},
		{name: "claimed too late", want: otherAttempt,
			facts: holds(after("fd_post_2", refundAttempt, "fd_release_2", sentBefore, "fd_post_3", "the next attempt's"))},
		{name: "claimed before, and failed", facts: holds(own, failedRefund), want: refundFails},
		{name: "the failure is known", with: func(p *flows.Payment) { p.FailedRefunds = 1 }, facts: holds(own, failedRefund), want: "refund"},
		{name: "the claim was given up", facts: and(holds(after("fd_post_2", refundAttempt, "fd_release_2", refundAttempt)), withID),
			want: "→ refunding: as before", wrote: claims(3, "refund-", 5*time.Minute)},
		{name: "the last claim was given up", with: highestClaim, want: otherAttempt, facts: holds(
			map[string]string{protocol.EntryName("post", 15): refundAttempt, protocol.EntryName("release", 15): refundAttempt})},
	})
}

// TestRefundClaimed: how the writing of the refund's claim ended says whether the money may go back.
func TestRefundClaimed(t *testing.T) {
	t.Parallel()
	before, usedUp := holds(after()), claimed(protocol.KeyUsedUp, "", nil)
	won := func(entries ...string) func(f *protocol.Facts) {
		return claimed(protocol.Done, cards.Captured, after(append([]string{"fd_post_2", refundAttempt}, entries...)...))
	}
	check(t, refunding(), []row{
		{name: "claimed", facts: and(before, won()), want: "refund"},
		{name: "claimed, and an acceptance came", facts: and(before, won("fd_done_1", sentBefore)), want: otherAttempt},
		{name: "claimed, and another gave its number up", facts: and(before, won("fd_release_2", sentBefore)), want: "refund"},
		{name: "claimed too late", facts: and(before, won("fd_release_2", sentBefore, "fd_post_3", "the next attempt's")), want: otherAttempt},
		{name: "claimed, and refunded by hand before", facts: and(shows(cards.Refunded, journal(after())), won()), want: refundMade},
		{name: "claimed, and failed before", facts: and(holds(after(), failedRefund), won()), want: refundFails},
		{name: "another attempt holds the claim", facts: and(before, claimed(protocol.KeyReused, "", nil)),
			want: "→ blocked: a refund is due, but another attempt holds the claim"},
		{name: "the claim has no answer", facts: and(before, claimed(protocol.Failed, "", nil)), want: "wait 15s: no answer"},
		{name: "the claim's key is used up", facts: and(before, usedUp), want: "release"},
		{name: "the claim's key is used up, and the last one", with: highestClaim, facts: and(usedUp, holds(allReleased())),
			want: "wait 15s: no answer"},
		{name: "it cannot be released", facts: and(before, usedUp, released(protocol.Failed)), want: "wait 15s: no answer"},
		{name: "it is released", facts: and(before, usedUp, released(protocol.Done), withID), want: "→ refunding: as before",
			wrote: claims(3, "refund-", 5*time.Minute)},
	})
}

// TestRefundCalled: a refund that the processor did not make at once is awaited, or read after a refusal.
func TestRefundCalled(t *testing.T) {
	t.Parallel()
	own, refused := after("fd_post_2", refundAttempt), called(protocol.WrongState, "")
	check(t, refunding(), []row{
		{name: "made", facts: called(protocol.Done, cards.Refunded), want: refundMade},
		{name: "requested", facts: called(protocol.Done, cards.Captured), want: "wait 2m0s"},
		{name: "no answer", facts: called(protocol.Failed, ""), want: "wait 15s: no answer"},
		{name: "the key belongs to another request", facts: called(protocol.KeyReused, ""), want: "wait 15s: no answer"},
		{name: "the key is used up", facts: called(protocol.KeyUsedUp, ""), want: "→ refunding: as before", wrote: usedKeys(1)},
		{name: "refused, and not read", facts: refused, want: "read"},
		{name: "refused, because it was made", facts: and(refused, shows(cards.Refunded, journal(own))), want: refundMade},
		{name: "refused, because it is pending", facts: and(refused, holds(own, pendingRefund)), want: "wait 2m0s"},
		{name: "refused, because it is disputed", facts: and(refused, holds(own, func(r *protocol.Remote) { r.Disputed = true })),
			want: "→ blocked: the processor refused the refund: the buyer disputes the payment"},
		{name: "refused for good", facts: and(called(protocol.Refused, ""), holds(own)), want: "→ blocked: the processor refused the refund"},
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

// TestRefundIsReadAgain: what was read before a refund began does not let money go back, whichever call read it.
func TestRefundIsReadAgain(t *testing.T) {
	t.Parallel()
	payment := record(flows.Refunding)
	for _, test := range []struct {
		state flows.PaymentState
		kept  bool
	}{{flows.RefundDue, true}, {flows.Refunding, false}} {
		facts, latest := protocol.Facts{}, record(test.state)
		facts.Remote = remote(&payment, cards.Captured)
		change := &protocol.Change{Record: latest}
		if kept := facts.Committed(change, now).Remote != nil; kept != test.kept {
			t.Errorf("%s: kept after a commit: %t", test.state, kept)
		}
		if kept := facts.Overtaken(flows.Captured, change, &latest).Remote != nil; kept != test.kept {
			t.Errorf("%s: kept after another's commit: %t", test.state, kept)
		}
	}
}
