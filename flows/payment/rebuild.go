package payment

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
)

// Limits and periods of the rebuild.
const (
	// Everything reaches back to the oldest payment that had not ended, however old.
	Everything = time.Duration(math.MaxInt64)
	// WholeWindow is the window of the hourly rebuilds: an authorisation lives for seven days.
	WholeWindow = 8 * 24 * time.Hour
	// RecentWindow is the window of the frequent rebuilds; longer than an idle intent and an
	// idle authorisation together.
	RecentWindow = 3 * time.Hour
	// keepRebuilt is the age from which a final payment is not rebuilt. Its registration
	// has expired too: a sale is payable for 20 h, and a registration is kept for 24 h more.
	keepRebuilt = 3 * 24 * time.Hour
	// restAfter is how many payments a comparison for losses reads at once. It then rests for rest times as long as that
	// took, and at most maxRest.
	restAfter, rest, maxRest = 100, 4, time.Second
	restoreAttempts          = 5 // to store the payments of one registration
)

// errLostAgain ends a rebuild in which Redis loses a registration that it had a moment before. Its
// payment must not be taken for a duplicate.
var errLostAgain = errors.New("payment: Redis lost a registration while its payments were compared with the processor")

// errChanging means that a registration changed at each attempt to store its payment. The next comparison finds it again.
var errChanging = errors.New("payment: a registration changed again and again while its payments were rebuilt")

// Rebuild compares the payments that the processor created within the window with those in
// Redis. It stores the missing ones with the state that the processor and its journal prove,
// and overwrites nothing. It may run late or repeatedly, because no step trusts Redis alone.
// Payments without our signature, environment and organisation are ignored. A window of WholeWindow or more
// has no end if Redis knows of no comparison, because it may have lost payments of any age.
func (m *Machine) Rebuild(ctx context.Context, window time.Duration) error {
	if err := m.requireOwn(ctx); err != nil {
		return err
	}
	now, processor := m.cfg.Now(), m.cfg.Cards.Name()
	if window < WholeWindow {
		// A part of the list does not show which of a registration's payments counts, only
		// whether any is missing.
		if lost, err := m.anyLost(ctx, now.Add(-window)); !lost || err != nil {
			return err
		}
		window = Everything
	}
	known, err := m.cfg.Store.Comparison(ctx, processor)
	if err != nil {
		return flows.StorageFailed(err)
	}
	since := now.Add(-WholeWindow)
	if reach := known.Oldest.Add(-protocol.GroupSpan); window == Everything && reach.Before(since) {
		since = reach
	}
	if known.At.IsZero() {
		since = time.Time{}
	}
	oldest, err := m.rebuildSince(ctx, since)
	if err != nil {
		return err
	}
	if known.Oldest.Before(since) {
		oldest = known.Oldest // this comparison did not reach it
	}
	return flows.StorageFailed(m.cfg.Store.SaveComparison(ctx, processor, store.Comparison{At: now, Oldest: oldest}))
}

// LastComparison returns when the latest complete comparison began; zero if Redis knows of none.
func (m *Machine) LastComparison(ctx context.Context) (time.Time, error) {
	last, err := m.cfg.Store.Comparison(ctx, m.cfg.Cards.Name())
	return last.At, flows.StorageFailed(err)
}

// rebuildSince rebuilds what the processor created since an instant. It returns when the oldest of
// these payments that has not ended was created, or the present if all have ended.
func (m *Machine) rebuildSince(ctx context.Context, since time.Time) (oldest time.Time, err error) {
	began := m.cfg.Now()
	oldest = began
	unverifiable := map[string]bool{}
	for group, err := range m.groups(ctx, since, unverifiable) {
		if err != nil {
			return oldest, err
		}
		m.lookups.found(group[0].derived.Registration)
		for _, a := range group {
			if p := a.derived; !p.State.Final() && p.CreatedAt.Before(oldest) {
				oldest = p.CreatedAt
			}
		}
		switch err := m.restore(ctx, group); {
		case errors.Is(err, flows.ErrNewer):
			m.cfg.Log.InfoContext(ctx, "registration left to gateways of a newer version", "registration", group[0].derived.Registration)
		case flows.Unreadable(err), errors.Is(err, errChanging):
			m.cfg.Log.ErrorContext(ctx, "payment not rebuilt", "registration", group[0].derived.Registration, "error", err)
		case err != nil:
			return oldest, err
		}
	}
	m.lookups.conclude(began, m.cfg.Now())
	return oldest, m.keepUnverifiable(ctx, since, unverifiable)
}

// OweRebuild makes the worker compare everything, whatever its turns. A comparison for losses ends for it when it rests.
func (m *Machine) OweRebuild() { m.rebuildOwed.Store(true) }

// TakeOwedRebuild reports, once, whether the worker must compare everything.
func (m *Machine) TakeOwedRebuild() bool { return m.rebuildOwed.Swap(false) }

// candidate is a payment of the processor with the record in Redis.
type candidate struct {
	derived *flows.Payment // the record that the processor's payment proves
	remote  cards.Payment  // without its metadata, because a comparison has the payments of days in memory
	stored  *flows.Payment // nil: Redis lacks it
	other   *flows.Payment // Redis has this one under its number; nil: none
}

func newCandidate(derived *flows.Payment, remote cards.Payment) candidate {
	remote.Metadata = nil
	return candidate{derived: derived, remote: remote}
}

func (c candidate) lost() bool { return c.stored == nil }

// duplicate reports whether Redis has the payment as a duplicate of the one that counts.
func (c candidate) duplicate() bool {
	return c.stored != nil && c.stored.ID != flows.NewPaymentID(c.stored.Registration, c.stored.Generation)
}

// agrees reports whether Redis and the processor have the same state, so that a step for the
// derived record fits the stored one.
func (c candidate) agrees() bool {
	return c.stored.State == c.derived.State || c.stored.State == flows.Authorised && c.derived.State == flows.Intent
}

// unsettled reports whether the payment has not ended, or so lately that it is rebuilt, or is recorded and contradicted.
func (m *Machine) unsettled(candidate candidate) bool {
	derived := candidate.derived
	age := m.cfg.Now().Sub(derived.CreatedAt)
	return !derived.State.Final() || age <= keepRebuilt || protocol.Contradicted(derived, candidate.remote) && age <= WholeWindow
}

// candidates lists our payments that the processor created since an instant, the newest first. It stores those that
// cannot be verified, and adds their ids to found unless nil.
func (m *Machine) candidates(ctx context.Context, since time.Time, found map[string]bool) iter.Seq2[candidate, error] {
	return func(yield func(candidate, error) bool) {
		for remote, err := range m.cfg.Cards.All(ctx, since) {
			if err != nil {
				yield(candidate{}, processorFailed(err))
				return
			}
			if err := m.noteUnverifiable(ctx, remote, found); err != nil {
				yield(candidate{}, err)
				return
			}
			if remote.Unreadable != nil {
				m.unreadableRemote(ctx, remote)
				continue
			}
			p := m.derivePayment(remote)
			if p == nil {
				continue
			}
			m.fingerprint.saw(remote.ID)
			if !yield(newCandidate(p, remote), nil) {
				return
			}
		}
	}
}

// groups lists our payments that the processor created since an instant, grouped by
// registration, without the registrations whose payments are all settled. The processor lists
// newer payments first, so only the registrations of a protocol.GroupSpan are in memory.
// found gets the ids of those that cannot be verified.
func (m *Machine) groups(ctx context.Context, since time.Time, found map[string]bool) iter.Seq2[[]candidate, error] {
	return func(yield func([]candidate, error) bool) {
		open := map[string][]candidate{}
		var order []string // the registrations in open
		next := func() bool {
			group := open[order[0]]
			delete(open, order[0])
			order = order[1:]
			return !slices.ContainsFunc(group, m.unsettled) || yield(group, nil)
		}
		for candidate, err := range m.candidates(ctx, since, found) {
			if err != nil {
				yield(nil, err)
				return
			}
			payment := candidate.derived
			for len(order) > 0 && open[order[0]][0].derived.CreatedAt.Sub(payment.CreatedAt) > protocol.GroupSpan {
				if !next() {
					return
				}
			}
			if open[payment.Registration] == nil {
				order = append(order, payment.Registration)
			}
			open[payment.Registration] = append(open[payment.Registration], candidate)
		}
		for len(order) > 0 && next() {
		}
	}
}

// derivePayment returns the record that a processor's payment proves; nil for a payment that is not ours.
func (m *Machine) derivePayment(remote cards.Payment) *flows.Payment {
	now := m.cfg.Now()
	payment := protocol.Prove(m.remote(remote, now), now)
	if payment != nil {
		payment.Processor = m.cfg.Cards.Name()
	}
	return payment
}

// anyLost reports whether Redis lacks a payment, or a registration is behind its payments. After a crowd there are tens
// of thousands: it has one in memory at a time, and rests after each restAfter of them, so that visitors do not notice.
// It ends early if everything must be compared.
func (m *Machine) anyLost(ctx context.Context, since time.Time) (bool, error) {
	began, n := m.cfg.Now(), 0
	for one, err := range m.candidates(ctx, since, nil) {
		if err != nil {
			return false, err
		}
		if n++; n%restAfter == 0 {
			select {
			case <-ctx.Done():
				return false, ctx.Err()
			case <-m.cfg.After(min(rest*m.cfg.Now().Sub(began), maxRest)):
			}
			if m.rebuildOwed.Load() {
				return false, nil
			}
			began = m.cfg.Now()
		}
		group, err := m.reconcile(ctx, []candidate{one})
		switch {
		case flows.Unreadable(err):
			continue // Advance reports it
		case err != nil:
			return false, err
		case group[0].lost():
			return true, nil
		}
		switch _, _, behind, err := m.registrationOf(ctx, group); {
		case flows.Unreadable(err): // another payment of the registration
		case behind != nil || err != nil:
			return true, err
		}
	}
	return false, nil
}

// registrationOf reads the registration of a group and its latest payment (nil: Redis has
// none). behind is a stored payment of a later generation than the registration knows; nil
// without one, if another payment counts instead, or if it ended so long ago that its
// registration has expired.
func (m *Machine) registrationOf(ctx context.Context,
	group []candidate) (registration *flows.Registration, latest, behind *flows.Payment, err error) {
	registration, latest, err = m.cfg.Store.Registration(ctx, group[0].derived.Registration)
	if err != nil && !errors.Is(err, flows.ErrNotFound) {
		return nil, nil, nil, flows.StorageFailed(err)
	}
	for _, candidate := range group {
		switch {
		case candidate.lost() || candidate.duplicate() || candidate.outranked(group):
		case registration == nil && candidate.stored.State.Final() && m.cfg.Now().Sub(candidate.stored.UpdatedAt) > flows.KeepRegistration:
		case registration != nil && registration.Generation >= candidate.stored.Generation:
		case behind == nil || behind.Generation < candidate.stored.Generation:
			behind = candidate.stored
		}
	}
	return registration, latest, behind, nil
}

// reconcile returns the group with each payment's record in Redis, and has done what such a record waits for.
func (m *Machine) reconcile(ctx context.Context, group []candidate) ([]candidate, error) {
	reconciled := make([]candidate, 0, len(group))
	for _, candidate := range group {
		candidate, err := m.findStored(ctx, candidate)
		if err == nil {
			err = m.resume(ctx, candidate)
		}
		if err != nil {
			return nil, err
		}
		reconciled = append(reconciled, candidate)
	}
	return reconciled, nil
}

// resume wakes a final payment that the processor contradicts, lists one to verify, journals an acceptance that the journal lacks, and
// returns open payments to the list of open ones.
func (m *Machine) resume(ctx context.Context, candidate candidate) error {
	if !candidate.lost() {
		if protocol.Returned(candidate.stored, candidate.remote.State) {
			m.wake(ctx, candidate.stored.ID, nil)
		}
		if err := m.scheduleVerification(ctx, candidate); err != nil {
			return err
		}
	}
	// The gateway that recorded it ended before the journal held that, or the processor did not respond.
	if !candidate.lost() && candidate.stored.State == flows.Recorded && candidate.derived.State != flows.Recorded {
		m.journalAcceptance(ctx, candidate.stored, protocol.TriesPerClaim)
	}
	for _, stored := range []*flows.Payment{candidate.stored, candidate.other} {
		if stored == nil || stored.State.Final() {
			continue
		}
		if err := m.cfg.Store.EnsureScheduled(ctx, stored, m.cfg.Now()); err != nil {
			return flows.StorageFailed(err)
		}
	}
	return nil
}

// scheduleVerification lists a recorded payment that a comparison found unverified or contradicted. An entry that it
// has stays.
func (m *Machine) scheduleVerification(ctx context.Context, candidate candidate) error {
	at := protocol.VerifyAt(candidate.stored, m.cfg.Now())
	if protocol.Contradicted(candidate.stored, candidate.remote) {
		at = m.cfg.Now()
	}
	if at.IsZero() {
		return nil
	}
	return flows.StorageFailed(m.cfg.Store.EnsureScheduled(ctx, candidate.stored, at))
}

// findStored returns a candidate with Redis' record of it, and with the record of another payment that has its number.
func (m *Machine) findStored(ctx context.Context, candidate candidate) (candidate, error) {
	candidate.stored, candidate.other = nil, nil
	own := flows.NewPaymentID(candidate.derived.Registration, candidate.derived.Generation)
	for _, id := range []flows.PaymentID{own, duplicateID(candidate.derived.Registration, candidate.derived.ProcessorID)} {
		stored, err := m.cfg.Store.Payment(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound):
		case err != nil:
			return candidate, flows.StorageFailed(err)
		case isOf(stored, candidate.derived.ProcessorID):
			candidate.stored = stored
			return candidate, nil
		default:
			candidate.other = cmp.Or(candidate.other, stored)
		}
	}
	return candidate, nil
}

// isOf reports whether a record is of a processor's payment. One that is still being created
// there has no processor's id yet. Another method's record is of none.
func isOf(p *flows.Payment, processorID string) bool {
	return p.HasProcessor() && (p.ProcessorID == processorID || p.State == flows.Priced && p.ProcessorID == "")
}

// restore stores what Redis lacks of one registration: the registration with the payment
// that counts, and the duplicates. It begins again if the visitor changes the registration meanwhile.
func (m *Machine) restore(ctx context.Context, group []candidate) error {
	for range restoreAttempts {
		if err := m.restoreOnce(ctx, group); !errors.Is(err, flows.ErrConflict) {
			return err
		}
	}
	return flows.StorageFailed(errChanging)
}

// restoreOnce returns ErrConflict if the registration has changed since it was read.
func (m *Machine) restoreOnce(ctx context.Context, group []candidate) error {
	group, err := m.reconcile(ctx, group)
	if err != nil {
		return err
	}
	registration, latest, behind, err := m.registrationOf(ctx, group)
	switch {
	case err != nil:
		return err
	case behind != nil:
		// Redis lost the registration's latest write.
		m.cfg.Log.WarnContext(ctx, "registration rebuilt", "payment", behind.ID)
		return flows.StorageFailed(m.cfg.Store.SaveRegistration(ctx, registrationAt(registration, behind)))
	case len(group) == 1 && !group[0].lost() && (latest != nil || !group[0].duplicate()):
		return nil
	}
	// Other gateways may have rebuilt payments since the registration was read.
	if group, err = m.reconcile(ctx, group); err != nil {
		return err
	}
	slices.SortFunc(group, byRank)
	for i, candidate := range group {
		if candidate.duplicate() && latest == nil {
			candidate.stored = nil // Redis lost the payment that counted, so this one does
		}
		newest := registration == nil || candidate.derived.Generation > registration.Generation ||
			candidate.derived.Generation == registration.Generation && latest == nil
		if !candidate.lost() || !newest || candidate.other != nil || candidate.outranked(group) {
			continue
		}
		err := m.storeRebuilt(ctx, registrationAt(registration, candidate.derived), candidate.derived)
		if errors.Is(err, flows.ErrConflict) {
			if found, failed := m.findStored(ctx, candidate); failed != nil || !found.lost() {
				return failed // another gateway was first and does the rest
			}
		}
		if err != nil {
			return err
		}
		group[i].stored = candidate.derived
		break
	}
	return m.settleDuplicates(ctx, group)
}

// byRank puts the payment that counts first: by rank, then those that Redis has, then the latest.
func byRank(a, b candidate) int {
	p, q := a.derived, b.derived
	lost := map[bool]int{true: 1}
	return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(lost[a.lost()], lost[b.lost()]), cmp.Compare(q.Generation, p.Generation),
		p.CreatedAt.Compare(q.CreatedAt), cmp.Compare(p.ProcessorID, q.ProcessorID))
}

// outranked reports whether another payment of the sale counts instead, because it holds or held the money.
func (c candidate) outranked(group []candidate) bool {
	return slices.ContainsFunc(group, func(other candidate) bool {
		return other.derived.Sale == c.derived.Sale && other.rank().Outranks(c.rank())
	})
}

func (c candidate) rank() protocol.Rank { return protocol.RankOf(c.derived, c.remote.State) }

// registrationAt returns the registration of a payment, as known to Redis or else with what
// the payment proves. It is visible and accepts no other payment: the processor has neither
// buyer nor cart, and Redis' record may be older than the payment.
func registrationAt(known *flows.Registration, payment *flows.Payment) *flows.Registration {
	registration := &flows.Registration{
		ID:          payment.Registration,
		State:       flows.Open,
		ClientToken: payment.ClientToken,
		ClubID:      payment.Club.ID(),
		Channel:     "web",
		Sale:        payment.Sale,
		SaleState:   payment.SaleState,
		Cart:        flows.Cart{Total: payment.Amount, Currency: payment.Currency, Valid: true},
		CreatedAt:   payment.CreatedAt,
		ExpiresAt:   payment.CreatedAt.Add(flows.PayableFor),
	}
	if known != nil {
		*registration = *known
	}
	registration.Generation, registration.Rebuilt = payment.Generation, true
	return registration
}

// storeRebuilt stores a payment that Redis lacks, and its registration unless nil. ErrConflict if Redis has the payment
// by now, or another version of the registration.
func (m *Machine) storeRebuilt(ctx context.Context, r *flows.Registration, payment *flows.Payment) error {
	keep := time.Duration(0)
	if payment.State.Final() {
		keep = keepFinal
	}
	switch err := m.cfg.Store.Rebuild(ctx, r, payment, keep); {
	case errors.Is(err, flows.ErrNotFound):
		return flows.StorageFailed(errLostAgain)
	case err != nil:
		return flows.StorageFailed(err)
	}
	m.cfg.Log.WarnContext(ctx, "payment rebuilt", "payment", payment.ID, "state", payment.State, "reason", payment.Reason)
	switch at := protocol.VerifyAt(payment, m.cfg.Now()); {
	case !payment.State.Final():
		m.wake(ctx, payment.ID, nil)
	case !at.IsZero():
		return flows.StorageFailed(m.cfg.Store.EnsureScheduled(ctx, payment, at))
	}
	return nil
}
