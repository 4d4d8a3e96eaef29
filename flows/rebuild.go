package flows

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The figures of the rebuild.
const (
	// wholeWindow is how far a rebuild looks back. A card's authorisation lives for
	// seven days; what is older is captured or let go, and was told to somebody.
	wholeWindow = 8 * 24 * time.Hour
	// recentWindow: what is created within it is looked for every few minutes. Between
	// creation and capture lie the half hour of an idle intent and the hour of an
	// idle authorisation.
	recentWindow = 3 * time.Hour
	// keepRebuilt: a payment that had ended this long after its creation is no longer
	// shown to anybody, so that its registration need not come back: the sale's 20 h,
	// the two days for which a registration outlives its payment, and some more.
	keepRebuilt = 3 * 24 * time.Hour
	// waitedFor: a buyer who was lost sight of for longer than an idle intent and an
	// idle authorisation may take is not charged any more.
	waitedFor = idleIntent + idleAuthorisation
)

// Rebuild compares the payments that the processor created within the window with
// those in Redis, and stores what Redis does not know, as far as the processor's
// own account of it goes: its state and the journal of claims. Redis may lose
// anything, and a rebuild loses nothing by being late: what it stores is looked at
// like any other payment, and no step rests on Redis alone.
//
// A payment is taken for ours if its metadata carries our signature and
// environment; all others are left alone. What Redis knows is never overwritten.
func (m *Payments) Rebuild(ctx context.Context, window time.Duration) error {
	groups, err := m.listOurs(ctx, window)
	if err != nil {
		return err
	}
	if window < wholeWindow {
		// A part of the list cannot tell which of a registration's payments counts. It
		// only finds out whether anything is missing.
		if lost, err := m.anyLost(ctx, groups); !lost || err != nil {
			return err
		}
		if groups, err = m.listOurs(ctx, wholeWindow); err != nil {
			return err
		}
	}
	for _, group := range groups {
		switch err := m.restore(ctx, group); {
		case errors.Is(err, ErrDamaged):
			m.cfg.Log.ErrorContext(ctx, "payment not rebuilt", "registration", group[0].proven.Registration, "error", err)
		case errors.Is(err, ErrNewer):
			m.cfg.Log.InfoContext(ctx, "registration left to gateways of a newer version", "registration", group[0].proven.Registration)
		case err != nil:
			return err
		}
	}
	return nil
}

// account is a payment as the processor proves it, beside what Redis knows of it.
type account struct {
	proven *Payment
	held   cards.State
	known  *Payment // nil: Redis lacks it
}

func (a account) lost() bool { return a.known == nil }

// surplus tells whether Redis knows the payment as one beside the one that counts.
func (a account) surplus() bool {
	return a.known != nil && a.known.ID != NewPaymentID(a.known.Registration, a.known.Generation)
}

// agrees tells whether Redis and the processor say the same, so that what follows
// from the one may be done to the other.
func (a account) agrees() bool {
	return a.known.State == a.proven.State || a.known.State == Authorised && a.proven.State == Intent
}

// listOurs gives our payments at the processor, those of a registration together.
func (m *Payments) listOurs(ctx context.Context, window time.Duration) ([][]account, error) {
	held, err := m.cfg.Cards.List(ctx, m.cfg.Now().Add(-window))
	if err != nil {
		return nil, processorFailed(err)
	}
	var groups [][]account
	index := map[string]int{}
	for _, each := range held {
		p := m.rebuilt(each)
		if p == nil {
			continue
		}
		at, ok := index[p.Registration]
		if !ok {
			at = len(groups)
			index[p.Registration] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], account{proven: p, held: each.State})
	}
	return groups, nil
}

// rebuilt is the record that the processor's own account of a payment allows; nil
// for a payment that is not ours, or that nobody is interested in any more.
func (m *Payments) rebuilt(held cards.Payment) *Payment {
	said := held.Metadata
	generation, _ := strconv.Atoi(said["fd_generation"])
	amount, err := strconv.ParseInt(said["fd_amount"], 10, 64)
	sale := club.IRI(said["fd_sale"])
	schema, known := schemaOf(said)
	if !known || err != nil || generation < 1 || said["fd_environment"] != m.cfg.Environment || !m.signed(said) {
		return nil
	}
	now := m.cfg.Now()
	p := &Payment{
		ID: NewPaymentID(said["fd_registration"], generation), Schema: schema, Method: "card", Rebuilt: true,
		Registration: said["fd_registration"], Generation: generation, ClientToken: sale.ClientToken(), Sale: sale,
		SaleState: said["fd_sale_state"], Club: club.IRI(said["fd_club"]), Node: club.IRI(said["fd_node"]), CartDigest: said["fd_cart"],
		Amount: amount, Currency: said["fd_currency"], Signature: said["fd_mac"],
		Processor: m.cfg.Cards.Name(), ProcessorID: held.ID, RedirectURL: held.RedirectURL, ClientSecret: held.ClientSecret,
		DeclineCode: held.DeclineCode, CreatedAt: held.CreatedAt, UpdatedAt: now,
	}
	p.State, p.Reason = m.proven(p, held)
	if p.State.Final() && now.Sub(held.CreatedAt) > keepRebuilt {
		return nil
	}
	return p
}

// proven is the state that the processor's account proves, with the claim that the
// journal ends with. What was not captured is looked at again.
func (m *Payments) proven(p *Payment, held cards.Payment) (PaymentState, string) {
	switch held.State {
	case cards.Cancelled:
		return Cancelled, "rebuilt: nothing was taken"
	case cards.Captured, cards.Refunded:
	default:
		if m.cfg.Now().Sub(held.CreatedAt) > waitedFor {
			return Cancelling, "rebuilt: nobody waits for it any more"
		}
		return Intent, "rebuilt: nothing is taken yet"
	}
	if mismatch := m.compare(p, held); mismatch != "" {
		return Blocked, "rebuilt: " + mismatch
	}
	p.Claim, p.PostID = lastClaim(held)
	open := p.Claim > 0 && !released(held, p.Claim)
	switch {
	case journalled(held):
		return Recorded, "rebuilt: the journal holds the club system's acceptance"
	case held.State == cards.Refunded && open && !isRefund(p.PostID):
		return Blocked, "rebuilt: it was refunded while it was being recorded"
	case held.State == cards.Refunded:
		return Refunded, "rebuilt: the money went back"
	case isRefund(p.PostID):
		return Refunding, "rebuilt: the last claim is that of a refund"
	case open:
		return InDoubt, "rebuilt: somebody was recording it"
	case p.Claim >= maxClaims:
		return RefundDue, "rebuilt: all claims are given up"
	default:
		return Captured, "rebuilt: the money is taken"
	}
}

// anyLost tells whether Redis lacks any of the payments.
func (m *Payments) anyLost(ctx context.Context, groups [][]account) (bool, error) {
	for _, group := range groups {
		switch err := m.findKnown(ctx, group); {
		case errors.Is(err, ErrDamaged), errors.Is(err, ErrNewer):
			continue // told of by whoever looks at the payment
		case err != nil:
			return false, err
		case slices.ContainsFunc(group, account.lost):
			return true, nil
		}
		if _, _, behind, err := m.registrationOf(ctx, group); behind != nil || err != nil && !errors.Is(err, ErrNewer) {
			return true, err
		}
	}
	return false, nil
}

// registrationOf reads the registration of a group with its latest payment, nil
// where Redis has none, and finds the payment that the registration is behind: one
// that Redis knows, and that began later than the registration says. Registrations
// of payments that ended more than a day ago may be gone.
func (m *Payments) registrationOf(ctx context.Context, group []account) (r *Registration, latest, behind *Payment, err error) {
	r, latest, err = m.cfg.Store.Registration(ctx, group[0].proven.Registration)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, nil, nil, storageFailed(err)
	}
	for _, a := range group {
		switch {
		case a.lost() || a.surplus():
		case r == nil && a.known.State.Final() && m.cfg.Now().Sub(a.known.UpdatedAt) > KeepRegistration:
		case r != nil && r.Generation >= a.known.Generation:
		case behind == nil || behind.Generation < a.known.Generation:
			behind = a.known
		}
	}
	return r, latest, behind, nil
}

// findKnown looks each payment up in Redis. What lives is put back into the list
// of open payments if it is not there.
func (m *Payments) findKnown(ctx context.Context, group []account) error {
	for i, a := range group {
		known, err := m.lookUp(ctx, a.proven)
		if err != nil {
			return err
		}
		group[i].known = known
		if known == nil || known.State.Final() {
			continue
		}
		if err := m.cfg.Store.KeepOpen(ctx, known.ID, m.cfg.Now()); err != nil {
			return storageFailed(err)
		}
	}
	return nil
}

// lookUp gives Redis' record of a payment; nil when there is none. One that Redis
// knows to be under way to the processor counts as whatever is found there.
func (m *Payments) lookUp(ctx context.Context, p *Payment) (*Payment, error) {
	for _, id := range []PaymentID{p.ID, surplusID(p)} {
		known, err := m.cfg.Store.Payment(ctx, id)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return nil, storageFailed(err)
		case known.ProcessorID == p.ProcessorID || known.ProcessorID == "":
			return known, nil
		}
	}
	return nil, nil
}

// restore brings back what Redis lacks of one registration: its latest payment,
// with the registration itself, and whatever else the processor holds for it.
func (m *Payments) restore(ctx context.Context, group []account) error {
	if err := m.findKnown(ctx, group); err != nil {
		return err
	}
	r, latest, behind, err := m.registrationOf(ctx, group)
	switch {
	case err != nil:
		return err
	case behind != nil:
		// Redis fell back between the two, or while somebody rebuilt.
		return m.catchUp(ctx, r, behind)
	case len(group) == 1 && !group[0].lost() && (latest != nil || !group[0].surplus()):
		return nil
	}
	// Others rebuild at the same time: what is missing now is not what the
	// registration was read with.
	if err := m.findKnown(ctx, group); err != nil {
		return err
	}
	slices.SortFunc(group, byWeight)
	for i, a := range group {
		if a.surplus() && latest == nil {
			a.known = nil // beside what Redis has lost since: then this one counts
		}
		newest := r == nil || a.proven.Generation > r.Generation || a.proven.Generation == r.Generation && latest == nil
		if !a.lost() || !newest {
			continue
		}
		stored, err := m.storeRebuilt(ctx, registrationAt(r, a.proven), a.proven)
		if !stored || err != nil {
			return err // somebody else was faster, and sees to the rest
		}
		group[i].known = a.proven
		break
	}
	return m.settleSurplus(ctx, group)
}

// byWeight puts the payment first that counts for its registration: the one that
// was recorded or may have been, then one whose money is taken; of equals the one
// that Redis knows, then the latest.
func byWeight(a, b account) int {
	p, q := a.proven, b.proven
	return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(standing(b), standing(a)), cmp.Compare(q.Generation, p.Generation),
		p.CreatedAt.Compare(q.CreatedAt), cmp.Compare(p.ProcessorID, q.ProcessorID))
}

// The weights of a payment among those of its registration.
const (
	settled  = 4 // recorded, or perhaps recorded
	taken    = 3 // the money is taken
	reserved = 2
	waiting  = 1
)

func (a account) weight() int {
	switch a.proven.State {
	case Recorded, InDoubt, Blocked:
		return settled
	case Captured, RefundDue, Refunding:
		return taken
	case Intent, Cancelling:
		if a.held == cards.Authorised {
			return reserved
		}
		return waiting
	default:
		return 0
	}
}

func standing(a account) int {
	if a.lost() {
		return 0
	}
	return 1
}

// catchUp stores a registration that is behind one of its payments.
func (m *Payments) catchUp(ctx context.Context, known *Registration, p *Payment) error {
	m.cfg.Log.WarnContext(ctx, "registration rebuilt", "payment", p.ID)
	if err := m.cfg.Store.SaveRegistration(ctx, registrationAt(known, p)); err != nil && !errors.Is(err, ErrConflict) {
		return storageFailed(err)
	}
	return nil
}

// registrationAt is the registration of a payment as far as it can be told: it can
// be looked at, and is never opened for another payment. The processor knows
// neither buyer nor cart, and what Redis knew last may be older than the payment.
func registrationAt(known *Registration, p *Payment) *Registration {
	r := &Registration{
		ID: p.Registration, State: Open, ClientToken: p.ClientToken, ClubID: p.Club.ID(), Channel: "web", Sale: p.Sale, SaleState: p.SaleState,
		Cart: Cart{Total: p.Amount, Currency: p.Currency, Valid: true}, CreatedAt: p.CreatedAt, ExpiresAt: p.CreatedAt.Add(payable),
	}
	if known != nil {
		*r = *known
	}
	r.Generation, r.Rebuilt = p.Generation, true
	return r
}

// storeRebuilt stores a payment that Redis lacks, and its registration unless that
// is nil. It is false when somebody else was faster.
func (m *Payments) storeRebuilt(ctx context.Context, r *Registration, p *Payment) (bool, error) {
	if err := m.findNode(ctx, p); err != nil {
		return false, err
	}
	keep := time.Duration(0)
	if p.State.Final() {
		keep = keepFinal
	}
	switch err := m.cfg.Store.Rebuild(ctx, r, p, keep); {
	case errors.Is(err, ErrConflict):
		return false, nil
	case err != nil:
		return false, storageFailed(err)
	}
	m.cfg.Log.WarnContext(ctx, "payment rebuilt", "payment", p.ID, "state", p.State, "reason", p.Reason)
	if !p.State.Final() {
		if err := m.cfg.Queue.EnqueueAdvance(ctx, p.ID); err != nil {
			m.cfg.Log.WarnContext(ctx, "look not enqueued", "payment", p.ID, "error", err) // the next sweep finds it
		}
	}
	return true, nil
}

// findNode completes a payment that was made before its metadata had all that a
// call to the club system needs.
func (m *Payments) findNode(ctx context.Context, p *Payment) error {
	if p.Schema >= signedCart || p.State.Final() {
		return nil
	}
	network, err := m.cfg.Club.NetworkNodes(ctx, p.Scope())
	if err != nil {
		return clubFailed(err, "The club could not be found.")
	}
	if at, ok := network.NodeOf(p.Club); ok {
		p.Node = at.IRI
	}
	return nil
}
