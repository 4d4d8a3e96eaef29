package clubsim

import "time"

// attendee is a contact who booked a class.
type attendee struct {
	ID         int       `json:"id"`
	ContactID  int       `json:"contactId"`
	EventID    int       `json:"classEventId"`
	ClubID     int       `json:"clubId"`
	CreatedAt  time.Time `json:"createdAt"`
	CanceledAt time.Time `json:"canceledAt"` // zero: the place is taken
}

// bookingRecord is an attendee as the class shows it.
func (w *World) bookingRecord(a *attendee) record {
	k, state := w.state.Contacts.get(a.ContactID), "booked"
	if !a.CanceledAt.IsZero() {
		state = "canceled"
	}
	return w.record("Attendee", "attendees", a.ID, record{
		"state": state, "contactId": w.iri("contacts", k.ID), "contactGivenName": k.GivenName, "contactFamilyName": k.FamilyName,
		"contactNumber": k.Number, "contactClubId": w.iri("clubs", k.ClubID),
		"createdAt": w.timestamp(a.CreatedAt), "canceledAt": w.timestampOrNil(a.CanceledAt),
	})
}

// attendeeRecord is an attendee with the class, as the list of attendees shows it.
func (w *World) attendeeRecord(a *attendee) record {
	r := w.bookingRecord(a)
	r["classEvent"] = nil
	if e := w.state.ClassEvents.get(a.EventID); e != nil {
		r["classEvent"] = w.classRecord(e)
	}
	return r
}

// attendeeAt returns an attendee that the request may see.
func (c *request) attendeeAt(id int) (*attendee, error) {
	return visible(c.w.state.Attendees.get(id), func(a *attendee) bool { return c.sees(a.ClubID) && c.caller.maySee(a.ContactID) })
}

// listAttendees: GET attendees of the acting club, which can be polled to reconcile
// events. The optional filters are contactId and classEventId; existing clients send the
// latter as class_id with the bare number.
func listAttendees(c *request) (response, error) {
	contactID, err := c.filterIRI("contactId", "contacts")
	if err != nil {
		return response{}, err
	}
	eventID, err := c.filterIRI("classEventId", "class_events")
	if err != nil {
		return response{}, err
	}
	if bare := c.req.query.Get("class_id"); bare != "" {
		var valid bool
		if eventID, valid = parseID(bare); !valid {
			return response{}, itemNotFound()
		}
	}
	found := c.w.state.Attendees.where(func(a *attendee) bool {
		return a.ClubID == c.club.id && c.caller.maySee(a.ContactID) &&
			(contactID == 0 || a.ContactID == contactID) && (eventID == 0 || a.EventID == eventID)
	})
	return paginate(c, "Attendee", found, c.w.attendeeRecord)
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
func (c *request) bookTrial(s *sale, from time.Time) {
	booked := c.w.state.booked()
	for _, e := range c.w.state.ClassEvents.Rows {
		if e.ClubID != s.ClubID || !e.Canceled.IsZero() || e.StartsAt.Before(from) || e.StartsAt.Before(c.now) || booked[e.ID] >= e.Places {
			continue
		}
		made := c.w.state.Attendees.add(func(id int) attendee {
			return attendee{ID: id, ContactID: s.ContactID, EventID: e.ID, ClubID: s.ClubID, CreatedAt: c.now}
		})
		c.emit("attendee.booked", c.w.attendeeObject(made))
		c.emit("class_event.updated", c.w.classEventObject(e))
		return
	}
}
