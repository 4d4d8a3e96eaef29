package background_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
)

// relayTo is what the background work of a gateway needs, with a subscriber called crm.
func (w *world) relayTo(g *gateway, url string) background.Config {
	w.Helper()
	return w.Background(g, background.Subscriber{Name: "crm", URL: url, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
}

// classEvents returns events that concern no contact.
func classEvents(name string, n int) (events []flows.Event) {
	for i := range n {
		events = append(events, flows.Event{ID: fmt.Sprint("evt_", name, "_", i), Type: "class_event.updated"})
	}
	return events
}

// crm returns the state of the subscriber.
func (w *world) crm(r *background.Relay) background.Subscription {
	w.Helper()
	return must(w, func() (background.Deliveries, error) { return r.Deliveries(w.Context(), "") }).Subscribers[0]
}

// TestFailingSubscriber: after a few failures in a row, what waits for a subscriber is not attempted. After a pause one
// delivery is; when it succeeds, all others follow. Meanwhile its age grows, also for a gateway that has just started.
func TestFailingSubscriber(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{
		"fails": func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) },
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testFailingSubscriber(t, fail)
		})
	}
}

func testFailingSubscriber(t *testing.T, fail http.HandlerFunc) {
	world := newWorld(t)
	var works atomic.Bool
	var mu sync.Mutex
	attempted := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		attempted[r.Header.Get("webhook-id")] = true
		mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the caller leaves
		if works.Load() {
			rw.WriteHeader(http.StatusNoContent)
			return
		}
		fail(rw, r)
	}))
	t.Cleanup(server.Close)
	cfg := world.relayTo(world.Gateway(), server.URL)
	cfg.Client.Timeout = time.Second
	relay := background.New(cfg).Relay
	const count = 150 // more than one page of the queue
	events := classEvents("first", count)
	for i := range events {
		events[i].At = world.Clock.Now()
	}
	if err := relay.Enqueue(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	world.RunBackground(cfg)
	inspector := asynq.NewInspectorFromRedisClient(world.Redis)
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
	frontdesktest.Eventually(t, "every delivery waits for its next attempt", func() bool { return world.crm(relay).Retrying == count })
	const most = 5 + 3 // three are in progress when the fifth fails
	mu.Lock()
	if n := len(attempted); n > most {
		t.Errorf("a subscriber that fails got %d of %d events", n, count)
	}
	mu.Unlock()
	world.Clock.Advance(20 * time.Minute)
	for name, one := range map[string]*background.Relay{
		"the gateway":                     relay,
		"a gateway that has just started": background.New(world.relayTo(world.Gateway(), server.URL)).Relay,
	} {
		// The age counts from the delivery's timestamp, in whole seconds.
		if age := time.Duration(world.crm(one).AgeMs) * time.Millisecond; age.Truncate(time.Second) != 20*time.Minute {
			t.Errorf("%s: the oldest delivery waits for %s", name, age)
		}
	}
	works.Store(true)
	again("every delivery succeeds", func() bool { return world.crm(relay).Delivered == count })
	if s := world.crm(relay); s.AgeMs != 0 || s.Retrying+s.Waiting+s.Dead > 0 {
		t.Errorf("then it is %+v", s)
	}
}

// TestFullQueueOfASubscriber: when too much waits for a subscriber, further deliveries are dead at once, and can be replayed.
func TestFullQueueOfASubscriber(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	relay := background.New(world.relayTo(world.Gateway(), "http://127.0.0.1:1/events")).Relay
	if err := relay.Enqueue(t.Context(), classEvents("first", 1)); err != nil {
		t.Fatal(err)
	}
	pipe := world.Redis.Pipeline()
	for i := range 10_000 {
		id := fmt.Sprint("waiting-", i)
		pipe.HSet(t.Context(), "asynq:{relay-crm}:t:"+id, "state", "pending")
		pipe.LPush(t.Context(), "asynq:{relay-crm}:pending", id)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := relay.Enqueue(t.Context(), classEvents("second", 3)); err != nil {
		t.Fatal(err)
	}
	if s := world.crm(relay); s.Waiting != 10_001 || s.Dead != 3 {
		t.Errorf("%d wait, and %d are dead", s.Waiting, s.Dead)
	}
	dead := must(t, func() (background.Deliveries, error) { return relay.Deliveries(t.Context(), background.DeliveryDead) }).Items
	if d := dead[0]; d.Failures != 0 || !strings.Contains(d.LastError, "too many") {
		t.Errorf("a dead one: %+v", d)
	}
	if replayed, err := relay.Replay(t.Context(), dead[0].ID, "ada"); err != nil || replayed.State != background.DeliveryWaiting {
		t.Errorf("replayed: %+v, %v", replayed, err)
	}
}

// TestRetrySchedule: the pauses grow, and together exceed a day.
func TestRetrySchedule(t *testing.T) {
	t.Parallel()
	var last, sum time.Duration
	for n, pause := range background.RetryPauses {
		if pause <= last {
			t.Errorf("after failure %d: %s", n, pause)
		}
		last, sum = pause, sum+pause
	}
	if n := len(background.RetryPauses); n != 10 || sum < 24*time.Hour || sum > 30*time.Hour {
		t.Errorf("%d retries over %s", n, sum)
	}
}
