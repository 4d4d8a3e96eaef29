package e2e_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// stream is what a front end reads of a registration's events.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	body  interface{ Close() error }
}

type event struct {
	id   string
	data api.Registration
}

// follow opens a stream; it ends with the test.
func follow(t *testing.T, c *frontdesktest.Client, id, last string) *stream {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/v1/registrations/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("status %d, %s", response.StatusCode, kind)
	}
	return &stream{t, bufio.NewScanner(response.Body), response.Body}
}

// next reads to the end of the next event, or of a comment: then it is nil. Ended is a stream without more.
func (s *stream) next() (e *event, ended bool) {
	s.t.Helper()
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "event" && value == "registration":
			e = &event{}
		case name == "id":
			e.id = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				s.t.Fatal(err)
			}
		case s.lines.Text() == "":
			return e, false
		}
	}
	return nil, true
}

// until reads events to the one that a front end waits for.
func (s *stream) until(what string, arrived func(api.Registration) bool) event {
	s.t.Helper()
	seen := map[string]bool{}
	for {
		e, ended := s.next()
		switch {
		case ended:
			s.t.Fatalf("the stream ended before: %s", what)
		case e == nil:
			continue
		case e.id == "" || seen[e.id]:
			s.t.Fatalf("event id %q came twice", e.id)
		case arrived(e.data):
			return *e
		}
		seen[e.id] = true
	}
}

func inState(state api.RegistrationState) func(api.Registration) bool {
	return func(r api.Registration) bool { return r.State == state }
}

// TestEvents follows a journey at another gateway than the one that moves it.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	_, here := s.gateway(t)
	_, there := s.gateway(t)
	registration := here.Register()
	there.Token = here.Token
	events := follow(t, there, registration.Id, "")
	first := events.until("the present state", inState(api.Open))
	payment := here.Pay(registration.Id)
	events.until("the payment", func(r api.Registration) bool { return r.Payment != nil && r.Payment.State == api.RequiresAction })
	here.Confirm(payment, "4000000000000002")
	here.AwaitPayment(registration.Id, api.Declined)
	events.until("the decline", func(r api.Registration) bool { return r.Payment.State == api.Declined })
	here.Confirm(payment, "4242424242424242")
	last := events.until("the end", inState(api.Completed))

	again := follow(t, there, registration.Id, first.id)
	if e, _ := again.next(); e == nil || e.data.State != api.Completed {
		t.Errorf("after an old event comes %+v", e)
	}
	upToDate := follow(t, there, registration.Id, last.id)
	if e, _ := upToDate.next(); e != nil && e.data.Contact.Status == last.data.Contact.Status { // which the recorded payment changes
		t.Errorf("after the last event, and nothing since, comes %+v", e)
	}
}

// TestEventStreamOutlivesTimeouts while nothing happens, and beyond the time limits of other requests.
func TestEventStreamOutlivesTimeouts(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	_, c := s.gateway(t)
	registration := c.Register()
	events := follow(t, c, registration.Id, "")
	if e, _ := events.next(); e == nil {
		t.Fatal("the present state did not come")
	}
	for range 2 { // more than the 15 s in which a request has to be read
		if e, ended := events.next(); ended || e != nil {
			t.Fatalf("instead of a heartbeat came %+v (ended: %v)", e, ended)
		}
	}
	c.Do("DELETE", "/v1/registrations/"+registration.Id, nil)
	events.until("the change after two heartbeats", inState(api.Abandoned))
}

// TestEventStreamEndsWithGateway at once, so that the front end goes to another one.
func TestEventStreamEndsWithGateway(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	process, c := s.gateway(t)
	registration := c.Register()
	events := follow(t, c, registration.Id, "")
	events.until("the present state", inState(api.Open))
	stopped := make(chan error, 1)
	go func() { stopped <- process.Stop() }()
	e, ended := events.next()
	if e == nil && !ended { // a heartbeat may have been on its way
		e, ended = events.next()
	}
	if !ended {
		t.Errorf("the gateway stops, and the stream goes on with %+v", e)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestEventStreamRequiresToken alone.
func TestEventStreamRequiresToken(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	_, c := s.gateway(t)
	registration := c.Register()
	another := frontdesktest.NewClient(t, c.URL)
	another.Register()
	for name, token := range map[string]string{"no token": "", "another's token": another.Token} {
		stranger := frontdesktest.NewClient(t, c.URL)
		stranger.Token = token
		if response := stranger.Do("GET", "/v1/registrations/"+registration.Id+"/events", nil); response.Status != http.StatusNotFound {
			t.Errorf("%s: status %d", name, response.Status)
		}
	}
}
