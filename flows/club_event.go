package flows

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/upstream/club"
)

// StoredEvent is an event that waits to be processed. Body is empty if this gateway lacks the key that sealed it.
type StoredEvent struct {
	Entry string    `json:"-"` // id of its entry in the stream of Redis
	ID    string    `json:"id"`
	At    time.Time `json:"at"` // when it arrived
	Body  []byte    `json:"body"`
	Trace string    `json:"trace,omitempty"` // the request's trace header; may be empty
}

// StoredAt returns when the event was stored, by the clock of Redis. It is known without the key.
func (e StoredEvent) StoredAt() time.Time {
	instant, _, _ := strings.Cut(e.Entry, "-")
	ms, _ := strconv.ParseInt(instant, 10, 64)
	return time.UnixMilli(ms)
}

// eventsAboutContacts are the events of the club system (club system API, section Events) that can change a registration, each
// with the member that names the contact. After such an event, the contact's open registrations are read again, and so is the
// evidence about payments in doubt. No event reports a change of a product or an offer.
var eventsAboutContacts = map[string]string{
	"contact.updated":                "contactId", // status, such as banned, or customer after a settlement at the desk
	"contact.deleted":                "contactId", // merged or migrated: the sale names the other contact
	"contact_tag.created":            "contactId", // tags decide on the offers
	"contact_tag.updated":            "contactId",
	"contact_tag.deleted":            "contactId",
	"accounting_contact_tag.created": "contactId", // debts decide whether the club sells
	"accounting_contact_tag.updated": "contactId",
	"accounting_contact_tag.deleted": "contactId",
	"identificator.created":          "targetId", // may result from a settled sale
}

// EmailInUse is Frontdesk's own event: a buyer's contact lacks the e-mail address that the buyer entered, because another contact
// has it. Staff find out whether the two are one person.
const EmailInUse = "contact.email_in_use"

// relayOnlyEvents are the other events, with the reason why none of them changes a registration.
var relayOnlyEvents = []string{
	EmailInUse,
	// The registration that created the contact knows it already.
	"contact.created",
	// Consents are read whenever they are needed.
	"optin.updated",
	// These name no contact.
	"attendee.booked", "attendee.canceled", "class_event.updated", "class_event.canceled",
	"subscription.deleted", "subscription_option.deleted",
	// These are about members' badges.
	"identificator.updated", "identificator.deleted", "identificator.disabled",
}

// IsKnownEvent reports whether an event that arrives is documented by the club system, or EmailInUse.
func IsKnownEvent(event string) bool {
	return eventsAboutContacts[event] != "" || slices.Contains(relayOnlyEvents, event)
}

// KnownEvents returns Frontdesk's own events and those that the club system documents.
func KnownEvents() []string {
	return slices.AppendSeq(slices.Concat(ownEvents, relayOnlyEvents), maps.Keys(eventsAboutContacts))
}

// Event is the part of an event that the gateway uses.
type Event struct {
	ID     string
	At     time.Time
	Type   string
	Object map[string]club.IRI // the ids in its object, by member, such as contactId
	Trace  string              // see StoredEvent
}

// Contact returns the contact that the event can change; empty: none.
func (e Event) Contact() club.IRI {
	if iri := e.Object[eventsAboutContacts[e.Type]]; iri.Collection() == "contacts" {
		return iri
	}
	return ""
}
