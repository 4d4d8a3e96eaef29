package clubsim

import (
	"cmp"
	"slices"
	"time"
)

type classEvent struct {
	numbered
	ClubID   int       `json:"clubId"`
	Activity int       `json:"activity"` // what is trained; the same person coaches it everywhere
	Name     string    `json:"name"`
	StartsAt time.Time `json:"startedAt"`
	EndsAt   time.Time `json:"endedAt"`
	Places   int       `json:"attendingLimit"`
	Canceled time.Time `json:"canceledAt"` // zero: it takes place
}

// classRecord is a class without its attendees, as an attendee shows it. Classes have no
// waiting list here.
func (w *World) classRecord(event *classEvent) record {
	return w.record("ClassEvent", "class_events", event.ID, record{
		"club": w.iri("clubs", event.ClubID), "studio": w.iri("studios", w.catalogue.club(event.ClubID).studio()),
		"activity": w.iriOrNil("activities", event.Activity), "coach": w.iriOrNil("coaches", event.Activity), "summary": event.Name,
		"startedAt": w.timestamp(event.StartsAt), "endedAt": w.timestamp(event.EndsAt), "deletedAt": w.timestampOrNil(event.Canceled),
		"attendingLimit": event.Places, "queueLimit": 0,
	})
}

// classEventRecord shows the attendees that the caller may see; the places that are left
// count all attendees.
func (c *request) classEventRecord(event *classEvent) record {
	shown := filter(c.w.state.Attendees.Rows, func(a *attendee) bool {
		return a.EventID == event.ID && a.CanceledAt.IsZero() && c.caller.maySee(a.ContactID)
	})
	r := c.w.classRecord(event)
	r["bookedAttendees"], r["queuedAttendees"] = records(shown, c.w.bookingRecord), []record{}
	r["attendeeRemaining"], r["queueRemaining"] = max(0, event.Places-c.w.state.booked()[event.ID]), 0
	return r
}

// listClassEvents: GET class_events, the timetable of the acting club, or of those that the filter club names.
func listClassEvents(c *request) (response, error) {
	clubIDs, noClub := c.filterIRIs("club", "clubs")
	activities, noActivity := c.filterIRIs("activity", "activities")
	coaches, noCoach := c.filterIRIs("coach", "coaches")
	studios, noStudio := c.filterIRIs("studio", "studios")
	booked, noContact := c.filterIRIs("attendees.contactId", "contacts")
	err := cmp.Or(noClub, noActivity, noCoach, noStudio, noContact)
	found := filter(c.w.state.ClassEvents.Rows, func(e *classEvent) bool {
		started, unreadable := c.within("startedAt", e.StartsAt)
		err = cmp.Or(err, unreadable)
		return c.listed(e.ClubID, clubIDs) && started && wanted(activities, e.Activity) && wanted(coaches, e.Activity) &&
			wanted(studios, c.w.catalogue.club(e.ClubID).studio()) && (len(booked) == 0 || c.booksFor(e, booked))
	})
	if err != nil {
		return response{}, err
	}
	return paginate(c, "ClassEvent", found, c.classEventRecord)
}

// booksFor reports whether one of the contacts has a place in a class.
func (c *request) booksFor(event *classEvent, contactIDs []int) bool {
	return slices.ContainsFunc(c.w.state.Attendees.Rows, func(a *attendee) bool {
		return a.EventID == event.ID && a.CanceledAt.IsZero() && slices.Contains(contactIDs, a.ContactID)
	})
}

func (c *request) classEventAt(id int) (*classEvent, error) {
	return visible(c.w.state.ClassEvents.get(id), func(e *classEvent) bool { return c.sees(e.ClubID) })
}

// getClassEvent: GET class_events/{id}.
func getClassEvent(c *request, e *classEvent) (response, error) { return ok(c.classEventRecord(e)) }

// attendee is a contact who booked a class.
type attendee struct {
	numbered
	ContactID  int       `json:"contactId"`
	EventID    int       `json:"classEventId"`
	ClubID     int       `json:"clubId"`
	CreatedAt  time.Time `json:"createdAt"`
	CanceledAt time.Time `json:"canceledAt"` // zero: the place is taken
}

func (a *attendee) state() string {
	if a.CanceledAt.IsZero() {
		return "booked"
	}
	return "canceled"
}

func (w *World) bookingRecord(attendee *attendee) record {
	contact := w.state.Contacts.get(attendee.ContactID)
	return w.record("Attendee", "attendees", attendee.ID, record{
		"state": attendee.state(), "contactId": w.iri("contacts", contact.ID), "contactGivenName": contact.GivenName,
		"contactFamilyName": contact.FamilyName, "contactNumber": contact.Number, "contactClubId": w.iri("clubs", contact.ClubID),
		"createdAt": w.timestamp(attendee.CreatedAt), "canceledAt": w.timestampOrNil(attendee.CanceledAt),
	})
}

// attendeeRecord is an attendee with the class, as the list of attendees shows it.
func (w *World) attendeeRecord(attendee *attendee) record {
	r := w.bookingRecord(attendee)
	r["classEvent"] = nil
	if e := w.state.ClassEvents.get(attendee.EventID); e != nil {
		r["classEvent"] = w.classRecord(e)
	}
	return r
}

func (c *request) attendeeAt(id int) (*attendee, error) {
	return visible(c.w.state.Attendees.get(id), func(a *attendee) bool { return c.sees(a.ClubID) && c.caller.maySee(a.ContactID) })
}

// listAttendees: GET attendees of the acting club, which can be polled to reconcile
// events. The optional filters are contactId and classEventId; existing clients send the
// latter as class_id with the bare number.
func listAttendees(call *request) (response, error) {
	contactIDs, noContact := call.filterIRIs("contactId", "contacts")
	eventIDs, noEvent := call.filterIRIs("classEventId", "class_events")
	others, noOther := call.filterIRIs("classEvent", "class_events") // the member's own name
	err := cmp.Or(noContact, noEvent, noOther)
	eventIDs = append(eventIDs, others...)
	if bare := call.req.query.Get("class_id"); bare != "" {
		if eventIDs = []int{parseID(bare)}; eventIDs[0] == 0 {
			err = cmp.Or(err, itemNotFound())
		}
	}
	states := call.req.query.all("state")
	homes, noHome := call.filterIRIs("contactClubId", "clubs")
	activities, noActivity := call.filterIRIs("classEvent.activity", "activities")
	err = cmp.Or(err, noHome, noActivity)
	found := filter(call.w.state.Attendees.Rows, func(a *attendee) bool {
		created, unreadable := call.within("createdAt", a.CreatedAt)
		err = cmp.Or(err, unreadable)
		event := cmp.Or(call.w.state.ClassEvents.get(a.EventID), &classEvent{})
		started, noMoment := call.within("classEvent.startedAt", event.StartsAt)
		err = cmp.Or(err, noMoment)
		return wanted(homes, call.w.state.Contacts.get(a.ContactID).ClubID) && wanted(activities, event.Activity) && started &&
			call.listed(a.ClubID, nil) && call.caller.maySee(a.ContactID) && created &&
			wanted(contactIDs, a.ContactID) && wanted(eventIDs, a.EventID) && wanted(states, a.state())
	})
	if err != nil {
		return response{}, err
	}
	return paginate(call, "Attendee", found, call.w.attendeeRecord)
}

// booked counts the places that are taken in each class.
func (st *state) booked() map[int]int {
	places := map[int]int{}
	for _, a := range st.Attendees.Rows {
		if a.CanceledAt.IsZero() {
			places[a.EventID]++
		}
	}
	return places
}

// bookTrial books the first class with a free place from the day on which a trial was
// bought. If every class is full, the trial takes place on the gym floor.
func (c *request) bookTrial(sale *sale, from time.Time) {
	booked := c.w.state.booked()
	for _, event := range c.w.state.ClassEvents.Rows {
		if event.ClubID != sale.ClubID || !event.Canceled.IsZero() || booked[event.ID] >= event.Places ||
			event.StartsAt.Before(from) || event.StartsAt.Before(c.now) {
			continue
		}
		made := c.w.state.Attendees.add(&attendee{ContactID: sale.ContactID, EventID: event.ID, ClubID: sale.ClubID, CreatedAt: c.now})
		c.emit("attendee.booked", c.w.attendeeObject(made))
		c.emit("class_event.updated", c.w.classEventObject(event))
		return
	}
}
