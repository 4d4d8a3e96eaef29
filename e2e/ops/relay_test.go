package ops_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hibiken/asynq"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/upstream/clubsim"
)

const subscriberSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" //nolint:gosec // the example of the Standard Webhooks specification

// delivered is one delivery to a subscriber.
type delivered struct {
	id   string
	Type string
	Data map[string]any
	text string
}

// subscriber is another server that verifies what it receives.
type subscriber struct {
	*httptest.Server
	name string
	t    *testing.T

	mu     sync.Mutex
	status int
	got    []delivered
}

func newSubscriber(t *testing.T, name string, status int) *subscriber {
	t.Helper()
	s := &subscriber{t: t, name: name, status: status}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// ServeHTTP accepts a delivery if it is signed, and responds as configured.
func (s *subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the gateway was killed meanwhile
	}
	verifier, err := standardwebhooks.NewWebhook(subscriberSecret)
	if err != nil || verifier.Verify(text, r.Header) != nil || r.Method != http.MethodPost ||
		r.Header.Get("Content-Type") != "application/json" {
		s.t.Errorf("%s got %s %v %s", s.name, r.Method, r.Header, text)
	}
	frontdesktest.ValidateDelivery(s.t, text, r.Header)
	delivery := delivered{id: r.Header.Get("webhook-id"), text: string(text)}
	if err := json.Unmarshal(text, &delivery); err != nil {
		s.t.Errorf("%s got %s", s.name, text)
	}
	s.mu.Lock()
	s.got = append(s.got, delivery)
	status := s.status
	s.mu.Unlock()
	w.WriteHeader(status)
}

func (s *subscriber) setStatus(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *subscriber) deliveries() []delivered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// ids returns the distinct ids of the received events.
func (s *subscriber) ids() map[string]bool {
	ids := map[string]bool{}
	for _, d := range s.deliveries() {
		ids[d.id] = true
	}
	return ids
}

func (s *subscriber) await(what string, is func([]delivered) bool) {
	s.t.Helper()
	frontdesktest.Eventually(s.t, s.name+": "+what, func() bool { return is(s.deliveries()) })
}

// subscribe returns the environment of a gateway that relays to subscribers.
func subscribe(t *testing.T, to ...background.Subscriber) string {
	t.Helper()
	text, err := json.Marshal(to)
	if err != nil {
		t.Fatal(err)
	}
	return "FRONTDESK_SUBSCRIBERS=" + string(text)
}

func (s *subscriber) config(events ...string) background.Subscriber {
	return background.Subscriber{Name: s.name, URL: s.URL + "/hooks?key=hidden", Secret: subscriberSecret, Events: events}
}

// sendEvent sends a gateway an event as the club system does.
func sendEvent(c *frontdesktest.Client, event string) {
	body := fmt.Sprintf(`{"event":%q,"data":{"object":{"classEventId":"/demo/class_events/1","clubId":"/demo/clubs/11"}}}`, event)
	c.Do("POST", demoIntake, body).Into(http.StatusOK, nil)
}

// command runs one of the operators' commands next to a gateway.
func command(t *testing.T, at string, words ...string) (said string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t), words...)
	cmd.Env = []string{"FRONTDESK_OPS_ADDR=" + at}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func mustCommand(t *testing.T, at string, words ...string) string {
	t.Helper()
	said, ok := command(t, at, words...)
	if !ok {
		t.Fatalf("%s: %s", strings.Join(words, " "), said)
	}
	return said
}

// TestRelay checks that subscribers get every event that they subscribe to, signed, with no more than
// the public API's identifiers.
func TestRelay(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	all, contacts := newSubscriber(t, "all", 204), newSubscriber(t, "contacts", 200)
	process, client := env.Gateway(t, subscribe(t, all.config(), contacts.config("contact.*")))
	webhooks(t, env, process, "normal")
	registration := client.Register()
	client.RequestPayment(registration.Id, map[string]string{"method": "desk", "mean": "cash"}, frontdesktest.StaffKey()).
		Into(http.StatusCreated, nil)
	for _, name := range clubsim.EventNames() {
		if _, err := env.Upstreams.Sim.Emit(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	client.Do(
		"POST", demoIntake,
		`{"event":"contact.exploded","data":{"object":{"contactId":"/demo/contacts/7","name":"Ada","clubId":{"name":"Ada"}}}}`,
	)
	client.Do("POST", demoIntake, `{"event":"contact.updated","data":{"object":{"contactId":"/other/contacts/7"}}}`) // not ours
	happened := map[string]int{"contact.exploded": 1, "payment.recorded": 1, "registration.completed": 1}
	for _, event := range env.Upstreams.Sim.Events() {
		happened[event.Event]++
	}
	count := func(of []delivered) map[string]int {
		names := map[string]int{}
		for _, d := range of {
			names[d.Type]++
		}
		return names
	}
	all.await("every event", func(got []delivered) bool { return maps.Equal(count(got), happened) })
	maps.DeleteFunc(happened, func(name string, _ int) bool { return !strings.HasPrefix(name, "contact.") })
	contacts.await("every event of contacts", func(got []delivered) bool { return maps.Equal(count(got), happened) })
	if n := len(all.ids()); n != len(all.deliveries()) {
		t.Errorf("%d deliveries have %d ids", len(all.deliveries()), n)
	}
	for id := range contacts.ids() {
		if !all.ids()[id] {
			t.Errorf("event %s has another id for another subscriber", id)
		}
	}
	for _, d := range all.deliveries() {
		if d.Type == "registration.completed" { // its confirmation names the buyer
			continue
		}
		if strings.Contains(d.text, "demo") || strings.Contains(d.text, "Ada") || strings.Contains(d.text, "indent") || len(d.Data) == 0 {
			t.Errorf("%s", d.text)
		}
	}
	said := mustCommand(t, process.OpsAddress(), "webhooks", "list")
	if strings.Contains(said, "hidden") || !strings.Contains(said, "foreign 1") {
		t.Errorf("it lists %s", said)
	}
}

// TestRelaySurvivesKill kills a gateway while events come in. Another gateway delivers each event that
// was acknowledged.
func TestRelaySurvivesKill(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	to := newSubscriber(t, "crm", 204)
	doomed, c := env.Gateway(t, subscribe(t, to.config()))
	const events = 60
	for range events {
		sendEvent(c, "class_event.updated")
	}
	doomed.Kill()
	early := len(to.ids())
	_, _ = env.Gateway(t, subscribe(t, to.config()))
	to.await("every event", func([]delivered) bool { return len(to.ids()) == events })
	t.Logf("%d events were delivered before the kill", early)
}

// TestSlowSubscriberDoesNotDelayOthers checks that a slow subscriber delays no other.
func TestSlowSubscriberDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	var held sync.WaitGroup
	held.Add(1)
	reached := make(chan struct{}, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached <- struct{}{}
		held.Wait()
	}))
	t.Cleanup(func() { held.Done(); slow.CloseClientConnections(); slow.Close() })
	fast := newSubscriber(t, "fast", 204)
	stalled := background.Subscriber{Name: "slow", URL: slow.URL, Secret: subscriberSecret}
	process, client := env.Gateway(t, subscribe(t, stalled, fast.config()))
	for range 100 {
		sendEvent(client, "class_event.updated")
	}
	frontdesktest.Receive(t, reached, "a delivery to the slow one")
	fast.await("every event", func([]delivered) bool { return len(fast.ids()) == 100 })
	registration := client.Register() // nor does it delay a visitor's payment
	payment := client.Pay(registration.Id)
	client.Confirm(payment, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	var stand background.Deliveries
	client.Do("GET", "http://"+process.OpsAddress()+"/ops/webhooks", nil).Into(http.StatusOK, &stand)
	// Besides, both get the events of Frontdesk itself.
	if slow := stand.Subscribers[0]; slow.Name != "slow" || slow.Delivered != 0 || slow.Waiting+slow.Retrying < 100 {
		t.Errorf("the slow one: %+v", slow)
	}
}

// exhaustRetries makes all attempts of deliveries at once.
func exhaustRetries(t *testing.T, s frontdesktest.Env, queue string) {
	t.Helper()
	options, err := asynq.ParseRedisURI(s.Redis)
	if err != nil {
		t.Fatal(err)
	}
	inspector := asynq.NewInspector(options)
	defer inspector.Close()
	frontdesktest.Eventually(t, "every delivery is dead", func() bool {
		if _, err := inspector.RunAllRetryTasks(queue); err != nil {
			return false // nothing was enqueued yet
		}
		info, err := inspector.GetQueueInfo(queue)
		return err == nil && info.Archived > 0 && info.Size == info.Archived+info.Completed
	})
}

// TestDeadLetters replays deliveries by hand to a subscriber that was away too long.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	to := newSubscriber(t, "crm", 503)
	process, client := env.Gateway(t, subscribe(t, to.config()))
	expectAll(t, mustCommand(t, process.OpsAddress(), "webhooks", "list"), "crm", "127.0.0.1:")
	expectAll(t, mustCommand(t, process.OpsAddress(), "webhooks", "replay", "--dead", "crm"), "0 deliveries")
	for _, event := range []string{"class_event.updated", "class_event.canceled", "attendee.booked"} {
		sendEvent(client, event)
	}
	to.await("three events", func([]delivered) bool { return len(to.ids()) == 3 })
	retrying := "http://" + process.OpsAddress() + "/ops/webhooks?state=retrying"
	var stand background.Deliveries
	frontdesktest.Eventually(t, "three are retried", func() bool {
		client.Do("GET", retrying, nil).Into(http.StatusOK, &stand)
		return len(stand.Items) == 3
	})
	if d := stand.Items[0]; d.Failures != 1 || d.LastError != "status 503" || d.Next == nil || d.LastFailed == nil || d.Body != "" {
		t.Errorf("one that is retried: %+v", d)
	}
	exhaustRetries(t, env, "relay-crm")
	if n := len(to.deliveries()); n != 33 {
		t.Errorf("%d tries of three deliveries", n)
	}
	said := mustCommand(t, process.OpsAddress(), "webhooks", "list", "--state", "dead")
	expectAll(t, said, "crm", "dead", "11", "status 503", "class_event.canceled")
	id := to.deliveries()[0].id
	delivery := id + "@crm"
	expectAll(t, mustCommand(t, process.OpsAddress(), "webhooks", "show", delivery), "dead, 11 failures", `{"type":"`, `"clubId":"11"`)

	to.setStatus(204)
	before := len(to.deliveries())
	mustCommand(t, process.OpsAddress(), "webhooks", "replay", delivery)
	to.await("the replay", func(got []delivered) bool { return len(got) == before+1 && got[before].id == id })
	frontdesktest.Eventually(t, "it is delivered", func() bool {
		said, ok := command(t, process.OpsAddress(), "webhooks", "show", delivery)
		return ok && strings.Contains(said, "delivered")
	})
	expectAll(t, mustCommand(t, process.OpsAddress(), "webhooks", "replay", "--dead", "crm"), "2 deliveries to crm")
	to.await("the other two", func(got []delivered) bool { return len(got) == before+3 })
	mustCommand(t, process.OpsAddress(), "webhooks", "replay", delivery) // completed deliveries can be sent again, too
	to.await("the first again", func(got []delivered) bool { return len(got) == before+4 })
	if len(to.ids()) != 3 {
		t.Errorf("three events have %d ids", len(to.ids()))
	}
	for words, want := range map[string]string{
		"replay":                              "name either",
		"replay x --dead crm":                 "name either",
		"replay unknown":                      "delivery does not exist",
		"replay " + id + "@erp":               "delivery does not exist",
		"show evt_1@crm":                      "delivery does not exist",
		"replay --dead erp":                   "subscriber does not exist",
		"enable erp":                          "subscriber does not exist",
		"list --state lost":                   "waiting, retrying, dead or delivered",
		"enable crm --operator-token guessed": "is not known here",
		"replay " + delivery + " --operator-token guessed": "is not known here",
	} {
		said, ok := command(t, process.OpsAddress(), append([]string{"webhooks"}, strings.Fields(words)...)...)
		if ok || !strings.Contains(said, want) {
			t.Errorf("webhooks %s: %t, %s", words, ok, said)
		}
	}
}

// TestSubscriberGone checks that a subscriber gets nothing after a 410, until an operator says so.
func TestSubscriberGone(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	to, other := newSubscriber(t, "crm", 410), newSubscriber(t, "lake", 204)
	process, client := s.Gateway(t, subscribe(t, to.config(), other.config()))
	sendEvent(client, "class_event.updated")
	to.await("the first", func(got []delivered) bool { return len(got) == 1 })
	frontdesktest.Eventually(t, "it is gone", func() bool {
		return strings.Contains(mustCommand(t, process.OpsAddress(), "webhooks", "list"), "gone: nothing is sent")
	})
	sendEvent(client, "class_event.canceled")
	other.await("both", func(got []delivered) bool { return len(got) == 2 })
	to.setStatus(204)
	expectAll(t, mustCommand(t, process.OpsAddress(), "webhooks", "enable", "crm"), "crm is enabled")
	sendEvent(client, "attendee.booked")
	to.await("what came after that", func(got []delivered) bool { return len(got) == 2 && got[1].Type == "attendee.booked" })
	expectAll(t, mustCommand(t, process.OpsAddress(), "webhooks", "list"), "status 410") // the first one is dead, and can be replayed
}

// TestRedirectsAreNotFollowed checks that a subscriber cannot redirect a delivery.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	inside := newSubscriber(t, "inside", 204)
	outside := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusPermanentRedirect))
	t.Cleanup(outside.Close)
	process, c := s.Gateway(t, subscribe(t, background.Subscriber{Name: "crm", URL: outside.URL, Secret: subscriberSecret}))
	sendEvent(c, "class_event.updated")
	frontdesktest.Eventually(t, "it failed", func() bool {
		return strings.Contains(mustCommand(t, process.OpsAddress(), "webhooks", "list"), "status 308")
	})
	if n := len(inside.deliveries()); n != 0 {
		t.Errorf("%d deliveries were led elsewhere", n)
	}
}

func TestBadInputOfWebhookOperators(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	base := "http://" + mock.OpsAddress() + "/ops/"
	for name, test := range map[string]struct {
		method, path string
		body         any
		status       int
		code         flows.Code
	}{
		"unknown state":      {"GET", "webhooks?state=lost", nil, 422, flows.InvalidRequest},
		"unknown delivery":   {"GET", "webhooks/evt_1@crm", nil, 404, flows.NotFound},
		"replay of nothing":  {"POST", "webhooks/evt_1@crm/replay", `{}`, 404, flows.NotFound},
		"replay, no JSON":    {"POST", "webhooks/evt_1@crm/replay", `by=ada`, 400, flows.MalformedRequest},
		"replay, member":     {"POST", "webhooks/evt_1@crm/replay", `{"all":true}`, 400, flows.MalformedRequest},
		"replay, too large":  {"POST", "webhooks/evt_1@crm/replay", strings.Repeat(" ", 5000), 413, flows.TooLarge},
		"unknown subscriber": {"POST", "subscribers/crm/replay", `{}`, 404, flows.NotFound},
		"a typed name":       {"POST", "subscribers/crm/replay", `{"by":"ada"}`, 400, flows.MalformedRequest},
		"enable unknown":     {"POST", "subscribers/crm/enable", `{}`, 404, flows.NotFound},
		"enable, too large":  {"POST", "subscribers/crm/enable", strings.Repeat(" ", 5000), 413, flows.TooLarge},
		"wrong method":       {"DELETE", "webhooks", nil, 405, flows.MethodNotAllowed},
		"queues are read":    {"POST", "queue", `{}`, 405, flows.MethodNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			var problem api.Problem
			client.WithT(t).Do(test.method, base+test.path, test.body).Into(test.status, &problem)
			if flows.Code(problem.Code) != test.code {
				t.Errorf("%+v", problem)
			}
		})
	}
	sendEvent(client, "class_event.updated")
	frontdesktest.Eventually(t, "the queues are there", func() bool {
		var queues struct{ Items []background.QueueState }
		client.Do("GET", base+"queue", nil).Into(http.StatusOK, &queues)
		return len(queues.Items) == 3 && queues.Items[0].Name == "payments" && queues.Items[1].Name == "verifications" &&
			queues.Items[2].Name == "events"
	})
}
