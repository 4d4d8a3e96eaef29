package club

import (
	"context"
	"net/url"
)

// Attendee is a contact's place in a class. Its fields are an assumption: the
// API's description shows none.
type Attendee struct {
	IRI        IRI        `json:"@id"`
	State      string     `json:"state"` // "booked", "canceled"
	Contact    IRI        `json:"contactId"`
	Club       IRI        `json:"contactClubId"` // the contact's
	ClassEvent ClassEvent `json:"classEvent"`    // without its attendees
}

// AttendeeQuery narrows a list of attendees. Zero fields are not sent.
type AttendeeQuery struct {
	Contact    IRI
	ClassEvent IRI
}

// ListAttendees reads the attendees of the scope's club, all pages; club system API,
// section Network nodes and other collections. It replaces events that were lost.
func (c *Client) ListAttendees(ctx context.Context, s Scope, q AttendeeQuery) ([]Attendee, error) {
	query := url.Values{}
	if q.Contact != "" {
		query.Set("contactId", string(q.Contact))
	}
	if q.ClassEvent != "" {
		query.Set("classEventId", string(q.ClassEvent))
	}
	return list[Attendee](ctx, c, get("ListAttendees", s, "attendees", "").withQuery(query))
}
