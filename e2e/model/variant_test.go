package model_test

import (
	"frontdesk/e2e/model"
	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// The variants of the protocol, each with one mistake.
var (
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
			r.Journal = protocol.Journal{}
			for range p.Claim - 1 {
				r.Journal.Entries = append(r.Journal.Entries, protocol.Entry{Attempt: "another", Release: "another"})
			}
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
	// refundInDoubt has a machine decide to refund a payment in doubt.
	refundInDoubt = model.Variant{Say: func(p *flows.Payment, f protocol.Facts, a protocol.Action, c *protocol.Change) (protocol.Action, *protocol.Change) {
		if p.State == flows.InDoubt && f.Remote != nil && f.Remote.HoldsAll() && c == nil {
			return protocol.Action{}, protocol.Transition(p, *p, flows.RefundDue, "it is in doubt", flows.Decision{}, p.UpdatedAt)
		}
		return a, c
	}}
)

func response(call *protocol.Call) *protocol.Remote {
	if call == nil {
		return nil
	}
	return call.Response
}
