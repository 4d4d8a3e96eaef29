package payment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

const (
	// decideAfter: a claim must be so old before a person may say that nothing came
	// of it. Whoever held it may not send after 10 s, what was sent ends after 30 s,
	// and what proxies and the club system's own queues hold on to is gone by then.
	decideAfter = 15 * time.Minute
	// maxRecordedDecisions: decisions kept in the processor's metadata. With three entries
	// for each of the claims they stay inside the processors' 50.
	maxRecordedDecisions = 5
)

// Resolution is what follows from "it was not recorded".
type Resolution string

// What can follow.
const (
	SendAgain Resolution = "send_again" // it is recorded anew, under the next claim
	Refund    Resolution = "refund"     // by card: the buyer gets the money back
	GiveUp    Resolution = "cancel"     // without a processor: there is nothing to give back
)

// ResolutionResult is a payment after a decision, and what of its traces could not be left.
type ResolutionResult struct {
	Payment  Summary  `json:"payment"`
	Warnings []string `json:"warnings,omitempty"`
}

// ConfirmRecorded ends a doubt: an operator has seen the payment in the club
// system. NotDecidable when the payment is not in doubt or its money is not whole.
func (m *Machine) ConfirmRecorded(ctx context.Context, id flows.PaymentID, word flows.Decision) (ResolutionResult, error) {
	p, err := m.inDoubt(ctx, id, word)
	if err != nil {
		return ResolutionResult{}, err
	}
	if p.HasProcessor() {
		if _, err := m.claimInDoubt(ctx, p); err != nil {
			return ResolutionResult{}, err
		}
	}
	const what = "confirm-recorded"
	moved, err := m.decide(ctx, p, step{to: flows.Recorded, reason: "an operator saw it recorded", decision: word, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID, next.ReleasePending = p.Claim, p.AttemptID, false
	}})
	if err != nil {
		return ResolutionResult{}, err
	}
	ctx = context.WithoutCancel(ctx)
	var warnings []string
	if moved.HasProcessor() && !m.journalRecorded(ctx, moved) {
		warnings = append(warnings, "The processor's journal could not be told: if Redis loses its latest writes, the doubt comes back.")
	}
	return ResolutionResult{summary(moved), append(warnings, m.recordDecision(ctx, p, moved, what, what, word)...)}, nil
}

// journalRecorded writes down at the processor what was decided, to stand when Redis
// falls back: after the commit, so that only the one who decided does.
func (m *Machine) journalRecorded(ctx context.Context, p *flows.Payment) bool {
	err := m.retryIdempotent(func() error { _, err := m.updateMetadata(ctx, p, "done", p.AttemptID); return err })
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "decision not journaled at the processor", "payment", p.ID, "error", err)
	}
	return err == nil
}

// ConfirmNotRecorded ends a doubt: an operator has made sure that the club system
// does not hold the payment. TooEarly until the latest claim is 15 min old;
// NotDecidable when the payment is not in doubt, what shall follow is not
// possible, or the journal speaks against it.
func (m *Machine) ConfirmNotRecorded(ctx context.Context, id flows.PaymentID, then Resolution, word flows.Decision) (ResolutionResult, error) {
	p, err := m.inDoubt(ctx, id, word)
	if err != nil {
		return ResolutionResult{}, err
	}
	to, err := then.target(p)
	if err != nil {
		return ResolutionResult{}, err
	}
	if p.HasProcessor() {
		err = m.settleClaim(ctx, p, then)
	} else {
		err = m.oldEnough(p.InDoubtSince())
	}
	if err != nil {
		return ResolutionResult{}, err
	}
	ctx = context.WithoutCancel(ctx) // the claim is released: what follows has to be committed
	moved, err := m.decide(ctx, p, step{to: to, reason: "an operator saw it not recorded", decision: word, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID, next.ReleasePending, next.NotBefore = p.Claim, p.AttemptID, false, time.Time{}
	}})
	if err != nil {
		return ResolutionResult{}, err
	}
	const what = "confirm-not-recorded"
	warnings := m.recordDecision(ctx, p, moved, what, what+" "+string(then), word)
	if err := m.cfg.Queue.EnqueueAdvance(ctx, id); err != nil {
		m.cfg.Log.WarnContext(ctx, "advance not enqueued", "payment", id, "error", err) // the sweeper finds it
	}
	return ResolutionResult{summary(moved), warnings}, nil
}

// target gives the state to which the decision leads.
func (t Resolution) target(p *flows.Payment) (flows.PaymentState, error) {
	switch {
	case t == SendAgain && p.HasProcessor():
		return flows.Captured, nil
	case t == SendAgain:
		return flows.Priced, nil
	case t == Refund && p.HasProcessor():
		return flows.RefundDue, nil
	case t == GiveUp && !p.HasProcessor():
		return flows.Cancelled, nil
	case t == Refund:
		return "", &flows.Error{Code: flows.NotDecidable, Detail: "No card processor holds money of this payment, so there is nothing to refund. To give it up, cancel it."}
	case t == GiveUp:
		return "", &flows.Error{Code: flows.NotDecidable, Detail: "The buyer's money is taken: it can be recorded again or refunded, and not just given up."}
	default:
		return "", &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/then", Message: "One of send_again, refund and cancel."}}}
	}
}

// inDoubt reads a payment that an operator may decide on.
func (m *Machine) inDoubt(ctx context.Context, id flows.PaymentID, word flows.Decision) (*flows.Payment, error) {
	if err := word.Validate(); err != nil {
		return nil, err
	}
	p, err := m.payment(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case p.Schema > flows.PaymentSchema:
		return nil, &flows.Error{Code: flows.NotDecidable, Detail: "The payment was written by a newer Frontdesk: use that one."}
	case p.State != flows.InDoubt:
		return nil, &flows.Error{Code: flows.NotDecidable, Detail: fmt.Sprintf("The payment is not in doubt, it is %s: %s.", p.State, p.Reason)}
	}
	return p, nil
}

func (m *Machine) payment(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	if registration, _ := id.Split(); registration == "" {
		return nil, &flows.Error{Code: flows.NotFound, Detail: "That is no payment's id."}
	}
	p, err := m.cfg.Store.Payment(ctx, id)
	if errors.Is(err, flows.ErrNotFound) {
		return nil, &flows.Error{Code: flows.NotFound, Detail: "There is no such payment, or it ended more than 30 days ago.", Err: err}
	}
	return p, flows.StorageFailed(err)
}

// claimInDoubt reads the journal, and puts the latest claim that it knows into p:
// Redis may have forgotten that claim, and the decision is about it.
func (m *Machine) claimInDoubt(ctx context.Context, p *flows.Payment) (cards.Payment, error) {
	remote, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return remote, err
	case mismatch != "":
		return remote, &flows.Error{Code: flows.NotDecidable, Detail: "Nothing can be decided: " + mismatch + "."}
	case refundClaimed(remote):
		return remote, &flows.Error{Code: flows.NotDecidable, Detail: "A refund of this payment was begun: the journal at the processor holds its claim. See there whether the money went back, and leave a note here."}
	case !holdsWholeAmount(remote):
		return remote, &flows.Error{Code: flows.NotDecidable, Detail: fmt.Sprintf("The processor says %s, with %d of %d given back: the money has to be settled there.", remote.State, remote.Refunded, remote.Captured)}
	}
	if n, post := lastClaim(remote); n >= p.Claim {
		p.Claim, p.AttemptID = n, post
	}
	return remote, nil
}

// settleClaim releases the latest claim on the operator's word, once it is old
// enough, so that nothing that Redis forgot can use it any more.
func (m *Machine) settleClaim(ctx context.Context, p *flows.Payment, then Resolution) error {
	own := *p
	remote, err := m.claimInDoubt(ctx, p)
	if err != nil {
		return err
	}
	switch {
	case acceptanceJournaled(remote):
		return m.acceptedAfterAll(ctx, p)
	case then == SendAgain && p.Claim >= maxClaims:
		return &flows.Error{Code: flows.NotDecidable, Detail: fmt.Sprintf("All %d tries to record it are used up. The money can go back: refund it.", maxClaims)}
	}
	if err := m.oldEnough(latestAttempt(&own, remote)); err != nil {
		return err
	}
	if then == SendAgain {
		if err := m.stillPayable(ctx, p); err != nil {
			return err
		}
	}
	key := claimKey("release", p.Claim)
	if remote.Metadata[key] == "" {
		remote, err = m.updateMetadata(ctx, p, "release", p.AttemptID)
	}
	switch {
	case errors.Is(err, cards.ErrKeyReused), err == nil && remote.Metadata[key] != p.AttemptID:
		return &flows.Error{Code: flows.NotDecidable, Detail: fmt.Sprintf("The journal at the processor holds a release of claim %d that names another attempt, so nothing was decided. Look at the payment again.", p.Claim)}
	case err != nil:
		return processorFailed(err)
	case acceptanceJournaled(remote):
		return m.acceptedAfterAll(ctx, p)
	}
	return nil
}

// stillPayable refuses to send a payment again for a sale that is not as it was
// before the capture: the money would be booked on the person's account at best.
func (m *Machine) stillPayable(ctx context.Context, p *flows.Payment) error {
	sale, check, err := m.cfg.Club.GetCheckedSale(ctx, p.Scope(), p.Sale)
	if err != nil {
		return flows.ClubFailed(err, "The sale could not be read, so it cannot be paid either.")
	}
	if reason := p.ChangedSinceAgreed(sale, check); reason != "" {
		return &flows.Error{Code: flows.NotDecidable, Detail: "It cannot be sent again: " + reason + ". If that was by this payment, confirm it as recorded; else refund it."}
	}
	return nil
}

func (m *Machine) acceptedAfterAll(ctx context.Context, p *flows.Payment) error {
	if err := m.cfg.Queue.EnqueueAdvance(ctx, p.ID); err != nil {
		m.cfg.Log.WarnContext(ctx, "advance not enqueued", "payment", p.ID, "error", err)
	}
	return &flows.Error{Code: flows.NotDecidable, Detail: "The club system's acceptance is in the journal at the processor: the payment is recorded, and will say so in a moment."}
}

func (m *Machine) oldEnough(claimed time.Time) error {
	if early := decideAfter - m.cfg.Now().Sub(claimed); early > 0 {
		return &flows.Error{Code: flows.TooEarly, RetryAfter: early, Detail: fmt.Sprintf("Too early to say that it was not recorded: what was sent may still arrive. Possible from %s.",
			claimed.Add(decideAfter).UTC().Format(time.RFC3339))}
	}
	return nil
}

// latestAttempt is when the latest attempt began of which the record or the journal
// knows. One that does not tell its instant began before the doubt.
func latestAttempt(p *flows.Payment, remote cards.Payment) time.Time {
	youngest, ok := attemptStart(p.AttemptID)
	if !ok {
		youngest = p.InDoubtSince()
	}
	for n := 1; n <= maxClaims+1; n++ {
		if at, ok := attemptStart(remote.Metadata[claimKey("post", n)]); ok && at.After(youngest) {
			youngest = at
		}
	}
	return youngest
}

// decide commits a decision; whoever was first has decided.
func (m *Machine) decide(ctx context.Context, p *flows.Payment, s step) (*flows.Payment, error) {
	moved, err := m.commit(ctx, p, s)
	if errors.Is(err, flows.ErrConflict) {
		return nil, &flows.Error{Code: flows.Conflict, Detail: "Somebody else decided, or the payment moved on, at the same moment. Look at it again.", Err: err}
	}
	return moved, flows.StorageFailed(err)
}

// retryIdempotent repeats what is safe to repeat and has to be done.
func (m *Machine) retryIdempotent(do func() error) (err error) {
	for range triesPerClaim {
		if err = do(); err == nil || errors.Is(err, cards.ErrKeyReused) {
			break
		}
	}
	return err
}

// recordDecision appends a decision to the audit stream and mirrors it at the
// processor. The decision stands whether that works or not.
func (m *Machine) recordDecision(ctx context.Context, from, moved *flows.Payment, what, mirrored string, word flows.Decision) (warnings []string) {
	entry := flows.AuditEntry{At: moved.UpdatedAt, Operator: word.Operator, Action: what, Payment: moved.ID, From: from.State, To: moved.State}
	if err := m.cfg.Store.Audit(ctx, entry); err != nil {
		m.cfg.Log.WarnContext(ctx, "decision not in the audit stream", "payment", moved.ID, "error", err)
		warnings = append(warnings, "The audit stream could not be told.")
	}
	if moved.HasProcessor() {
		if err := m.writeToProcessor(ctx, moved, mirrored+" by "+word.Operator); err != nil {
			m.cfg.Log.WarnContext(ctx, "decision not written to the processor", "payment", moved.ID, "error", err)
			warnings = append(warnings, "The processor's metadata could not be told.")
		}
	}
	return warnings
}

// writeToProcessor appends a decision to the processor's metadata, under the first number
// that nobody has used.
func (m *Machine) writeToProcessor(ctx context.Context, p *flows.Payment, text string) error {
	text = p.UpdatedAt.UTC().Format(time.RFC3339) + " " + text
	remote, err := m.cfg.Cards.Get(ctx, p.ProcessorID)
	if err != nil {
		return err
	}
	for n := 1; n <= maxRecordedDecisions; n++ {
		if remote.Metadata[claimKey("op", n)] != "" {
			continue
		}
		err = m.retryIdempotent(func() error {
			_, err := m.cfg.Cards.UpdateMetadata(ctx, fmt.Sprintf("op:%s:%d", p.ProcessorID, n), p.ProcessorID, map[string]string{claimKey("op", n): text})
			return err
		})
		if !errors.Is(err, cards.ErrKeyReused) {
			return err
		}
	}
	return errors.New("there is no room for another decision")
}

// AddNote keeps what operators tell each other. It works in every state and never
// touches the payment's own record, so that it gets in nobody's way.
func (m *Machine) AddNote(ctx context.Context, id flows.PaymentID, by, text string) (flows.Note, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return flows.Note{}, err
	}
	if text = strings.TrimSpace(text); text == "" || len(text) > flows.MaxReasonLength || strings.ContainsFunc(text, unicode.IsControl) {
		return flows.Note{}, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/text", Message: fmt.Sprintf("One line of 1 to %d bytes.", flows.MaxReasonLength)}}}
	}
	p, err := m.payment(ctx, id)
	if err != nil {
		return flows.Note{}, err
	}
	note := flows.Note{At: m.cfg.Now(), Operator: by, Text: text}
	if err := m.cfg.Store.AddNote(ctx, id, note); err != nil {
		return flows.Note{}, flows.StorageFailed(err)
	}
	err = m.cfg.Store.Audit(ctx, flows.AuditEntry{At: note.At, Operator: by, Action: "note", Payment: id, From: p.State, To: p.State})
	return note, flows.StorageFailed(err)
}
