package clubsim

import "time"

// classEvent is a class on a club's timetable.
type classEvent struct {
	ID       int        `json:"id"`
	ClubID   int        `json:"clubId"`
	Activity int        `json:"activity"` // what is trained; the same person coaches it everywhere
	Name     string     `json:"name"`
	StartsAt time.Time  `json:"startedAt"`
	EndsAt   time.Time  `json:"endedAt"`
	Places   int        `json:"attendingLimit"`
	Canceled *time.Time `json:"canceledAt"`
}

// classRecord is a class without its attendees, as an attendee shows it.
type classRecord struct {
	resource
	Club     string  `json:"club"`
	Studio   string  `json:"studio"`
	Activity *string `json:"activity"`
	Coach    *string `json:"coach"`
	Summary  string  `json:"summary"`
	StartsAt string  `json:"startedAt"`
	EndsAt   string  `json:"endedAt"`
	Places   int     `json:"attendingLimit"`
	Queue    int     `json:"queueLimit"` // always 0: classes have no waiting list here
	Deleted  *string `json:"deletedAt"`  // null: the class takes place
}

// classEventRecord is a class with its attendees, as the timetable shows it.
type classEventRecord struct {
	classRecord
	Booked         []bookingRecord `json:"bookedAttendees"`
	Queued         []bookingRecord `json:"queuedAttendees"`
	Remaining      int             `json:"attendeeRemaining"`
	QueueRemaining int             `json:"queueRemaining"`
}

func (w *World) classRecord(e *classEvent) classRecord {
	r := classRecord{
		resource: w.resource("ClassEvent", "class_events", e.ID), Club: w.iri("clubs", e.ClubID), Studio: w.iri("studios", clubByID(e.ClubID).studio()),
		Activity: w.iriOrNil("activities", e.Activity), Coach: w.iriOrNil("coaches", e.Activity), Summary: e.Name,
		StartsAt: w.timestamp(e.StartsAt), EndsAt: w.timestamp(e.EndsAt), Places: e.Places,
	}
	if e.Canceled != nil {
		r.Deleted = w.timestampOrNil(*e.Canceled)
	}
	return r
}

// classEventRecord shows the attendees that the caller may see; the places that are left
// count all attendees.
func (c *request) classEventRecord(e *classEvent) *classEventRecord {
	r := &classEventRecord{classRecord: c.w.classRecord(e), Booked: []bookingRecord{}, Queued: []bookingRecord{}}
	for _, a := range c.w.state.Attendees.Rows {
		if a.EventID == e.ID && a.CanceledAt.IsZero() && c.caller.maySee(a.ContactID) {
			r.Booked = append(r.Booked, c.w.bookingRecord(a))
		}
	}
	r.Remaining = max(0, e.Places-c.w.state.booked()[e.ID])
	return r
}

// listClassEvents: GET class_events, the timetable of the acting club.
func listClassEvents(c *request) (response, error) {
	found := c.w.state.ClassEvents.where(func(e *classEvent) bool { return e.ClubID == c.club.id })
	return paginate(c, "ClassEvent", found, c.classEventRecord)
}

// classEventAt returns a class that the request may see.
func (c *request) classEventAt(id int) (*classEvent, error) {
	e := c.w.state.ClassEvents.get(id)
	if e == nil || !c.sees(e.ClubID) {
		return nil, itemNotFound()
	}
	return e, nil
}

// getClassEvent: GET class_events/{id}.
func getClassEvent(c *request, e *classEvent) (response, error) { return ok(c.classEventRecord(e)) }
