package registration

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
	"frontdesk/upstream/club"
)

// Membership is what a contact is subscribed to, and how it ends.
type Membership struct {
	ID          string              // of the subscription in the club system
	OfferID     string              // public id of what was sold; empty: not known
	Name        string              // the club system's; empty: not known
	Since       string              // YYYY-MM-DD; empty: not known
	EndDate     string              // its last day, YYYY-MM-DD, if it is cancelled; empty: it is not
	EarliestEnd string              // the earliest last day, YYYY-MM-DD; empty: not known
	Online      bool                // the club system ends it when it is asked to
	Remaining   *schedule.Remaining // what is debited until EarliestEnd; nil: not known
	Currency    string              // ISO 4217, of Remaining
}

// Memberships are those of a contact, and the club that has them.
type Memberships struct {
	Club  catalogue.Club
	Items []Membership
}

// Memberships reads what a contact is subscribed to at the club of its identity. An installation without online cancellation shows none.
// It fails with NotIdentified if that club does not exist.
func (c *Contacts) Memberships(ctx context.Context, identity flows.ContactIdentity) (Memberships, error) {
	at, subscriptions, err := c.subscriptions(ctx, identity)
	found, today := Memberships{Club: at}, schedule.DateOf(at.Today(c.cfg.Now()))
	for _, subscription := range subscriptions {
		found.Items = append(found.Items, membershipOf(subscription, today))
	}
	return found, err
}

// subscriptions reads those of a contact, with the notice period of the club's contracts where the installation shows none.
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
	for i := range listed {
		listed[i].NoticePeriod = cmp.Or(listed[i].NoticePeriod, at.Contract.NoticePeriod)
	}
	return at, listed, nil
}

// lacksOperation reports whether an installation refuses an operation that only some have.
func lacksOperation(err error) bool {
	return club.OutcomeOf(err) == club.Rejected || errors.Is(err, club.ErrEndpointNotGranted)
}

// membershipOf returns a subscription as a membership.
func membershipOf(s club.Subscription, today schedule.Date) Membership {
	out := Membership{ID: s.IRI.ID(), Name: s.Name, Since: s.ValidFrom}
	if s.Offer != nil {
		out.OfferID, out.Currency = s.Offer.IRI.ID(), s.Offer.Currency
	}
	out.EarliestEnd = earliestEnd(s.NoticePeriod, s.EngagedThrough, today)
	if s.Canceled {
		out.EndDate, out.EarliestEnd = s.ValidThrough, s.ValidThrough
	}
	out.Online = !s.Canceled && out.EarliestEnd != ""
	if s.ValidThrough != "" && out.EarliestEnd > s.ValidThrough { // it ends by itself before a cancellation could end it
		out.EarliestEnd, out.Online = s.ValidThrough, false
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

// PlanCancellation returns how the club system can end a membership of a contact: that with an id or, without one, the only one. The last
// day is the earliest possible, or a later one that is wanted. It is nil if the club system cannot end it. NotFound if the contact
// does not have it.
func (c *Contacts) PlanCancellation(
	ctx context.Context, identity flows.ContactIdentity, id, wanted string,
) (*flows.OnlineCancellation, error) {
	at, subscriptions, err := c.subscriptions(ctx, identity)
	if err != nil {
		return nil, err
	}
	today := schedule.DateOf(at.Today(c.cfg.Now()))
	var chosen []club.Subscription
	for _, subscription := range subscriptions {
		if id == subscription.IRI.ID() || id == "" && membershipOf(subscription, today).Online {
			chosen = append(chosen, subscription)
		}
	}
	switch {
	case id != "" && len(chosen) == 0:
		return nil, &flows.Error{Code: flows.NotFound}
	case len(chosen) != 1 || !membershipOf(chosen[0], today).Online:
		return nil, nil
	}
	motives, err := c.cfg.Club.ListCancellationMotives(ctx, at.Scope)
	if err != nil || len(motives) == 0 {
		return nil, flows.ClubFailed(err, flows.DetailMembershipsUnread)
	}
	return &flows.OnlineCancellation{
		State:        flows.OnlinePlanned,
		Subscription: chosen[0].IRI,
		Name:         chosen[0].Name,
		Club:         at.Scope.Club,
		Node:         at.Scope.Node,
		Motive:       motives[len(motives)-1],
		Date:         max(membershipOf(chosen[0], today).EarliestEnd, wanted),
		Notice:       chosen[0].NoticePeriod,
	}, nil
}

// LastDay returns the last day of a planned cancellation that is sent now: the notice period counts from today.
func (c *Contacts) LastDay(planned flows.OnlineCancellation, now time.Time) string {
	today := schedule.DateOf(c.cfg.Catalogue.Details(planned.Club.ID()).Today(now))
	return earliestEnd(planned.Notice, planned.Date, today)
}

// CancelOnline sends a cancellation to the club system, at most once: the outcome of the error says what became of it. Nothing is sent
// unless the subscription shows that it can still be cancelled: much may have happened since it was planned. An empty success counts if the
// subscription then shows that it is cancelled.
func (c *Contacts) CancelOnline(ctx context.Context, identity flows.ContactIdentity, in flows.OnlineCancellation, gate club.Gate) error {
	if planned, err := c.PlanCancellation(ctx, identity, in.Subscription.ID(), in.Date); planned == nil {
		return &club.Error{Operation: "CancelSubscription", Outcome: club.NotSent, Err: cmp.Or(err, errNotPlanned)}
	}
	cancellation := club.NewCancellation{Date: in.Date, Motive: in.Motive}
	isShown, err := c.cfg.Club.CancelSubscription(ctx, in.Scope(), in.Subscription, cancellation, gate)
	if err != nil || isShown {
		return err
	}
	subscriptions, _ := c.cfg.Club.ListSubscriptions(context.WithoutCancel(ctx), in.Scope(), identity.IRI()) // an error shows nothing
	for _, subscription := range subscriptions {
		if subscription.IRI == in.Subscription && subscription.Canceled {
			return nil
		}
	}
	return errNotShown
}

// errNotPlanned is why a cancellation was not sent.
var errNotPlanned = errors.New("the club system does not show that it can end the membership")

// errNotShown leaves unknown what became of a cancellation.
var errNotShown = errors.New("an empty success, after which the club system does not show the end of the membership")
