package payment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// Limits of the one POST that records a payment at the club system.
const (
	// commitPause is short for a buyer who waits, and spares a Redis that restarts.
	commitPause = 250 * time.Millisecond
	// maxCommits fill the life of a claim: an older one cannot be used.
	maxCommits = int(protocol.ClaimLife / commitPause)
)

// limitLeft is pauseLeft for the next attempt to record, whose pause may be as long as a limit of the API gateway. That is
// over, too, once another payment was recorded after the refusal: perhaps the provider has raised the limit.
func (m *Machine) limitLeft(ctx context.Context, p *flows.Payment) (time.Duration, error) {
	now := m.cfg.Now()
	left := p.NotBefore.Sub(now)
	if left <= protocol.MaxClaimPause || left > protocol.MaxLimitPause {
		return protocol.PauseLeft(p, m.cfg.Now()), nil
	}
	accepted, err := m.cfg.Store.LastAccepted(ctx, p.ClientToken)
	if err != nil || accepted.After(p.UpdatedAt) && !accepted.After(now) {
		return 0, flows.StorageFailed(err)
	}
	return protocol.DoubtPollEvery, nil
}

// prepareRecord moves a captured payment to sending, owned by this process. Only record,
// called right after the commit, may then send the POST.
func (m *Machine) prepareRecord(ctx context.Context, p *flows.Payment, captured *cards.Payment) (step, error) {
	if early, err := m.limitLeft(ctx, p); err != nil || early > 0 {
		return wait(early), err
	}
	if captured == nil { // no claim is spent on a processor that cannot be read
		remote, err := m.read(ctx, p, nil)
		switch {
		case err != nil:
			return step{}, err
		case remote.State == cards.Processing: // an older release took the bank's pending decision for a capture
			return wait(protocol.PollEvery), nil
		}
	}
	if p.ReleasePending {
		return m.releaseLate(ctx, p)
	}
	if left, err := m.held(ctx, p); err != nil || left > 0 {
		return wait(min(left, protocol.PollEvery)), err
	}
	if !protocol.Agreed(p, m.cfg.Now()) {
		return m.agreeToRecord(ctx, p)
	}
	if p.Claim > 0 {
		captured = nil // the journal has grown since the capture
	}
	return step{to: flows.Sending, reason: "about to be recorded", remote: captured, lease: protocol.Lease, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID = p.Claim+1, protocol.NewAttemptID(m.cfg.Now(), uuid.NewString())
	}}, nil
}

// agreeToRecord reads the sale of a captured payment again. A sale that differs from what was agreed cannot
// take the money: the buyer gets it back if nothing of ours was booked, else an operator decides. So does one if the
// payment was blocked, or Redis has lost whether it was: staff may have recorded it by hand.
func (m *Machine) agreeToRecord(ctx context.Context, p *flows.Payment) (step, error) {
	readAt := m.cfg.Now()
	sale, check, err := m.cfg.Club.GetCheckedSale(ctx, p.Scope(), p.Sale)
	if errors.Is(err, club.ErrNotFound) && p.SaleMissingSince.IsZero() {
		return step{to: p.State, reason: p.Reason, edit: func(next *flows.Payment) { next.SaleMissingSince = readAt }}, nil
	}
	gone := errors.Is(err, club.ErrNotFound) && protocol.Expired(readAt, p.SaleMissingSince, flows.GoneAfter)
	if err != nil && !gone && protocol.Expired(readAt, protocol.SendableSince(p), protocol.SaleUnreadableAfter) {
		return step{to: flows.InDoubt, reason: "the sale could not be read for a day"}, nil
	}
	if err != nil && !gone {
		return step{}, flows.ClubFailed(err, "The sale could not be read.")
	}
	reason := "the club system no longer has the sale"
	if !gone {
		reason = p.ChangedSinceAgreed(sale, check)
	}
	if reason == "" {
		return step{to: flows.Captured, reason: p.Reason, edit: func(next *flows.Payment) {
			next.Payer, next.SaleMissingSince = protocol.PayerOf(sale, readAt), time.Time{}
		}}, nil
	}
	remote, err := m.read(ctx, p, nil)
	forgotten := p.Rebuilt && !p.HasBeen(flows.Capturing) // what it has been since the capture
	switch {
	case err != nil:
		return step{}, err
	case protocol.ReadJournal(remote.Metadata).Available(p.Claim+1, "") && !forgotten && !p.HasBeen(flows.InDoubt) && !p.HasBeen(flows.Blocked) &&
		remote.Metadata[protocol.ByOperator] == "":
		reading := flows.Reading{Evidence: flows.Evidence{At: readAt, SaleState: &sale.State}}
		return step{to: flows.RefundDue, reason: reason, edit: func(next *flows.Payment) { next.Readings = protocol.WithReading(p.Readings, reading) }}, nil
	default:
		return step{to: flows.InDoubt, reason: reason}, nil
	}
}

// outcome is how one attempt to record ended.
type outcome struct {
	step
	journalEntry string // for the processor's journal: "done", "release" or empty
}

// record sends the POST under a one-shot claim, commits the outcome and returns the payment. The facts have since when this process
// owns it, and perhaps a reading within ClaimLife; without one, the payment must be read. A caller that cancels does not stop it,
// because a POST that began must finish.
func (m *Machine) record(ctx context.Context, p *flows.Payment, facts protocol.Facts) (*flows.Payment, error) {
	ctx = context.WithoutCancel(ctx)
	gate := func() error { // the process may sleep at any line after its commit
		if protocol.Expired(m.cfg.Now(), facts.Owner, protocol.ClaimLife) {
			return fmt.Errorf("claim %d is older than %s", p.Claim, protocol.ClaimLife)
		}
		return nil
	}
	var captured *cards.Payment
	if facts.Remote != nil {
		captured = &facts.Remote.Payment
	}
	var result outcome
	if p.HasProcessor() {
		result = m.claimAndSend(ctx, p, captured, gate)
	} else {
		result = m.send(ctx, p, gate)
		result.journalEntry = "" // it has no journal
	}
	change := m.change(p, result.step)
	switch result.journalEntry {
	case "release":
		change.First = protocol.Release
	case "done":
		change.Then = protocol.Acceptance
	}
	moved, err := m.commit(ctx, p, change)
	if err != nil {
		return p, flows.StorageFailed(err)
	}
	return moved, nil
}

// claimAndSend wins the claim and sends. It reads the journal first: the processor may have
// forgotten the key of an attempt that Redis lost, but not its entry. After a capture
// within protocol.ClaimLife no read is needed, because the processor still remembers newer keys.
func (m *Machine) claimAndSend(ctx context.Context, p *flows.Payment, captured *cards.Payment, gate club.Gate) outcome {
	remote, err := m.read(ctx, p, captured)
	differs, differ := errors.AsType[mismatch](err)
	switch {
	case differ:
		return outcome{step: step{to: flows.Blocked, reason: string(differs)}}
	case err != nil:
		return m.notSent(p, "the processor could not be asked before the claim", 0)
	case remote.OtherMethod != "":
		return outcome{step: refuseOtherMethod(remote)}
	case !protocol.ReadJournal(remote.Metadata).Available(p.Claim, ""):
		return outcome{step: step{to: flows.InDoubt, reason: "the processor's journal holds another attempt"}}
	}
	remote, err = m.claim(ctx, p, gate)
	switch {
	case errors.Is(err, cards.ErrKeyReused):
		return outcome{step: step{to: flows.InDoubt, reason: "claim " + strconv.Itoa(p.Claim) + " is held by another process"}}
	case err != nil:
		return m.notSent(p, "the claim was not confirmed by the processor", 0)
	case !protocol.ReadJournal(remote.Metadata).Available(p.Claim, p.AttemptID):
		return outcome{step: step{to: flows.InDoubt, reason: "the processor's journal holds another attempt"}}
	case !holdsWholeAmount(remote):
		return outcome{journalEntry: "release", step: step{to: flows.Blocked, reason: "not recordable: at the processor it is " + string(remote.State)}}
	}
	return m.send(ctx, p, gate)
}

// claim writes our attempt's id under the claim's number while the gate is open. The key
// makes one winner: our own repetition replays the success, another process gets ErrKeyReused.
// A key that is used up has no next one: the next claim follows, once this one is released.
func (m *Machine) claim(ctx context.Context, p *flows.Payment, gate club.Gate) (remote cards.Payment, err error) {
	key := journalKey("claim", p, p.Claim)
	entry := map[string]string{protocol.EntryName("post", p.Claim): p.AttemptID}
	for range protocol.TriesPerClaim {
		if closed := gate(); closed != nil {
			return remote, errors.Join(err, closed)
		}
		remote, err = m.cfg.Cards.UpdateMetadata(ctx, key, p.ProcessorID, entry)
		if err == nil || errors.Is(err, cards.ErrKeyReused) || errors.Is(err, cards.ErrKeyUsedUp) {
			break
		}
	}
	return remote, err
}

// send sends the POST. An outcome that is not certain is a doubt. After a refusal it sends once more: with a new token,
// or when the limit of the API gateway ends, if that is soon.
func (m *Machine) send(ctx context.Context, p *flows.Payment, gate club.Gate) outcome {
	corrected := false
	for try := 1; ; try++ {
		err := m.post(ctx, p, gate)
		if err != nil {
			m.cfg.Log.WarnContext(ctx, "payment not recorded", "payment", p.ID, "outcome", club.OutcomeOf(err), "error", err)
		}
		switch club.OutcomeOf(err) {
		case club.Accepted:
			return outcome{step: step{to: flows.Recorded, reason: "the club system accepted it"}, journalEntry: "done"}
		case club.NotSent:
			if try < protocol.TriesPerClaim && gate() == nil {
				continue
			}
			return m.notSent(p, "the club system could not be reached", 0)
		case club.Refused:
			limit, reached := limitReached(err)
			if !corrected && limit <= protocol.ShortLimit && gate() == nil {
				corrected = true
				if limit > 0 {
					<-m.cfg.After(limit)
				}
				continue
			}
			reason := "the club system refused our credentials"
			if reached {
				reason = "the quota of calls to the club system is used up"
			}
			return m.notSent(p, reason, limit)
		case club.Rejected:
			return m.rejected(ctx, p)
		default:
			return outcome{step: step{to: flows.InDoubt, reason: unknownOutcome(err)}}
		}
	}
}

// unknownOutcome is the reason of a doubt, with what the call saw: operators compare it with the club system's log.
func unknownOutcome(err error) string {
	const reason = "the outcome at the club system is unknown"
	if failed, ok := errors.AsType[*club.Error](err); ok {
		return reason + failed.Seen()
	}
	return reason
}

// limitReached returns how long a limit of the API gateway that refused a call still lasts.
func limitReached(err error) (limit time.Duration, reached bool) {
	refused, ok := errors.AsType[*club.Error](err)
	if !ok || refused.Status != http.StatusTooManyRequests {
		return 0, false
	}
	return refused.RetryAfter, true
}

// notSent is the outcome of an attempt that certainly had no effect. limit is how long a limit that was reached lasts; zero:
// none was. No attempt is left, either, if that is longer than anybody waits who has not paid.
func (m *Machine) notSent(p *flows.Payment, reason string, limit time.Duration) outcome {
	before, tries := flows.Captured, protocol.MaxClaims
	if !p.HasProcessor() {
		before, tries = flows.Priced, protocol.MaxSettlements
	}
	if p.Claim >= tries || !p.Method.BooksMoney() && limit > protocol.SettleWithin {
		return outcome{step: m.giveUp(p, reason+"; no attempt is left"), journalEntry: "release"}
	}
	return outcome{journalEntry: "release", step: step{to: before, reason: reason, edit: func(next *flows.Payment) {
		next.NotBefore = m.cfg.Now().Add(protocol.PauseAfter(p, limit))
		next.Payer = p.Payer.Outdated() // staff may act in the pause, so the sale is read again
	}}}
}

// rejected is the outcome if the club system's application refused the payment. It counts
// only if the sale is still as it was.
func (m *Machine) rejected(ctx context.Context, p *flows.Payment) outcome {
	sale, check, err := m.cfg.Club.GetCheckedSale(ctx, p.Scope(), p.Sale)
	// Without states, a settled sale looks like an open one. Money, unlike a deferral or a
	// validation, can also be booked for a sale that fails its check.
	conclusive := p.SaleState != "" && (check.Valid || !p.Method.BooksMoney())
	if err == nil && conclusive && sale.State == p.SaleState && p.MatchesSale(sale) {
		return outcome{step: m.giveUp(p, "the club system rejected it, and the sale is untouched"), journalEntry: "release"}
	}
	return outcome{step: step{to: flows.InDoubt, reason: "the club system rejected it, but the sale does not look untouched"}}
}

// updateMetadata appends an entry about the current claim to the processor's journal, with our attempt.
func (m *Machine) updateMetadata(ctx context.Context, p *flows.Payment, kind string) error {
	_, err := m.appendEntry(ctx, p, kind, p.Claim, p.AttemptID)
	return err
}

// appendEntry writes the n-th entry of a kind to the processor's journal. ErrKeyReused if there is another one: the
// number in the key keeps entries from being overwritten.
func (m *Machine) appendEntry(ctx context.Context, p *flows.Payment, kind string, n int, text string) (cards.Payment, error) {
	return m.writeEntry(ctx, p, journalKey(kind, p, n), protocol.EntryName(kind, n), text)
}

// writeEntry writes an entry of the processor's metadata under a key. After a key that is used up it reads the
// metadata, and continues with the next key, which only the first user of the previous one can reach.
func (m *Machine) writeEntry(ctx context.Context, p *flows.Payment, key, name, text string) (remote cards.Payment, err error) {
	for used := 0; ; used++ {
		remote, err = m.cfg.Cards.UpdateMetadata(ctx, numbered(key, used), p.ProcessorID, map[string]string{name: text})
		if !errors.Is(err, cards.ErrKeyUsedUp) {
			return remote, err
		}
		remote, err = m.cfg.Cards.Get(ctx, p.ProcessorID)
		switch present := remote.Metadata[name]; {
		case err != nil || present == text:
			return remote, err
		case present != "":
			return remote, cards.ErrKeyReused
		}
	}
}

// release releases the current claim. A release by another process stays: it names another
// attempt, so this claim does not count as released.
func (m *Machine) release(ctx context.Context, p *flows.Payment) error {
	if err := m.updateMetadata(ctx, p, "release"); !errors.Is(err, cards.ErrKeyReused) {
		return err
	}
	return nil
}

// releaseLate writes a release that failed when its outcome was committed.
func (m *Machine) releaseLate(ctx context.Context, p *flows.Payment) (step, error) {
	if err := m.release(ctx, p); err != nil {
		return step{}, processorFailed(err)
	}
	return step{to: p.State, reason: p.Reason, edit: func(next *flows.Payment) { next.ReleasePending = false }}, nil
}
