package flows_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/relay"
	"frontdesk/flows/tracing"
)

// relayTo returns a relay of a gateway to a subscriber called crm. It delivers nothing yet.
func (w *world) relayTo(g *gateway, url string) *relay.Relay {
	w.Helper()
	return relay.New(relay.Config{
		Queue: g.queue, Keys: newKeyring(w, "one"), Store: g.store, Client: relay.NewClient(relay.EgressPolicy{Loopback: true}),
		Now: w.clock.Now, Log: g.log,
		Subscribers: []relay.Subscriber{{Name: "crm", URL: url, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}},
	})
}

// classEvents returns events that concern no contact.
func classEvents(name string, n int) (events []flows.Event) {
	for i := range n {
		events = append(events, flows.Event{ID: fmt.Sprint("evt_", name, "_", i), Type: "class_event.updated"})
	}
	return events
}

// crm returns the state of the subscriber.
func (w *world) crm(r *relay.Relay) relay.Subscription {
	w.Helper()
	return must(w, func() (relay.Deliveries, error) { return r.Deliveries(w.Context(), "") }).Subscribers[0]
}

// TestFailingSubscriber: after a few failures in a row, what waits for a subscriber is not attempted. After a pause one
// delivery is; when it succeeds, all others follow. Meanwhile its age grows.
func TestFailingSubscriber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var requests, status atomic.Int64
	status.Store(http.StatusInternalServerError)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		rw.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(server.Close)
	r := w.relayTo(w.gateway(), server.URL)
	const events = 100
	if err := r.Enqueue(t.Context(), classEvents("first", events)); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(tracing.IDOnlyProvider()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	inspector := asynq.NewInspectorFromRedisClient(w.redis)
	// again retries at once what waits for its time. The clock stands, so that no pause ends.
	again := func(what string, is func() bool) {
		t.Helper()
		frontdesktest.Eventually(t, what, func() bool {
			if is() {
				return true
			}
			_, err := inspector.RunAllRetryTasks("relay-crm")
			return err != nil && is()
		})
	}
	frontdesktest.Eventually(t, "every delivery waits for its next attempt", func() bool { return w.crm(r).Retrying == events })
	const most = 5 + 3 // three are in progress when the fifth fails
	if n := requests.Load(); n > most {
		t.Errorf("a subscriber that fails got %d requests for %d events", n, events)
	}
	w.clock.Advance(20 * time.Minute)
	if age := time.Duration(w.crm(r).AgeMs) * time.Millisecond; age < 20*time.Minute {
		t.Errorf("the oldest delivery waits for %s", age)
	}
	status.Store(http.StatusNoContent)
	again("every delivery succeeds", func() bool { return w.crm(r).Delivered == events })
	if s := w.crm(r); s.AgeMs != 0 || s.Retrying+s.Waiting+s.Dead > 0 {
		t.Errorf("then it is %+v", s)
	}
}

// TestFullQueueOfASubscriber: when too much waits for a subscriber, further deliveries are dead at once, and can be replayed.
func TestFullQueueOfASubscriber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.relayTo(w.gateway(), "http://127.0.0.1:1/events")
	if err := r.Enqueue(t.Context(), classEvents("first", 1)); err != nil {
		t.Fatal(err)
	}
	pipe := w.redis.Pipeline()
	for i := range 10_000 {
		id := fmt.Sprint("waiting-", i)
		pipe.HSet(t.Context(), "asynq:{relay-crm}:t:"+id, "state", "pending")
		pipe.LPush(t.Context(), "asynq:{relay-crm}:pending", id)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Enqueue(t.Context(), classEvents("second", 3)); err != nil {
		t.Fatal(err)
	}
	if s := w.crm(r); s.Waiting != 10_001 || s.Dead != 3 {
		t.Errorf("%d wait, and %d are dead", s.Waiting, s.Dead)
	}
	dead := must(t, func() (relay.Deliveries, error) { return r.Deliveries(t.Context(), relay.DeliveryDead) }).Items
	if d := dead[0]; d.Failures != 0 || !strings.Contains(d.LastError, "too many") {
		t.Errorf("a dead one: %+v", d)
	}
	if replayed, err := r.Replay(t.Context(), dead[0].ID, "ada"); err != nil || replayed.State != relay.DeliveryWaiting {
		t.Errorf("replayed: %+v, %v", replayed, err)
	}
}
