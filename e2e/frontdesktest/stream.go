package frontdesktest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
)

// Stream is a registration's event stream as a front end reads it.
type Stream struct {
	t     testing.TB
	lines *bufio.Scanner
	body  io.Closer
}

// Event is one event of a stream.
type Event struct {
	ID           string
	Registration api.Registration
	End          string // the reason of the last event
}

// Follow opens the event stream of a registration until the test ends. An empty last starts with the
// current state, another one continues after the event with that id.
func (c *Client) Follow(id, last string) *Stream {
	c.t.Helper()
	request := c.request(http.MethodGet, "/v1/registrations/"+id+"/events", nil, nil).WithContext(c.t.Context())
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		c.t.Fatalf("status %d, %s", response.StatusCode, kind)
	}
	return &Stream{c.t, bufio.NewScanner(response.Body), response.Body}
}

// Close ends the stream from the front end's side.
func (s *Stream) Close() { s.body.Close() }

// Next reads the next event, or nil for a comment. It also reports whether the stream has ended.
func (s *Stream) Next() (e *Event, ended bool) {
	s.t.Helper()
	last := false
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "event":
			e, last = &Event{}, value == "end"
		case name == "id":
			e.ID = value
		case name == "data" && last:
			ValidateEvent(s.t, "end", []byte(value), nil)
			e.End = value
		case name == "data":
			ValidateEvent(s.t, "registration", []byte(value), nil)
			if err := json.Unmarshal([]byte(value), &e.Registration); err != nil {
				s.t.Fatal(err)
			}
		case s.lines.Text() == "":
			return e, false
		}
	}
	return nil, true
}

// UntilState reads events until the registration is in a state, and returns that event.
func (s *Stream) UntilState(state api.RegistrationState) Event {
	s.t.Helper()
	return s.Until("registration "+string(state), func(r api.Registration) bool { return r.State == state })
}

// Until reads events until a condition holds, and returns that event.
func (s *Stream) Until(what string, condition func(api.Registration) bool) Event {
	s.t.Helper()
	seen := map[string]bool{}
	for {
		e, ended := s.Next()
		switch {
		case ended:
			s.t.Fatalf("the stream ended before: %s", what)
		case e == nil, e.End != "":
			continue
		case e.ID == "" || seen[e.ID]:
			s.t.Fatalf("event id %q came twice", e.ID)
		case condition(e.Registration):
			return *e
		}
		seen[e.ID] = true
	}
}
