package clubsim

import "time"

// attendee is a contact who booked a class.
type attendee struct {
	ID        int       `json:"id"`
	ContactID int       `json:"contactId"`
	EventID   int       `json:"classEventId"`
	ClubID    int       `json:"clubId"`
	CreatedAt time.Time `json:"createdAt"`
}

type attendeeRecord struct {
	IRI        string    `json:"@id"`
	Type       string    `json:"@type"`
	State      string    `json:"state"`
	ContactID  string    `json:"contactId"`
	ClassEvent string    `json:"classEventId"`
	ClubID     string    `json:"clubId"`
	CreatedAt  time.Time `json:"createdAt"`
}

// listAttendees: GET attendees of the acting club, which can be polled to
// reconcile events; optional filters contactId and classEventId.
func listAttendees(c *call) (reply, error) {
	contactID, err := c.filterIRI("contactId", "contacts")
	if err != nil {
		return reply{}, err
	}
	eventID, err := c.filterIRI("classEventId", "class_events")
	if err != nil {
		return reply{}, err
	}
	var records []attendeeRecord
	for _, a := range c.w.state.Attendees.Rows {
		if a.ClubID == c.club.id && c.caller.maySee(a.ContactID) &&
			(contactID == 0 || a.ContactID == contactID) && (eventID == 0 || a.EventID == eventID) {
			records = append(records, attendeeRecord{
				IRI: c.w.iri("attendees", a.ID), Type: "Attendee", State: "booked", ContactID: c.w.iri("contacts", a.ContactID),
				ClassEvent: c.w.iri("class_events", a.EventID), ClubID: c.w.iri("clubs", a.ClubID), CreatedAt: a.CreatedAt,
			})
		}
	}
	return paginate(c, "Attendee", records)
}

// bookTrial books the first class with a free place from the day on which a
// trial was bought for; without one the trial is had on the gym floor.
func (c *call) bookTrial(s *sale, from time.Time) {
	booked := map[int]int{}
	for _, a := range c.w.state.Attendees.Rows {
		booked[a.EventID]++
	}
	for _, e := range c.w.state.ClassEvents.Rows {
		if e.ClubID != s.ClubID || e.Canceled != nil || e.StartsAt.Before(from) || e.StartsAt.Before(c.now) || booked[e.ID] >= e.Places {
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
