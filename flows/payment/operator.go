package payment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// maxRecordedDecisions bounds the decisions in the processor's metadata, which has room for 50 entries, two of them for each
// claim.
const maxRecordedDecisions = 5

// Resolution is what an operator decides for a payment that was not recorded.
type Resolution = protocol.Choice

// The resolutions, named as operators name them.
const (
	SendAgain = protocol.SendAgain // under the next claim
	Refund    = protocol.GiveBack  // by card: the buyer gets the money back
	Cancel    = protocol.CallOff   // without a processor, or blocked and settled by hand: there is nothing to give back
)

// ResolutionResult is a payment after a decision. Warnings say which records of the decision failed,
// and what contradicts it.
type ResolutionResult struct {
	Payment  Summary  `json:"payment"`
	Warnings []string `json:"warnings,omitempty"`
}

// ConfirmRecorded ends a doubt or a block: an operator has seen the payment in the club system. For a recorded payment with a finding,
// the operator has settled that by hand. NotDecidable in other states, or if the processor contradicts it.
func (m *Machine) ConfirmRecorded(ctx context.Context, id flows.PaymentID, decision flows.Decision) (ResolutionResult, error) {
	payment, err := m.decidable(ctx, id, decision)
	if err != nil {
		return ResolutionResult{}, err
	}
	result, err := m.decide(ctx, payment, protocol.ConfirmRecorded, decision)
	if err == nil && payment.State == flows.InDoubt {
		result.Warnings = append(result.Warnings, m.unsettledSale(context.WithoutCancel(ctx), payment)...)
	}
	return result, err
}

// ConfirmNotRecorded ends a doubt: an operator has made sure that the club system does not hold the payment. TooEarly until the latest
// claim is 15 min old. NotDecidable if the payment is not in doubt, the resolution is not possible, or the processor or the sale
// contradicts it; the decision may override the sale for a refund or a cancellation. A blocked payment whose refund was refused, or
// failed, can be refunded again; others can be ended, once an operator has settled them by hand.
func (m *Machine) ConfirmNotRecorded(ctx context.Context, id flows.PaymentID, resolution Resolution,
	decision flows.Decision) (ResolutionResult, error) {
	payment, err := m.decidable(ctx, id, decision)
	if err == nil && resolution != SendAgain && resolution != Refund && resolution != Cancel {
		err = flows.Invalid(flows.FieldProblem{Pointer: "/then", Message: "must be send_again, refund or cancel"})
	}
	if err != nil {
		return ResolutionResult{}, err
	}
	return m.decide(ctx, payment, resolution, decision)
}

// decide has the protocol carry a decision out, or refuse it.
func (m *Machine) decide(ctx context.Context, payment *flows.Payment, choice protocol.Choice,
	decision flows.Decision) (ResolutionResult, error) {
	in := &protocol.Decision{Choice: choice, Decision: decision}
	said := m.next(ctx, payment, protocol.Facts{Decision: in})
	if said.change != nil {
		return m.carryOut(steady(ctx, said.facts), payment, said.change, in)
	}
	if said.Kind == protocol.Refuse && sawAcceptance(said.facts) {
		m.wake(ctx, payment.ID, nil)
	}
	return ResolutionResult{}, said.Err
}

// sawAcceptance reports whether the journal holds an acceptance, with which the next Advance ends the doubt.
func sawAcceptance(f protocol.Facts) bool {
	released := f.Release != nil && f.Release.Response != nil && f.Release.Response.Journal.Accepted
	return released || f.Remote != nil && f.Remote.Journal.Accepted
}

// unsettledSale returns a warning if the sale of a card payment that an operator confirmed is not settled, or cannot
// be read. The decision may have been about another payment, and it is final. The club system can be slow, so this
// comes after everything that records the decision.
func (m *Machine) unsettledSale(ctx context.Context, payment *flows.Payment) []string {
	if !payment.HasProcessor() {
		return nil
	}
	sale, _, err := m.cfg.Club.GetCheckedSale(ctx, payment.Scope(), payment.Sale)
	switch {
	case err != nil:
		return []string{fmt.Sprintf("Sale %s could not be read at the club system. Look there whether it is settled.", payment.Sale)}
	case sale.State != payment.SaleState:
		return nil
	}
	return []string{fmt.Sprintf("The club system shows sale %s as not settled. If the payment is on the contact's account, settle the "+
		"sale with it there. If it is not, the buyer has paid and is not a member: refund them in the processor's pages, and leave a "+
		"note here.", payment.Sale)}
}

// decidable reads a payment on which an operator can decide.
func (m *Machine) decidable(ctx context.Context, id flows.PaymentID, decision flows.Decision) (*flows.Payment, error) {
	if err := decision.Validate(); err != nil {
		return nil, err
	}
	p, err := m.payment(ctx, id)
	if err == nil && p.Schema > flows.PaymentSchema {
		err = protocol.NotDecidable("A newer version of Frontdesk wrote this payment. Decide with that version.")
	}
	return p, err
}

func (m *Machine) payment(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	if registration, _ := id.Split(); registration == "" {
		return nil, &flows.Error{Code: flows.NotFound, Operator: "Invalid payment id. frontdesk payments list shows the ids."}
	}
	p, err := m.cfg.Store.Payment(ctx, id)
	if errors.Is(err, flows.ErrNotFound) {
		return nil, &flows.Error{Code: flows.NotFound, Operator: "No such payment, or it ended more than 30 days ago.", Err: err}
	}
	return p, flows.StorageFailed(err)
}

// carryOut commits a decision; the first one wins. It then journals a recording, and writes the decision to the audit
// stream and to the processor, even if the caller has left. The result has a warning for each of these that fails, the
// journal only after a doubt; the decision holds anyway.
func (m *Machine) carryOut(
	ctx context.Context, payment *flows.Payment, change *protocol.Change, in *protocol.Decision,
) (ResolutionResult, error) {
	written := *change
	written.Then = "" // it is journaled below, for the warning
	moved, err := m.commit(ctx, payment, &written)
	switch {
	case errors.Is(err, flows.ErrConflict):
		return ResolutionResult{}, &flows.Error{Code: flows.Conflict,
			Operator: "Another operator decided, or the payment changed, at the same moment. Read it again.", Err: err}
	case err != nil:
		return ResolutionResult{}, flows.StorageFailed(err)
	}
	ctx = context.WithoutCancel(ctx)
	result := ResolutionResult{Payment: summary(moved)}
	if change.Then == protocol.Acceptance && !m.journalAcceptance(ctx, moved, protocol.TriesPerClaim) && payment.State == flows.InDoubt {
		result.Warnings = append(result.Warnings, "The decision could not be written to the processor's journal: "+
			"if Redis loses its latest writes, the payment will be in doubt again.")
	}
	action, suffix := audited(payment, moved, in)
	entry := flows.AuditEntry{
		At:       moved.UpdatedAt,
		Operator: in.Operator,
		Action:   action,
		Payment:  moved.ID,
		From:     payment.State,
		To:       moved.State,
	}
	if err := m.cfg.Store.Audit(ctx, entry); err != nil {
		m.cfg.Log.WarnContext(ctx, "decision not in the audit stream", "payment", moved.ID, "error", err)
		result.Warnings = append(result.Warnings, "The decision could not be written to the audit stream.")
	}
	if moved.HasProcessor() && moved.ProcessorID != "" {
		if err := m.writeToProcessor(ctx, moved, string(action)+suffix+" by "+in.Operator); err != nil {
			m.cfg.Log.WarnContext(ctx, "decision not written to the processor", "payment", moved.ID, "error", err)
			result.Warnings = append(result.Warnings, "The decision could not be written to the processor's metadata.")
		}
	}
	if !moved.State.Final() {
		m.wake(ctx, moved.ID, nil)
	}
	return result, nil
}

// audited returns how a decision is named in the audit stream, and what the processor's metadata says in addition.
func audited(p, moved *flows.Payment, in *protocol.Decision) (action flows.AuditAction, suffix string) {
	switch {
	case p.State == flows.Recorded:
		return flows.AuditConfirmRecorded, " " + string(p.Finding())
	case in.Choice == protocol.ConfirmRecorded && p.State == flows.Blocked:
		return flows.AuditConfirmRecorded, " by hand"
	case in.Choice == protocol.ConfirmRecorded:
		return flows.AuditConfirmRecorded, ""
	case moved.State == flows.Refunding:
		return flows.AuditRefund, ""
	}
	if action = flows.AuditConfirmNotRecorded; in.Override {
		action += flows.AuditOverride
	}
	return action, " " + string(in.Choice)
}

// writeToProcessor appends a decision to the processor's metadata, under the first unused number.
func (m *Machine) writeToProcessor(ctx context.Context, payment *flows.Payment, text string) error {
	text = payment.UpdatedAt.UTC().Format(time.RFC3339) + " " + text
	remote, err := m.cfg.Cards.Get(ctx, payment.ProcessorID)
	if err != nil {
		return err
	}
	for n := 1; n <= maxRecordedDecisions; n++ {
		key := protocol.EntryName("op", n)
		if remote.Metadata[key] != "" {
			continue
		}
		err = repeated(protocol.TriesPerClaim, func() error {
			_, err := m.appendEntry(ctx, payment, "op", n, text)
			return err
		})
		if !errors.Is(err, cards.ErrKeyReused) {
			return err
		}
	}
	return errors.New("the payment has the maximum number of decisions")
}

// AddNote stores an operator's note. It works in every state and does not change the
// payment's record, so that it conflicts with nothing.
func (m *Machine) AddNote(ctx context.Context, id flows.PaymentID, by, text string) (flows.Note, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return flows.Note{}, err
	}
	if text = strings.TrimSpace(text); text == "" || !flows.IsReason(text) {
		return flows.Note{}, flows.Invalid(flows.FieldProblem{
			Pointer: "/text",
			Message: fmt.Sprintf("must be one line of 1 to %d bytes", flows.MaxReasonLength),
		})
	}
	payment, err := m.payment(ctx, id)
	if err != nil {
		return flows.Note{}, err
	}
	note := flows.Note{At: m.cfg.Now(), Operator: by, Text: text}
	if err := m.cfg.Store.AddNote(ctx, id, note); err != nil {
		return flows.Note{}, flows.StorageFailed(err)
	}
	err = m.cfg.Store.Audit(ctx, flows.AuditEntry{
		At:       note.At,
		Operator: by,
		Action:   flows.AuditNote,
		Payment:  id,
		From:     payment.State,
		To:       payment.State,
	})
	return note, flows.StorageFailed(err)
}
