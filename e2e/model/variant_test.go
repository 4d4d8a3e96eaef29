package model_test

import (
	"strings"
	"time"

	"frontdesk/e2e/model"
	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The variants of the protocol, each with one mistake.
var (
	// retryAmbiguous sends a POST without a response again.
	retryAmbiguous = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		if f.Post != nil && f.Post.Outcome == club.Unknown {
			f.Post = nil
		}
	}}
	// releaseAlthoughSent takes an unknown outcome for "not sent".
	releaseAlthoughSent = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		if f.Post != nil && f.Post.Outcome == club.Unknown {
			f.Post.Outcome = club.NotSent
		}
	}}
	// noGate checks the age of a claim before it, and not before the first byte leaves.
	noGate = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if !f.Owner.IsZero() && f.Claim != nil {
			f.Owner = p.UpdatedAt
		}
	}}
	// claimAtAnyAge checks it before the POST, and not before the claim.
	claimAtAnyAge = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if !f.Owner.IsZero() && f.Claim == nil {
			f.Owner = p.UpdatedAt
		}
	}}
	// claimWithoutRelease does not check whether the claims before were released.
	claimWithoutRelease = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		for _, e := range entries(f) {
			for n := range min(p.Claim-1, len(e)) {
				e[n].Release = e[n].Attempt
			}
		}
	}}
	// trustAnyRelease counts a release, whichever attempt wrote it and whichever holds the claim.
	trustAnyRelease = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		for _, e := range entries(f) {
			for n := range e {
				if e[n].Release != "" && e[n].Attempt != "" {
					e[n].Release = e[n].Attempt
				}
			}
		}
	}}
	// claimUnread claims without reading the journal: only the processor's keys ensure one winner.
	claimUnread = model.Variant{
		See: func(p *flows.Payment, f *protocol.Facts) {
			if !f.Owner.IsZero() && f.Claim == nil && f.Remote != nil {
				f.Remote.Journal = releasedBefore(p.Claim)
			}
		},
		Say: func(p *flows.Payment, f protocol.Facts, a protocol.Action, c *protocol.Change) (
			protocol.Action, *protocol.Change) {
			if a.Kind == protocol.Read && !f.Owner.IsZero() {
				a.Kind = protocol.Claim
			}
			return a, c
		},
	}
	// trustAnyCapture trusts the response to the capture for the claim at any age.
	trustAnyCapture = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if f.Remote != nil {
			f.Remote.At = p.UpdatedAt
		}
	}}
	// postUnseen sends a payment however long ago the sale was seen as agreed.
	postUnseen = model.Variant{See: func(p *flows.Payment, _ *protocol.Facts) {
		if p.State == flows.Captured {
			p.Payer.ReadAt = p.UpdatedAt
		}
	}}
	// liftedForgotten sends or refunds a payment that was blocked as if it had not been.
	liftedForgotten = model.Variant{See: func(p *flows.Payment, _ *protocol.Facts) {
		if p.State == flows.Captured {
			p.History = nil
		}
	}}
	// blindCancel believes in a cancellation that was requested, and not read back.
	blindCancel = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if p.State == flows.Cancelling && f.Call != nil && f.Call.Outcome == protocol.Failed {
			f.Call = &protocol.Call{Outcome: protocol.Done}
			f.Remote = &protocol.Remote{Terms: protocol.TermsOf(p), Ours: true, Signed: true,
				Payment: cards.Payment{State: cards.Cancelled, Amount: p.Amount, Currency: p.Currency}}
		}
	}}
	// createAtAnyAge creates a payment even when the key of an earlier try may be forgotten.
	createAtAnyAge = model.Variant{See: func(p *flows.Payment, _ *protocol.Facts) { p.CreatedAt = p.UpdatedAt }}
	// captureUnseen captures however long ago the sale was seen as agreed.
	captureUnseen = model.Variant{See: func(p *flows.Payment, _ *protocol.Facts) {
		if p.State == flows.Capturing {
			p.Payer.ReadAt = p.UpdatedAt
		}
	}}
	// refundUnclaimed reads that every claim was given up, and takes none itself.
	refundUnclaimed = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if r := f.Remote; p.State == flows.Refunding && r != nil && r.Journal.Available(p.Claim, "") {
			r.Journal.Entries[p.Claim-1].Attempt = p.AttemptID
		}
	}}
	// refundUnread reads acceptances, and not which other attempt may post.
	refundUnread = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if r := f.Remote; p.State == flows.Refunding && r != nil && !r.Journal.Accepted {
			r.Journal = releasedBefore(p.Claim)
			r.Journal.Entries = append(r.Journal.Entries, protocol.Entry{Attempt: p.AttemptID})
		}
	}}
	// refundBelieved takes a refund that is pending for one that was made.
	refundBelieved = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		for _, r := range []*protocol.Remote{f.Remote, response(f.Call)} {
			if r != nil && r.Refunding > 0 {
				r.State = cards.Refunded
			}
		}
	}}
	// refundFailureUnseen does not see that a refund failed.
	refundFailureUnseen = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		if f.Remote != nil {
			f.Remote.FailedRefunds = 0
		}
	}}
	// trustAnyEvidence takes a settled sale for recorded by us, however long after the attempt.
	trustAnyEvidence = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if p.State == flows.InDoubt && f.Remote != nil {
			for i, e := range f.Remote.Journal.Entries {
				if e.Attempt != "" && e.Release == "" {
					f.Remote.Journal.Entries[i].Attempt = protocol.NewAttemptID(p.UpdatedAt, f.ID)
				}
			}
		}
	}}
	// evidenceUnclaimed takes a settled sale for recorded by us, even if no claim is journaled.
	evidenceUnclaimed = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if p.State == flows.InDoubt && f.Remote != nil && len(f.Remote.Journal.Entries) > 0 && p.AttemptID != "" {
			f.Remote.Journal.Entries = []protocol.Entry{{Attempt: p.AttemptID}}
		}
	}}
	// operatorInHaste takes every attempt for one that an operator has waited for.
	operatorInHaste = model.Variant{See: func(p *flows.Payment, f *protocol.Facts) {
		if f.Decision != nil {
			p.AttemptID = older(p.AttemptID)
			waitedFor(f)
		}
	}}
	// operatorTrustsRedis takes the age of the attempt in Redis, and not of those in the journal.
	operatorTrustsRedis = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		if f.Decision != nil {
			waitedFor(f)
		}
	}}
	// usedKeyKept repeats a call whose key replays a server error under the same key.
	usedKeyKept = model.Variant{Say: func(p *flows.Payment, _ protocol.Facts, a protocol.Action, c *protocol.Change) (
		protocol.Action, *protocol.Change) {
		if c != nil {
			c.Record.UsedKeys = p.UsedKeys
		}
		return a, c
	}}
	// saleUnverified does not read the sale of a recorded payment again.
	saleUnverified = model.Variant{Say: func(p *flows.Payment, _ protocol.Facts, a protocol.Action, c *protocol.Change) (
		protocol.Action, *protocol.Change) {
		if p.State == flows.Recorded && a.Kind == protocol.ReadSale {
			a.Kind = protocol.Wait
		}
		return a, c
	}}
	// brakeIgnored lets every payment pass the brake.
	brakeIgnored = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		if f.Brake != nil {
			f.Brake.Left = 0
		}
	}}
	// foreignBelieved does not ask whose payments Redis holds.
	foreignBelieved = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) { f.Foreign = nil }}
	// notFoundBlocks blocks a payment that the processor did not have as any other.
	notFoundBlocks = model.Variant{Say: func(_ *flows.Payment, f protocol.Facts, a protocol.Action, c *protocol.Change) (
		protocol.Action, *protocol.Change) {
		if c != nil && f.Remote != nil && f.Remote.Absent != "" {
			c.Record.MissingSince = time.Time{}
		}
		return a, c
	}}
	// firstForgotten gives a claim up without a release.
	firstForgotten = model.Variant{Say: func(_ *flows.Payment, _ protocol.Facts, a protocol.Action, c *protocol.Change) (
		protocol.Action, *protocol.Change) {
		if c != nil {
			c.First = ""
		}
		return a, c
	}}
	// limitIsDoubt takes a refusal by the API gateway, whose quota is used up, for an unknown outcome.
	limitIsDoubt = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		if f.Post != nil && f.Post.Limited {
			f.Post = &protocol.Posted{Outcome: club.Unknown}
		}
	}}
	// doubtIsLimit takes an unknown outcome for a refusal by the API gateway.
	doubtIsLimit = model.Variant{See: func(_ *flows.Payment, f *protocol.Facts) {
		if f.Post != nil && f.Post.Outcome == club.Unknown {
			f.Post.Outcome, f.Post.Limited, f.Post.Limit = club.Refused, true, protocol.MaxLimitPause
		}
	}}
	// refundInDoubt has a machine decide to refund a payment in doubt.
	refundInDoubt = model.Variant{Say: func(p *flows.Payment, f protocol.Facts, a protocol.Action, c *protocol.Change) (
		protocol.Action, *protocol.Change) {
		if p.State == flows.InDoubt && f.Remote != nil && f.Remote.HoldsAll() && c == nil {
			return protocol.Action{}, protocol.Transition(p, *p, flows.RefundDue, "it is in doubt", flows.Decision{}, p.UpdatedAt)
		}
		return a, c
	}}
)

// releasedBefore is a journal in which every claim before the n-th was released.
func releasedBefore(n int) (j protocol.Journal) {
	for range n - 1 {
		j.Entries = append(j.Entries, protocol.Entry{Attempt: "another", Release: "another"})
	}
	return j
}

// entries are those of every journal in the facts.
func entries(f *protocol.Facts) (all [][]protocol.Entry) {
	for _, r := range []*protocol.Remote{f.Remote, response(f.Claim)} {
		if r != nil {
			all = append(all, r.Journal.Entries)
		}
	}
	return all
}

// waitedFor makes the attempts of every journal old enough for an operator.
func waitedFor(f *protocol.Facts) {
	for _, r := range []*protocol.Remote{f.Remote, response(f.Release)} {
		if r != nil {
			for n, e := range r.Journal.Entries {
				r.Journal.Entries[n] = protocol.Entry{Attempt: older(e.Attempt), Release: older(e.Release)}
			}
		}
	}
}

// older is an attempt's name an hour before.
func older(attempt string) string {
	began, ok := protocol.AttemptStart(attempt)
	if !ok {
		return attempt
	}
	kind, id := "", strings.TrimPrefix(attempt, protocol.RefundPrefix)
	if protocol.IsRefund(attempt) {
		kind = protocol.RefundPrefix
	}
	_, id, _ = strings.Cut(id, "-")
	return kind + protocol.NewAttemptID(began.Add(-time.Hour), id)
}

func response(call *protocol.Call) *protocol.Remote {
	if call == nil {
		return nil
	}
	return call.Response
}
