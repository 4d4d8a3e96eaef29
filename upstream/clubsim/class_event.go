package clubsim

import "time"

// classEvent is a class on a club's timetable.
type classEvent struct {
	ID       int        `json:"id"`
	ClubID   int        `json:"clubId"`
	Name     string     `json:"name"`
	StartsAt time.Time  `json:"startedAt"`
	EndsAt   time.Time  `json:"endedAt"`
	Places   int        `json:"attendingLimit"`
	Canceled *time.Time `json:"canceledAt"`
}

type classEventRecord struct {
	IRI      string     `json:"@id"`
	Type     string     `json:"@type"`
	Name     string     `json:"name"`
	ClubID   string     `json:"clubId"`
	StartsAt time.Time  `json:"startedAt"`
	EndsAt   time.Time  `json:"endedAt"`
	Places   int        `json:"attendingLimit"`
	Booked   int        `json:"bookedAttendees"`
	Canceled *time.Time `json:"canceledAt"`
}

// listClassEvents: GET class_events, the timetable of the acting club.
func listClassEvents(c *call) (reply, error) {
	booked := map[int]int{}
	for _, a := range c.w.state.Attendees.Rows {
		booked[a.EventID]++
	}
	var records []classEventRecord
	for _, e := range c.w.state.ClassEvents.Rows {
		if e.ClubID == c.club.id {
			records = append(records, classEventRecord{
				IRI: c.w.iri("class_events", e.ID), Type: "ClassEvent", Name: e.Name, ClubID: c.w.iri("clubs", e.ClubID),
				StartsAt: e.StartsAt, EndsAt: e.EndsAt, Places: e.Places, Booked: booked[e.ID], Canceled: e.Canceled,
			})
		}
	}
	return paginate(c, "ClassEvent", records)
}
