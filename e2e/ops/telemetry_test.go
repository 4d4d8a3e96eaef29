package ops_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// opsGet reads a page of the operators' listener.
func opsGet(t *testing.T, process *frontdesktest.Process, path string) string {
	t.Helper()
	response, err := http.Get("http://" + process.OpsAddress() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d, %v: %s", path, response.StatusCode, err, text)
	}
	return string(text)
}

// scrape returns what Prometheus reads.
func scrape(t *testing.T, process *frontdesktest.Process) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(opsGet(t, process, "/metrics")))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// sum adds up the series of a metric that have the given labels, in pairs. It reports false if there
// are none.
func sum(families map[string]*dto.MetricFamily, name string, pairs ...string) (total float64, found bool) {
	for _, metric := range families[name].GetMetric() {
		labels := map[string]string{}
		for _, pair := range metric.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		fits := true
		for i := 0; i < len(pairs); i += 2 {
			fits = fits && labels[pairs[i]] == pairs[i+1]
		}
		if fits {
			total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			found = true
		}
	}
	return total, found
}

// TestJourneyCounters pays by card, and checks the metrics for it.
func TestJourneyCounters(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	before := scrape(t, mock)
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), "4242424242424242")
	client.AwaitPayment(registration.Id, api.Recorded)
	client.Do("DELETE", "/v1/registrations/"+registration.Id+"-x/payment", nil).Problem(api.RegistrationNotFound)
	client.Do("BREW", "/v1/nowhere/"+registration.Id, nil)
	var after map[string]*dto.MetricFamily
	for _, is := range []struct {
		name  string
		pairs []string
		want  float64
	}{
		{"frontdesk_http_requests_total", []string{"method", "POST", "route", "/v1/registrations", "status", "201", "code", "none"}, 1},
		{
			"frontdesk_http_requests_total",
			[]string{"route", "/v1/registrations/:id/payment", "status", "404", "code", "registration_not_found"}, 1,
		},
		{"frontdesk_http_requests_total", []string{"method", "other", "route", "other"}, 1},
		{"frontdesk_http_request_duration_seconds", []string{"route", "/v1/registrations"}, 1},
		{"frontdesk_upstream_calls_total", []string{"upstream", "club", "operation", "CreatePayment", "outcome", "accepted"}, 1},
		{"frontdesk_payment_transitions_total", []string{"from", "sending", "to", "recorded"}, 1},
		{"frontdesk_payment_transitions_total", []string{"from", "sending", "to", "in_doubt"}, 0},
	} {
		was, _ := sum(before, is.name, is.pairs...)
		// A response can arrive before the gateway has counted what led to it.
		frontdesktest.Eventually(t, fmt.Sprintf("%s%v grows by %g", is.name, is.pairs, is.want), func() bool {
			after = scrape(t, mock)
			now, _ := sum(after, is.name, is.pairs...)
			return now-was == is.want
		})
	}
	// The buyer's read and the webhook's job may both capture: the same request, by its key.
	captures, _ := sum(after, "frontdesk_upstream_calls_total", "upstream", "cards", "operation", "capture", "outcome", "accepted")
	if captures < 1 {
		t.Error("no capture was counted")
	}
	if up, _ := sum(after, "frontdesk_redis_up"); up != 1 {
		t.Error("Redis is said to be down")
	}
	if index := opsGet(t, mock, "/debug/pprof/"); !strings.Contains(index, "goroutine") {
		t.Errorf("no profiles: %s", index)
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} { // the public listener has none of these
		response, err := http.Get(mock.URL + path)
		if err != nil || response.StatusCode != http.StatusNotFound {
			t.Errorf("%s is served to everybody: %v, %v", path, response, err)
		}
		response.Body.Close()
	}
}

// TestInDoubtAgeMetric checks that operators see that a payment waits, and since when.
func TestInDoubtAgeMetric(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	c := frontdesktest.NewClient(t, mock.URL)
	inDoubtPayment(t, c)
	frontdesktest.Eventually(t, "the doubt and its age are among the metrics", func() bool {
		seen := scrape(t, mock)
		many, _ := sum(seen, "frontdesk_payments", "state", "in_doubt")
		age, _ := sum(seen, "frontdesk_payment_oldest_age_seconds", "state", "in_doubt")
		return many == 1 && age > 0 && age < 600
	})
}

// TestMetricsWithoutRedis checks that the counters are still served, in time, when Redis is down.
func TestMetricsWithoutRedis(t *testing.T) {
	t.Parallel()
	address := frontdesktest.NewRedis(t)
	gateway := frontdesktest.NewGateway(t, frontdesktest.NewUpstreams(t), address)
	if up, found := sum(scrape(t, gateway), "frontdesk_redis_up"); up != 1 || !found {
		t.Fatalf("Redis is said to be down: %g, %t", up, found)
	}
	frontdesktest.StopRedis(t, address)
	frontdesktest.Eventually(t, "the scrape says that Redis is down", func() bool {
		seen := scrape(t, gateway)
		up, found := sum(seen, "frontdesk_redis_up")
		_, counted := sum(seen, "frontdesk_payment_transitions_total")
		_, stale := sum(seen, "frontdesk_payments")
		return found && up == 0 && counted && !stale
	})
}

// TestJourneyIsOneTrace follows a start from the browser to the club system, and a webhook into the
// background, through a collector.
func TestJourneyIsOneTrace(t *testing.T) {
	t.Parallel()
	taken := frontdesktest.NewCollector(t)
	mock := frontdesktest.Start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+taken.URL)
	c := frontdesktest.NewClient(t, mock.URL)
	c.Do("GET", "/v1/clubs", nil, traceparent("00-"+browserTrace+"-"+browserSpan+"-00")).Into(http.StatusOK, nil)
	registration := c.Register()
	c.Confirm(c.Pay(registration.Id), "4242424242424242")
	c.AwaitPayment(registration.Id, api.Recorded)
	if err := mock.Stop(); err != nil { // exports the last spans
		t.Fatal(err)
	}
	id, parent := []byte("\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36"), []byte("\x00\xf0\x67\xaa\x0b\xa9\x02\xb7")
	request, call := taken.Find(id, "GET /v1/clubs"), taken.Find(id, "club NetworkNodes")
	switch {
	case len(request) != 1 || len(call) == 0:
		t.Fatalf("the browser's trace has %d requests and %d calls", len(request), len(call))
	case !bytes.Equal(request[0].ParentSpanId, parent):
		t.Errorf("the request's parent is %x", request[0].ParentSpanId)
	case !bytes.Equal(call[0].ParentSpanId, request[0].SpanId):
		t.Errorf("the call's parent is %x, the request is %x", call[0].ParentSpanId, request[0].SpanId)
	}
	events := map[string]bool{} // transitions, by their new state
	jobs := 0
	for _, span := range taken.Spans() {
		if span.Name == "advance" {
			jobs++
		}
		for _, event := range span.Events {
			for _, attribute := range event.Attributes {
				if attribute.Key == "to" {
					events[attribute.Value.GetStringValue()] = true
				}
			}
		}
	}
	if !events["recorded"] || !events["captured"] || jobs == 0 {
		t.Errorf("transitions %v, %d jobs", events, jobs)
	}
	for _, private := range []string{registration.Id, registration.Contact.Number, "4242424242424242", "/demo/", "127.0.0.1"} {
		if strings.Contains(taken.Raw(), private) {
			t.Errorf("the spans hold %q", private)
		}
	}
}
