package club

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Subscription is what a contact is subscribed to, in installations with online cancellation. The description of the API has none of
// this; of its members only the identifier and EngagedThrough are known, the others are empty if they are missing.
type Subscription struct {
	IRI            IRI    `json:"@id"`
	Name           string `json:"-"`
	Contact        IRI    `json:"-"`
	Club           IRI    `json:"-"`
	ValidFrom      string `json:"validFrom"`      // YYYY-MM-DD
	ValidThrough   string `json:"validThrough"`   // YYYY-MM-DD, the last day; empty: without end
	EngagedThrough string `json:"engagedThrough"` // YYYY-MM-DD, the last day of the minimum term; empty: there is none
	NoticePeriod   string `json:"-"`              // ISO 8601
	Canceled       bool   `json:"-"`              // ValidThrough is then the end
	DebitDay       int    `json:"-"`              // of the month
	// Offer is that which was sold, with its prices of that time; nil: it is not shown in full.
	Offer *Offer `json:"-"`
}

// UnmarshalJSON reads a subscription. A date that cannot be read makes all of it unreadable.
func (s *Subscription) UnmarshalJSON(data []byte) error {
	type plain Subscription
	var wire struct {
		plain
		Name     lenient[string]         `json:"name"`
		Contact  lenient[IRI]            `json:"contactId"`
		Club     lenient[IRI]            `json:"clubId"`
		Notice   lenient[string]         `json:"noticePeriod"`
		Canceled present                 `json:"canceledAt"`
		DebitDay lenient[int]            `json:"debitDay"`
		Offer    lenient[*embeddedOffer] `json:"offer"`
	}
	if err := unmarshal(data, &wire); err != nil {
		return err
	}
	*s = Subscription(wire.plain)
	s.Name, s.Contact, s.Club = wire.Name.value, wire.Contact.value, wire.Club.value
	s.NoticePeriod, s.Canceled = wire.Notice.value, bool(wire.Canceled)
	if day := wire.DebitDay.value; day >= 1 && day <= 31 {
		s.DebitDay = day
	}
	if sold := wire.Offer.value; sold != nil && sold.check() == nil {
		s.Offer = &sold.Offer
	}
	return nil
}

func (s *Subscription) check() error { return requireIRI(s.IRI, "subscriptions") }

func (s *Subscription) readDates(zoneOf func(IRI) *time.Location) error {
	zone := zoneOf(s.Club)
	return cmp.Or(readDay("validFrom", &s.ValidFrom, zone), readDay("validThrough", &s.ValidThrough, zone),
		readDay("engagedThrough", &s.EngagedThrough, zone))
}

// subscriptionSummary is the response; without a list it says nothing about a contact.
type subscriptionSummary struct {
	Subscriptions records[Subscription] `json:"subscriptions"`
	listed        bool
}

// UnmarshalJSON reads a summary.
func (s *subscriptionSummary) UnmarshalJSON(data []byte) error {
	var wire struct {
		Subscriptions jsontext.Value `json:"subscriptions"`
	}
	if err := unmarshal(data, &wire); err != nil {
		return err
	}
	s.listed = hasValue(wire.Subscriptions)
	if !s.listed {
		return nil
	}
	return unmarshal(wire.Subscriptions, &s.Subscriptions)
}

func (s *subscriptionSummary) check() error {
	if !s.listed {
		return &DecodeError{Want: "a summary of subscriptions"}
	}
	return nil
}

func (s *subscriptionSummary) readDates(zoneOf func(IRI) *time.Location) error {
	return s.Subscriptions.readDates(zoneOf)
}

func (s *subscriptionSummary) unreadable() []*DecodeError { return s.Subscriptions.unreadable() }

// ListSubscriptions reads what a contact is subscribed to, in installations with online cancellation; others refuse it. A subscription that
// names another contact is left out, in case the filter is ignored.
func (c *Client) ListSubscriptions(ctx context.Context, scope Scope, contact IRI) ([]Subscription, error) {
	query := url.Values{"contact": {string(contact)}}
	got, err := do[subscriptionSummary](ctx, c, get("ListSubscriptions", scope, "subscription_summary", "").withQuery(query))
	if err == nil {
		err = got.Subscriptions.check("ListSubscriptions")
	}
	return slices.DeleteFunc(got.Subscriptions.readable(), func(s Subscription) bool {
		return s.Contact != "" && s.Contact != contact
	}), err
}

// CancellationMotive is why a member may leave.
type CancellationMotive struct {
	IRI  IRI    `json:"@id"`
	Name string `json:"-"` // the club's words; empty: not shown
}

// UnmarshalJSON reads a motive.
func (m *CancellationMotive) UnmarshalJSON(data []byte) error {
	var wire struct {
		identified
		Name lenient[string] `json:"name"`
	}
	err := unmarshal(data, &wire)
	m.IRI, m.Name = wire.IRI, wire.Name.value
	return err
}

func (m *CancellationMotive) check() error { return require("@id", m.IRI != "") }

// ListCancellationMotives reads the motives for which a member may leave, in installations with online cancellation. A cancellation names
// one of them.
func (c *Client) ListCancellationMotives(ctx context.Context, scope Scope) ([]CancellationMotive, error) {
	return list[CancellationMotive](ctx, c, get("ListCancellationMotives", scope, "referentials/cancellation_motives", ""))
}

// NewCancellation is the end of a subscription.
type NewCancellation struct {
	Date   string `json:"cancellationDate"`               // YYYY-MM-DD, the last day
	Motive IRI    `json:"cancellationMotiveId,omitempty"` // of ListCancellationMotives; empty: none is given
}

// CancelSubscription ends a subscription on a day, in installations with online cancellation, if the club has switched it on. It cannot be
// taken back. The request is sent at most once: see CreatePayment for the gate and the outcomes. shown is the subscription as the response
// has it, with the last day that counts. It is empty where the response has no such record, which another system may have sent:
// then the caller reads the subscription. Rejected when the date is before EngagedThrough, or before today and the notice period,
// and when the subscription is cancelled already.
func (c *Client) CancelSubscription(
	ctx context.Context, scope Scope, subscription IRI, in NewCancellation, gate Gate,
) (shown Subscription, err error) {
	request := post("CancelSubscription", scope, "subscriptions/{id}/online_cancellation", subscription, in)
	response, err := c.sendOnce(ctx, request, gate)
	if err != nil {
		return Subscription{}, err
	}
	shown, unread := decode[Subscription](&request, response, c.zoneOf(scope))
	if unread != nil || shown.IRI != subscription {
		return Subscription{}, nil
	}
	return shown, nil
}
