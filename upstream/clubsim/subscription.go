package clubsim

import (
	"cmp"
	"slices"
	"time"
)

// terms are what a subscription was sold with; a benefit of another kind has none.
type terms struct {
	OfferID        int       `json:"offerId,omitempty"`
	DebitDay       int       `json:"debitDay,omitempty"`       // of the month; zero: not debited
	EngagedThrough string    `json:"engagedThrough,omitempty"` // the last day of the minimum term; empty: there is none
	CanceledAt     time.Time `json:"canceledAt,omitzero"`      // online; ValidThrough is then its last day
	MotiveID       int       `json:"motiveId,omitempty"`       // why it was cancelled
	Repeated       int       `json:"repeated,omitempty"`       // how often it was cancelled again, which is refused
}

// cancellationMotives are why a member may leave.
var cancellationMotives = []string{"Moving away", "Health", "Too expensive", "Other"}

// The codes with which an online cancellation is refused.
const (
	codeCancellationOff     = "api.error.subscription.online-cancellation-not-enabled"
	codeCancellationEngaged = "api.error.subscription.cancellation-date-before-engagement-end"
	codeCancellationNotice  = "api.error.subscription.cancellation-date-before-notice-end"
	codeCanceled            = "api.error.subscription.already-canceled"
)

// lacksCancellation reports whether the installation has no online cancellation, which the description does not have either.
func (s Settings) lacksCancellation() bool { return !s.OnlineCancellation }

// sold are the terms of a subscription that starts on a day and is valid through another one. An offer that is debited without
// a chosen day is debited on the club's next one.
func (o *offer) sold(at *club, start time.Time, through string, chosen *repayment) terms {
	sold := terms{OfferID: o.ID, EngagedThrough: through}
	switch {
	case !o.debited():
	case chosen != nil && chosen.DebitDay != nil:
		sold.DebitDay = *chosen.DebitDay
	default:
		sold.DebitDay = slices.MinFunc(at.DebitDays, func(a, b int) int { return nextDay(start, a).Compare(nextDay(start, b)) })
	}
	return sold
}

// summarised reports whether the summary of a contact has a benefit on a day.
func (b *benefit) summarised(contactID int, today string) bool {
	isCurrent := b.State == "" && (b.ValidThrough == "" || b.ValidThrough >= today)
	return b.Kind == kindSubscription && b.ContactID == contactID && isCurrent
}

// subscriptionRecord is a subscription as installations with online cancellation show it. Only @id and engagedThrough are known.
func (w *World) subscriptionRecord(b *benefit) record {
	members := record{
		"name": b.Name, "clubId": w.iri("clubs", b.ClubID), "contactId": w.iri("contacts", b.ContactID),
		"validFrom": b.ValidFrom, "validThrough": orNil(b.ValidThrough), "engagedThrough": orNil(b.EngagedThrough),
		"noticePeriod": orNil(w.catalogue.noticeOf(b)), "canceledAt": w.timestampOrNil(b.CanceledAt),
		"cancellationMotiveId": nil, "debitDay": orNil(b.DebitDay),
	}
	if b.MotiveID != 0 {
		members["cancellationMotiveId"] = w.iri("referentials/cancellation_motives", b.MotiveID)
	}
	if offer := w.catalogue.offers[b.OfferID]; offer != nil {
		members["offer"] = w.offerRecord(offer)
	}
	return w.record("Subscription", "subscriptions", b.ID, members)
}

// getSubscriptionSummary: GET subscription_summary?contact=. The description has none of the operations of this file, installations
// have them; what is not known of their records is an assumption.
func getSubscriptionSummary(c *request) (response, error) {
	contact, err := named(c, "contact", "contacts", c.contactAt)
	if contact == nil {
		return response{}, cmp.Or(err, itemNotFound())
	}
	today := c.now.Format(time.DateOnly)
	own := filter(c.w.state.Benefits.Rows, func(b *benefit) bool { return b.summarised(contact.ID, today) && c.sees(b.ClubID) })
	return ok(c.w.record("SubscriptionSummary", "subscription_summary", contact.ID, record{
		"contact": c.w.iri("contacts", contact.ID), "subscriptions": records(own, c.w.subscriptionRecord),
	}))
}

// listCancellationMotives: GET referentials/cancellation_motives.
func listCancellationMotives(c *request) (response, error) {
	return paginate(c, "CancellationMotive", numbersTo(len(cancellationMotives)), func(id int) record {
		return c.w.record("CancellationMotive", "referentials/cancellation_motives", id, record{"id": id, "name": cancellationMotives[id-1]})
	})
}

func (c *request) subscriptionAt(id int) (*benefit, error) {
	return visible(c.w.state.Benefits.get(id), func(b *benefit) bool {
		return b.Kind == kindSubscription && b.State == "" && c.sees(b.ClubID) && c.caller.maySee(b.ContactID)
	})
}

// cancelSubscription: POST subscriptions/{id}/online_cancellation. It cannot be taken back, and a second one is refused.
func cancelSubscription(c *request, b *benefit) (response, error) {
	f := c.form()
	date, motive := f.date("cancellationDate", true), f.iri("cancellationMotiveId", "referentials/cancellation_motives", true)
	if err := f.whole(); err != nil {
		return response{}, err
	}
	at := c.w.catalogue.club(b.ClubID)
	switch {
	case motive > len(cancellationMotives):
		return response{}, itemNotFound()
	case at.RefusesCancellation:
		return response{}, failure(403, codeCancellationOff, "The club does not accept cancellations online.")
	case !b.CanceledAt.IsZero():
		b.Repeated++
		return response{}, badRequest(codeCanceled, "The subscription is cancelled already.")
	case date < b.EngagedThrough:
		return response{}, invalid(violation{"cancellationDate", "The engagement is still running on this day.", codeCancellationEngaged})
	case date < noticeEnd(c.w.catalogue.noticeOf(b), c.now):
		return response{}, invalid(violation{"cancellationDate", "The notice period is still running on this day.", codeCancellationNotice})
	}
	b.CanceledAt, b.MotiveID, b.ValidThrough = c.now, motive, date
	return c.created(c.w.subscriptionRecord(b))
}

// noticeOf is how long a subscription lasts after it was cancelled: that of its product, or else its club's.
func (c *Catalogue) noticeOf(b *benefit) string {
	notice := c.club(b.ClubID).Notice
	if sold := c.offers[b.OfferID]; sold != nil {
		notice = cmp.Or(sold.product.Notice, notice)
	}
	return notice
}

// noticeEnd is the earliest day on which a member may leave who says so now, engagements aside.
func noticeEnd(notice string, now time.Time) string {
	if notice != "" {
		now = mustPeriod(notice).after(now)
	}
	return now.Format(time.DateOnly)
}

// Cancellation is a subscription that was cancelled online.
type Cancellation struct {
	SubscriptionID string    `json:"subscriptionId"`
	ContactID      string    `json:"contactId"`
	ClubID         string    `json:"clubId"`
	Date           string    `json:"cancellationDate"` // its last day
	MotiveID       string    `json:"cancellationMotiveId"`
	At             time.Time `json:"at"`
	Repeated       int       `json:"repeated"` // how often it was cancelled again, which was refused
}

// Cancellations returns the subscriptions that were cancelled online, oldest first.
func (w *World) Cancellations() []Cancellation {
	return inspectAll(w, func(st *state) []*benefit {
		return filter(st.Benefits.Rows, func(b *benefit) bool { return !b.CanceledAt.IsZero() })
	}, w.cancellation)
}

func (w *World) cancellation(b *benefit) Cancellation {
	return Cancellation{
		SubscriptionID: w.iri("subscriptions", b.ID),
		ContactID:      w.iri("contacts", b.ContactID),
		ClubID:         w.iri("clubs", b.ClubID),
		Date:           b.ValidThrough,
		MotiveID:       w.iri("referentials/cancellation_motives", b.MotiveID),
		At:             b.CanceledAt,
		Repeated:       b.Repeated,
	}
}
