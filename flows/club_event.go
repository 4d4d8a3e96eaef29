package flows

import (
	"slices"
	"time"

	"frontdesk/upstream/club"
)

// RateLimit allows Burst times at once, and one more after each Interval.
type RateLimit struct {
	Burst    int
	Interval time.Duration
}

// StoredEvent is an event that waits to be processed.
type StoredEvent struct {
	Entry string    `json:"-"` // in the stream
	ID    string    `json:"id"`
	At    time.Time `json:"at"` // when it arrived
	Body  []byte    `json:"body"`
	Trace string    `json:"trace,omitempty"` // the request's trace header; empty from older versions
}

// EventsAboutContacts are the events of the club system (club system API, section Events) that
// can change a registration, with the member that names its contact. They cause a new read of
// the contact's open registrations, and of the evidence of those in doubt.
//
// The others are only relayed. contact.created: a new contact has no registration but its own.
// optin.updated: consents are read at every use. attendee.*, class_event.*,
// subscription.deleted, subscription_option.deleted: they name no contact.
// identificator.updated, .deleted, .disabled: badges of members. No event reports a change of
// a product or an offer.
var EventsAboutContacts = map[string]string{
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

// RelayOnlyEvents are the other documented events.
var RelayOnlyEvents = []string{"contact.created", "optin.updated", "attendee.booked", "attendee.canceled", "class_event.updated", "class_event.canceled",
	"subscription.deleted", "subscription_option.deleted", "identificator.updated", "identificator.deleted", "identificator.disabled"}

// IsKnownEvent reports whether the club system documents the event.
func IsKnownEvent(event string) bool {
	return EventsAboutContacts[event] != "" || slices.Contains(RelayOnlyEvents, event)
}

// Event is the part of an event that the gateway uses.
type Event struct {
	ID     string
	At     time.Time
	Type   string
	Object map[string]club.IRI
	Trace  string // see StoredEvent
}
