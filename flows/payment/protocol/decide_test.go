package protocol_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// decides returns facts with an operator's decision, which may override the sale.
func decides(choice protocol.Choice, override bool) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		f.ID = "id"
		f.Decision = &protocol.Decision{Choice: choice, Decision: flows.Decision{Operator: "ada", Reason: "seen", Override: override}}
	}
}

// The decisions of the rows.
var (
	recorded, again = decides(protocol.ConfirmRecorded, false), decides(protocol.SendAgain, false)
	refund, cancel  = decides(protocol.GiveBack, false), decides(protocol.CallOff, false)
	// forced overrides the sale.
	forcedRefund, forcedCancel = decides(protocol.GiveBack, true), decides(protocol.CallOff, true)
)

// latest returns facts with the registration's latest payment; nil: it has none.
func latest(p *flows.Payment) func(f *protocol.Facts) {
	return func(f *protocol.Facts) { f.Latest = &protocol.Latest{Payment: p} }
}

// entries returns a change of a reading: what the journal has of claims, all kept by their holders.
func entries(all ...protocol.Entry) func(r *protocol.Remote) {
	return func(r *protocol.Remote) { r.Journal.Entries = all }
}

func accepted(r *protocol.Remote) { r.Journal.Accepted = true }

// releasedByOperator returns facts about the operator's release, with the journal after it.
func releasedByOperator(outcome protocol.Outcome, with ...func(r *protocol.Remote)) func(f *protocol.Facts) {
	return func(facts *protocol.Facts) {
		facts.Release = &protocol.Call{Outcome: outcome, Err: errDown}
		if outcome == protocol.Done {
			p := record(flows.InDoubt)
			facts.Release = &protocol.Call{Outcome: outcome, Response: remote(&p, cards.Captured)}
			for _, change := range with {
				change(facts.Release.Response)
			}
		}
	}
}

// refused is how a row names a refusal.
func refused(detail string) string { return "refuse, not_decidable: " + detail }

// The attempts of doubts that can be decided, and not yet.
var (
	old   = attemptAt(now.Add(-protocol.DecideAfter))
	young = attemptAt(now.Add(-protocol.DecideAfter + time.Second))
)

// doubtful returns a card payment in doubt about its first claim.
func doubtful() flows.Payment {
	p := record(flows.InDoubt)
	p.Claim, p.AttemptID, p.ReleasePending, p.NotBefore = 1, old, true, now.Add(time.Hour)
	return p
}

// beforeItsClaim makes the doubt one about a payment that was never claimed, as when its sale could not be read for a day.
func beforeItsClaim(p *flows.Payment) {
	p.Claim, p.AttemptID, p.ReleasePending, p.DoubtSince = 0, "", false, now.Add(-protocol.DecideAfter)
}

// What the processor and the club system show of it.
var (
	held    = shows(cards.Captured, entries(protocol.Entry{Attempt: old}))
	free    = releasedByOperator(protocol.Done, entries(protocol.Entry{Attempt: old, Release: old}))
	gone    = func(s *protocol.Sale) { s.Err, s.Gone = errDown, true }
	unread  = func(s *protocol.Sale) { s.Err = errDown }
	settled = func(s *protocol.Sale) { s.Sale.State = "validated" }
)

const notRecorded = "an operator confirmed that it is not recorded"

// wroteDecision checks what every decision about a doubt writes.
func wroteDecision(p *flows.Payment) string {
	last := p.History[len(p.History)-1]
	if last.Operator != "ada" || last.OperatorReason != "seen" || p.ReleasePending {
		return fmt.Sprintf("the record is %+v", p)
	}
	return ""
}

// beginsAnew checks that the payment continues at once.
func beginsAnew(p *flows.Payment) string {
	if !p.NotBefore.IsZero() {
		return "the pause of the attempt before still holds"
	}
	return wroteDecision(p)
}

// TestDecideRecorded: an operator ends the doubt of a card payment as recorded, unless the processor contradicts that.
func TestDecideRecorded(t *testing.T) {
	t.Parallel()
	claim2 := func(p *flows.Payment) string {
		if p.Claim != 2 {
			return fmt.Sprintf("it is about claim %d", p.Claim)
		}
		return wroteDecision(p)
	}
	check(t, doubtful(), []row{
		{name: "recorded, unread", facts: recorded, want: "read"},
		{name: "recorded", facts: and(recorded, held), wrote: wroteDecision,
			want: "→ recorded: an operator confirmed that it is recorded, then journal"},
		{name: "recorded, at once", facts: and(recorded, shows(cards.Captured, entries(protocol.Entry{Attempt: young}))),
			want: "→ recorded: an operator confirmed that it is recorded, then journal"},
		{name: "recorded, of a claim that Redis lost", wrote: claim2,
			want:  "→ recorded: an operator confirmed that it is recorded, then journal",
			facts: and(recorded, shows(cards.Captured, entries(protocol.Entry{Attempt: old, Release: old}, protocol.Entry{Attempt: old})))},
		{name: "recorded, before the first claim", with: beforeItsClaim, facts: and(recorded, shows(cards.Captured)),
			want: "→ recorded: an operator confirmed that it is recorded, then journal",
			wrote: func(p *flows.Payment) string {
				if p.AttemptID == "" {
					return "the journal's entry would be empty"
				}
				return wroteDecision(p)
			}},
		{name: "recorded, and it was refunded", facts: and(recorded, shows(cards.Refunded)),
			want: refused("The payment was refunded in full at the processor. Undo it in the club system, " +
				"then run confirm-not-recorded with --refund.")},
		{name: "the processor is down", facts: and(recorded, func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }),
			want: "wait 15s: no answer"},
		{name: "it is missing", facts: and(recorded, func(f *protocol.Facts) {
			f.Remote = &protocol.Remote{Err: errDown, Absent: protocol.UnknownThere}
		}), want: refused("Nothing can be decided: the processor does not know the payment.")},
		{name: "it differs", facts: and(recorded, shows(cards.Captured, func(r *protocol.Remote) { r.Captured = 1 })),
			want: refused("Nothing can be decided: the processor captured another amount.")},
		{name: "a refund has begun", facts: and(recorded, shows(cards.Captured, entries(protocol.Entry{Attempt: refundAttempt}))),
			want: refused("A refund has begun: the journal at the processor holds its claim. " +
				"Check there whether the buyer was refunded, and leave a note here.")},
		{name: "part of it went back", facts: and(refund, shows(cards.Captured, func(r *protocol.Remote) { r.Refunded = 100 })),
			want: refused("At the processor the payment is captured, with 1.00 EUR of 45.00 EUR refunded. Refund the rest there first.")},
		{name: "of others", facts: and(recorded, held, func(f *protocol.Facts) { f.Foreign = errDown }), want: "wait 15s: no answer"},
	})
}

// TestDecideAgain: a card payment is sent again if nothing else may settle the sale, and the claim is over.
func TestDecideAgain(t *testing.T) {
	t.Parallel()
	payment := doubtful()
	other := record(flows.Captured)
	other.ID, other.AttemptID = "r-2", attemptAt(now.Add(-time.Hour))
	another := other
	another.Sale = "/club/sales/2"
	ended := other
	ended.State = flows.Cancelled
	full := slices.Repeat([]protocol.Entry{{Attempt: old, Release: old}}, protocol.MaxClaims)
	check(t, payment, []row{
		{name: "cancelled", facts: cancel,
			want: refused("The card payment was captured, so it cannot be cancelled. Use --send-again or --refund.")},
		{name: "again, without a look at the registration", facts: again, want: "read_latest"},
		{name: "again, and another may settle the sale", facts: and(again, latest(&other)), want: refused(
			"It cannot be sent again: payment r-2 of the same sale is captured, and may settle it. Decide on that one first, or use --refund.")},
		{name: "again, and another is of another sale", facts: and(again, latest(&another)), want: "read"},
		{name: "again, and another ended", facts: and(again, latest(&ended)), want: "read"},
		{name: "again, and no buyer can begin another", facts: and(again, latest(nil)), want: "read"},
		{name: "again, unchecked", facts: and(again, latest(&payment), held), want: "check_sale"},
		{name: "again, not released", facts: and(again, latest(&payment), held, sale()), want: "release_by_operator 1 " + old},
		{name: "again", facts: and(again, latest(&payment), held, sale(), free), want: "→ captured: " + notRecorded, wrote: beginsAnew},
		{name: "again, and Redis lost which attempt holds the claim", want: "release_by_operator 1 " + other.AttemptID,
			facts: and(again, latest(&payment), shows(cards.Captured, entries(protocol.Entry{Attempt: other.AttemptID})), sale())},
		{name: "again, before the first claim", with: beforeItsClaim, facts: and(again, latest(&payment), shows(cards.Captured), sale()),
			want: "release_by_operator 0 "},
		{name: "again, and it was refunded", facts: and(again, latest(&payment), shows(cards.Refunded)),
			want: refused("The payment was refunded in full at the processor, so it cannot be recorded. Decide with --refund.")},
		{name: "again, and every claim is used", facts: and(again, latest(&payment), shows(cards.Captured, entries(full...))),
			want: refused("All 10 attempts to record it are used up. Use --refund.")},
		{name: "again, and the sale was settled", facts: and(decides(protocol.SendAgain, true), latest(&payment), held, sale(settled)),
			want: refused("It cannot be sent again: the sale was settled by something else. " +
				"If this payment did that, run confirm-recorded; otherwise use --refund.")},
		{name: "again, and it was accepted", facts: and(again, latest(&payment), shows(cards.Captured, accepted)), want: refused(
			"The journal at the processor holds the club system's acceptance. The payment will be recorded in a moment.")},
		{name: "again, and a refund has begun",
			facts: and(again, latest(&payment), shows(cards.Captured, entries(protocol.Entry{Attempt: refundAttempt}))),
			want: refused("A refund has begun: the journal at the processor holds its claim. " +
				"Check there whether the buyer was refunded, and leave a note here.")},
		{name: "again, and part of it went back", facts: and(again, latest(&payment), shows(cards.Captured, partlyRefunded)),
			want: refused("At the processor the payment is captured, with 5.00 EUR of 45.00 EUR refunded. Refund the rest there first.")},
		{name: "again, and the sale is unreadable", facts: and(again, latest(&payment), held, sale(unread)), want: "wait 15s: no answer"},
		{name: "again, and the sale is gone", facts: and(again, latest(&payment), held, sale(gone)),
			want: refused("It cannot be sent again: the club system does not find the sale.")},
	})
}

// TestDecideRefund: a card payment in doubt is refunded if nothing says that the club system has it, and its claim is over.
func TestDecideRefund(t *testing.T) {
	t.Parallel()
	check(t, doubtful(), []row{
		{name: "refunded", facts: and(refund, held, sale(), free), want: "→ refund_due: " + notRecorded, wrote: beginsAnew},
		{name: "refunded, and it was", facts: and(refund, shows(cards.Refunded, entries(protocol.Entry{Attempt: old})), sale(), free),
			want: "→ refund_due: " + notRecorded},
		{name: "refunded, too early", facts: and(refund, shows(cards.Captured, entries(protocol.Entry{Attempt: young}))),
			with: func(p *flows.Payment) { p.AttemptID = young },
			want: "refuse, too_early: The request may still arrive. This decision is possible from 2026-03-02 18:30:01Z."},
		{name: "refunded, too early for a claim that Redis lost", want: "refuse, too_early: The request may still arrive. " +
			"This decision is possible from 2026-03-02 18:30:01Z.",
			facts: and(refund, shows(cards.Captured, entries(protocol.Entry{Attempt: old, Release: old}, protocol.Entry{Attempt: young})))},
		{name: "refunded, and it was accepted", facts: and(forcedRefund, shows(cards.Captured, accepted)),
			want: refused("The journal at the processor holds the club system's acceptance. The payment will be recorded in a moment.")},
		{name: "refunded, and accepted in the very moment", want: refused("The journal at the processor holds the club system's acceptance. " +
			"The payment will be recorded in a moment."), facts: and(refund, held, sale(),
			releasedByOperator(protocol.Done, entries(protocol.Entry{Attempt: old, Release: old}), accepted))},
		{name: "refunded, and another released",
			facts: and(forcedRefund, shows(cards.Captured, entries(protocol.Entry{Attempt: old, Release: "x"}))),
			want: refused("The journal at the processor holds a release of claim 1 that names another attempt, " +
				"so nothing was decided. Look at the payment again.")},
		{name: "refunded, and another released in the very moment", want: refused("The journal at the processor holds a release of claim 1 " +
			"that names another attempt, so nothing was decided. Look at the payment again."),
			facts: and(forcedRefund, held, releasedByOperator(protocol.KeyReused))},
		{name: "refunded, and its release failed", facts: and(forcedRefund, held, releasedByOperator(protocol.Failed)),
			want: "wait 15s: no answer"},
		{name: "refunded, and its holder had released it", want: "→ refund_due: " + notRecorded,
			facts: and(forcedRefund, shows(cards.Captured, entries(protocol.Entry{Attempt: old, Release: old})))},
		{name: "refunded, and the sale was settled", facts: and(refund, held, sale(settled)),
			want: refused("The sale has been settled. If this payment settled it, run confirm-recorded. If it certainly did not, add --override.")},
		{name: "refunded, whatever settled the sale", facts: and(forcedRefund, held), want: "release_by_operator 1 " + old},
		{name: "refunded, and the sale is gone", facts: and(refund, held, sale(gone)), want: refused(
			"The club system does not find the sale. If the payment is certainly not on the person's account either, add --override.")},
		{name: "refunded, and the sale is unreadable", facts: and(refund, held, sale(unread)), want: "wait 15s: no answer"},
	})
}

// TestDecideWithoutAProcessor: the record alone says when a doubt can be decided.
func TestDecideWithoutAProcessor(t *testing.T) {
	t.Parallel()
	payment := record(flows.InDoubt)
	payment.Method, payment.ProcessorID, payment.Claim, payment.AttemptID = flows.Deferred, "", 1, attemptAt(now.Add(-time.Hour))
	payment.DoubtSince = now.Add(-protocol.DecideAfter)
	check(t, payment, []row{
		{name: "recorded", facts: recorded, want: "→ recorded: an operator confirmed that it is recorded"},
		{name: "again", facts: and(again, latest(&payment), sale()), want: "→ priced: an operator confirmed that it is not recorded"},
		{name: "again, and the sale was settled", facts: and(again, latest(&payment), sale(settled)), want: refused("It cannot be sent again: " +
			"the sale has been settled. If this payment settled it, run confirm-recorded; otherwise use --cancel.")},
		{name: "again, and the sale changed", facts: and(again, latest(&payment), sale(func(s *protocol.Sale) { s.Sale.TotalTI++ })),
			want: "→ priced: an operator confirmed that it is not recorded"},
		{name: "cancelled", facts: and(cancel, sale()), want: "→ cancelled: an operator confirmed that it is not recorded"},
		{name: "cancelled, too early", facts: forcedCancel, with: func(p *flows.Payment) { p.DoubtSince = p.DoubtSince.Add(time.Second) },
			want: "refuse, too_early: The request may still arrive. This decision is possible from 2026-03-02 18:30:01Z."},
		{name: "cancelled, and the sale was settled", facts: and(cancel, sale(settled)),
			want: refused("The sale has been settled. If this payment settled it, run confirm-recorded. If it certainly did not, add --override.")},
		{name: "cancelled, whatever settled the sale", facts: forcedCancel, want: "→ cancelled: an operator confirmed that it is not recorded"},
		{name: "refunded", facts: refund,
			want: refused("This payment has no card processor, so there is nothing to refund. Use --cancel.")},
	})
}

// blockedPayment returns a blocked card payment whose first claim is held.
func blockedPayment() flows.Payment {
	p := record(flows.Blocked)
	p.Claim, p.AttemptID = 1, "a-1"
	return p
}

// The claims of a blocked payment, and what the processor may show of it.
var (
	open, byRefund = protocol.Entry{Attempt: "a-1"}, protocol.Entry{Attempt: refundAttempt}
	given          = protocol.Entry{Attempt: "a-1", Release: "a-1"}
	absent         = func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown, Absent: protocol.UnknownThere} }
	differs        = func(r *protocol.Remote) { r.Terms.Sale = "/club/sales/2" }
)

const (
	byHand               = "an operator settled it by hand"
	blockedAndNotInDoubt = "The payment is blocked: as before. Run frontdesk payments show for the possible decisions."
)

// TestRefundOfABlock: an operator has a blocked payment refunded, unless a request of ours may have recorded it.
func TestRefundOfABlock(t *testing.T) {
	t.Parallel()
	disputed := func(r *protocol.Remote) { r.Disputed = true }
	failedTwice := func(r *protocol.Remote) { r.FailedRefunds = 2 }
	const requested = "an operator requested the refund"
	notInDoubt := refused(blockedAndNotInDoubt)
	retried := func(claim int, prefix string) func(p *flows.Payment) string {
		return func(p *flows.Payment) string {
			if p.Claim != claim || !strings.HasPrefix(p.AttemptID, prefix) || !strings.HasSuffix(p.RefundRetry, "-id") || p.FailedRefunds != 2 {
				return fmt.Sprintf("claim %d of %s, retry %s after %d failures", p.Claim, p.AttemptID, p.RefundRetry, p.FailedRefunds)
			}
			return ""
		}
	}
	check(t, blockedPayment(), []row{
		{name: "refunded", facts: and(refund, shows(cards.Captured, entries(given), failedTwice)),
			want: "→ refunding: " + requested, wrote: retried(2, protocol.RefundPrefix)},
		{name: "refunded again", facts: and(refund, shows(cards.Captured, entries(given, byRefund), failedTwice)),
			want: "→ refunding: " + requested, wrote: retried(2, refundAttempt)},
		{name: "refunded, and it was", facts: and(refund, shows(cards.Refunded)), want: "→ refunding: " + requested},
		{name: "refunded, and a claim is open", facts: and(refund, shows(cards.Captured, entries(open))), want: notInDoubt},
		{name: "refunded, and it was accepted", facts: and(refund, shows(cards.Captured, entries(byRefund), accepted)), want: notInDoubt},
		{name: "refunded, and a part went back", facts: and(refund,
			shows(cards.Captured, func(r *protocol.Remote) { r.Refunded = 100 })), want: notInDoubt},
		{name: "refunded, and it differs", facts: and(forcedRefund, shows(cards.Captured, differs)),
			want: refused("Nothing can be decided: the processor's metadata does not match or is not signed by us.")},
		{name: "refunded, and it is missing", facts: and(refund, absent),
			want: refused("Nothing can be refunded here: the processor does not know the payment. Check the account and the key; Frontdesk " +
				"continues once the processor has it again. If the buyer certainly has the money back, add --override.")},
		{name: "refunded for certain, and it is missing", facts: and(forcedRefund, absent), want: "→ refunded: " + byHand},
		{name: "refunded, and it is disputed", facts: and(refund, shows(cards.Captured, disputed)), want: "→ refunding: " + requested},
		{name: "given back by the bank", facts: and(forcedRefund, shows(cards.Captured, disputed)), want: "→ refunded: " + byHand},
	})
}

// TestDecideABlock: how an operator ends what the machine has stopped working on.
func TestDecideABlock(t *testing.T) {
	t.Parallel()
	payment := blockedPayment()
	notInDoubt := refused(blockedAndNotInDoubt)
	still := func(state string) string {
		return refused("The payment is blocked. At the processor it is " + state + ". Run frontdesk payments show for the possible decisions.")
	}
	check(t, payment, []row{
		{name: "again", facts: decides(protocol.SendAgain, true), want: notInDoubt},
		{name: "recorded, unread", facts: recorded, want: "read"},
		{name: "recorded, kept", facts: and(recorded, shows(cards.Captured, entries(open))), want: "→ recorded: " + byHand + ", then journal"},
		{name: "recorded, and it differs", facts: and(recorded, shows(cards.Captured, differs)),
			want: "→ recorded: " + byHand + ", then journal"},
		{name: "recorded, and a part went back", facts: and(recorded,
			shows(cards.Captured, func(r *protocol.Remote) { r.Refunded = 100 })),
			want: "→ recorded: " + byHand + ", then journal", wrote: func(p *flows.Payment) string {
				if p.Difference == "" || p.Acknowledged != p.Difference {
					return "what the operator saw becomes a finding"
				}
				return ""
			}},
		{name: "recorded, while a refund is pending", facts: and(recorded,
			shows(cards.Captured, func(r *protocol.Remote) { r.Refunding = 100 })), want: still("captured, with 0.00 EUR of 45.00 EUR refunded")},
		{name: "recorded, and a refund has the claim", facts: and(recorded, shows(cards.Captured, entries(byRefund))),
			want: still("captured, with 0.00 EUR of 45.00 EUR refunded")},
		{name: "recorded, accepted before the refund's claim", facts: and(recorded,
			shows(cards.Captured, entries(byRefund), accepted)), want: "→ recorded: " + byHand + ", then journal"},
		{name: "recorded, and it is missing", facts: and(recorded, absent), want: "→ recorded: " + byHand + ", then journal"},
		{name: "the processor is down", facts: and(recorded, func(f *protocol.Facts) { f.Remote = &protocol.Remote{Err: errDown} }),
			want: "wait 15s: no answer"},
		{name: "cancelled, and it is captured", facts: and(forcedCancel, shows(cards.Captured)),
			want: still("captured, with 0.00 EUR of 45.00 EUR refunded")},
		{name: "cancelled, and it was there", facts: and(cancel, shows(cards.Cancelled), sale()), want: "→ cancelled: " + byHand},
		{name: "cancelled, and it was refunded", facts: and(cancel, shows(cards.Refunded), sale()), want: "→ refunded: " + byHand},
		{name: "cancelled, unchecked", facts: and(cancel, shows(cards.Refunded)), want: "check_sale"},
		{name: "cancelled, and it is missing", facts: and(forcedCancel, absent),
			want: refused("The processor does not have this payment at present, so its money may be kept. " +
				"Check the account and the key; Frontdesk continues once the processor has it again. " +
				"If the buyer certainly has the money back, use confirm-not-recorded --refund --override.")},
	})

	lost := payment
	lost.ProcessorID = ""
	never := refused("The payment was never created at the processor, so it holds no money. Use confirm-not-recorded --cancel.")
	check(t, lost, []row{
		{name: "never created, recorded", facts: recorded, want: never},
		{name: "never created, refunded", facts: forcedRefund, want: never},
		{name: "never created, cancelled", facts: and(cancel, sale()), want: "→ cancelled: " + byHand},
	})
	desk := lost
	desk.Method = flows.InPerson
	check(t, desk, []row{
		{name: "at the desk, recorded", facts: recorded, want: "→ recorded: " + byHand},
		{name: "at the desk, refunded", facts: forcedRefund, want: notInDoubt},
		{name: "at the desk, cancelled", facts: and(cancel, sale()), want: "→ cancelled: " + byHand},
		{name: "at the desk, cancelled, and the sale was settled", facts: and(cancel, sale(settled)),
			want: refused("The sale has been settled. If this payment settled it, run confirm-recorded. If it certainly did not, add --override.")},
		{name: "at the desk, cancelled, whatever settled the sale", facts: forcedCancel, want: "→ cancelled: " + byHand},
	})
}

// TestDecideAFinding: each finding ends alone, and the next one follows.
func TestDecideAFinding(t *testing.T) {
	t.Parallel()
	payment := record(flows.Recorded)
	payment.Difference, payment.SaleVerdict, payment.PaidTwice = "refunded", protocol.SaleOpen, true
	for _, want := range []string{"the club system has it too", "the sale", "it recorded once"} {
		f := protocol.Facts{}
		recorded(&f)
		_, change := protocol.Next(&payment, f, now)
		if change == nil || !strings.HasSuffix(change.Record.Reason, want) || change.Then != "" || change.Record.Finding() == payment.Finding() {
			t.Fatalf("%s: %+v", want, change)
		}
		payment = change.Record
	}
	if payment.Finding() != "" {
		t.Errorf("there is still %s", payment.Finding())
	}
	notInDoubt := refused("The payment is recorded, not in_doubt: " + payment.Reason + ".")
	check(t, payment, []row{
		{name: "nothing is left", facts: decides(protocol.ConfirmRecorded, true), want: notInDoubt},
		{name: "not recorded", facts: forcedRefund, want: notInDoubt},
	})
}

// TestDecisionsElsewhere: nothing else waits for an operator.
func TestDecisionsElsewhere(t *testing.T) {
	t.Parallel()
	for _, state := range flows.PaymentStates {
		if state == flows.InDoubt || state == flows.Blocked {
			continue
		}
		for _, choice := range []protocol.Choice{protocol.ConfirmRecorded, protocol.SendAgain, protocol.GiveBack, protocol.CallOff} {
			check(t, record(state), []row{{name: string(state) + ", " + string(choice), facts: and(decides(choice, true), shows(cards.Captured)),
				want: refused("The payment is " + string(state) + ", not in_doubt: as before.")}})
		}
	}
}

// TestAllowedIsNext: of every payment, with whatever the processor shows, operators are offered the decisions that would be carried out,
// and no others. The sale is still as the latest evidence showed it.
func TestAllowedIsNext(t *testing.T) {
	t.Parallel()
	offered := map[protocol.Offer]bool{}
	for _, state := range flows.PaymentStates {
		for _, start := range starts(state) {
			if !reflect.DeepEqual(start.asked, protocol.Facts{ID: "id"}) || start.p.SaleState == "" { // without states, the evidence shows nothing
				continue
			}
			for _, sale := range start.sales[:2] { // as agreed, and settled
				start.p.Readings = []flows.Reading{{Evidence: *sale.Seen}}
				for _, reading := range start.readings {
					f := protocol.Facts{ID: "id", Remote: reading.Remote, Latest: &protocol.Latest{Payment: start.p}}
					offers := protocol.Allowed(start.p, f, now)
					for _, offer := range offers {
						offered[offer] = true
					}
					if wrong := compareOffers(start.p, offers, f, sale.Sale); wrong != "" {
						t.Fatalf("%s, with a sale %s, at the processor %s: %s", start.name, sale.name, reading.name, wrong)
					}
				}
			}
		}
	}
	if len(offered) < 6 {
		t.Errorf("only %v are offered", offered)
	}
}

// compareOffers says which offer would not be carried out, or which decision is not offered that would be; empty: none. An override
// without another effect is not offered, nor a cancellation of what would be refunded.
func compareOffers(p *flows.Payment, offers []protocol.Offer, f protocol.Facts, sale *protocol.Sale) string {
	f.Sale = sale
	for _, choice := range []protocol.Choice{protocol.ConfirmRecorded, protocol.SendAgain, protocol.GiveBack, protocol.CallOff} {
		for _, override := range []bool{false, true} {
			decides(choice, override)(&f)
			action, change := protocol.Next(p, f, now)
			follows := change != nil || action.Kind == protocol.ReleaseByOperator
			is := slices.Contains(offers, protocol.Offer{Choice: choice, Override: override})
			implied := override && slices.Contains(offers, protocol.Offer{Choice: choice}) ||
				choice == protocol.CallOff && slices.Contains(offers, protocol.Offer{Choice: protocol.GiveBack})
			if is && !follows || follows && !is && !implied {
				return fmt.Sprintf("%s with override %t is offered %t, and followed by %s", choice, override, is, text(action, change))
			}
		}
	}
	return ""
}
