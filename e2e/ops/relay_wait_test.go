package ops_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows/background"
)

// TestSubscriberRetryAfter checks that a subscriber's Retry-After is respected, up to an hour. With
// another status, or unreadable, it is ignored.
func TestSubscriberRetryAfter(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	responses := map[string]struct {
		status      int
		after       string
		least, most time.Duration
	}{
		"busy":     {503, "600", 10 * time.Minute, 10 * time.Minute},
		"limited":  {429, time.Now().Add(20 * time.Minute).UTC().Format(http.TimeFormat), 19 * time.Minute, 20 * time.Minute},
		"for-ever": {503, "86400", time.Hour, time.Hour},
		"broken":   {500, "600", 4 * time.Second, 6 * time.Second},
		"at-once":  {429, "0", 4 * time.Second, 6 * time.Second},
		"unclear":  {503, "soon", 4 * time.Second, 6 * time.Second},
	}
	var to []background.Subscriber
	for name, response := range responses {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", response.after)
			w.WriteHeader(response.status)
		}))
		t.Cleanup(server.Close)
		to = append(to, background.Subscriber{Name: name, URL: server.URL, Secret: subscriberSecret})
	}
	process, c := env.Gateway(t, subscribe(t, to...))
	sendEvent(c, "class_event.updated")
	failed := map[string]background.Delivery{}
	frontdesktest.Eventually(t, "every subscriber has failed once", func() bool {
		var list background.Deliveries
		printed := mustCommand(t, process.OpsAddress(), "webhooks", "list", "--state", "retrying", "--json")
		if err := json.Unmarshal([]byte(printed), &list); err != nil {
			t.Fatal(err)
		}
		for _, d := range list.Items {
			if _, seen := failed[d.Subscriber]; !seen && d.Next != nil && d.LastFailed != nil {
				failed[d.Subscriber] = d
			}
		}
		return len(failed) == len(responses)
	})
	for name, response := range responses {
		delivery := failed[name]
		const blur, late = 2 * time.Second, time.Minute // the queue counts in whole seconds, and a busy machine is late
		if wait := delivery.Next.Sub(*delivery.LastFailed); delivery.Failures == 1 && (wait < response.least-blur || wait > response.most+late) {
			t.Errorf("%s said %q with %d, and is tried again after %s", name, response.after, response.status, wait)
		}
		if !strings.HasPrefix(delivery.LastError, "status ") {
			t.Errorf("%s: the error is %q", name, delivery.LastError)
		}
	}
}

// TestSubscriberSecretRotation checks that while two secrets are configured, a subscriber with either
// one can verify a delivery, and one with another secret cannot.
func TestSubscriberSecretRotation(t *testing.T) {
	t.Parallel()
	const fresh = "whsec_bmV3LXNlY3JldC1vZi1hLXN1YnNjcmliZXItMDE="   //nolint:gosec // of this test alone
	const foreign = "whsec_Zm9yZWlnbi1zZWNyZXQtb2Ytc29tZWJvZHktMDE=" //nolint:gosec // of this test alone
	env := frontdesktest.NewEnv(t)
	var came atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		for secret, verifies := range map[string]bool{fresh: true, subscriberSecret: true, foreign: false} {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil || (verifier.Verify(text, r.Header) == nil) != verifies {
				t.Errorf("with %s: %v %s", secret, r.Header, text)
			}
		}
		came.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	_, c := env.Gateway(t, subscribe(t, background.Subscriber{Name: "crm", URL: server.URL, Secret: fresh + "," + subscriberSecret}))
	sendEvent(c, "class_event.updated")
	frontdesktest.Eventually(t, "the delivery came", func() bool { return came.Load() > 0 })
}
