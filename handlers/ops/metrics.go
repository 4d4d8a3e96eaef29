package ops

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/handlers"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// MetricsConfig is what metrics need; every field is required.
type MetricsConfig struct {
	Version string // of the binary
	Mode    string // mock, test or live
}

// Metrics counts what passes through the gateway, and serves the counters and the gauges of
// collector.go to Prometheus. Every label comes from a list in the code, such as routes,
// operations, states and codes: never from a path, an id, an address or a visitor's text. Nil
// counts no calls and no connections to Redis, for commands without metrics.
type Metrics struct {
	registry    *prometheus.Registry
	served      http.Handler
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	calls       *prometheus.CounterVec
	waits       *prometheus.HistogramVec
	transitions *prometheus.CounterVec
	problems    *prometheus.CounterVec
	redisCalls  *prometheus.CounterVec
	redisTimes  prometheus.Histogram
	streams     prometheus.Gauge
	admissions  *prometheus.CounterVec
	places      prometheus.Gauge
	placesTaken prometheus.Gauge
}

// requestBuckets, in seconds: a response from memory takes a millisecond, one from the club
// system half a second, and none more than a minute.
var requestBuckets = []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// callBuckets, in seconds: reads end after 8, writes after 15, the payment after 30.
var callBuckets = []float64{.01, .05, .1, .25, .5, 1, 2, 4, 8, 15, 30}

// redisBuckets, in seconds: a command takes a millisecond, with fsync on every write a few, and
// is given up after a second.
var redisBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}

// NewMetrics returns the counters. RegisterCollector adds the gauges.
func NewMetrics(cfg MetricsConfig) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	metrics := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("frontdesk_http_requests_total",
			"Requests with a response; code is that of the problem document, or none.", "method", "route", "status", "code"),
		durations: histogram("frontdesk_http_request_duration_seconds",
			"How long responses took, without event streams.", requestBuckets, "method", "route"),
		calls: counter("frontdesk_upstream_calls_total",
			"Calls to the club system and the card processor, by outcome.", "upstream", "operation", "outcome"),
		waits:       histogram("frontdesk_upstream_call_duration_seconds", "How long they took.", callBuckets, "upstream", "operation"),
		transitions: counter("frontdesk_payment_transitions_total", "Transitions of payments.", "from", "to"),
		problems: counter("frontdesk_card_problems_total",
			"Problems with the card processor: payments that it misses, refused creations, unreadable records.", "problem"),
		redisCalls: counter("frontdesk_redis_calls_total", "Calls of Redis: answered, refused by it, or failed.", "outcome"),
		redisTimes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "frontdesk_redis_call_duration_seconds",
			Help:    "How long calls to Redis took.",
			Buckets: redisBuckets,
		}),
		streams: gauge("frontdesk_event_streams_open", "Streams of events that front ends hold open."),
		admissions: counter("frontdesk_admissions_total",
			"Requests by class, and whether they were admitted, queued first, or turned away and why.", "class", "outcome"),
		places:      gauge("frontdesk_admission_limit", "How many requests are worked on at once before others are turned away."),
		placesTaken: gauge("frontdesk_admission_in_progress", "How many of these places were taken at the latest decision."),
	}
	build := prometheus.GaugeOpts{Name: "frontdesk_build_info", Help: "What runs; always 1."}
	info := prometheus.NewGaugeVec(build, []string{"version", "mode"})
	info.WithLabelValues(cfg.Version, cfg.Mode).Set(1)
	metrics.registry.MustRegister(metrics.requests, metrics.durations, metrics.calls, metrics.waits, metrics.transitions, metrics.problems,
		metrics.redisCalls, metrics.redisTimes,
		metrics.streams, metrics.admissions, metrics.places, metrics.placesTaken, info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.served = promhttp.HandlerFor(metrics.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	metrics.openSeries()
	return metrics
}

// openSeries starts the series of alerts at zero: a series that begins at one has no rate.
func (m *Metrics) openSeries() {
	for _, outcome := range []club.Outcome{club.Accepted, club.Refused, club.Rejected, club.NotSent, club.Unknown} {
		m.calls.WithLabelValues("club", "Token", string(outcome))
		m.calls.WithLabelValues("club", "CreatePayment", string(outcome))
	}
	m.calls.WithLabelValues("cards", "get", string(club.Unknown))
	for _, outcome := range []string{"answered", "refused", "failed"} {
		m.redisCalls.WithLabelValues(outcome)
	}
	for class, outcomes := range handlers.Admissions {
		for _, outcome := range outcomes {
			m.admissions.WithLabelValues(class, outcome)
		}
	}
	for _, problem := range []string{payment.ProblemMissing, payment.ProblemCreationRefused, payment.ProblemUnreadable} {
		m.problems.WithLabelValues(problem)
	}
	for _, from := range flows.PaymentStates {
		for _, to := range flows.PaymentStates {
			if from.CanBecome(to) {
				m.transitions.WithLabelValues(string(from), string(to))
			}
		}
	}
	for _, code := range []flows.Code{flows.WebhookUntrusted, flows.MalformedRequest, flows.StorageUnavailable} {
		m.requests.WithLabelValues(http.MethodPost, "/v1/webhooks/card", strconv.Itoa(handlers.StatusOf(code)), string(code))
	}
}

// ServeHTTP serves a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.served.ServeHTTP(w, r) }

// methods become labels. Callers may make up others.
var methods = []string{
	http.MethodGet,
	http.MethodHead,
	http.MethodPost,
	http.MethodPut,
	http.MethodPatch,
	http.MethodDelete,
	http.MethodOptions,
}

// CountRequest counts a request. Event streams have no duration.
func (m *Metrics) CountRequest(r handlers.RequestInfo) {
	method, route := r.Method, cmp.Or(r.Route, "other")
	if !slices.Contains(methods, method) {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(r.Status), cmp.Or(r.Code, "none")).Inc()
	if !strings.HasSuffix(route, "/events") {
		m.durations.WithLabelValues(method, route).Observe(r.DurationMs / 1000)
	}
}

// CountStream counts event streams: 1 more, or -1.
func (m *Metrics) CountStream(by int) { m.streams.Add(float64(by)) }

// CountAdmission counts a decision, and shows the limit that it was made under.
func (m *Metrics) CountAdmission(a handlers.Admission) {
	m.admissions.WithLabelValues(a.Class, a.Outcome).Inc()
	m.places.Set(float64(a.Limit))
	m.placesTaken.Set(float64(a.Places))
}

// CountClubCall counts a request to the club system.
func (m *Metrics) CountClubCall(a club.Attempt) {
	m.countCall("club", a.Operation, string(a.Outcome), a.Took)
}

// CountCardCall counts a call to the card processor.
func (m *Metrics) CountCardCall(a cards.Call) {
	m.countCall("cards", a.Operation, a.Outcome, a.Took)
}

func (m *Metrics) countCall(upstream, operation, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(upstream, operation, outcome).Inc()
	if took > 0 { // zero: it was held back
		m.waits.WithLabelValues(upstream, operation).Observe(took.Seconds())
	}
}

func label(word string) string { return strings.ReplaceAll(word, " ", "_") }

// CountTransition counts a payment's transition.
func (m *Metrics) CountTransition(from, to flows.PaymentState) {
	m.transitions.WithLabelValues(string(from), string(to)).Inc()
}

// CountCardProblem counts a problem with the card processor, see payment.Config.
func (m *Metrics) CountCardProblem(problem string) { m.problems.WithLabelValues(problem).Inc() }

// InstrumentRedis counts and times the calls of a Redis client, those of the queue included. It
// must be called before the first of them.
func (m *Metrics) InstrumentRedis(client redis.UniversalClient, now func() time.Time) {
	if m != nil {
		client.AddHook(redisCalls{m, now})
	}
}

// redisCalls implements redis.Hook. A pipeline is one call.
type redisCalls struct {
	m   *Metrics
	now func() time.Time
}

func (redisCalls) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r redisCalls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, call redis.Cmder) error {
		return r.count(func() error { return next(ctx, call) })
	}
}

func (r redisCalls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, calls []redis.Cmder) error {
		return r.count(func() error { return next(ctx, calls) })
	}
}

// count distinguishes what Redis refuses, such as a script that it does not have yet, from calls
// without a response.
func (r redisCalls) count(call func() error) error {
	begun := r.now()
	err := call()
	outcome := "failed"
	if err == nil || errors.Is(err, redis.Nil) {
		outcome = "answered"
	} else if _, ok := errors.AsType[redis.Error](err); ok {
		outcome = "refused"
	}
	r.m.redisCalls.WithLabelValues(outcome).Inc()
	r.m.redisTimes.Observe(r.now().Sub(begun).Seconds())
	return err
}
