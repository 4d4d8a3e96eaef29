package ops

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/jobs"
	"frontdesk/flows/payment"
	"frontdesk/flows/relay"
	"frontdesk/flows/signature"
	"frontdesk/flows/tracing"
	"frontdesk/flows/worker"
	"frontdesk/upstream/club"
)

// CollectorConfig are where it is read how things stand. Every field is required unless said.
type CollectorConfig struct {
	Payments  *payment.Machine
	Worker    *worker.Worker
	Catalogue *catalogue.Catalogue
	Relay     *relay.Relay
	Queue     *jobs.Queue
	SMS       *signature.SMSBudget // nil: codes are not counted
	Club      *club.Client
	Redis     redis.UniversalClient
	Ready     func(context.Context) []flows.Check
	Traces    trace.TracerProvider // keeps the spans of looks at all this
	Now       func() time.Time
	After     func(time.Duration) <-chan time.Time
}

// The figures of a scrape.
const (
	// redisTimeout: a scrape waits for Redis for so long and then goes without it; the
	// usual limit of a scrape is ten seconds.
	redisTimeout = 2 * time.Second
	// cacheTTL: several who scrape, and whoever reloads a page, cost one look.
	cacheTTL = 5 * time.Second
)

// RegisterCollector has every scrape tell how things stand as well. It is called once.
func (m *Metrics) RegisterCollector(s CollectorConfig) { m.registry.MustRegister(&collector{s: s}) }

// collector collects how things stand.
type collector struct {
	s CollectorConfig

	mu         sync.Mutex
	until      time.Time
	cached     []prometheus.Metric
	refreshing chan struct{} // closed when the look under way is over; nil: none is
}

// Describe implements prometheus.Collector. It names nothing: what there is
// depends on what is found.
func (*collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	sink := &sink{}
	c.processMetrics(sink)
	for _, metric := range append(sink.metrics, c.redisMetrics()...) {
		to <- metric
	}
}

// redisMetrics is what Redis knows, as it was seen a moment ago; when Redis does not answer
// in time, that it does not.
func (c *collector) redisMetrics() []prometheus.Metric {
	c.mu.Lock()
	if c.s.Now().Before(c.until) {
		defer c.mu.Unlock()
		return c.cached
	}
	if c.refreshing == nil {
		c.refreshing = make(chan struct{})
		go c.refresh(c.refreshing) // it ends: every call of Redis has its limit
	}
	over := c.refreshing
	c.mu.Unlock()
	select {
	case <-over:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.cached
	case <-c.s.After(redisTimeout):
		down := &sink{}
		down.gauge("frontdesk_redis_up", upHelp, 0)
		return down.metrics
	}
}

func (c *collector) refresh(over chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*redisTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, c.s.Traces, "", "scrape", trace.SpanKindInternal)
	defer span.End()
	found := &sink{}
	up := 0.0
	if c.s.Redis.Ping(ctx).Err() == nil && c.read(ctx, found) == nil {
		up = 1
	}
	found.gauge("frontdesk_redis_up", upHelp, up)
	c.checks(ctx, found)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cached, c.until, c.refreshing = found.metrics, c.s.Now().Add(cacheTTL), nil
	close(over)
}

const upHelp = "1 when Redis answered all that a scrape asks of it."

// processMetrics is what this process knows by itself.
func (c *collector) processMetrics(to *sink) {
	if lived := c.s.Worker.LastSweep(); !lived.IsZero() {
		to.gauge("frontdesk_worker_sweep_timestamp_seconds", "When the background work last swept everything and found Redis well.", float64(lived.UnixMilli())/1000)
	}
	if age, ok := c.s.Club.TokenAge(); ok {
		to.gauge("frontdesk_club_token_age_seconds", "How old the club system's access token is.", age.Seconds())
	}
	for kind, count := range c.s.Catalogue.Counts() {
		to.counter("frontdesk_catalogue_reads_total", "Reads of the catalogue: from memory (hit), or the other gateways or the club system (miss).", float64(count.Hits), "kind", kind, "result", "hit")
		to.counter("frontdesk_catalogue_reads_total", "", float64(count.Misses), "kind", kind, "result", "miss")
	}
	if c.s.SMS != nil {
		counts := c.s.SMS.Counts()
		to.counter("frontdesk_sms_codes_total", "SMS codes that the club system was asked to send, and that were entered.", float64(counts.Sent), "what", "sent")
		to.counter("frontdesk_sms_codes_total", "", float64(counts.Validated), "what", "validated")
		to.counter("frontdesk_sms_paused_total", "SMS codes that were not sent, to protect a club.", float64(counts.OverBudget), "why", "budget")
		to.counter("frontdesk_sms_paused_total", "", float64(counts.LowConversion), "why", "few_entered")
	}
	pool := c.s.Redis.PoolStats()
	to.gauge("frontdesk_redis_connections", "Connections to Redis.", float64(pool.IdleConns), "state", "idle")
	to.gauge("frontdesk_redis_connections", "", float64(pool.TotalConns-min(pool.IdleConns, pool.TotalConns)), "state", "busy")
	to.counter("frontdesk_redis_pool_timeouts_total", "Calls that found no free connection to Redis in time.", float64(pool.Timeouts))
}

// checks tells how that was found on which the gateway stands, as /readyz has it.
func (c *collector) checks(ctx context.Context, to *sink) {
	type check struct{ part, aspect string }
	fine := map[check]float64{}
	for _, d := range c.s.Ready(ctx) { // several servers of a Redis are one check
		of, ok := check{label(d.Part), label(d.Aspect)}, 0.0
		if d.Verdict == flows.OK {
			ok = 1
		}
		if before, known := fine[of]; known {
			ok = min(ok, before)
		}
		fine[of] = ok
	}
	for of, ok := range fine {
		to.gauge("frontdesk_check_ok", "1 when a check of what the gateway stands on was fine; see frontdesk doctor.", ok, "part", of.part, "aspect", of.aspect)
	}
}

// read reads what Redis knows.
func (c *collector) read(ctx context.Context, to *sink) error {
	counts, err := c.s.Payments.Counts(ctx)
	if err != nil {
		return err
	}
	c.payments(to, counts)
	if err := c.budget(ctx, to); err != nil {
		return err
	}
	queues, err := c.s.Queue.Queues(ctx)
	if err != nil {
		return err
	}
	for _, q := range queues {
		for state, jobs := range map[string]int{"pending": q.Pending, "active": q.Active, "scheduled": q.Scheduled, "retry": q.Retry, "archived": q.Archived} {
			to.gauge("frontdesk_queue_jobs", "Jobs in a queue of the background work.", float64(jobs), "queue", q.Name, "state", state)
		}
		to.gauge("frontdesk_queue_latency_seconds", "How long the oldest job has been waiting that could run.", float64(q.LatencyMs)/1000, "queue", q.Name)
	}
	deliveries, err := c.s.Relay.Deliveries(ctx, "")
	if err != nil {
		return err
	}
	c.relay(to, deliveries)
	memory, err := c.s.Redis.Info(ctx, "memory").Result()
	if err == nil {
		for name, help := range map[string]string{"used_memory": "Memory that Redis uses.", "maxmemory": "Memory that Redis may use; 0: no limit."} {
			if bytes, ok := infoField(memory, name); ok {
				to.gauge("frontdesk_redis_"+name+"_bytes", help, bytes)
			}
		}
	}
	return nil // a Redis that does not tell of its memory is well all the same
}

// budget tells how much of what clubs pay for SMS codes is used.
func (c *collector) budget(ctx context.Context, to *sink) error {
	if c.s.SMS == nil {
		return nil
	}
	uses, err := c.s.SMS.Usage(ctx)
	for _, use := range uses {
		within := "day"
		if use.Period == time.Hour {
			within = "hour"
		}
		to.gauge("frontdesk_sms_budget_codes", "SMS codes that the visitors of a club may be sent.", float64(use.Budget), "within", within)
		to.gauge("frontdesk_sms_budget_used_codes", "SMS codes that were sent to the visitors of the club that has used the most.", float64(use.Used), "within", within)
	}
	return err
}

func (c *collector) payments(to *sink, counts map[flows.PaymentState]payment.StateCount) {
	for _, state := range flows.PaymentStates {
		if state.Final() {
			continue
		}
		s, age := counts[state], 0.0
		if s.Payments > 0 {
			age = max(0, c.s.Now().Sub(s.Oldest).Seconds())
		}
		to.gauge("frontdesk_payments", "Payments that are not over.", float64(s.Payments), "state", string(state))
		to.gauge("frontdesk_payment_oldest_age_seconds", "How long the oldest payment has been in a state; 0 when there is none.", age, "state", string(state))
	}
}

func (c *collector) relay(to *sink, deliveries relay.Deliveries) {
	for kind, count := range deliveries.Received {
		if n, err := strconv.ParseFloat(count, 64); err == nil {
			to.counter("frontdesk_club_events_total", "Events of the club system that all gateways took, by name, and those that were unknown, foreign, unreadable or dropped.", n, "event", kind)
		}
	}
	if _, ok := deliveries.Received["dropped"]; !ok {
		to.counter("frontdesk_club_events_total", "", 0, "event", "dropped")
	}
	to.gauge("frontdesk_club_events_waiting", "Events that were stored and not worked on yet.", float64(deliveries.Pending))
	for _, s := range deliveries.Subscribers {
		for state, n := range map[relay.DeliveryState]int{relay.DeliveryWaiting: s.Waiting, relay.DeliveryRetrying: s.Retrying, relay.DeliveryDead: s.Dead, relay.DeliveryDelivered: s.Delivered} {
			to.gauge("frontdesk_relay_deliveries", "Deliveries to a subscriber; delivered ones are those of the last hour.", float64(n), "subscriber", s.Name, "state", string(state))
		}
		gone := 0.0
		if s.Gone {
			gone = 1
		}
		to.gauge("frontdesk_relay_gone", "1 when a subscriber said that it wants nothing more.", gone, "subscriber", s.Name)
	}
}

// infoField reads a figure of what Redis says of itself.
func infoField(info, name string) (float64, bool) {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			figure, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return figure, err == nil
		}
	}
	return 0, false
}

// sink gathers metrics that are made at the moment they are asked for.
type sink struct {
	metrics []prometheus.Metric
	helps   map[string]string // of a name, as it was given first
}

func (s *sink) gauge(name, help string, value float64, pairs ...string) {
	s.add(prometheus.GaugeValue, name, help, value, pairs)
}

func (s *sink) counter(name, help string, value float64, pairs ...string) {
	s.add(prometheus.CounterValue, name, help, value, pairs)
}

// add adds a metric; pairs are names and values of its labels, and help may be
// left out where the name was used before.
func (s *sink) add(kind prometheus.ValueType, name, help string, value float64, pairs []string) {
	if s.helps == nil {
		s.helps = map[string]string{}
	}
	if help == "" {
		help = s.helps[name]
	}
	s.helps[name] = help
	var names, values []string
	for i := 0; i < len(pairs); i += 2 {
		names, values = append(names, pairs[i]), append(values, pairs[i+1])
	}
	s.metrics = append(s.metrics, prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...))
}
