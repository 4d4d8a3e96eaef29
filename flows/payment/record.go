package payment

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The figures of the one POST that tells the club system that money came in.
const (
	// claimLife: a process that slept longer than this after it took the sending
	// upon itself may find that others have drawn conclusions, so it must not send.
	claimLife = 10 * time.Second
	// triesPerClaim: a request of which no byte left may be sent again at once, a few times.
	triesPerClaim = 3
	// maxClaims: with the pauses of claimPause about 25 minutes of a club system
	// that can be read and takes no payment; then the buyer gets the money back.
	// While it cannot be read either, nothing is claimed. Three metadata entries a
	// claim stay well inside the processors' 50.
	maxClaims = 10
)

// claimPause is how long to wait before the next claim after n were released.
func claimPause(n int) time.Duration {
	return min(15*time.Second<<(n-1), 5*time.Minute)
}

// prepareRecord moves a captured payment to sending, owned by this process.
// From here on only record, called right after the move, may send the POST.
func (m *Machine) prepareRecord(ctx context.Context, p *flows.Payment, remote *cards.Payment) (step, error) {
	if early := p.NotBefore.Sub(m.cfg.Now()); early > 0 {
		return wait(early), nil
	}
	if p.ReleasePending {
		return m.releaseLate(ctx, p)
	}
	payer := p.Payer
	if payer == nil || m.cfg.Now().Sub(payer.ReadAt) > freshSale {
		sale, err := m.cfg.Club.GetSale(ctx, p.Scope(), p.Sale)
		if err != nil {
			return step{}, flows.ClubFailed(err, "The sale could not be read.")
		}
		payer = m.payer(sale)
	}
	if p.Claim > 0 { // by whoever found the capture done, so that what the capture told is no longer all there is
		remote = nil
	}
	return step{to: flows.Sending, reason: "about to be recorded", remote: remote, lease: lease, edit: func(next *flows.Payment) {
		next.Payer, next.Claim, next.AttemptID = payer, p.Claim+1, newAttemptID(m.cfg.Now())
	}}, nil
}

// outcome is how one attempt to record ended.
type outcome struct {
	step
	journalEntry string // what to append to the processor's journal first: "done", "release" or nothing
}

// record sends the POST under a one-shot claim, commits what came of it, and
// answers with the payment as it then stands. captured is what the processor told
// when it took the money, within claimLife; nil: it has to be read.
// It must run in the call that moved the payment to sending, and it runs to
// its end whatever happens to the caller: a POST that was begun is finished.
func (m *Machine) record(ctx context.Context, p *flows.Payment, captured *cards.Payment) (*flows.Payment, error) {
	ctx = context.WithoutCancel(ctx)
	asked := p.UpdatedAt // when the sending was asked for; a process may sleep at any line since
	gate := func() error {
		if expired(m.cfg.Now(), asked, claimLife) {
			return fmt.Errorf("claim %d is older than %s", p.Claim, claimLife)
		}
		return nil
	}
	result := outcome{}
	if p.HasProcessor() {
		result = m.claimAndSend(ctx, p, captured, gate)
	} else {
		result = m.send(ctx, p, gate)
		result.journalEntry = "" // there is no journal
	}
	if result.journalEntry == "release" {
		// The release is written before anybody may claim again; if it cannot be
		// written now, the record says that it is owed.
		if err := m.release(ctx, p); err != nil {
			edit := result.edit
			result.edit = func(next *flows.Payment) {
				if edit != nil {
					edit(next)
				}
				next.ReleasePending = true
			}
		}
	}
	moved, err := m.commit(ctx, p, result.step)
	if result.journalEntry == "done" {
		// Written after the commit, so that the buyer does not wait for it; written
		// even if the commit failed, since it resolves the doubt that then follows.
		if _, journalErr := m.updateMetadata(ctx, p, "done", p.AttemptID); journalErr != nil {
			m.cfg.Log.WarnContext(ctx, "acceptance not journaled at the processor", "payment", p.ID, "error", journalErr)
		}
	}
	if err != nil {
		return p, flows.StorageFailed(err)
	}
	return moved, nil
}

// expired tells whether more time has passed than a life. The wall clock sees a
// machine that was suspended, the monotonic one a clock that was set.
func expired(now, since time.Time, life time.Duration) bool {
	return now.Sub(since) > life || now.Round(0).Sub(since.Round(0)) > life
}

// claimAndSend wins the claim, or finds it lost, and sends. It reads before it
// claims: the key of an attempt that Redis has forgotten may be forgotten by the
// processor too, its entry in the journal is not. Who took the money a moment ago
// has read: keys of the time since are remembered.
func (m *Machine) claimAndSend(ctx context.Context, p *flows.Payment, captured *cards.Payment, gate club.Gate) outcome {
	remote, mismatch, err := m.readUnless(ctx, p, captured)
	switch {
	case err != nil:
		return m.notSent(p, "the processor could not be asked before the claim")
	case mismatch != "":
		return outcome{step: step{to: flows.Blocked, reason: mismatch}}
	case !claimAvailable(remote, p.Claim, ""):
		return outcome{step: step{to: flows.InDoubt, reason: "the processor's journal tells of another attempt"}}
	}
	remote, err = m.claim(ctx, p, gate)
	switch {
	case errors.Is(err, cards.ErrKeyReused):
		return outcome{step: step{to: flows.InDoubt, reason: "claim " + strconv.Itoa(p.Claim) + " is held by another process"}}
	case err != nil:
		return m.notSent(p, "the claim was not confirmed by the processor")
	case !claimAvailable(remote, p.Claim, p.AttemptID):
		return outcome{step: step{to: flows.InDoubt, reason: "the processor's journal tells of another attempt"}}
	case !holdsWholeAmount(remote):
		return outcome{journalEntry: "release", step: step{to: flows.Blocked, reason: "to be recorded, and the processor says " + string(remote.State)}}
	}
	return m.send(ctx, p, gate)
}

// claim writes our post id under the claim's number, as long as the gate is
// open. The key makes one winner: a repetition of our own request replays its
// success, another process's is refused.
func (m *Machine) claim(ctx context.Context, p *flows.Payment, gate club.Gate) (remote cards.Payment, err error) {
	key := fmt.Sprintf("claim:%s:%d", p.ProcessorID, p.Claim) // whatever name Redis has for the payment, now or before
	entry := map[string]string{claimKey("post", p.Claim): p.AttemptID}
	for range triesPerClaim {
		if closed := gate(); closed != nil {
			return remote, errors.Join(err, closed)
		}
		remote, err = m.cfg.Cards.UpdateMetadata(ctx, key, p.ProcessorID, entry)
		if err == nil || errors.Is(err, cards.ErrKeyReused) {
			break
		}
	}
	return remote, err
}

// send posts the payment and sorts the outcome: certain ones lead on, all else is doubt.
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
			if try < triesPerClaim && gate() == nil {
				continue
			}
			return m.notSent(p, "the club system could not be reached")
		case club.Refused:
			if !corrected && gate() == nil {
				corrected = true // the client takes a new token after a refusal
				continue
			}
			return m.notSent(p, "the club system refused our credentials")
		case club.Rejected:
			return m.rejected(ctx, p)
		default:
			return outcome{step: step{to: flows.InDoubt, reason: "the answer of the club system is not known"}}
		}
	}
}

// notSent is for an attempt of which it is certain that nothing happened.
func (m *Machine) notSent(p *flows.Payment, reason string) outcome {
	before, giveUp, tries := flows.Captured, flows.RefundDue, maxClaims
	if !p.HasProcessor() {
		before, giveUp, tries = flows.Priced, flows.Cancelled, maxSettlements
	}
	if p.Claim >= tries {
		return outcome{step: step{to: giveUp, reason: reason + ", for the last time"}, journalEntry: "release"}
	}
	return outcome{journalEntry: "release", step: step{to: before, reason: reason, edit: func(next *flows.Payment) {
		next.NotBefore = m.cfg.Now().Add(claimPause(p.Claim))
	}}}
}

// rejected is for an answer in which the club system's application says no. It
// is believed only if the sale looks as it did before.
func (m *Machine) rejected(ctx context.Context, p *flows.Payment) outcome {
	giveUp := flows.RefundDue
	if !p.HasProcessor() {
		giveUp = flows.Cancelled
	}
	sale, check, err := m.cfg.Club.GetCheckedSale(ctx, p.Scope(), p.Sale)
	telling := p.SaleState != "" // else a sale that was settled looks no different
	// Money can be booked beside a sale that fails its check; a deferral or a validation cannot.
	telling = telling && (check.Valid || !p.Method.BooksMoney())
	if err == nil && telling && sale.State == p.SaleState && p.MatchesSale(sale) {
		return outcome{step: step{to: giveUp, reason: "the club system rejected it, and the sale is untouched"}, journalEntry: "release"}
	}
	return outcome{step: step{to: flows.InDoubt, reason: "the club system rejected it, but the sale does not look untouched"}}
}

// updateMetadata appends an entry about the current claim to the processor's
// journal. Entries are never overwritten: their keys carry the claim's number.
func (m *Machine) updateMetadata(ctx context.Context, p *flows.Payment, what, value string) (cards.Payment, error) {
	return m.cfg.Cards.UpdateMetadata(ctx, fmt.Sprintf("%s:%s:%d", what, p.ProcessorID, p.Claim), p.ProcessorID,
		map[string]string{claimKey(what, p.Claim): value})
}

// release gives the current claim up. Where somebody else's release stands
// already, it stays: it names another post, so that no later claim and no refund
// will take this one for given up.
func (m *Machine) release(ctx context.Context, p *flows.Payment) error {
	_, err := m.updateMetadata(ctx, p, "release", p.AttemptID)
	if errors.Is(err, cards.ErrKeyReused) {
		return nil
	}
	return err
}

// releaseLate writes the release that could not be written with its outcome.
func (m *Machine) releaseLate(ctx context.Context, p *flows.Payment) (step, error) {
	if err := m.release(ctx, p); err != nil {
		return step{}, processorFailed(err)
	}
	return step{to: p.State, reason: p.Reason, edit: func(next *flows.Payment) { next.ReleasePending = false }}, nil
}

// claimKey names a journal entry: fd_post_1, fd_release_1, fd_done_1.
func claimKey(what string, n int) string { return "fd_" + what + "_" + strconv.Itoa(n) }

const donePrefix = "fd_done_"

// claimAvailable tells whether the n-th claim is there for a post (empty: for whoever
// comes first): no acceptance is journalled, every earlier claim was given up,
// and nobody else has written anything under this one.
func claimAvailable(remote cards.Payment, n int, post string) bool {
	for i := 1; i < n; i++ {
		if !released(remote, i) {
			return false
		}
	}
	return remote.Metadata[claimKey("post", n)] == post && remote.Metadata[claimKey("release", n)] == "" && !acceptanceJournaled(remote)
}

// released tells whether a claim was given up by its holder, whose post the
// release names; or before anybody won it, after which nobody can use it.
func released(remote cards.Payment, n int) bool {
	post, release := remote.Metadata[claimKey("post", n)], remote.Metadata[claimKey("release", n)]
	return release != "" && (post == "" || post == release)
}

// acceptanceJournaled tells whether an accepted answer was journalled under any claim.
func acceptanceJournaled(remote cards.Payment) bool {
	for key, post := range remote.Metadata {
		if post != "" && strings.HasPrefix(key, donePrefix) {
			return true
		}
	}
	return false
}

// FixRequest fixes what the processor will be told of a new payment.
func (m *Machine) FixRequest(p *flows.Payment) {
	p.Processor, p.WebhookURL = m.cfg.Cards.Name(), m.cfg.WebhookURL
	p.Signature = hex.EncodeToString(m.cfg.Keys.Sign(signedText(m.metadata(p))))
}

// metadata is what the processor keeps for us: enough to find and to rebuild
// the payment without Redis, signed, and without personal data.
func (m *Machine) metadata(p *flows.Payment) map[string]string {
	entries := map[string]string{
		"fd_version":      "1",
		"fd_environment":  m.cfg.Environment,
		"fd_registration": p.Registration,
		"fd_sale":         string(p.Sale),
		"fd_amount":       strconv.FormatInt(p.Amount, 10),
		"fd_currency":     p.Currency,
		"fd_club":         string(p.Club),
		"fd_generation":   strconv.Itoa(p.Generation),
		"fd_mac":          p.Signature,
	}
	if p.Schema >= flows.SignedCart {
		entries["fd_version"] = "2"
		entries["fd_node"], entries["fd_sale_state"], entries["fd_cart"] = string(p.Node), p.SaleState, p.AgreedDigest()
	}
	return entries
}

// schemaOf tells which layout of records wrote some metadata.
func schemaOf(metadata map[string]string) (schema int, known bool) {
	switch metadata["fd_version"] {
	case "1":
		return flows.SignedCart - 1, true
	case "2":
		return flows.SignedCart, true
	}
	return 0, false
}

// metadataMatches tells whether metadata says what the record says, and we signed it.
func (m *Machine) metadataMatches(p *flows.Payment, remote map[string]string) bool {
	for key, want := range m.metadata(p) {
		if key != "fd_mac" && remote[key] != want {
			return false
		}
	}
	return m.signed(remote)
}

// signed tells whether we signed what metadata says.
func (m *Machine) signed(remote map[string]string) bool {
	signature, err := hex.DecodeString(remote["fd_mac"])
	return err == nil && m.cfg.Keys.Verify(signedText(remote), signature)
}

// signedText joins the signed entries, each on a line of its own.
func signedText(entries map[string]string) []byte {
	text := make([]byte, 0, 512) // they take 400
	keys := []string{"fd_version", "fd_environment", "fd_registration", "fd_sale", "fd_amount", "fd_currency", "fd_club", "fd_generation"}
	if schema, _ := schemaOf(entries); schema >= flows.SignedCart {
		keys = append(keys, "fd_node", "fd_sale_state", "fd_cart")
	}
	for _, key := range keys {
		text = append(append(append(append(text, key...), '='), entries[key]...), '\n')
	}
	return text
}
