package clubsim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// eventMembers are the 20 events of the club system with the members of their data.object
// (club system API, section Events), where "indentificatorId" is spelled like this.
var eventMembers = map[string][]string{
	"contact.created":                {"contactId", "clubId"},
	"contact.updated":                {"contactId", "clubId"},
	"contact.deleted":                {"contactId", "clubId"},
	"optin.updated":                  {"optinId", "contactId", "clubId"},
	"attendee.booked":                {"attendeeId", "clubId"},
	"attendee.canceled":              {"attendeeId", "clubId"},
	"class_event.updated":            {"classEventId", "clubId"},
	"class_event.canceled":           {"classEventId", "clubId"},
	"subscription.deleted":           {"subscriptionId", "clubId"},
	"subscription_option.deleted":    {"subscriptionOptionId", "clubId"},
	"accounting_contact_tag.created": {"accountingContactTagId", "contactId"},
	"accounting_contact_tag.updated": {"accountingContactTagId", "contactId"},
	"accounting_contact_tag.deleted": {"accountingContactTagId", "contactId"},
	"contact_tag.created":            {"contactTagId", "contactId"},
	"contact_tag.updated":            {"contactTagId", "contactId"},
	"contact_tag.deleted":            {"contactTagId", "contactId"},
	"identificator.created":          {"indentificatorId", "targetId"},
	"identificator.updated":          {"indentificatorId", "targetId"},
	"identificator.deleted":          {"indentificatorId", "targetId"},
	"identificator.disabled":         {"indentificatorId", "targetId"},
}

// exampleIDs fill the members that a manual event leaves out, with records of the seed
// where there are some.
var exampleIDs = map[string]struct {
	collection string
	id         int
}{
	"contactId": {"contacts", 1001}, "targetId": {"contacts", 1001}, "clubId": {"clubs", 11}, "optinId": {"optins", 1001 * optinCount},
	"attendeeId": {"attendees", 1}, "classEventId": {"class_events", 1}, "subscriptionId": {"subscriptions", 1},
	"subscriptionOptionId": {"subscription_options", 1}, "accountingContactTagId": {"accounting_contact_tags", 3},
	"contactTagId": {"contact_tags", 1}, "indentificatorId": {"identificators", 2},
}

// EventNames lists the events in alphabetical order.
func EventNames() []string { return slices.Sorted(maps.Keys(eventMembers)) }

// eventObject holds the identifiers of an event.
type eventObject map[string]string

func (w *World) contactObject(contact *contact) eventObject {
	return eventObject{"contactId": w.iri("contacts", contact.ID), "clubId": w.iri("clubs", contact.ClubID)}
}

func (w *World) optinObject(optin optin) eventObject {
	object := w.contactObject(optin.contact)
	object["optinId"] = w.iri("optins", optin.id())
	return object
}

func (w *World) tagObject(tag *contactTag) eventObject {
	if tag.Accounting {
		return eventObject{"accountingContactTagId": w.iri("accounting_contact_tags", tag.ID), "contactId": w.iri("contacts", tag.ContactID)}
	}
	return eventObject{"contactTagId": w.iri("contact_tags", tag.ID), "contactId": w.iri("contacts", tag.ContactID)}
}

func (w *World) identificatorObject(id, contactID int) eventObject {
	return eventObject{"indentificatorId": w.iri("identificators", id), "targetId": w.iri("contacts", contactID)}
}

func (w *World) attendeeObject(attendee *attendee) eventObject {
	return eventObject{"attendeeId": w.iri("attendees", attendee.ID), "clubId": w.iri("clubs", attendee.ClubID)}
}

func (w *World) classEventObject(event *classEvent) eventObject {
	return eventObject{"classEventId": w.iri("class_events", event.ID), "clubId": w.iri("clubs", event.ClubID)}
}

// eventRecord is an event that happened, with its number.
type eventRecord struct {
	numbered
	Event
}

// Event is an event that happened.
type Event struct {
	At         time.Time         `json:"at"`
	Event      string            `json:"event"`
	Object     map[string]string `json:"object"`
	ClubID     string            `json:"clubId"` // sent as X-User-Club-Id; empty: the event concerns no club
	URL        string            `json:"url"`    // empty: no webhook URL was set
	Deliveries []Delivery        `json:"deliveries"`
}

// Delivery is one POST of an event.
type Delivery struct {
	At     time.Time `json:"at"`
	Status int       `json:"status"` // 0: no response
	Error  string    `json:"error,omitempty"`
}

func (c *request) emit(name string, object eventObject) { c.w.emit(name, object, c.now) }

// emit records an event and hands it to the outbox. Deliveries are not retried.
func (w *World) emit(name string, object eventObject, now time.Time) *eventRecord {
	event := w.state.Events.add(&eventRecord{Event: Event{
		At:         now,
		Event:      name,
		Object:     object,
		ClubID:     w.clubOf(object),
		URL:        w.settings.WebhookURL,
		Deliveries: []Delivery{},
	}})
	if event.URL != "" {
		w.dispatch(event)
	}
	return event
}

// clubOf returns the club of an event, or else that of its contact.
func (w *World) clubOf(object eventObject) string {
	contact := w.state.Contacts.get(w.parseIRI("contacts", cmp.Or(object["contactId"], object["targetId"])))
	if object["clubId"] != "" || contact == nil {
		return object["clubId"]
	}
	return w.iri("clubs", contact.ClubID)
}

// Emit emits an event manually and applies it to the world: the event's record, if there is
// one, is canceled, deleted, disabled or back in force. Missing members of the object are
// filled in. Unknown members, and values that are not identifiers, are refused.
func (w *World) Emit(name string, object map[string]string) (Event, error) {
	members, known := eventMembers[name]
	if !known {
		return Event{}, fmt.Errorf("event: %q is not one of %s", name, strings.Join(EventNames(), ", "))
	}
	for member := range object {
		if !slices.Contains(members, member) {
			return Event{}, fmt.Errorf("object: %s has no member %q, only %s", name, member, strings.Join(members, ", "))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	whole, err := w.applyManualEvent(name, object, now)
	if err != nil {
		return Event{}, err
	}
	return w.emit(name, whole, now).Event, nil
}

// Events returns the events that happened, oldest first.
func (w *World) Events() []Event {
	return inspectAll(w, func(st *state) []*eventRecord { return st.Events.Rows }, func(e *eventRecord) Event { return e.Event })
}

type eventSubject struct {
	object eventObject       // the identifiers that its events carry
	apply  func(what string) // applies the event: "deleted", "canceled", …
}

// findSubject finds the record behind the first member of an event's object; nil when the
// world has no such record.
func (w *World) findSubject(kind string, id int, now time.Time) *eventSubject {
	st := w.state
	switch kind {
	case "contact":
		if k := st.Contacts.get(id); k != nil {
			return &eventSubject{w.contactObject(k), func(what string) { k.Deleted = k.Deleted || what == "deleted" }}
		}
	case "optin":
		if k := st.Contacts.get(id / optinCount); k != nil {
			return &eventSubject{w.optinObject(optin{k, id % optinCount}), func(string) {}}
		}
	case "attendee":
		if a := st.Attendees.get(id); a != nil {
			return &eventSubject{w.attendeeObject(a), func(what string) { a.CanceledAt = timeIf(what == "canceled", now) }}
		}
	case "class_event":
		if e := st.ClassEvents.get(id); e != nil {
			return &eventSubject{w.classEventObject(e), func(what string) { e.Canceled = timeIf(what == "canceled", now) }}
		}
	case "contact_tag", "accounting_contact_tag":
		if t := st.Tags.get(id); t != nil && t.Accounting == (kind != "contact_tag") {
			return &eventSubject{w.tagObject(t), func(what string) { t.Deleted = what == "deleted" }}
		}
	default:
		return w.benefitSubject(kind, id)
	}
	return nil
}

// benefitSubject finds a subscription, an option or a badge. An update makes it valid
// again.
func (w *World) benefitSubject(kind string, id int) *eventSubject {
	benefit := w.state.Benefits.get(id)
	if benefit == nil || benefitCollections[benefit.Kind] != kind+"s" {
		return nil
	}
	object := eventObject{eventMembers[kind+".deleted"][0]: w.iri(kind+"s", benefit.ID), "clubId": w.iri("clubs", benefit.ClubID)}
	if benefit.Kind == kindBadge {
		object = w.identificatorObject(benefit.ID, benefit.ContactID)
	}
	return &eventSubject{object, func(what string) {
		benefit.State = ""
		if what == "deleted" || what == "disabled" {
			benefit.State = what
		}
	}}
}

func timeIf(wanted bool, t time.Time) time.Time {
	if !wanted {
		return time.Time{}
	}
	return t
}

// applyManualEvent completes the object of a manual event and applies the event. A missing
// member is taken from the record that the first member names, or else from the seed.
func (w *World) applyManualEvent(name string, given eventObject, now time.Time) (eventObject, error) {
	members := eventMembers[name]
	for member, iri := range given {
		example := exampleIDs[member]
		if w.parseIRI(example.collection, iri) == 0 {
			return nil, fmt.Errorf("object.%s: %q is not an identifier such as %s", member, iri, w.iri(example.collection, example.id))
		}
	}
	whole := eventObject{}
	for _, member := range members {
		whole[member] = w.iri(exampleIDs[member].collection, exampleIDs[member].id)
	}
	if first := given[members[0]]; first != "" {
		whole[members[0]] = first
	}
	kind, what, _ := strings.Cut(name, ".")
	id := w.parseIRI(exampleIDs[members[0]].collection, whole[members[0]])
	if s := w.findSubject(kind, id, now); s != nil {
		s.apply(what)
		maps.Copy(whole, s.object)
	}
	maps.Copy(whole, given)
	return whole, nil
}
