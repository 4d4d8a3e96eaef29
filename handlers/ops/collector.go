package ops

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/singleflight"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/statements"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/club"
)

// CollectorConfig lists the sources of the gauges. Every field is required unless noted.
type CollectorConfig struct {
	Payments      *payment.Machine
	Background    *background.Worker
	Statements    *statements.Service
	Registrations *registration.Service
	Catalogue     *catalogue.Catalogue
	SMS           *registration.SMSBudget // nil: codes are not counted
	Club          *club.Client
	// ClientToken is that of the organisation whose limits of calls are shown.
	ClientToken string
	Redis       redis.UniversalClient
	Ready       func(context.Context) []flows.Check
	Traces      trace.TracerProvider // exports the spans of scrapes
	Now         func() time.Time
	After       func(time.Duration) <-chan time.Time
}

const (
	// redisTimeout is how long a scrape waits for Redis before it continues without; the usual
	// limit of a scrape is ten seconds.
	redisTimeout = 2 * time.Second
	// cacheTTL makes several scrapers, and a page that is reloaded, cost one read of Redis.
	cacheTTL = 5 * time.Second
)

// RegisterCollector adds gauges that are read at each scrape. It must be called once.
func (m *Metrics) RegisterCollector(cfg CollectorConfig) {
	m.registry.MustRegister(&collector{cfg: cfg})
}

// collector implements prometheus.Collector.
type collector struct {
	cfg    CollectorConfig
	flight singleflight.Group
	until  time.Time
	cached metrics // of Redis
}

// Describe implements prometheus.Collector. It names nothing: the metrics depend on what is found.
func (*collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	var own metrics
	c.processMetrics(&own)
	for _, metric := range append(own, c.redisMetrics()...) {
		to <- metric
	}
}

// redisMetrics returns what Redis knows, at most cacheTTL old, or only that Redis does not
// answer in time.
func (c *collector) redisMetrics() metrics {
	found := c.flight.DoChan("", func() (any, error) { return c.refresh(), nil }) // it ends: every call to Redis has its limit
	select {
	case result := <-found:
		return result.Val.(metrics)
	case <-c.cfg.After(redisTimeout):
		var down metrics
		down.gauge("frontdesk_redis_up", upHelp, 0)
		return down
	}
}

// refresh reads Redis, unless that was done a moment ago. One call runs at a time.
func (c *collector) refresh() metrics {
	if c.cfg.Now().Before(c.until) {
		return c.cached
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*redisTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, c.cfg.Traces, "", "scrape", trace.SpanKindInternal)
	defer span.End()
	var found metrics
	up := c.cfg.Redis.Ping(ctx).Err() == nil && c.read(ctx, &found) == nil
	found.gauge("frontdesk_redis_up", upHelp, oneIf(up))
	c.checks(ctx, &found)
	c.cached, c.until = found, c.cfg.Now().Add(cacheTTL)
	return found
}

const upHelp = "1 when Redis answered all that a scrape asks of it."

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// processMetrics reads what this process knows without Redis.
func (c *collector) processMetrics(to *metrics) {
	if lived := c.cfg.Background.LastSweep(); !lived.IsZero() {
		to.gauge("frontdesk_worker_sweep_timestamp_seconds",
			"When the background work last swept everything and found Redis well.", float64(lived.UnixMilli())/1000)
	}
	if age, ok := c.cfg.Club.TokenAge(); ok {
		to.gauge("frontdesk_club_token_age_seconds", "How old the club system's access token is.", age.Seconds())
	}
	for _, left := range c.cfg.Club.Unreadable() {
		to.counter("frontdesk_club_unreadable_records_total", "Records of the club system that were left out because of a field.",
			float64(left.Count), "operation", left.Operation, "field", left.Field)
	}
	c.callLimits(to)
	for kind, count := range c.cfg.Catalogue.Counts() {
		for result, n := range map[string]uint64{"hit": count.Hits, "miss": count.Misses} {
			to.counter("frontdesk_catalogue_reads_total",
				"Reads of the catalogue: from memory (hit), or the other gateways or the club system (miss).",
				float64(n), "kind", kind, "result", result)
		}
	}
	if c.cfg.SMS != nil {
		counts := c.cfg.SMS.Counts()
		for what, n := range map[string]int64{"sent": counts.Sent, "validated": counts.Validated} {
			to.counter("frontdesk_sms_codes_total",
				"SMS codes that the club system was asked to send, and that were entered.", float64(n), "what", what)
		}
		for why, n := range map[string]int64{"budget": counts.OverBudget, "few_entered": counts.LowConversion} {
			to.counter("frontdesk_sms_paused_total", "SMS codes that were not sent, to protect a club.", float64(n), "why", why)
		}
	}
	pool := c.cfg.Redis.PoolStats()
	idle := min(pool.IdleConns, pool.TotalConns)
	for state, n := range map[string]uint32{"idle": idle, "busy": pool.TotalConns - idle} {
		to.gauge("frontdesk_redis_connections", "Connections to Redis.", float64(n), "state", state)
	}
	to.counter("frontdesk_redis_pool_timeouts_total", "Calls that found no free connection to Redis in time.", float64(pool.Timeouts))
}

// callLimits reports the API gateway's limits as this gateway saw them last, if there are any, and the calls that they affected.
func (c *collector) callLimits(to *metrics) {
	seen, held, unshared := c.cfg.Club.CallLimits(c.cfg.ClientToken)
	for name, limit := range map[string]club.CallLimit{"rate": seen.Rate, "quota": seen.Quota} {
		if limit.Limit == 0 {
			continue
		}
		to.gauge("frontdesk_club_limit_calls", "Calls that the club system's API gateway allows in a period.",
			float64(limit.Limit), "limit", name)
		to.gauge("frontdesk_club_limit_remaining_calls", "Those that were left at the latest response.", float64(limit.Remaining), "limit", name)
		to.gauge("frontdesk_club_limit_reset_timestamp_seconds", "When all are available again.",
			float64(limit.Reset.UnixMilli())/1000, "limit", name)
	}
	for lane, calls := range held {
		to.counter("frontdesk_club_calls_held_total", "Calls to the club system that were not made, to keep below these limits.",
			float64(calls), "lane", string(lane))
	}
	to.counter("frontdesk_club_calls_unshared_total",
		"Calls that this gateway made by its own count of these limits, because Redis did not share them.", float64(unshared))
}

// checks reports the checks of /readyz. Those of several Redis servers count as one.
func (c *collector) checks(ctx context.Context, to *metrics) {
	type check struct{ part, aspect string }
	fine := map[check]bool{}
	for _, d := range c.cfg.Ready(ctx) {
		of := check{label(d.Part), label(d.Aspect)}
		before, known := fine[of]
		fine[of] = d.Verdict == flows.OK && (before || !known)
	}
	for of, ok := range fine {
		to.gauge("frontdesk_check_ok",
			"1 if a check of the gateway's dependencies passed; see frontdesk doctor.", oneIf(ok), "part", of.part, "aspect", of.aspect)
	}
}

func (c *collector) read(ctx context.Context, to *metrics) error {
	counts, err := c.cfg.Payments.Counts(ctx)
	if err != nil {
		return err
	}
	c.payments(to, counts)
	if err := c.brakes(ctx, to); err != nil {
		return err
	}
	compared, err := c.cfg.Payments.LastComparison(ctx)
	if err != nil {
		return err
	}
	to.gauge("frontdesk_rebuild_timestamp_seconds",
		"When the latest complete comparison of Redis with the card processor began; 0: never.", max(0, float64(compared.UnixMilli())/1000))
	if err := c.budget(ctx, to); err != nil {
		return err
	}
	if err := c.statements(ctx, to); err != nil {
		return err
	}
	queues, err := c.cfg.Background.Queue.Queues(ctx)
	if err != nil {
		return err
	}
	for _, queue := range queues {
		for state, jobs := range map[string]int{
			"pending":   queue.Pending,
			"active":    queue.Active,
			"scheduled": queue.Scheduled,
			"retry":     queue.Retry,
			"archived":  queue.Archived,
		} {
			to.gauge("frontdesk_queue_jobs", "Jobs in a queue of the background work.", float64(jobs), "queue", queue.Name, "state", state)
		}
		to.gauge("frontdesk_queue_latency_seconds",
			"How long the oldest job has been waiting that could run.", float64(queue.LatencyMs)/1000, "queue", queue.Name)
	}
	deliveries, err := c.cfg.Background.Relay.Deliveries(ctx, "")
	if err != nil {
		return err
	}
	c.relay(to, deliveries)
	unmailed, err := c.cfg.Registrations.CountUnmailed(ctx)
	if err != nil {
		return err
	}
	to.gauge("frontdesk_confirmations_unmailed", "Confirmations of contracts that were not mailed within ten minutes.", float64(unmailed))
	mails, err := c.cfg.Background.Mailer.Mails("")
	if err != nil {
		return err
	}
	for state, count := range map[background.DeliveryState]int{
		background.DeliveryWaiting:   mails.Waiting,
		background.DeliveryRetrying:  mails.Retrying,
		background.DeliveryDead:      mails.Dead,
		background.DeliveryDelivered: mails.Delivered,
	} {
		to.gauge("frontdesk_mails", "Mails; delivered ones are those of the last hour.", float64(count), "state", string(state))
	}
	to.gauge("frontdesk_mail_oldest_age_seconds", "How long the oldest mail has been waiting, at least; 0 without one.",
		float64(mails.AgeMs)/1000)
	memory, err := c.cfg.Redis.Info(ctx, "memory").Result()
	if err == nil {
		fields := store.ParseInfo(memory)
		for name, help := range map[string]string{
			"used_memory": "Memory that Redis uses.",
			"maxmemory":   "Memory that Redis may use; 0: no limit.",
		} {
			if bytes, err := strconv.ParseFloat(fields[name], 64); err == nil {
				to.gauge("frontdesk_redis_"+name+"_bytes", help, bytes)
			}
		}
	}
	return nil // a Redis that does not report its memory counts as up
}

// brakes reports whether payments are held back. In live mode all gateways have one organisation.
func (c *collector) brakes(ctx context.Context, to *metrics) error {
	held, err := c.cfg.Payments.Brakes(ctx)
	age := 0.0
	for _, brake := range held {
		age = max(age, c.cfg.Now().Sub(brake.Since).Seconds())
	}
	to.gauge("frontdesk_brake_engaged", "Organisations whose payments are held back, because the club system records none.",
		float64(len(held)))
	to.gauge("frontdesk_brake_age_seconds", "How long the oldest of these brakes has held; 0 without one.", age)
	return err
}

// statements reports what people declared and no operator has acted on yet.
func (c *collector) statements(ctx context.Context, to *metrics) error {
	counts, err := c.cfg.Statements.Counts(ctx)
	now, age, left := c.cfg.Now(), 0.0, 0.0
	if counts.Open > 0 {
		age, left = max(0, now.Sub(counts.Oldest).Seconds()), counts.Next.Sub(now).Seconds()
	}
	to.gauge("frontdesk_statements_open", "Withdrawals and cancellations that wait for an operator.", float64(counts.Open))
	to.gauge("frontdesk_statements_in_doubt", "Those whose online cancellation the club system may have carried out.", float64(counts.InDoubt))
	to.gauge("frontdesk_statements_overdue", "Those of them whose deadline has passed.", float64(counts.Overdue))
	to.gauge("frontdesk_statement_oldest_age_seconds", "How long ago the oldest of them was received; 0 without one.", age)
	to.gauge("frontdesk_statement_next_deadline_seconds",
		"How long it is until the first of their deadlines; 0 without one, negative after it.", left)
	return err
}

// budget reports the codes that clubs pay for, and those that were used.
func (c *collector) budget(ctx context.Context, to *metrics) error {
	if c.cfg.SMS == nil {
		return nil
	}
	uses, err := c.cfg.SMS.Usage(ctx)
	for _, use := range uses {
		within := "day"
		if use.Period == time.Hour {
			within = "hour"
		}
		to.gauge("frontdesk_sms_budget_codes", "SMS codes that the visitors of a club may be sent.", float64(use.Budget), "within", within)
		to.gauge("frontdesk_sms_budget_used_codes",
			"SMS codes that were sent to the visitors of the club that has used the most.", float64(use.Used), "within", within)
		to.gauge("frontdesk_sms_organisation_budget_codes",
			"SMS codes that the visitors of all clubs may be sent.", float64(use.OrganisationBudget), "within", within)
		to.gauge("frontdesk_sms_organisation_budget_used_codes",
			"SMS codes that were sent to the visitors of all clubs.", float64(use.OrganisationUsed), "within", within)
	}
	return err
}

func (c *collector) payments(to *metrics, counts map[flows.PaymentState]store.StateCount) {
	const help = "Payments that have not ended, recorded ones with a finding, and those at the card processor that no configured key signed."
	to.gauge("frontdesk_payments", help, float64(counts[flows.Unverifiable].Payments), "state", string(flows.Unverifiable))
	for _, state := range slices.Concat(flows.PaymentStates, flows.Findings) {
		if state.Final() {
			continue
		}
		count, age := counts[state], 0.0
		if count.Payments > 0 {
			age = max(0, c.cfg.Now().Sub(count.Oldest).Seconds())
		}
		to.gauge("frontdesk_payments", help, float64(count.Payments), "state", string(state))
		to.gauge("frontdesk_payment_oldest_age_seconds",
			"How long the oldest payment has been in a state; 0 without one.", age, "state", string(state))
	}
}

func (c *collector) relay(to *metrics, deliveries background.Deliveries) {
	received := map[string]string{"dropped": "0"} // the series of an alert begins at zero
	maps.Copy(received, deliveries.Received)
	for kind, count := range received {
		if n, err := strconv.ParseFloat(count, 64); err == nil {
			to.counter("frontdesk_club_events_total",
				"Events of the club system that all gateways took, by name, and those that were unknown, foreign, unreadable or dropped.",
				n, "event", kind)
		}
	}
	to.gauge("frontdesk_club_events_waiting", "Events that were stored and not worked on yet.", float64(deliveries.Pending))
	for _, subscriber := range deliveries.Subscribers {
		for state, count := range map[background.DeliveryState]int{
			background.DeliveryWaiting:   subscriber.Waiting,
			background.DeliveryRetrying:  subscriber.Retrying,
			background.DeliveryDead:      subscriber.Dead,
			background.DeliveryDelivered: subscriber.Delivered,
		} {
			to.gauge("frontdesk_relay_deliveries",
				"Deliveries to a subscriber; delivered ones are those of the last hour.",
				float64(count), "subscriber", subscriber.Name, "state", string(state))
		}
		to.gauge("frontdesk_relay_oldest_age_seconds",
			"How long the oldest delivery to a subscriber has been waiting, at least; 0 without one.",
			float64(subscriber.AgeMs)/1000, "subscriber", subscriber.Name)
		to.gauge("frontdesk_relay_gone", "1 when a subscriber refused all further events.", oneIf(subscriber.Gone), "subscriber", subscriber.Name)
	}
}

// metrics are made at the time of a scrape.
type metrics []prometheus.Metric

func (m *metrics) gauge(name, help string, value float64, labels ...string) {
	m.add(prometheus.GaugeValue, name, help, value, labels)
}

func (m *metrics) counter(name, help string, value float64, labels ...string) {
	m.add(prometheus.CounterValue, name, help, value, labels)
}

// add adds a metric; labels are names and values in turn.
func (m *metrics) add(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, pair[1])
	}
	*m = append(*m, prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...))
}
