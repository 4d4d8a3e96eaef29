package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// maxRecordedDecisions bounds the decisions in the processor\'s metadata, which has room for 50 entries, two of them for each
// claim.
const maxRecordedDecisions = 5

// Resolution is what an operator decides for a payment that was not recorded.
type Resolution string

// The resolutions.
const (
	SendAgain Resolution = "send_again" // under the next claim
	Refund    Resolution = "refund"     // by card: the buyer gets the money back
	GiveUp    Resolution = "cancel"     // without a processor, or blocked and settled by hand: there is nothing to give back
)

// ResolutionResult is a payment after a decision. Warnings say which records of the decision failed,
// and what contradicts it.
type ResolutionResult struct {
	Payment  Summary  `json:"payment"`
	Warnings []string `json:"warnings,omitempty"`
}

// ConfirmRecorded ends a doubt: an operator has seen the payment in the club system. For a recorded payment
// with a finding, see settleFinding. For a blocked one, see blockedEnd. NotDecidable in other states, or if the
// processor does not hold all of a doubtful payment's money.
func (m *Machine) ConfirmRecorded(ctx context.Context, id flows.PaymentID, decision flows.Decision) (ResolutionResult, error) {
	p, err := m.decidable(ctx, id, decision)
	switch {
	case err != nil:
		return ResolutionResult{}, err
	case p.Finding() != "":
		return m.settleFinding(ctx, p, decision)
	case p.State == flows.Blocked:
		return m.endBlocked(ctx, p, true, decision)
	case p.State != flows.InDoubt:
		return ResolutionResult{}, notInDoubt(p)
	}
	if p.HasProcessor() {
		switch remote, err := m.claimInDoubt(ctx, p); {
		case err != nil:
			return ResolutionResult{}, err
		case remote.State == cards.Refunded:
			return ResolutionResult{}, notDecidable("The payment was refunded in full at the processor. Undo it in the club system, then run confirm-not-recorded with --refund.")
		}
	}
	result, err := m.decide(ctx, p, flows.AuditConfirmRecorded, "", step{to: flows.Recorded, reason: "an operator confirmed that it is recorded", decision: decision,
		edit: func(next *flows.Payment) { next.ReleasePending = false }})
	if err == nil {
		result.Warnings = append(result.Warnings, m.unsettledSale(context.WithoutCancel(ctx), p)...)
	}
	return result, err
}

// settleFinding ends the finding that operators are shown, because an operator has settled it by hand: the club system has
// the refund or the dispute; the sale is as it should be; only one payment of the sale is left. The next finding follows.
func (m *Machine) settleFinding(ctx context.Context, p *flows.Payment, decision flows.Decision) (ResolutionResult, error) {
	settled := step{to: flows.Recorded, decision: decision}
	switch p.Finding() {
	case flows.Contradicted:
		settled.reason = "an operator confirmed that the club system has it too"
		settled.edit = func(next *flows.Payment) { next.Acknowledged = p.Difference }
	case flows.RecordedUnsettled:
		settled.reason = "an operator settled the sale"
		settled.edit = func(next *flows.Payment) { next.SaleVerdict = flows.SaleSettled }
	default:
		settled.reason = "an operator found it recorded once"
		settled.edit = func(next *flows.Payment) { next.PaidTwice = false }
	}
	return m.decide(ctx, p, flows.AuditConfirmRecorded, " "+string(p.Finding()), settled)
}

// unsettledSale returns a warning if the sale of a card payment that an operator confirmed is not settled, or cannot
// be read. The decision may have been about another payment, and it is final. The club system can be slow, so this
// comes after everything that records the decision.
func (m *Machine) unsettledSale(ctx context.Context, p *flows.Payment) []string {
	if !p.HasProcessor() {
		return nil
	}
	sale, _, err := m.cfg.Club.GetCheckedSale(ctx, p.Scope(), p.Sale)
	switch {
	case err != nil:
		return []string{fmt.Sprintf("Sale %s could not be read at the club system. Look there whether it is settled.", p.Sale)}
	case sale.State != p.SaleState:
		return nil
	}
	return []string{fmt.Sprintf("The club system shows sale %s as not settled. If the payment is on the contact's account, settle the sale with it there. If it is not, the buyer has paid and is not a member: refund them in the processor's pages, and leave a note here.", p.Sale)}
}

// journalRecorded journals that a payment is recorded, so that this outlives a loss in Redis. It must follow the
// commit, so that only what was committed is written.
func (m *Machine) journalRecorded(ctx context.Context, p *flows.Payment) bool {
	err := retryIdempotent(func() error { return m.updateMetadata(ctx, p, "done") })
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "acceptance not journaled at the processor", "payment", p.ID, "error", err)
	}
	return err == nil
}

// ConfirmNotRecorded ends a doubt: an operator has made sure that the club system does not
// hold the payment. TooEarly until the latest claim is 15 min old. NotDecidable if the
// payment is not in doubt, the resolution is not possible, or the journal or the sale
// contradicts it; the decision may override the sale for a refund or a cancellation. A blocked
// payment whose refund was refused, or failed, can be refunded again; others can be ended, see blockedEnd.
func (m *Machine) ConfirmNotRecorded(ctx context.Context, id flows.PaymentID, resolution Resolution, decision flows.Decision) (ResolutionResult, error) {
	p, err := m.decidable(ctx, id, decision)
	switch {
	case err != nil:
		return ResolutionResult{}, err
	case p.State == flows.Blocked && resolution == Refund:
		return m.refundBlocked(ctx, p, decision)
	case p.State == flows.Blocked && resolution == GiveUp:
		return m.endBlocked(ctx, p, false, decision)
	case p.State != flows.InDoubt:
		return ResolutionResult{}, notInDoubt(p)
	}
	to, err := resolution.target(p)
	if err == nil && resolution == SendAgain {
		err = m.requireNoRival(ctx, p)
	}
	if err != nil {
		return ResolutionResult{}, err
	}
	if p.HasProcessor() {
		err = m.settleClaim(ctx, p, resolution, decision)
	} else {
		err = cmp.Or(m.oldEnough(p.InDoubtSince()), m.saleAllows(ctx, p, resolution, decision))
	}
	if err != nil {
		return ResolutionResult{}, err
	}
	ctx = context.WithoutCancel(ctx) // the claim is released, so the rest must be committed
	result, err := m.decide(ctx, p, flows.AuditConfirmNotRecorded, " "+string(resolution), step{to: to, reason: "an operator confirmed that it is not recorded", decision: decision,
		edit: func(next *flows.Payment) {
			next.ReleasePending, next.NotBefore = false, time.Time{}
			next.Payer = p.Payer.Outdated() // the sale is read again before the next claim
		}})
	if err == nil {
		m.wake(ctx, id, nil)
	}
	return result, err
}

// target returns the state to which the resolution leads.
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
		return "", notDecidable("This payment has no card processor, so there is nothing to refund. Use --cancel.")
	case t == GiveUp:
		return "", notDecidable("The card payment was captured, so it cannot be cancelled. Use --send-again or --refund.")
	default:
		return "", flows.Invalid(flows.FieldProblem{Pointer: "/then", Message: "must be send_again, refund or cancel"})
	}
}

// requireNoRival returns NotDecidable if a payment cannot be sent again, because the registration's latest payment may
// settle the same sale: both would find it open. Redis can lose a payment's record, which is rebuilt in addition to a later one.
func (m *Machine) requireNoRival(ctx context.Context, p *flows.Payment) error {
	_, latest, err := m.cfg.Store.Registration(ctx, p.Registration)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return nil // no buyer can begin another one
	case err != nil:
		return flows.StorageFailed(err)
	case !latest.Live() || latest.ID == p.ID || latest.Sale != p.Sale:
		return nil
	}
	return notDecidable("It cannot be sent again: payment %s of the same sale is %s, and may settle it. "+
		"Decide on that one first, or use --refund.", latest.ID, latest.State)
}

func notDecidable(format string, of ...any) error {
	return &flows.Error{Code: flows.NotDecidable, Detail: fmt.Sprintf(format, of...)}
}

// refundBlocked has a blocked payment refunded, see refundable. The new attempt has another key: the
// processor replays its refusal under the old one. It cannot refund twice, because the processor gives
// back no more than it took.
func (m *Machine) refundBlocked(ctx context.Context, p *flows.Payment, decision flows.Decision) (ResolutionResult, error) {
	remote, err := m.read(ctx, p, nil)
	differs, differ := undecidable(err)
	_, absent := errors.AsType[missing](err)
	switch {
	case absent && decision.Override, err == nil && remote.Disputed && refundable(remote) && decision.Override:
		return m.decide(ctx, p, flows.AuditConfirmNotRecorded, " refund", m.byHand(flows.Refunded, p, remote, decision))
	case absent:
		return ResolutionResult{}, notDecidable("Nothing can be refunded here: %s. Check the account and the key; Frontdesk continues "+
			"once the processor has it again. If the buyer certainly has the money back, add --override.", differs)
	case differ:
		return ResolutionResult{}, notDecidable("Nothing can be decided: %s.", differs)
	case err != nil:
		return ResolutionResult{}, err
	case !refundable(remote):
		return ResolutionResult{}, notInDoubt(p)
	}
	claim, attempt := protocol.ReadJournal(remote.Metadata).Last()
	if !protocol.ReadJournal(remote.Metadata).RefundClaimed() {
		claim, attempt = claim+1, protocol.RefundPrefix+protocol.NewAttemptID(m.cfg.Now(), uuid.NewString())
	}
	result, err := m.decide(ctx, p, flows.AuditRefund, "", step{to: flows.Refunding, reason: "an operator requested the refund", decision: decision, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID = claim, attempt
		next.RefundRetry, next.FailedRefunds, next.NotBefore = protocol.NewAttemptID(m.cfg.Now(), uuid.NewString()), remote.FailedRefunds, time.Time{}
	}})
	if err == nil {
		m.wake(ctx, p.ID, nil)
	}
	return result, err
}

// refundable reports whether an operator may have a blocked payment refunded: a refund has the last claim, or no claim
// is open, so that no request of ours recorded it, and the money is held, or went back already.
func refundable(remote cards.Payment) bool {
	if protocol.ReadJournal(remote.Metadata).RefundClaimed() {
		return !protocol.ReadJournal(remote.Metadata).Accepted
	}
	last, _ := protocol.ReadJournal(remote.Metadata).Last()
	return (holdsWholeAmount(remote) || remote.State == cards.Refunded) && protocol.ReadJournal(remote.Metadata).Available(last+1, "")
}

// blockedEnd returns the state in which an operator can end a blocked payment that was settled by hand: recorded
// by the club system once, or not and nothing is kept. remote is zero if the processor does not have it: money may be
// kept then, so it is not cancelled, unless it was never created there.
func blockedEnd(p *flows.Payment, remote cards.Payment, recorded bool) (to flows.PaymentState, possible bool) {
	kept := remote.State == cards.Captured && remote.Refunding == 0 && (!protocol.ReadJournal(remote.Metadata).RefundClaimed() || protocol.ReadJournal(remote.Metadata).Accepted)
	switch {
	case recorded:
		return flows.Recorded, kept || !p.HasProcessor() || p.ProcessorID != "" && remote.State == ""
	case remote.State == cards.Refunded:
		return flows.Refunded, true
	default:
		return flows.Cancelled, !p.HasProcessor() || p.ProcessorID == "" || remote.State == cards.Cancelled
	}
}

// endBlocked ends a blocked payment as blockedEnd says. NotDecidable while the processor contradicts that or, for
// one that was not recorded, the sale does.
func (m *Machine) endBlocked(ctx context.Context, p *flows.Payment, recorded bool, decision flows.Decision) (ResolutionResult, error) {
	var remote cards.Payment
	if p.ProcessorID != "" {
		read, err := m.find(ctx, p.ProcessorID)
		if err != nil {
			return ResolutionResult{}, err
		}
		if m.names(p, read) {
			remote = read
		}
	}
	to, possible := blockedEnd(p, remote, recorded)
	switch {
	case !possible && p.ProcessorID == "":
		return ResolutionResult{}, notDecidable("The payment was never created at the processor, so it holds no money. " +
			"Use confirm-not-recorded --cancel.")
	case !possible && remote.State == "":
		return ResolutionResult{}, notDecidable("The processor does not have this payment at present, so its money may be kept. " +
			"Check the account and the key; Frontdesk continues once the processor has it again. " +
			"If the buyer certainly has the money back, use confirm-not-recorded --refund --override.")
	case !possible:
		return ResolutionResult{}, notDecidable("The payment is blocked. At the processor it is %s, with %s of %s refunded. Run frontdesk payments show for the possible decisions.", remote.State,
			Price(remote.Refunded, remote.Currency), Price(remote.Captured, remote.Currency))
	case !recorded:
		if err := m.saleAllows(ctx, p, GiveUp, decision); err != nil {
			return ResolutionResult{}, err
		}
	}
	action, suffix := flows.AuditConfirmRecorded, " by hand"
	if !recorded {
		action, suffix = flows.AuditConfirmNotRecorded, " cancel"
	}
	return m.decide(ctx, p, action, suffix, m.byHand(to, p, remote, decision))
}

// byHand is the step that ends a blocked payment as an operator settled it.
func (m *Machine) byHand(to flows.PaymentState, p *flows.Payment, remote cards.Payment, decision flows.Decision) step {
	return step{to: to, reason: "an operator settled it by hand", decision: decision, edit: func(next *flows.Payment) {
		next.AttemptID = cmp.Or(p.AttemptID, protocol.NewAttemptID(m.cfg.Now(), uuid.NewString())) // the journal's entry needs one
		next.Difference = ""
		if (to == flows.Recorded || remote.Disputed) && remote.State != "" {
			next.Difference = protocol.Difference(p, &protocol.Remote{Payment: remote})
		}
		next.Acknowledged = next.Difference // the operator sees it
	}}
}

func notInDoubt(p *flows.Payment) error {
	return notDecidable("The payment is %s, not in_doubt: %s.", p.State, p.Reason)
}

// decidable reads a payment on which an operator can decide.
func (m *Machine) decidable(ctx context.Context, id flows.PaymentID, decision flows.Decision) (*flows.Payment, error) {
	if err := decision.Validate(); err != nil {
		return nil, err
	}
	p, err := m.payment(ctx, id)
	if err == nil {
		err = m.requireOwnOf(ctx, p)
	}
	if err == nil && p.Schema > flows.PaymentSchema {
		err = notDecidable("A newer version of Frontdesk wrote this payment. Decide with that version.")
	}
	return p, err
}

func (m *Machine) payment(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	if registration, _ := id.Split(); registration == "" {
		return nil, &flows.Error{Code: flows.NotFound, Detail: "Invalid payment id. frontdesk payments list shows the ids."}
	}
	p, err := m.cfg.Store.Payment(ctx, id)
	if errors.Is(err, flows.ErrNotFound) {
		return nil, &flows.Error{Code: flows.NotFound, Detail: "No such payment, or it ended more than 30 days ago.", Err: err}
	}
	return p, flows.StorageFailed(err)
}

// claimInDoubt reads the processor's payment and puts the journal's latest claim, which
// Redis may have lost, into p: the decision is about that claim.
func (m *Machine) claimInDoubt(ctx context.Context, p *flows.Payment) (cards.Payment, error) {
	remote, err := m.read(ctx, p, nil)
	differs, differ := undecidable(err)
	switch {
	case differ:
		return remote, notDecidable("Nothing can be decided: %s.", differs)
	case err != nil:
		return remote, err
	case protocol.ReadJournal(remote.Metadata).RefundClaimed():
		return remote, notDecidable("A refund has begun: the journal at the processor holds its claim. Check there whether the buyer was refunded, and leave a note here.")
	case !holdsWholeAmount(remote) && remote.State != cards.Refunded:
		return remote, notDecidable("At the processor the payment is %s, with %s of %s refunded. Refund the rest there first.", remote.State,
			Price(remote.Refunded, remote.Currency), Price(remote.Captured, remote.Currency))
	}
	if n, attempt := protocol.ReadJournal(remote.Metadata).Last(); n >= p.Claim {
		p.Claim, p.AttemptID = n, attempt
	}
	return remote, nil
}

// settleClaim releases the latest claim on the operator's decision, once it is old enough,
// so that no attempt that Redis lost can use it.
func (m *Machine) settleClaim(ctx context.Context, p *flows.Payment, resolution Resolution, decision flows.Decision) error {
	own := *p
	remote, err := m.claimInDoubt(ctx, p)
	switch {
	case err != nil:
		return err
	case protocol.ReadJournal(remote.Metadata).Accepted:
		return m.acceptedAfterAll(ctx, p)
	case resolution == SendAgain && remote.State == cards.Refunded:
		return notDecidable("The payment was refunded in full at the processor, so it cannot be recorded. Decide with --refund.")
	case resolution == SendAgain && p.Claim >= protocol.MaxClaims:
		return notDecidable("All %d attempts to record it are used up. Use --refund.", protocol.MaxClaims)
	}
	if err := m.oldEnough(latestAttempt(&own, remote)); err != nil {
		return err
	}
	if err := m.saleAllows(ctx, p, resolution, decision); err != nil {
		return err
	}
	key := protocol.EntryName("release", p.Claim)
	if remote.Metadata[key] == "" {
		// In this order, and the release as its holder would write it, which may have tried.
		if _, err = m.writeEntry(ctx, p, journalKey("released_by", p, p.Claim), protocol.ByOperator, "operator"); err == nil {
			remote, err = m.appendEntry(ctx, p, "release", p.Claim, p.AttemptID)
		}
	}
	switch {
	case errors.Is(err, cards.ErrKeyReused), err == nil && remote.Metadata[key] != p.AttemptID:
		return notDecidable("The journal at the processor holds a release of claim %d that names another attempt, so nothing was decided. Look at the payment again.", p.Claim)
	case err != nil:
		return processorFailed(err)
	case protocol.ReadJournal(remote.Metadata).Accepted:
		return m.acceptedAfterAll(ctx, p)
	}
	return nil
}

// saleAllows returns NotDecidable for a resolution that the sale contradicts. A payment is not sent
// again to a sale that changed since the capture: at best the club system would book the money on the
// contact's account. It is not given back while the sale is settled, perhaps by this very payment.
func (m *Machine) saleAllows(ctx context.Context, p *flows.Payment, resolution Resolution, decision flows.Decision) error {
	if decision.Override && resolution != SendAgain {
		return nil
	}
	sale, check, err := m.cfg.Club.GetCheckedSale(ctx, p.Scope(), p.Sale)
	switch {
	case errors.Is(err, club.ErrNotFound) && resolution == SendAgain:
		return notDecidable("It cannot be sent again: the club system does not find the sale.")
	case errors.Is(err, club.ErrNotFound):
		return notDecidable("The club system does not find the sale. If the payment is certainly not on the person's account either, add --override.")
	case err != nil:
		return flows.ClubFailed(err, "The sale could not be read, so nothing was decided.")
	}
	reason := p.ChangedSinceAgreed(sale, check)
	switch {
	case resolution == SendAgain && p.HasProcessor() && reason != "":
		return notDecidable("It cannot be sent again: %s. If this payment did that, run confirm-recorded; otherwise use --refund.", reason)
	case resolution != SendAgain && sale.State != p.SaleState:
		return notDecidable("The sale has been settled. If this payment settled it, run confirm-recorded. If it certainly did not, add --override.")
	}
	return nil
}

func (m *Machine) acceptedAfterAll(ctx context.Context, p *flows.Payment) error {
	m.wake(ctx, p.ID, nil)
	return notDecidable("The journal at the processor holds the club system's acceptance. The payment will be recorded in a moment.")
}

// wake requests an Advance. A failure is only logged, because the payment is due at the time that it was scheduled for.
func (m *Machine) wake(ctx context.Context, id flows.PaymentID, p *flows.Payment) {
	if err := m.cfg.Queue.Wake(ctx, id, p); err != nil {
		m.cfg.Log.WarnContext(ctx, "payment not woken", "payment", id, "error", err)
	}
}

func (m *Machine) oldEnough(claimed time.Time) error {
	if early := protocol.DecideAfter - m.cfg.Now().Sub(claimed); early > 0 {
		return &flows.Error{Code: flows.TooEarly, RetryAfter: early, Detail: fmt.Sprintf("The request may still arrive. This decision is possible from %s.",
			claimed.Add(protocol.DecideAfter).UTC().Format(timeFormat))}
	}
	return nil
}

// latestAttempt returns when the latest attempt in the record or the journal began; for a
// record whose attempt has no time, the beginning of the doubt.
func latestAttempt(p *flows.Payment, remote cards.Payment) time.Time {
	latest, ok := protocol.AttemptStart(p.AttemptID)
	if !ok {
		latest = p.InDoubtSince()
	}
	for n := 1; n <= protocol.HighestClaim; n++ {
		if at, ok := protocol.AttemptStart(remote.Metadata[protocol.EntryName("post", n)]); ok && at.After(latest) {
			latest = at
		}
	}
	return latest
}

// decide commits a decision; the first one wins. It then journals a recording, and writes the decision to the audit
// stream and, with the suffix, to the processor, even if the caller has left. The result has a warning for each of these
// that fails, the journal only after a doubt; the decision holds anyway.
func (m *Machine) decide(ctx context.Context, p *flows.Payment, action flows.AuditAction, suffix string, s step) (ResolutionResult, error) {
	moved, err := m.commit(ctx, p, m.change(p, s))
	switch {
	case errors.Is(err, flows.ErrConflict):
		return ResolutionResult{}, &flows.Error{Code: flows.Conflict, Detail: "Another operator decided, or the payment changed, at the same moment. Read it again.", Err: err}
	case err != nil:
		return ResolutionResult{}, flows.StorageFailed(err)
	}
	ctx = context.WithoutCancel(ctx)
	result := ResolutionResult{Payment: summary(moved)}
	if moved.State == flows.Recorded && p.State != flows.Recorded && moved.HasProcessor() {
		if journaled := m.journalRecorded(ctx, moved); !journaled && p.State == flows.InDoubt {
			result.Warnings = append(result.Warnings, "The decision could not be written to the processor's journal: if Redis loses its latest writes, the payment will be in doubt again.")
		}
	}
	if s.decision.Override && action == flows.AuditConfirmNotRecorded {
		action += flows.AuditOverride
	}
	entry := flows.AuditEntry{At: moved.UpdatedAt, Operator: s.decision.Operator, Action: action, Payment: moved.ID, From: p.State, To: moved.State}
	if err := m.cfg.Store.Audit(ctx, entry); err != nil {
		m.cfg.Log.WarnContext(ctx, "decision not in the audit stream", "payment", moved.ID, "error", err)
		result.Warnings = append(result.Warnings, "The decision could not be written to the audit stream.")
	}
	if !moved.HasProcessor() || moved.ProcessorID == "" {
		return result, nil
	}
	if err := m.writeToProcessor(ctx, moved, string(action)+suffix+" by "+s.decision.Operator); err != nil {
		m.cfg.Log.WarnContext(ctx, "decision not written to the processor", "payment", moved.ID, "error", err)
		result.Warnings = append(result.Warnings, "The decision could not be written to the processor's metadata.")
	}
	return result, nil
}

// retryIdempotent repeats a call that is safe to repeat.
func retryIdempotent(do func() error) (err error) {
	for range protocol.TriesPerClaim {
		if err = do(); err == nil || errors.Is(err, cards.ErrKeyReused) {
			break
		}
	}
	return err
}

// writeToProcessor appends a decision to the processor's metadata, under the first unused number.
func (m *Machine) writeToProcessor(ctx context.Context, p *flows.Payment, text string) error {
	text = p.UpdatedAt.UTC().Format(time.RFC3339) + " " + text
	remote, err := m.cfg.Cards.Get(ctx, p.ProcessorID)
	if err != nil {
		return err
	}
	for n := 1; n <= maxRecordedDecisions; n++ {
		key := protocol.EntryName("op", n)
		if remote.Metadata[key] != "" {
			continue
		}
		err = retryIdempotent(func() error {
			_, err := m.appendEntry(ctx, p, "op", n, text)
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
		return flows.Note{}, flows.Invalid(flows.FieldProblem{Pointer: "/text", Message: fmt.Sprintf("must be one line of 1 to %d bytes", flows.MaxReasonLength)})
	}
	p, err := m.payment(ctx, id)
	if err != nil {
		return flows.Note{}, err
	}
	note := flows.Note{At: m.cfg.Now(), Operator: by, Text: text}
	if err := m.cfg.Store.AddNote(ctx, id, note); err != nil {
		return flows.Note{}, flows.StorageFailed(err)
	}
	err = m.cfg.Store.Audit(ctx, flows.AuditEntry{At: note.At, Operator: by, Action: flows.AuditNote, Payment: id, From: p.State, To: p.State})
	return note, flows.StorageFailed(err)
}
