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
)
