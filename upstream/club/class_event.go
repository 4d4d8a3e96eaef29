package club

import "context"

// ClassEvent is a class on a club's timetable. Its fields are an assumption: the
// API's description shows none.
type ClassEvent struct {
	IRI            IRI        `json:"@id"`
	Name           string     `json:"summary"`
	Club           IRI        `json:"club"`
	Studio         IRI        `json:"studio"`
	Activity       IRI        `json:"activity"`
	Coach          IRI        `json:"coach"`
	StartedAt      string     `json:"startedAt"`         // date-time, such as 2026-12-01T18:30:00, with or without a zone
	EndedAt        string     `json:"endedAt"`           // date-time
	AttendingLimit int        `json:"attendingLimit"`    // places
	Remaining      int        `json:"attendeeRemaining"` // places that are left
	Booked         []Attendee `json:"bookedAttendees"`   // without their ClassEvent
	DeletedAt      string     `json:"deletedAt"`         // date-time; empty: it takes place
}

// ListClassEvents reads the timetable of the scope's club, all pages; club
// system API, section Network nodes and other collections.
func (c *Client) ListClassEvents(ctx context.Context, s Scope) ([]ClassEvent, error) {
	return list[ClassEvent](ctx, c, get("ListClassEvents", s, "class_events", ""))
}
