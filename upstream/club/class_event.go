package club

import "context"

// ClassEvent is a class on a club's timetable. Its fields are an assumption: the
// API's description shows none.
type ClassEvent struct {
	IRI            IRI    `json:"@id"`
	Name           string `json:"name"`
	Club           IRI    `json:"clubId"`
	StartedAt      string `json:"startedAt"`       // RFC 3339
	EndedAt        string `json:"endedAt"`         // RFC 3339
	AttendingLimit int    `json:"attendingLimit"`  // places
	Booked         int    `json:"bookedAttendees"` // places taken
	CanceledAt     string `json:"canceledAt"`      // RFC 3339; empty: it takes place
}

// ListClassEvents reads the timetable of the scope's club, all pages; club
// system API, section Network nodes and other collections.
func (c *Client) ListClassEvents(ctx context.Context, s Scope) ([]ClassEvent, error) {
	return list[ClassEvent](ctx, c, get("ListClassEvents", s, "class_events", ""))
}
