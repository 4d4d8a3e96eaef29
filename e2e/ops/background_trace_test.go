package ops_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// backgroundEnv is a gateway that exports its spans to a collector and relays to a subscriber.
type backgroundEnv struct {
	frontdesktest.Env
	t          *testing.T
	collector  *frontdesktest.Collector
	subscriber *subscriber
	gateway    *frontdesktest.Process
	c          *frontdesktest.Client
}

func newBackgroundEnv(t *testing.T) *backgroundEnv {
	t.Helper()
	env := &backgroundEnv{
		Env:        frontdesktest.NewEnv(t),
		t:          t,
		collector:  frontdesktest.NewCollector(t),
		subscriber: newSubscriber(t, "crm", http.StatusOK),
	}
	env.gateway, env.c = env.Gateway(
		t, "FRONTDESK_LOG_LEVEL=debug", "OTEL_EXPORTER_OTLP_ENDPOINT="+env.collector.URL, subscribe(t, env.subscriber.config()),
	)
	return env
}

// TestBackgroundTraces checks that background work, and the calls that it makes, are in the trace of
// their cause or in one of their own.
func TestBackgroundTraces(t *testing.T) {
	t.Parallel()
	env := newBackgroundEnv(t)
	event := env.sendEventOfOpenRegistration()
	env.payWithoutWebhook()
	env.enqueueOldJob()
	if err := env.gateway.Stop(); err != nil { // exports the last spans
		t.Fatal(err)
	}
	t.Run("event", func(t *testing.T) {
		webhook := env.one(t, event, "POST /v1/webhooks/club/:secret", nil)
		worked := env.one(t, event, "job club:events", webhook)
		if len(worked.Links) != 1 || !bytes.Equal(worked.Links[0].SpanId, webhook.SpanId) {
			t.Errorf("the work on events is linked to %v", worked.Links)
		}
		delivery := env.one(t, event, "job webhook:deliver", webhook)
		if said := attributes(delivery); said["subscriber"] != "crm" || said["status"] != "200" || said["attempt"] != "1" {
			t.Errorf("the delivery says %v", said)
		}
		refresh := env.one(t, event, "job registration:refresh", env.one(t, event, "job registration:due", worked))
		env.one(t, event, "club GetSale", refresh)
	})
	t.Run("payment that is due", func(t *testing.T) {
		if !env.anyUnder("advance", "cards get") {
			t.Errorf("no look at the payment without a webhook has a trace of its own")
		}
	})
	t.Run("rebuild", func(t *testing.T) {
		if !env.anyUnder("rebuild", "cards list") {
			t.Error("the comparison with the processor is not traced")
		}
	})
	t.Run("job without a trace", func(t *testing.T) {
		for _, job := range env.named("job club:events") {
			if len(job.ParentSpanId) == 0 {
				return
			}
		}
		t.Error("a job that names no trace has none of its own")
	})
}

// sendEventOfOpenRegistration sends an event about a contact whose registration is open, and returns
// the trace. A sweep that is due in the same moment may take the refresh that follows, which is then in
// the sweep's trace; the next event causes its own refresh.
func (b *backgroundEnv) sendEventOfOpenRegistration() []byte {
	b.t.Helper()
	b.c.Register()
	contacts := b.Upstreams.Sim.Contacts()
	body := fmt.Sprintf(
		`{"event":"contact.updated","data":{"object":{"contactId":%q,"clubId":"/demo/clubs/11"}}}`,
		contacts[len(contacts)-1].ID,
	)
	for i := range 4 {
		trace := fmt.Sprintf("4bf92f3577b34da6a3ce929d0e0e47%02x", i)
		refreshes := func() int { return strings.Count(b.gateway.Log(), `operation=GetSale`) }
		before := refreshes()
		b.c.Do("POST", demoIntake, body, traceparent("00-"+trace+"-"+browserSpan+"-01")).Into(http.StatusOK, nil)
		b.subscriber.await("the event", func(got []delivered) bool { return len(got) == i+1 })
		frontdesktest.Eventually(b.t, "the registration is read again", func() bool { return refreshes() > before })
		if regexp.MustCompile(`operation=GetSale .*traceId=` + trace).MatchString(b.gateway.Log()) {
			id, _ := hex.DecodeString(trace)
			return id
		}
	}
	b.t.Fatal("no refresh was made for an event")
	return nil
}

// payWithoutWebhook has a buyer pay who never returns, at a processor that sends no webhooks.
func (b *backgroundEnv) payWithoutWebhook() {
	b.t.Helper()
	b.c.SetProcessor(`{"webhooks":"drop"}`)
	b.c.Confirm(b.c.Pay(b.c.Register().Id), "4242424242424242")
	frontdesktest.Eventually(b.t, "a gateway has found the payment", func() bool { return len(b.Upstreams.Sim.Ledger()) == 1 })
}

// enqueueOldJob enqueues a job as a version without traces did.
func (b *backgroundEnv) enqueueOldJob() {
	b.t.Helper()
	options, err := redis.ParseURL(b.Redis)
	if err != nil {
		b.t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	queue := asynq.NewClientFromRedisClient(client)
	if _, err := queue.Enqueue(asynq.NewTask("club:events", nil), asynq.Queue("events")); err != nil {
		b.t.Fatal(err)
	}
	frontdesktest.Eventually(b.t, "the job is done", func() bool {
		info, err := asynq.NewInspectorFromRedisClient(client).GetQueueInfo("events")
		return err == nil && info.Pending+info.Active+info.Scheduled == 0
	})
}

func (b *backgroundEnv) named(name string) (found []*spans.Span) {
	for _, span := range b.collector.Spans() {
		if span.Name == name {
			found = append(found, span)
		}
	}
	return found
}

// one returns the span of a trace with a name and, unless nil, a parent.
func (b *backgroundEnv) one(t *testing.T, trace []byte, name string, parent *spans.Span) *spans.Span {
	t.Helper()
	for _, span := range b.collector.Find(trace, name) {
		if parent == nil || bytes.Equal(span.ParentSpanId, parent.SpanId) {
			return span
		}
	}
	var all []string
	for _, span := range b.collector.Spans() {
		if bytes.Equal(span.TraceId, trace) {
			all = append(all, span.Name)
		}
	}
	t.Fatalf("the trace has no %s at its place; it has %q", name, all)
	return nil
}

// anyUnder reports whether a trace begins with the root span, which caused the next one, and so on.
func (b *backgroundEnv) anyUnder(root string, below ...string) bool {
	under := map[string]bool{}
	for _, span := range b.named(root) {
		if len(span.ParentSpanId) == 0 {
			under[string(span.SpanId)] = true
		}
	}
	for _, name := range below {
		next := map[string]bool{}
		for _, span := range b.named(name) {
			if under[string(span.ParentSpanId)] {
				next[string(span.SpanId)] = true
			}
		}
		under = next
	}
	return len(under) > 0
}

// attributes returns a span's attributes, as text.
func attributes(span *spans.Span) map[string]string {
	said := map[string]string{}
	for _, a := range span.Attributes {
		said[a.Key] = a.Value.GetStringValue()
		if said[a.Key] == "" {
			said[a.Key] = fmt.Sprint(a.Value.GetIntValue())
		}
	}
	return said
}

// untracedLines are the lines that belong to no work: those of the start and of the end.
var untracedLines = regexp.MustCompile(`msg="(operators are served|FRONTDESK_[^"]*)"`)

// TestLogLinesCarryTraceIDs runs a journey that reaches all background work, and checks everything that
// is logged meanwhile, at the most detailed level.
func TestLogLinesCarryTraceIDs(t *testing.T) {
	t.Parallel()
	env := newBackgroundEnv(t)
	env.sendEventOfOpenRegistration()
	registration := env.c.Register()
	env.c.Confirm(env.c.Pay(registration.Id), "4242424242424242")
	env.c.AwaitPayment(registration.Id, api.Recorded)
	env.subscriber.setStatus(http.StatusInternalServerError)
	sendEvent(env.c, "class_event.updated") // a delivery that fails
	env.subscriber.await("the failing delivery", func(got []delivered) bool { return got[len(got)-1].Type == "class_event.updated" })
	env.c.Do("GET", "/readyz", nil)
	opsGet(t, env.gateway, "/metrics")
	env.c.Do("GET", "http://"+env.gateway.OpsAddress()+"/ops/payments/unknown-1", nil)
	env.c.Do("GET", "/v1/registrations/"+registration.Id+"-x", nil).Problem(api.RegistrationNotFound)
	frontdesktest.StopRedis(t, env.Redis)
	env.c.Do("GET", "/v1/registrations/"+registration.Id, nil).Problem(api.StorageUnavailable)
	env.c.Do("GET", "http://"+env.gateway.OpsAddress()+"/ops/payments", nil)
	frontdesktest.Eventually(
		t, "the sweep has complained",
		func() bool { return strings.Contains(env.gateway.Log(), `msg="open payments not swept"`) },
	)
	trace := regexp.MustCompile(`\btraceId=[0-9a-f]{32}\b`)
	seen := map[string]int{}
	for line := range strings.Lines(env.gateway.Log()) {
		said, _, _ := strings.Cut(line[strings.Index(line, "msg=")+4:], "=")
		seen[said]++
		if !trace.MatchString(line) && !untracedLines.MatchString(line) && !libraryLines.MatchString(line) {
			t.Errorf("no trace: %s", line)
		}
	}
	for _, want := range []string{
		"request", "club system", "payment moved", "request failed", "open payments not swept",
		"operator's request failed",
	} {
		found := false
		for said := range seen {
			found = found || strings.Contains(said, want)
		}
		if !found {
			t.Errorf("%q was not logged: %v", want, seen)
		}
	}
}

// libraryLines are the lines of libraries about their own connections, which are
// work outside any trace: the queue's, and the Redis client's between calls.
var libraryLines = regexp.MustCompile(`msg="(queue: |redis client")`)
