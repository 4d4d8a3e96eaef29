package registration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
	"frontdesk/upstream/club"
)

// CancellationWay is how a contact cancels a membership.
type CancellationWay string

// The values of CancellationWay.
const (
	CancelOnline      CancellationWay = "online"    // the club system ends it when it is asked to
	CancelByStatement CancellationWay = "statement" // the club answers a cancellation
	CancelPending     CancellationWay = "pending"   // the contact has cancelled it online, and what became of that is not known
	Cancelled         CancellationWay = "cancelled" // it is cancelled already
)

// Membership is what a contact is subscribed to, and how it ends.
type Membership struct {
	ID           string              // of the subscription in the club system
	OfferID      string              // public id of what was sold; empty: not known
	Name         string              // the club system's; empty: not known
	Since        string              // YYYY-MM-DD; empty: not known
	EndDate      string              // its last day, YYYY-MM-DD, if it is cancelled; empty: it is not
	EarliestEnd  string              // the earliest last day, YYYY-MM-DD; empty: not known
	Cancellation CancellationWay     // what the contact can do
	Remaining    *schedule.Remaining // what is debited until EarliestEnd; nil: not known
	Currency     string              // ISO 4217, of Remaining
}

// Memberships are those of a contact, and the club that has them.
type Memberships struct {
	Club  catalogue.Club
	Items []Membership
}

// Memberships reads what a contact is subscribed to at the club of its identity. An installation without online cancellation shows none.
// own are the contact's online cancellations that were sent: they count until their last day where the club system shows no end.
// It fails with NotIdentified if that club does not exist.
func (c *Contacts) Memberships(
	ctx context.Context, identity flows.ContactIdentity, own []flows.OnlineCancellation,
) (Memberships, error) {
	at, subscriptions, err := c.subscriptions(ctx, identity)
	if err != nil {
		return Memberships{Club: at}, err
	}
	today := schedule.DateOf(at.Today(c.cfg.Now()))
	own = slices.DeleteFunc(own, func(one flows.OnlineCancellation) bool {
		return one.Date < today.String() || one.Club != at.Scope.Club
	})
	found := Memberships{at, nil}
	for _, subscription := range subscriptions {
		found.Items = append(found.Items, leaving(subscription, own, today))
	}
	for _, one := range own {
		if item := kept(one, today); item.ID != "" && !slices.ContainsFunc(found.Items, func(m Membership) bool { return m.ID == item.ID }) {
			found.Items = append(found.Items, item)
		}
	}
	return found, nil
}

// leaving returns a subscription as a membership, with what the contact's own cancellations did where the club system shows no end.
func leaving(s club.Subscription, own []flows.OnlineCancellation, today schedule.Date) Membership {
	isPending := false
	for _, one := range own {
		if one.Subscription == s.IRI && !s.Canceled {
			isPending = true
			if one.State == flows.OnlineCarriedOut {
				s.Canceled, s.ValidThrough = true, cmp.Or(s.ValidThrough, one.Date)
			}
		}
	}
	shown := membershipOf(s, today)
	if isPending && !s.Canceled {
		shown.Cancellation = CancelPending
	}
	return shown
}

// Ending returns the membership that an online cancellation ends, as it was when that was planned, with what is debited until its last day.
func (c *Contacts) Ending(own flows.OnlineCancellation) Membership {
	return kept(own, schedule.DateOf(c.cfg.Catalogue.Details(own.Club.ID()).Today(c.cfg.Now())))
}

// kept returns the membership that an online cancellation is about, for a club system that no longer lists it.
func kept(own flows.OnlineCancellation, today schedule.Date) (shown Membership) {
	if err := json.Unmarshal(own.Membership, &shown); err != nil {
		return Membership{}
	}
	if shown.Cancellation = CancelPending; own.State == flows.OnlineCarriedOut {
		shown.Cancellation = Cancelled
	}
	switch {
	case shown.EndDate != own.Date:
		shown.Remaining = nil // it was computed for another day
	case shown.Remaining != nil:
		shown.Remaining = shown.Remaining.From(today)
	}
	shown.EndDate, shown.EarliestEnd = "", own.Date
	if shown.Cancellation == Cancelled {
		shown.EndDate = own.Date
	}
	return shown
}

// subscriptions reads those of a contact, with the notice period that the operator's file has where the installation shows none.
func (c *Contacts) subscriptions(ctx context.Context, identity flows.ContactIdentity) (catalogue.Club, []club.Subscription, error) {
	at, err := c.homeClub(ctx, identity)
	if err != nil {
		return at, nil, err
	}
	var listed []club.Subscription
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() error {
		contact, err := c.cfg.readContact(ctx, at.Scope, identity.IRI())
		return cmp.Or(notIdentified(err, flows.DetailContactUnread), checkHome(contact, at))
	})
	reads.Go(func() (err error) {
		listed, err = c.cfg.Club.ListSubscriptions(ctx, at.Scope, identity.IRI())
		if lacksOperation(err) {
			listed, err = nil, nil
		}
		return flows.ClubFailed(err, flows.DetailMembershipsUnread)
	})
	if err := reads.Wait(); err != nil {
		return at, nil, err
	}
	for i, own := range listed {
		product := club.IRI("")
		if own.Offer != nil {
			product = own.Offer.Product.IRI
		}
		listed[i].NoticePeriod = cmp.Or(own.NoticePeriod, at.NoticeOf(product.ID()).Period)
	}
	return at, listed, nil
}

// lacksOperation reports whether an installation refuses an operation that only some have. The page of a firewall does not say so.
func lacksOperation(err error) bool {
	rejected := club.OutcomeOf(err) == club.Rejected && !errors.Is(err, club.ErrForeign)
	return rejected || errors.Is(err, club.ErrEndpointNotGranted)
}

// membershipOf returns a subscription as a membership.
func membershipOf(s club.Subscription, today schedule.Date) Membership {
	out := Membership{ID: s.IRI.ID(), Name: s.Name, Since: s.ValidFrom}
	if s.Offer != nil {
		out.OfferID, out.Currency = s.Offer.IRI.ID(), s.Offer.Currency
	}
	out.EarliestEnd = earliestEnd(s.NoticePeriod, s.EngagedThrough, today)
	if out.Cancellation = CancelByStatement; out.EarliestEnd != "" {
		out.Cancellation = CancelOnline
	}
	if s.ValidThrough != "" && out.EarliestEnd > s.ValidThrough { // it ends by itself before a cancellation could end it
		out.EarliestEnd, out.Cancellation = s.ValidThrough, CancelByStatement
	}
	if s.Canceled {
		out.EndDate, out.EarliestEnd, out.Cancellation = s.ValidThrough, s.ValidThrough, Cancelled
	}
	if end, ok := schedule.ParseDate(out.EarliestEnd); ok {
		out.Remaining = remaining(s, today, end)
	}
	return out
}

// earliestEnd returns the earliest last day that a cancellation can have: that of the minimum term or of the notice period, whichever is
// later. It is empty if the notice period is not known.
func earliestEnd(notice, engagedThrough string, today schedule.Date) string {
	leaves, ok := today.After(notice)
	if !ok {
		return ""
	}
	return max(leaves.String(), engagedThrough)
}

// remaining returns what is still debited until the end of a subscription; nil if the club system does not show how it is debited.
func remaining(s club.Subscription, today, end schedule.Date) *schedule.Remaining {
	start, ok := schedule.ParseDate(s.ValidFrom)
	if !ok || s.Offer == nil {
		return nil
	}
	commitment, _ := catalogue.Commitment(s.Offer.Product)
	terms := schedule.Terms{
		Offer:        schedule.OfferOf(*s.Offer, commitment),
		Today:        start,
		Start:        start,
		DebitDay:     s.DebitDay,
		DebitDayOpen: s.DebitDay == 0,
	}
	return schedule.RemainingOf(terms, today, end, end.String() == s.EngagedThrough)
}

// Leaving is a cancellation that a contact wants.
type Leaving struct {
	Membership string                     // its id; empty: the only one
	EndDate    string                     // the wanted last day, YYYY-MM-DD; empty: the earliest possible
	Language   string                     // of the membership's name
	Own        []flows.OnlineCancellation // of the contact, which were sent: what they are about is not cancelled again
}

// PlanCancellation returns how the club system can end a membership of a contact, on the earliest possible day or a later one that is
// wanted, and what the membership is called. The plan is nil if the club system cannot end it, and the name is empty if several may be
// meant. NotFound if the contact does not have it.
func (c *Contacts) PlanCancellation(
	ctx context.Context, identity flows.ContactIdentity, in Leaving,
) (planned *flows.OnlineCancellation, name string, err error) {
	at, subscriptions, err := c.subscriptions(ctx, identity)
	if err != nil {
		return nil, "", err
	}
	today := schedule.DateOf(at.Today(c.cfg.Now()))
	chosen, shown := in.choose(subscriptions, today)
	if len(chosen) != 1 {
		if in.Membership != "" && !slices.ContainsFunc(in.Own, func(one flows.OnlineCancellation) bool {
			return one.Subscription.ID() == in.Membership
		}) {
			return nil, "", &flows.Error{Code: flows.NotFound}
		}
		return nil, "", nil
	}
	name = at.OfferName(shown.OfferID, in.Language, cmp.Or(shown.Name, at.Name))
	if shown.Cancellation != CancelOnline {
		return nil, name, nil
	}
	motives, err := c.cfg.Club.ListCancellationMotives(ctx, at.Scope)
	if err != nil {
		return nil, name, flows.ClubFailed(err, flows.DetailMembershipsUnread)
	}
	ends := chosen[0]
	last := max(shown.EarliestEnd, in.EndDate)
	if ends.ValidThrough != "" { // it ends by itself, and a cancellation does not prolong it
		last = min(last, ends.ValidThrough)
	}
	ends.Canceled, ends.ValidThrough = true, last
	membership, err := json.Marshal(membershipOf(ends, today))
	return &flows.OnlineCancellation{
		State:        flows.OnlinePlanned,
		Subscription: ends.IRI,
		Name:         ends.Name,
		Club:         at.Scope.Club,
		Node:         at.Scope.Node,
		Motive:       motiveOf(motives, at.Cancellation.Motive),
		Date:         ends.ValidThrough,
		Notice:       ends.NoticePeriod,
		Membership:   membership,
	}, name, err
}

// unspecified are the names of motives that say nothing about why a member leaves.
var unspecified = []string{"other", "others", "other reason", "unspecified", "not specified", "no reason", "autre", "autres", "autre motif",
	"autre raison", "non précisé", "non spécifié", "sans motif"}

// motiveOf returns the motive with which the club has members leave, as it is named; else one that says nothing about why. Empty without
// any: nobody was asked for a motive, so none is made up.
func motiveOf(motives []club.CancellationMotive, named string) club.IRI {
	for _, names := range [][]string{{named}, unspecified} {
		for _, motive := range motives {
			isNamed := func(name string) bool { return name != "" && strings.EqualFold(name, strings.TrimSpace(motive.Name)) }
			if slices.ContainsFunc(names, isNamed) {
				return motive.IRI
			}
		}
	}
	return ""
}

// choose returns the subscriptions that may be meant, and the last of them as a membership. Without an id, those are meant that
// the club system can end or, without any, all that are not cancelled.
func (in Leaving) choose(subscriptions []club.Subscription, today schedule.Date) (chosen []club.Subscription, last Membership) {
	for _, means := range []func(Membership) bool{
		func(m Membership) bool {
			return m.ID == in.Membership || in.Membership == "" && m.Cancellation == CancelOnline
		},
		func(m Membership) bool { return in.Membership == "" && m.Cancellation != Cancelled },
	} {
		for _, subscription := range subscriptions {
			if shown := leaving(subscription, in.Own, today); means(shown) {
				chosen, last = append(chosen, subscription), shown
			}
		}
		if len(chosen) > 0 {
			break
		}
	}
	return chosen, last
}

// LastDay returns the last day of a planned cancellation that is sent now: the notice period counts from today.
func (c *Contacts) LastDay(planned flows.OnlineCancellation, now time.Time) string {
	today := schedule.DateOf(c.cfg.Catalogue.Details(planned.Club.ID()).Today(now))
	return earliestEnd(planned.Notice, planned.Date, today)
}

// CancelOnline sends a cancellation to the club system, at most once: the outcome of the error says what became of it. Nothing is sent
// unless the subscription shows that it can still be cancelled: much may have happened since it was planned. A success counts if the
// response, or the subscription that is read then, shows that it is cancelled; last is the last day that the club system has.
func (c *Contacts) CancelOnline(
	ctx context.Context, identity flows.ContactIdentity, in flows.OnlineCancellation, gate club.Gate,
) (last string, err error) {
	wanted := Leaving{Membership: in.Subscription.ID(), EndDate: in.Date}
	if planned, _, err := c.PlanCancellation(ctx, identity, wanted); planned == nil {
		return "", &club.Error{Operation: "CancelSubscription", Outcome: club.NotSent, Err: cmp.Or(err, errNotPlanned)}
	}
	cancellation := club.NewCancellation{Date: in.Date, Motive: in.Motive}
	shown, err := c.cfg.Club.CancelSubscription(ctx, in.Scope(), in.Subscription, cancellation, gate)
	if err != nil {
		return "", err
	}
	if !shown.Canceled {
		read, _ := c.cfg.Club.ListSubscriptions(context.WithoutCancel(ctx), in.Scope(), identity.IRI()) // an error shows nothing
		if i := slices.IndexFunc(read, func(one club.Subscription) bool { return one.IRI == in.Subscription }); i >= 0 {
			shown = read[i]
		}
	}
	if !shown.Canceled {
		return "", errNotShown
	}
	return cmp.Or(shown.ValidThrough, in.Date), nil
}

// errNotPlanned is why a cancellation was not sent.
var errNotPlanned = errors.New("the club system does not show that it can end the membership")

// errNotShown leaves unknown what became of a cancellation.
var errNotShown = errors.New("a success, after which the club system does not show the end of the membership")
