package payment

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The figures of the rebuild.
const (
	// wholeWindow is how far a rebuild looks back. A card's authorisation lives for
	// seven days; what is older is captured or let go, and was told to somebody.
	WholeWindow = 8 * 24 * time.Hour
	// recentWindow: what is created within it is looked for every few minutes. Between
	// creation and capture lie the half hour of an idle intent and the hour of an
	// idle authorisation.
	RecentWindow = 3 * time.Hour
	// keepRebuilt: a payment that had ended this long after its creation is no longer
	// shown to anybody, so that its registration need not come back: the sale's 20 h,
	// the two days for which a registration outlives its payment, and some more.
	keepRebuilt = 3 * 24 * time.Hour
	// maxBuyerWait: a buyer who was lost sight of for longer than an idle intent and an
	// idle authorisation may take is not charged any more.
	maxBuyerWait = idleIntent + idleAuthorisation
)

// Rebuild compares the payments that the processor created within the window with
// those in Redis, and stores what Redis does not know, as far as the processor's
// own account of it goes: its state and the journal of claims. Redis may lose
// anything, and a rebuild loses nothing by being late: what it stores is looked at
// like any other payment, and no step rests on Redis alone.
//
// A payment is taken for ours if its metadata carries our signature and
// environment; all others are left alone. What Redis knows is never overwritten.
func (m *Machine) Rebuild(ctx context.Context, window time.Duration) error {
	groups, err := m.listOurs(ctx, window)
	if err != nil {
		return err
	}
	if window < WholeWindow {
		// A part of the list cannot tell which of a registration's payments counts. It
		// only finds out whether anything is missing.
		if lost, err := m.anyLost(ctx, groups); !lost || err != nil {
			return err
		}
		if groups, err = m.listOurs(ctx, WholeWindow); err != nil {
			return err
		}
	}
	for _, group := range groups {
		switch err := m.restore(ctx, group); {
		case errors.Is(err, flows.ErrDamaged):
			m.cfg.Log.ErrorContext(ctx, "payment not rebuilt", "registration", group[0].derived.Registration, "error", err)
		case errors.Is(err, flows.ErrNewer):
			m.cfg.Log.InfoContext(ctx, "registration left to gateways of a newer version", "registration", group[0].derived.Registration)
		case err != nil:
			return err
		}
	}
	return nil
}

// candidate is a payment as the processor proves it, beside what Redis knows of it.
type candidate struct {
	derived *flows.Payment
	remote  cards.State
	stored  *flows.Payment // nil: Redis lacks it
}

func (a candidate) lost() bool { return a.stored == nil }

// duplicate tells whether Redis knows the payment as one beside the one that counts.
func (a candidate) duplicate() bool {
	return a.stored != nil && a.stored.ID != flows.NewPaymentID(a.stored.Registration, a.stored.Generation)
}

// agrees tells whether Redis and the processor say the same, so that what follows
// from the one may be done to the other.
func (a candidate) agrees() bool {
	return a.stored.State == a.derived.State || a.stored.State == flows.Authorised && a.derived.State == flows.Intent
}

// listOurs gives our payments at the processor, those of a registration together.
func (m *Machine) listOurs(ctx context.Context, window time.Duration) ([][]candidate, error) {
	remote, err := m.cfg.Cards.List(ctx, m.cfg.Now().Add(-window))
	if err != nil {
		return nil, processorFailed(err)
	}
	var groups [][]candidate
	index := map[string]int{}
	for _, each := range remote {
		p := m.derivePayment(each)
		if p == nil {
			continue
		}
		at, ok := index[p.Registration]
		if !ok {
			at = len(groups)
			index[p.Registration] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], candidate{derived: p, remote: each.State})
	}
	return groups, nil
}

// derivePayment is the record that the processor's own account of a payment allows; nil
// for a payment that is not ours, or that nobody is interested in any more.
func (m *Machine) derivePayment(remote cards.Payment) *flows.Payment {
	said := remote.Metadata
	generation, _ := strconv.Atoi(said["fd_generation"])
	amount, err := strconv.ParseInt(said["fd_amount"], 10, 64)
	sale := club.IRI(said["fd_sale"])
	schema, known := schemaOf(said)
	if !known || err != nil || generation < 1 || said["fd_environment"] != m.cfg.Environment || !m.signed(said) {
		return nil
	}
	now := m.cfg.Now()
	p := &flows.Payment{
		ID: flows.NewPaymentID(said["fd_registration"], generation), Schema: schema, Method: "card", Rebuilt: true,
		Registration: said["fd_registration"], Generation: generation, ClientToken: sale.ClientToken(), Sale: sale,
		SaleState: said["fd_sale_state"], Club: club.IRI(said["fd_club"]), Node: club.IRI(said["fd_node"]), CartDigest: said["fd_cart"],
		Amount: amount, Currency: said["fd_currency"], Signature: said["fd_mac"],
		Processor: m.cfg.Cards.Name(), ProcessorID: remote.ID, RedirectURL: remote.RedirectURL, ClientSecret: remote.ClientSecret,
		DeclineCode: remote.DeclineCode, CreatedAt: remote.CreatedAt, UpdatedAt: now,
	}
	p.State, p.Reason = m.deriveState(p, remote)
	if p.State.Final() && now.Sub(remote.CreatedAt) > keepRebuilt {
		return nil
	}
	return p
}

// deriveState is the state that the processor's account proves, with the claim that the
// journal ends with. What was not captured is looked at again.
func (m *Machine) deriveState(p *flows.Payment, remote cards.Payment) (flows.PaymentState, string) {
	switch remote.State {
	case cards.Cancelled:
		return flows.Cancelled, "rebuilt: nothing was taken"
	case cards.Captured, cards.Refunded:
	default:
		if m.cfg.Now().Sub(remote.CreatedAt) > maxBuyerWait {
			return flows.Cancelling, "rebuilt: nobody waits for it any more"
		}
		return flows.Intent, "rebuilt: nothing is taken yet"
	}
	if mismatch := m.compare(p, remote); mismatch != "" {
		return flows.Blocked, "rebuilt: " + mismatch
	}
	p.Claim, p.AttemptID = lastClaim(remote)
	open := p.Claim > 0 && !released(remote, p.Claim)
	switch {
	case acceptanceJournaled(remote):
		return flows.Recorded, "rebuilt: the journal holds the club system's acceptance"
	case remote.State == cards.Refunded && open && !isRefundAttempt(p.AttemptID):
		return flows.Blocked, "rebuilt: it was refunded while it was being recorded"
	case remote.State == cards.Refunded:
		return flows.Refunded, "rebuilt: the money went back"
	case isRefundAttempt(p.AttemptID):
		return flows.Refunding, "rebuilt: the last claim is that of a refund"
	case open:
		return flows.InDoubt, "rebuilt: somebody was recording it"
	case p.Claim >= maxClaims:
		return flows.RefundDue, "rebuilt: all claims are given up"
	default:
		return flows.Captured, "rebuilt: the money is taken"
	}
}

// anyLost tells whether Redis lacks any of the payments.
func (m *Machine) anyLost(ctx context.Context, groups [][]candidate) (bool, error) {
	for _, group := range groups {
		switch err := m.loadStored(ctx, group); {
		case errors.Is(err, flows.ErrDamaged), errors.Is(err, flows.ErrNewer):
			continue // told of by whoever looks at the payment
		case err != nil:
			return false, err
		case slices.ContainsFunc(group, candidate.lost):
			return true, nil
		}
		if _, _, behind, err := m.registrationOf(ctx, group); behind != nil || err != nil && !errors.Is(err, flows.ErrNewer) {
			return true, err
		}
	}
	return false, nil
}

// registrationOf reads the registration of a group with its latest payment, nil
// where Redis has none, and finds the payment that the registration is behind: one
// that Redis knows, and that began later than the registration says. Registrations
// of payments that ended more than a day ago may be gone.
func (m *Machine) registrationOf(ctx context.Context, group []candidate) (r *flows.Registration, latest, behind *flows.Payment, err error) {
	r, latest, err = m.cfg.Store.Registration(ctx, group[0].derived.Registration)
	if err != nil && !errors.Is(err, flows.ErrNotFound) {
		return nil, nil, nil, flows.StorageFailed(err)
	}
	for _, a := range group {
		switch {
		case a.lost() || a.duplicate():
		case r == nil && a.stored.State.Final() && m.cfg.Now().Sub(a.stored.UpdatedAt) > flows.KeepRegistration:
		case r != nil && r.Generation >= a.stored.Generation:
		case behind == nil || behind.Generation < a.stored.Generation:
			behind = a.stored
		}
	}
	return r, latest, behind, nil
}

// loadStored looks each payment up in Redis. What lives is put back into the list
// of open payments if it is not there.
func (m *Machine) loadStored(ctx context.Context, group []candidate) error {
	for i, a := range group {
		known, err := m.findStored(ctx, a.derived)
		if err != nil {
			return err
		}
		group[i].stored = known
		if known == nil || known.State.Final() {
			continue
		}
		if err := m.cfg.Store.EnsureOpen(ctx, known.ID, m.cfg.Now()); err != nil {
			return flows.StorageFailed(err)
		}
	}
	return nil
}

// findStored gives Redis' record of a payment; nil when there is none. One that Redis
// knows to be under way to the processor counts as whatever is found there.
func (m *Machine) findStored(ctx context.Context, p *flows.Payment) (*flows.Payment, error) {
	for _, id := range []flows.PaymentID{p.ID, duplicateID(p)} {
		known, err := m.cfg.Store.Payment(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound):
		case err != nil:
			return nil, flows.StorageFailed(err)
		case known.ProcessorID == p.ProcessorID || known.ProcessorID == "":
			return known, nil
		}
	}
	return nil, nil
}

// restore brings back what Redis lacks of one registration: its latest payment,
// with the registration itself, and whatever else the processor holds for it.
func (m *Machine) restore(ctx context.Context, group []candidate) error {
	if err := m.loadStored(ctx, group); err != nil {
		return err
	}
	r, latest, behind, err := m.registrationOf(ctx, group)
	switch {
	case err != nil:
		return err
	case behind != nil:
		// Redis fell back between the two, or while somebody rebuilt.
		return m.catchUp(ctx, r, behind)
	case len(group) == 1 && !group[0].lost() && (latest != nil || !group[0].duplicate()):
		return nil
	}
	// Others rebuild at the same time: what is missing now is not what the
	// registration was read with.
	if err := m.loadStored(ctx, group); err != nil {
		return err
	}
	slices.SortFunc(group, byRank)
	for i, a := range group {
		if a.duplicate() && latest == nil {
			a.stored = nil // beside what Redis has lost since: then this one counts
		}
		newest := r == nil || a.derived.Generation > r.Generation || a.derived.Generation == r.Generation && latest == nil
		if !a.lost() || !newest {
			continue
		}
		stored, err := m.storeRebuilt(ctx, registrationAt(r, a.derived), a.derived)
		if !stored || err != nil {
			return err // somebody else was faster, and sees to the rest
		}
		group[i].stored = a.derived
		break
	}
	return m.settleDuplicates(ctx, group)
}

// byRank puts the payment first that counts for its registration: the one that
// was recorded or may have been, then one whose money is taken; of equals the one
// that Redis knows, then the latest.
func byRank(a, b candidate) int {
	p, q := a.derived, b.derived
	return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(storedRank(b), storedRank(a)), cmp.Compare(q.Generation, p.Generation),
		p.CreatedAt.Compare(q.CreatedAt), cmp.Compare(p.ProcessorID, q.ProcessorID))
}

// The weights of a payment among those of its registration.
const (
	rankRecorded   = 4 // recorded, or perhaps recorded
	rankCaptured   = 3 // the money is taken
	rankAuthorised = 2
	rankWaiting    = 1
)

func (a candidate) rank() int {
	switch a.derived.State {
	case flows.Recorded, flows.InDoubt, flows.Blocked:
		return rankRecorded
	case flows.Captured, flows.RefundDue, flows.Refunding:
		return rankCaptured
	case flows.Intent, flows.Cancelling:
		if a.remote == cards.Authorised {
			return rankAuthorised
		}
		return rankWaiting
	default:
		return 0
	}
}

func storedRank(a candidate) int {
	if a.lost() {
		return 0
	}
	return 1
}

// catchUp stores a registration that is behind one of its payments.
func (m *Machine) catchUp(ctx context.Context, known *flows.Registration, p *flows.Payment) error {
	m.cfg.Log.WarnContext(ctx, "registration rebuilt", "payment", p.ID)
	if err := m.cfg.Store.SaveRegistration(ctx, registrationAt(known, p)); err != nil && !errors.Is(err, flows.ErrConflict) {
		return flows.StorageFailed(err)
	}
	return nil
}

// registrationAt is the registration of a payment as far as it can be told: it can
// be looked at, and is never opened for another payment. The processor knows
// neither buyer nor cart, and what Redis knew last may be older than the payment.
func registrationAt(known *flows.Registration, p *flows.Payment) *flows.Registration {
	r := &flows.Registration{
		ID: p.Registration, State: flows.Open, ClientToken: p.ClientToken, ClubID: p.Club.ID(), Channel: "web", Sale: p.Sale, SaleState: p.SaleState,
		Cart: flows.Cart{Total: p.Amount, Currency: p.Currency, Valid: true}, CreatedAt: p.CreatedAt, ExpiresAt: p.CreatedAt.Add(flows.PayableFor),
	}
	if known != nil {
		*r = *known
	}
	r.Generation, r.Rebuilt = p.Generation, true
	return r
}

// storeRebuilt stores a payment that Redis lacks, and its registration unless that
// is nil. It is false when somebody else was faster.
func (m *Machine) storeRebuilt(ctx context.Context, r *flows.Registration, p *flows.Payment) (bool, error) {
	if err := m.findNode(ctx, p); err != nil {
		return false, err
	}
	keep := time.Duration(0)
	if p.State.Final() {
		keep = keepFinal
	}
	switch err := m.cfg.Store.Rebuild(ctx, r, p, keep); {
	case errors.Is(err, flows.ErrConflict):
		return false, nil
	case err != nil:
		return false, flows.StorageFailed(err)
	}
	m.cfg.Log.WarnContext(ctx, "payment rebuilt", "payment", p.ID, "state", p.State, "reason", p.Reason)
	if !p.State.Final() {
		if err := m.cfg.Queue.EnqueueAdvance(ctx, p.ID); err != nil {
			m.cfg.Log.WarnContext(ctx, "advance not enqueued", "payment", p.ID, "error", err) // the next sweep finds it
		}
	}
	return true, nil
}

// findNode completes a payment that was made before its metadata had all that a
// call to the club system needs.
func (m *Machine) findNode(ctx context.Context, p *flows.Payment) error {
	if p.Schema >= flows.SignedCart || p.State.Final() {
		return nil
	}
	network, err := m.cfg.Club.NetworkNodes(ctx, p.Scope())
	if err != nil {
		return flows.ClubFailed(err, "The club could not be found.")
	}
	if at, ok := network.NodeOf(p.Club); ok {
		p.Node = at.IRI
	}
	return nil
}
