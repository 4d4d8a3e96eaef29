package clubsim

import (
	"fmt"
	"maps"
	"strings"
	"time"
)

// eventSubject is the record that an event is about.
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
	b := w.state.Benefits.get(id)
	if b == nil || benefitCollections[b.Kind] != kind+"s" {
		return nil
	}
	object := eventObject{firstMember(kind): w.iri(kind+"s", b.ID), "clubId": w.iri("clubs", b.ClubID)}
	if b.Kind == kindBadge {
		object = w.identificatorObject(b.ID, b.ContactID)
	}
	return &eventSubject{object, func(what string) {
		b.State = ""
		if what == "deleted" || what == "disabled" {
			b.State = what
		}
	}}
}

// firstMember is the first member of the object of a kind's events.
func firstMember(kind string) string { return eventMembers[kind+".deleted"][0] }

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
		if _, valid := w.parseIRI(example.collection, iri); !valid {
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
	id, _ := w.parseIRI(exampleIDs[members[0]].collection, whole[members[0]])
	if s := w.findSubject(kind, id, now); s != nil {
		s.apply(what)
		maps.Copy(whole, s.object)
	}
	maps.Copy(whole, given)
	return whole, nil
}
