package flows

import (
	"time"

	"frontdesk/upstream/club"
)

// RateLimit is how often something may happen: Most times at once, and once more each Every.
type RateLimit struct {
	Burst    int
	Interval time.Duration
}

// StoredEvent is an event as it is kept until it was worked on.
type StoredEvent struct {
	Entry string    `json:"-"` // its place among those that wait
	ID    string    `json:"id"`
	At    time.Time `json:"at"` // when it came
	Body  []byte    `json:"body"`
	Trace string    `json:"trace,omitempty"` // the header of the request that brought it; not of older versions
}

// EventsAboutContacts are the events of the club system (club system API, section Events)
// that can say something about a registration, with the member that names its
// contact. Of the contact's registrations, an open one is read again: contact, sale
// and check; of one whose payment is in doubt, the evidence.
//
// The others lead to nothing here but their relay. contact.created: a contact that
// is new has no registration but the one that it was made for. optin.updated:
// consents are read at every look at them. attendee.*, class_event.*,
// subscription.deleted, subscription_option.deleted: they name no contact, and no
// registration holds any of it. identificator.updated, .deleted, .disabled: badges
// of members. None of the 20 tells that a product or an offer changed: what an event
// changes of a catalogue, a contact's tags and debt, is part of the key under which
// it is remembered, and the rest is a minute old at most.
var EventsAboutContacts = map[string]string{
	"contact.updated":                "contactId", // status, such as banned, or customer after a settlement at the desk
	"contact.deleted":                "contactId", // merged or migrated: the sale tells into whom
	"contact_tag.created":            "contactId", // tags decide what is offered to whom
	"contact_tag.updated":            "contactId",
	"contact_tag.deleted":            "contactId",
	"accounting_contact_tag.created": "contactId", // debts decide whether the club sells
	"accounting_contact_tag.updated": "contactId",
	"accounting_contact_tag.deleted": "contactId",
	"identificator.created":          "targetId", // what a settled sale may leave
}

// RelayOnlyEvents are the other events of the description.
var RelayOnlyEvents = []string{"contact.created", "optin.updated", "attendee.booked", "attendee.canceled", "class_event.updated", "class_event.canceled",
	"subscription.deleted", "subscription_option.deleted", "identificator.updated", "identificator.deleted", "identificator.disabled"}

// IsKnownEvent tells whether the club system's description has an event of this name.
func IsKnownEvent(event string) bool {
	if _, acts := EventsAboutContacts[event]; acts {
		return true
	}
	for _, name := range RelayOnlyEvents {
		if name == event {
			return true
		}
	}
	return false
}

// Event is what counts of an event.
type Event struct {
	ID     string
	At     time.Time
	Type   string
	Object map[string]club.IRI
	Trace  string // see StoredEvent
}
