package clubsim

import "time"

// classEvent is a class on a club's timetable.
type classEvent struct {
	ID       int       `json:"id"`
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
func (w *World) classRecord(e *classEvent) record {
	return w.record("ClassEvent", "class_events", e.ID, record{
		"club": w.iri("clubs", e.ClubID), "studio": w.iri("studios", clubByID(e.ClubID).studio()),
		"activity": w.iriOrNil("activities", e.Activity), "coach": w.iriOrNil("coaches", e.Activity), "summary": e.Name,
		"startedAt": w.timestamp(e.StartsAt), "endedAt": w.timestamp(e.EndsAt), "deletedAt": w.timestampOrNil(e.Canceled),
		"attendingLimit": e.Places, "queueLimit": 0,
	})
}

// classEventRecord shows the attendees that the caller may see; the places that are left
// count all attendees.
func (c *request) classEventRecord(e *classEvent) record {
	shown := c.w.state.Attendees.where(func(a *attendee) bool {
		return a.EventID == e.ID && a.CanceledAt.IsZero() && c.caller.maySee(a.ContactID)
	})
	r := c.w.classRecord(e)
	r["bookedAttendees"], r["queuedAttendees"] = records(shown, c.w.bookingRecord), []record{}
	r["attendeeRemaining"], r["queueRemaining"] = max(0, e.Places-c.w.state.booked()[e.ID]), 0
	return r
}

// listClassEvents: GET class_events, the timetable of the acting club.
func listClassEvents(c *request) (response, error) {
	found := c.w.state.ClassEvents.where(func(e *classEvent) bool { return e.ClubID == c.club.id })
	return paginate(c, "ClassEvent", found, c.classEventRecord)
}

// classEventAt returns a class that the request may see.
func (c *request) classEventAt(id int) (*classEvent, error) {
	return visible(c.w.state.ClassEvents.get(id), func(e *classEvent) bool { return c.sees(e.ClubID) })
}

// getClassEvent: GET class_events/{id}.
func getClassEvent(c *request, e *classEvent) (response, error) { return ok(c.classEventRecord(e)) }
