package journey_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestEvents follows a journey at another gateway than the one that moves it.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, here := s.Gateway(t)
	_, there := s.Gateway(t)
	registration := here.Register()
	there.Token = here.Token
	events := there.Follow(registration.Id, "")
	first := events.UntilState(api.Open)
	payment := here.Pay(registration.Id)
	events.Until("the payment", func(r api.Registration) bool { return r.Payment != nil && r.Payment.State == api.RequiresAction })
	here.Confirm(payment, "4000000000000002")
	here.AwaitPayment(registration.Id, api.Declined)
	events.Until("the decline", func(r api.Registration) bool { return r.Payment.State == api.Declined })
	here.Confirm(payment, "4242424242424242")
	last := events.UntilState(api.Completed)

	again := there.Follow(registration.Id, first.ID)
	if e, _ := again.Next(); e == nil || e.Registration.State != api.Completed {
		t.Errorf("after an old event comes %+v", e)
	}
	upToDate := there.Follow(registration.Id, last.ID)
	if e, _ := upToDate.Next(); e != nil && e.Registration.Contact.Status == last.Registration.Contact.Status { // which the recorded payment changes
		t.Errorf("after the last event, and nothing since, comes %+v", e)
	}
}

// TestEventStreamOutlivesTimeouts while nothing happens, and beyond the time limits of other requests.
func TestEventStreamOutlivesTimeouts(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, c := s.Gateway(t)
	registration := c.Register()
	events := c.Follow(registration.Id, "")
	if e, _ := events.Next(); e == nil {
		t.Fatal("the present state did not come")
	}
	for range 2 { // more than the 15 s in which a request has to be read
		if e, ended := events.Next(); ended || e != nil {
			t.Fatalf("instead of a heartbeat came %+v (ended: %v)", e, ended)
		}
	}
	c.Do("DELETE", "/v1/registrations/"+registration.Id, nil)
	events.UntilState(api.Abandoned)
}

// TestEventStreamEndsWithGateway at once, so that the front end goes to another one.
func TestEventStreamEndsWithGateway(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	process, c := s.Gateway(t)
	registration := c.Register()
	events := c.Follow(registration.Id, "")
	events.UntilState(api.Open)
	stopped := make(chan error, 1)
	go func() { stopped <- process.Stop() }()
	e, ended := events.Next()
	if e == nil && !ended { // a heartbeat may have been on its way
		e, ended = events.Next()
	}
	if !ended {
		t.Errorf("the gateway stops, and the stream continues with %+v", e)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestEventStreamRequiresToken alone.
func TestEventStreamRequiresToken(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, c := s.Gateway(t)
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
