package frontdesktest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v4"

	"frontdesk/api"
)

// messages reads the messages of asyncapi.yaml once for all tests of a package: by name the schema of
// the payload, and by "name headers" that of the headers. Its schemas are OpenAPI schemas, too.
var messages = shared(func(t TB) openapi3.Schemas {
	path := filepath.Join(Root(), "asyncapi.yaml")
	text, err := os.ReadFile(path)
	Must(t, err)
	var document struct {
		Components struct {
			Messages map[string]struct{ Payload, Headers map[string]any }
		}
	}
	Must(t, yaml.Unmarshal(text, &document))
	schemas := map[string]any{}
	for name, message := range document.Components.Messages {
		schemas[name] = message.Payload
		if foreign, ok := message.Payload["schema"]; ok { // with a schemaFormat
			schemas[name] = foreign
		}
		if message.Headers != nil {
			schemas[name+"Headers"] = message.Headers
		}
	}
	text, err = json.Marshal(map[string]any{"openapi": "3.0.3", "components": map[string]any{"schemas": schemas}})
	Must(t, err)
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loaded, err := loader.LoadFromDataWithPath(text, &url.URL{Path: path})
	Must(t, err)
	return loaded.Components.Schemas
})

// ValidateEvent checks a message that the gateway sent, and its headers if it has any, against asyncapi.yaml.
func ValidateEvent(t TB, name string, payload []byte, headers http.Header) {
	t.Helper()
	schemas := messages(t)
	if schemas[name] == nil {
		t.Fatalf("asyncapi.yaml has no message %s", name)
	}
	var body any
	err := json.Unmarshal(payload, &body)
	if err == nil {
		err = schemas[name].Value.VisitJSON(body)
	}
	if err != nil {
		t.Errorf("the message %s is not what asyncapi.yaml says: %v", name, err)
	}
	described := schemas[name+"Headers"]
	if described == nil {
		return
	}
	sent := map[string]any{}
	for header := range headers {
		sent[strings.ToLower(header)] = headers.Get(header)
	}
	if err := described.Value.VisitJSON(sent); err != nil {
		t.Errorf("the headers of %s are not what asyncapi.yaml says: %v", name, err)
	}
}

// ValidateDelivery checks what a subscriber gets: an event of Frontdesk's own against its message, another one as the club system's.
func ValidateDelivery(t TB, payload []byte, headers http.Header) {
	t.Helper()
	var event struct{ Type string }
	Must(t, json.Unmarshal(payload, &event))
	noun, verb, _ := strings.Cut(event.Type, ".")
	for word := range strings.SplitSeq(verb, "_") {
		if word != "" {
			noun += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	if messages(t)[noun] == nil {
		noun = "clubEvent"
	}
	ValidateEvent(t, noun, payload, headers)
}

// Stream is a registration's event stream as a front end reads it.
type Stream struct {
	io.Closer // ends it from the front end's side
	t         TB
	lines     *bufio.Scanner
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
	Must(c.t, err)
	c.t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		c.t.Fatalf("status %d, %s", response.StatusCode, kind)
	}
	return &Stream{response.Body, c.t, bufio.NewScanner(response.Body)}
}

// Next reads the next event, or nil for a comment. It also reports whether the stream has ended.
func (s *Stream) Next() (event *Event, ended bool) {
	s.t.Helper()
	last := false
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "event":
			event, last = &Event{}, value == "end"
		case name == "id":
			event.ID = value
		case name == "data" && last:
			ValidateEvent(s.t, "end", []byte(value), nil)
			event.End = value
		case name == "data":
			ValidateEvent(s.t, "registration", []byte(value), nil)
			Must(s.t, json.Unmarshal([]byte(value), &event.Registration))
		case s.lines.Text() == "":
			return event, false
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
		event, ended := s.Next()
		switch {
		case ended:
			s.t.Fatalf("the stream ended before: %s", what)
		case event == nil, event.End != "":
			continue
		case event.ID == "" || seen[event.ID]:
			s.t.Fatalf("event id %q came twice", event.ID)
		case condition(event.Registration):
			return *event
		}
		seen[event.ID] = true
	}
}
