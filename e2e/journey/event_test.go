package journey_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestEvents follows a journey at a gateway other than the one that advances it.
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
	if e, _ := again.Next(); e == nil || e.End != `{"reason":"final"}` && e.Registration.State != api.Completed {
		t.Errorf("after the final state comes %+v", e)
	}
	upToDate := there.Follow(registration.Id, last.ID)
	if e, _ := upToDate.Next(); e != nil && e.End == "" &&
		e.Registration.Contact.Status == last.Registration.Contact.Status { // which the recorded payment changes
		t.Errorf("after the last event, and nothing since, comes %+v", e)
	}
}

// TestEventsBehindCompressingProxy: a proxy that compresses whatever it may, as development servers do, passes each event at once.
func TestEventsBehindCompressingProxy(t *testing.T) {
	t.Parallel()
	_, direct := frontdesktest.NewEnv(t).Gateway(t)
	registration := direct.Register()
	address, err := url.Parse(direct.URL)
	frontdesktest.Must(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(address) },
		ModifyResponse: compress,
	})
	t.Cleanup(proxy.Close)
	behind := frontdesktest.NewClient(t, proxy.URL)
	behind.Token = direct.Token
	behind.Follow(registration.Id, "").UntilState(api.Open)
}

// compress compresses a response without flushing it, unless it must not be transformed. It ends an endless one, so that the test fails.
func compress(response *http.Response) error {
	if strings.Contains(response.Header.Get("Cache-Control"), "no-transform") || response.Header.Get("Content-Encoding") != "" {
		return nil
	}
	body := response.Body
	reader, writer := io.Pipe()
	time.AfterFunc(5*time.Second, func() { body.Close() })
	go func() {
		compressed := gzip.NewWriter(writer)
		_, _ = io.Copy(compressed, body)
		writer.CloseWithError(io.ErrUnexpectedEOF)
	}()
	response.Body = reader
	response.Header.Set("Content-Encoding", "gzip")
	response.Header.Del("Content-Length")
	return nil
}

// TestRegistrationVersion checks that a poll with the front end's version gets 304 until something
// changes for this reader: a text in another language is another version.
func TestRegistrationVersion(t *testing.T) {
	t.Parallel()
	_, client := frontdesktest.NewEnv(t).Gateway(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	known := func() (etag [2]string, version string) {
		var r api.Registration
		response := client.Do("GET", path, nil)
		response.Into(http.StatusOK, &r)
		return [2]string{"If-None-Match", response.Header.Get("ETag")}, r.Version
	}
	etag, version := known()
	if etag[1] != `W/"`+version+`"` {
		t.Errorf("the ETag is %s, the version %s", etag[1], version)
	}
	if e, _ := client.Follow(registration.Id, "").Next(); e == nil || e.ID != version {
		t.Errorf("the event is %+v, the version %s", e, version)
	}
	if again := client.Do("GET", path, nil, etag); again.Status != http.StatusNotModified || len(again.Body) != 0 {
		t.Errorf("unchanged: status %d with %d bytes", again.Status, len(again.Body))
	}
	client.Pay(registration.Id)
	if changed := client.Do("GET", path, nil, etag); changed.Status != http.StatusOK {
		t.Errorf("changed: status %d", changed.Status)
	}
	etag, _ = known()
	if french := client.Do("GET", path, nil, etag, [2]string{"Accept-Language", "fr"}); french.Status != http.StatusOK {
		t.Errorf("in another language: status %d", french.Status)
	}
}

// TestEventStreamOutlivesTimeouts checks that a stream stays open while nothing happens, beyond the
// time limits of other requests.
func TestEventStreamOutlivesTimeouts(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, client := s.Gateway(t)
	registration := client.Register()
	events := client.Follow(registration.Id, "")
	if e, _ := events.Next(); e == nil {
		t.Fatal("the present state did not come")
	}
	for range 2 { // more than the 15 s in which a request must be read
		if e, ended := events.Next(); ended || e != nil {
			t.Fatalf("instead of a heartbeat came %+v (ended: %v)", e, ended)
		}
	}
	client.Do("DELETE", "/v1/registrations/"+registration.Id, nil)
	events.UntilState(api.Abandoned)
}

// TestEventStreamEndsWithGateway checks that the stream ends at once with its gateway, so that the
// front end goes to another one.
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
		e, _ = events.Next()
	}
	if e == nil || e.End != `{"reason":"draining"}` {
		t.Errorf("the gateway stops, and the stream says %+v", e)
	}
	if e, ended := events.Next(); !ended {
		t.Errorf("after the end comes %+v", e)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestEventStreamRequiresToken checks that only the registration's own token opens its stream.
func TestEventStreamRequiresToken(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, client := s.Gateway(t)
	registration := client.Register()
	another := frontdesktest.NewClient(t, client.URL)
	another.Register()
	for name, test := range map[string]struct {
		token string
		code  api.ProblemCode
	}{"no token": {"", api.TokenRequired}, "another's token": {another.Token, api.RegistrationNotFound}} {
		stranger := frontdesktest.NewClient(t, client.URL)
		stranger.Token = test.token
		t.Log(name)
		stranger.Do("GET", "/v1/registrations/"+registration.Id+"/events", nil).Problem(test.code)
	}
}

// TestEventsOfTheClock checks that the front end gets an event when a new code can be requested, a
// minute after the last one, although nothing is written then.
func TestEventsOfTheClock(t *testing.T) {
	t.Parallel()
	d := newDebtor(t)
	d.mandate(api.SignatureAwaitingCode)
	canResend := func(r api.Registration) bool {
		return slices.ContainsFunc(r.Next, func(a api.Action) bool { return a.Action == api.ActionNameResend })
	}
	events := d.Follow(d.id, "")
	first := events.Until("the mandate", func(r api.Registration) bool { return r.Mandate != nil })
	if canResend(first.Registration) {
		t.Errorf("a new code can be requested at once: %+v", first.Registration.Next)
	}
	events.Until("a new code can be requested", canResend)
}
