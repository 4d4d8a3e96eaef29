package ops_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	dto "github.com/prometheus/client_model/go"
	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// metricEnv is a gateway at which something of every kind happens, with its metrics before and after.
type metricEnv struct {
	frontdesktest.Env
	t        *testing.T
	gateway  *frontdesktest.Process
	c        *frontdesktest.Client
	crm      *subscriber
	client   *redis.Client
	started  map[string]*dto.MetricFamily
	moved    map[string]bool // the metrics that have changed
	followed *frontdesktest.Stream
}

// TestEveryMetricMoves causes everything that a metric counts. The exposed metrics, those in the
// runbook and those that moved must be the same.
func TestEveryMetricMoves(t *testing.T) {
	t.Parallel()
	env := newMetricEnv(t)
	env.expectMoves("a journey", env.payByCard, "frontdesk_http_requests_total", "route", "/v1/registrations", "status", "201")
	env.expectMoves("", nil, "frontdesk_http_request_duration_seconds", "route", "/v1/registrations")
	env.expectMoves("", nil, "frontdesk_admissions_total", "class", "new", "outcome", "admitted")
	env.expectMoves("", nil, "frontdesk_admission_limit")
	env.expectMoves("", nil, "frontdesk_admission_in_progress")
	env.expectMoves("", nil, "frontdesk_upstream_calls_total", "upstream", "club", "operation", "CreatePayment", "outcome", "accepted")
	env.expectMoves("", nil, "frontdesk_upstream_calls_total", "upstream", "cards", "operation", "create", "outcome", "accepted")
	env.expectMoves("", nil, "frontdesk_upstream_call_duration_seconds", "upstream", "cards", "operation", "create")
	env.expectMoves("", nil, "frontdesk_payment_transitions_total", "from", "sending", "to", "recorded")
	env.expectMoves("", nil, "frontdesk_queue_jobs", "queue", "verifications", "state", "scheduled")
	env.expectMoves(
		"a refusal for a restriction", env.payRestricted, "frontdesk_payment_transitions_total", "from", "sending", "to", "refund_due",
	)
	env.expectMoves("", nil, "frontdesk_club_token_age_seconds")
	env.expectMoves("", nil, "frontdesk_catalogue_reads_total", "result", "miss")
	env.expectMoves("", nil, "frontdesk_redis_calls_total", "outcome", "answered")
	env.expectMoves("", nil, "frontdesk_redis_call_duration_seconds")
	env.expectMoves("", nil, "frontdesk_redis_used_memory_bytes")
	env.expectPresent("frontdesk_redis_connections") // the first ones may be enough for the whole test
	env.expectPresent("frontdesk_rebuild_timestamp_seconds")
	env.expectMoves("a debit day without a date", env.spoilDebitDay, "frontdesk_club_unreadable_records_total",
		"operation", "ListAllowedDebitDays", "field", "date")
	env.expectMoves("a sweep", nil, "frontdesk_worker_sweep_timestamp_seconds")
	env.expectMoves("a code that is sent", env.sign, "frontdesk_sms_codes_total", "what", "sent")
	env.expectMoves("a code that is entered", nil, "frontdesk_sms_codes_total", "what", "validated")
	env.expectMoves("", nil, "frontdesk_sms_budget_used_codes", "within", "hour")
	env.expectMoves("", nil, "frontdesk_sms_budget_used_codes", "within", "day")
	env.expectMoves("", nil, "frontdesk_sms_organisation_budget_used_codes", "within", "hour")
	env.expectMoves("", nil, "frontdesk_sms_organisation_budget_used_codes", "within", "day")
	env.expectMoves("a budget that is used up", env.spendCodes, "frontdesk_sms_paused_total", "why", "budget")
	env.expectMoves("a follower", env.follow, "frontdesk_event_streams_open")
	env.expectMoves("a follower who leaves", func() { env.followed.Close() }, "frontdesk_event_streams_open")
	if open, _ := sum(scrape(t, env.gateway), "frontdesk_event_streams_open"); open != 0 {
		t.Errorf("%g streams are open", open)
	}
	env.expectMoves("a caller above the limit", env.exceedRateLimit, "frontdesk_http_requests_total", "code", "rate_limited")
	env.expectMoves("work that waits", env.pauseQueue, "frontdesk_queue_jobs", "queue", "events", "state", "pending")
	env.expectMoves("", nil, "frontdesk_queue_latency_seconds", "queue", "events")
	env.expectMoves("", nil, "frontdesk_club_events_total", "event", "class_event.updated")
	env.expectMoves("", nil, "frontdesk_club_events_waiting")
	env.expectMoves("a subscriber that fails", env.resumeQueue, "frontdesk_relay_deliveries", "subscriber", "crm", "state", "retrying")
	env.expectMoves("", nil, "frontdesk_queue_jobs", "queue", "relay-crm", "state", "retry")
	env.expectMoves("", nil, "frontdesk_relay_oldest_age_seconds", "subscriber", "crm")
	env.expectMoves("a subscriber that is gone", env.unsubscribe, "frontdesk_relay_gone", "subscriber", "crm")
	env.expectMoves("a delivery that is dead", nil, "frontdesk_queue_jobs", "queue", "relay-crm", "state", "archived")
	refused := func() { sendMail(t, env.Redis, frontdesktest.DemoSealKey, "confirmation:1") }
	env.expectMoves("a mail that is refused", refused, "frontdesk_mails", "state", "retrying")
	env.expectMoves("", nil, "frontdesk_mail_oldest_age_seconds")
	env.expectMoves("a confirmation that was not mailed", env.leaveUnmailed, "frontdesk_confirmations_unmailed")
	env.expectMoves("a withdrawal", func() { declare(env.c, "withdrawal", `{"name":"Ada","email":"ada@example.com"}`) },
		"frontdesk_statements_open")
	env.expectMoves("", nil, "frontdesk_statement_oldest_age_seconds")
	env.expectMoves("", nil, "frontdesk_statement_next_deadline_seconds")
	env.expectMoves("a deadline that has passed", env.passDeadlines, "frontdesk_statements_overdue")
	env.expectMoves("a cancellation in doubt", env.cancelInDoubt, "frontdesk_statements_in_doubt")
	env.expectMoves("a doubt", env.leaveInDoubt, "frontdesk_payments", "state", "in_doubt")
	env.expectMoves("", nil, "frontdesk_payment_oldest_age_seconds", "state", "in_doubt")
	env.expectMoves("an outage", env.engageBrake, "frontdesk_brake_engaged")
	env.expectMoves("", nil, "frontdesk_brake_age_seconds")
	env.expectMoves("a payment that the processor has lost", env.losePayment, "frontdesk_card_problems_total", "problem", "missing")
	env.expectMoves("a Redis with a limit", env.limitMemory, "frontdesk_redis_maxmemory_bytes")
	env.expectMoves(
		"a token that is refused", env.refuseToken, "frontdesk_upstream_calls_total", "upstream", "club", "operation", "Token",
		"outcome", "refused",
	)
	env.expectLimits()
	env.expectMoves("a Redis that hangs", env.pauseRedis, "frontdesk_redis_pool_timeouts_total")
	env.expectMoves("", nil, "frontdesk_redis_calls_total", "outcome", "failed")
	frontdesktest.Eventually(t, "Redis is back", func() bool {
		up, _ := sum(scrape(t, env.gateway), "frontdesk_redis_up")
		return up == 1
	})
	env.expectMoves("a Redis that is gone", func() { frontdesktest.StopRedis(t, env.Redis) }, "frontdesk_redis_up")
	env.expectConstants()
	env.expectDocumented()
}

// leaveUnmailed lists a confirmation as not mailed since long ago.
func (m *metricEnv) leaveUnmailed() {
	m.t.Helper()
	entry := redis.Z{Member: "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11", Score: 1}
	frontdesktest.Must(m.t, m.client.ZAdd(m.t.Context(), "fd:unmailed", entry).Err())
}

// passDeadlines makes the deadlines of all statements pass.
func (m *metricEnv) passDeadlines() {
	m.t.Helper()
	const open = "fd:{statements}:open"
	for _, id := range m.client.ZRange(m.t.Context(), open, 0, -1).Val() {
		frontdesktest.Must(m.t, m.client.ZAdd(m.t.Context(), open, redis.Z{Member: id, Score: 1}).Err())
	}
}

// cancelInDoubt has a member cancel online, and the club system fails after it has done so.
func (m *metricEnv) cancelInDoubt() {
	m.t.Helper()
	frontdesktest.Must(m.t, m.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.OnlineCancellation = true }))
	m.SetFaults(m.t, clubsim.Fault{
		Match: clubsim.FaultMatch{Method: http.MethodPost, Path: "/subscriptions/*/online_cancellation"},
		Kind:  "error_after",
	})
	declare(m.c.As("flexible"), "cancellation", `{}`)
	m.SetFaults(m.t)
}

// expectConstants checks the metrics that never change: they describe how the gateway was started.
func (m *metricEnv) expectConstants() {
	m.t.Helper()
	if v, _ := sum(m.started, "frontdesk_build_info", "mode", "test"); v != 1 {
		m.t.Errorf("the build is %g", v)
	}
	if v, _ := sum(m.started, "frontdesk_sms_organisation_budget_codes", "within", "day"); v != 60 {
		m.t.Errorf("the organisation's budget for a day is %v", v)
	}
	if v, _ := sum(m.started, "frontdesk_sms_budget_codes", "within", "day"); v != 12 {
		m.t.Errorf("the day's budget is %g", v)
	}
	for _, constant := range []string{
		"frontdesk_build_info", "frontdesk_sms_budget_codes", "frontdesk_sms_organisation_budget_codes",
	} {
		m.moved[constant] = true
	}
}

func newMetricEnv(t *testing.T) *metricEnv {
	t.Helper()
	env := &metricEnv{Env: frontdesktest.NewEnv(t), t: t, crm: newSubscriber(t, "crm", http.StatusOK), moved: map[string]bool{}}
	mails := frontdesktest.NewMailServer(t, sink.Config{})
	mails.Fail(-1, sink.Fault{Status: 450})
	env.gateway, env.c = env.Gateway(t, append(mails.Environment(), "FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1",
		"FRONTDESK_SMS_HOURLY=3", subscribe(t, env.crm.config()))...)
	env.client = frontdesktest.RedisClient(t, env.Redis)
	env.started = scrape(t, env.gateway)
	return env
}

// expectLimits makes the API gateway limit the calls, once the lack of a token was seen and there is one again.
func (m *metricEnv) expectLimits() {
	m.t.Helper()
	m.expectMoves("", nil, "frontdesk_check_ok", "part", "club_system")
	m.expectMoves("a token again", func() { m.SetFaults(m.t) }, "frontdesk_check_ok", "part", "club_system")
	m.expectMoves("a limit of calls", func() { m.limitCalls(1000) }, "frontdesk_club_limit_calls", "limit", "rate")
	m.expectMoves("", nil, "frontdesk_club_limit_remaining_calls", "limit", "rate")
	m.expectMoves("", nil, "frontdesk_club_limit_reset_timestamp_seconds", "limit", "rate")
	m.expectMoves("a foreign key in Redis", func() {
		frontdesktest.Must(m.t, m.client.Set(m.t.Context(), "fd:{quota:demo}:calls", "of another type", 0).Err())
		m.limitCalls(1000)
	}, "frontdesk_club_calls_unshared_total")
	m.expectMoves("calls above it", func() { m.limitCalls(1) }, "frontdesk_club_calls_held_total")
}

// limitCalls sets a limit of the API gateway. The first newcomer's response shows it, and it applies to the second one.
func (m *metricEnv) limitCalls(perMinute int) {
	m.t.Helper()
	frontdesktest.Must(m.t, m.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.CallLimits.PerMinute = perMinute }))
	m.c.Token = ""
	for range 2 {
		m.c.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Person: frontdesktest.Person()}, frontdesktest.Key(""))
	}
}

// expectPresent is for a gauge that need not change: it is there, and above zero.
func (m *metricEnv) expectPresent(name string) {
	m.t.Helper()
	if now, found := sum(scrape(m.t, m.gateway), name); !found || now <= 0 {
		m.t.Errorf("%s is %g", name, now)
	}
	m.moved[name] = true
}

// expectMoves runs happens, and waits until a metric differs from its value before; if happens is nil,
// from its value at the start.
func (m *metricEnv) expectMoves(what string, happens func(), name string, labels ...string) {
	m.t.Helper()
	before := m.started
	if happens != nil {
		before = scrape(m.t, m.gateway)
		happens()
	}
	was, _ := sum(before, name, labels...)
	frontdesktest.Eventually(m.t, fmt.Sprintf("%s moves %s %v from %g", what, name, labels, was), func() bool {
		now, found := sum(scrape(m.t, m.gateway), name, labels...)
		return found && now != was
	})
	m.moved[name] = true
}

// expectDocumented compares the exposed and moved metrics with the runbook's table.
func (m *metricEnv) expectDocumented() {
	m.t.Helper()
	runbook, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "runbook.md"))
	if err != nil {
		m.t.Fatal(err)
	}
	var explained []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(frontdesk_[a-z_]+)` \\|([^|]*)\\|").FindAllStringSubmatch(string(runbook), -1) {
		explained = append(explained, row[1])
		if !m.moved[row[1]] {
			m.t.Errorf("the runbook explains %s, which nothing here moves", row[1])
		}
		for label := range valuesOf(m.started[row[1]]) {
			if !strings.Contains(row[2], label) {
				m.t.Errorf("the runbook does not say that %s has the label %s", row[1], label)
			}
		}
	}
	for name := range m.started {
		if strings.HasPrefix(name, "frontdesk_") && !slices.Contains(explained, name) {
			m.t.Errorf("the runbook does not explain %s", name)
		}
	}
	for name := range m.moved {
		if !slices.Contains(explained, name) {
			m.t.Errorf("the runbook does not explain %s", name)
		}
	}
}

func (m *metricEnv) payByCard() {
	registration := m.c.Register()
	m.c.Confirm(m.c.Pay(registration.Id), "4242424242424242")
	m.c.AwaitPayment(registration.Id, api.Recorded)
}

// payRestricted has a buyer of 15 years pay for an offer from 18 years, where the club system refuses that only at the payment.
func (m *metricEnv) payRestricted() {
	frontdesktest.Must(m.t, m.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.RestrictionsAtPayment = true }))
	child, start := frontdesktest.Person(), frontdesktest.Day(10)
	child.BirthDate = time.Now().AddDate(-15, 0, 0).Format(time.DateOnly)
	registration := m.c.RegisterWith("11", child, api.NewItem{OfferId: "401", StartDate: &start})
	m.c.Confirm(m.c.Pay(registration.Id), frontdesktest.ApprovedCard)
	m.c.AwaitPayment(registration.Id, api.Refunded)
}

// mandate requests a code for a new person, from an address of their own.
func (m *metricEnv) mandate(n int) (registration string, response *frontdesktest.Response) {
	person, from := frontdesktest.Person(), [2]string{"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", n)}
	person.Mobile = fmt.Sprintf("+3361111111%d", n)
	start, day := time.Now().AddDate(0, 2, 0).Format(time.DateOnly), 10
	var begun api.Registration
	m.c.Token = ""
	item := api.NewItem{OfferId: "901", StartDate: &start, Debit: &api.Debit{Day: &day}}
	body := api.StartRegistration{ClubId: "11", Person: person, Items: &[]api.NewItem{item}}
	m.c.Do("POST", "/v1/registrations", body, frontdesktest.Key(""), from).
		Into(http.StatusCreated, &begun)
	m.c.Token = *begun.Token
	return begun.Id, m.c.Do(
		"POST", "/v1/registrations/"+begun.Id+"/mandate",
		map[string]string{"holder": "Ada Martin", "iban": "FR1420041010050500013M02606"}, frontdesktest.Key(""), from,
	)
}

func (m *metricEnv) sign() {
	registration, response := m.mandate(0)
	response.Into(http.StatusCreated, nil)
	sent := m.Upstreams.Sim.SMS()
	m.c.Do("POST", "/v1/registrations/"+registration+"/mandate/signature", api.Signature{Code: sent[len(sent)-1].Code}, frontdesktest.Key("")).
		Into(http.StatusCreated, nil)
}

func (m *metricEnv) spendCodes() {
	for n := range 3 {
		_, response := m.mandate(n + 1)
		if response.Status != http.StatusCreated {
			return
		}
	}
}

func (m *metricEnv) follow() { m.followed = m.c.Follow(m.c.Register().Id, "") }

func (m *metricEnv) exceedRateLimit() {
	for range 125 {
		m.c.Do("GET", "/v1/clubs", nil, [2]string{"X-Forwarded-For", "203.0.113.99"})
	}
}

// pauseQueue pauses the background work, as an operator can, while an event arrives.
func (m *metricEnv) pauseQueue() {
	if err := asynq.NewInspectorFromRedisClient(m.client).PauseQueue("events"); err != nil {
		m.t.Fatal(err)
	}
	sendEvent(m.c, "class_event.updated")
}

func (m *metricEnv) resumeQueue() {
	m.crm.setStatus(http.StatusInternalServerError)
	if err := asynq.NewInspectorFromRedisClient(m.client).UnpauseQueue("events"); err != nil {
		m.t.Fatal(err)
	}
}

func (m *metricEnv) unsubscribe() {
	m.crm.setStatus(http.StatusGone)
	sendEvent(m.c, "class_event.updated")
}

func (m *metricEnv) leaveInDoubt() {
	m.SetFaults(m.t, clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/payments"}, Kind: "drop_after"})
	registration := m.c.Register()
	m.c.Confirm(m.c.Pay(registration.Id), "4242424242424242")
}

// engageBrake leaves three payments in doubt, one after the other.
func (m *metricEnv) engageBrake() {
	for range 2 {
		m.leaveInDoubt()
	}
}

// spoilDebitDay makes the club system list a debit day whose date cannot be read.
func (m *metricEnv) spoilDebitDay() {
	m.SetFaults(m.t, clubsim.Fault{Match: clubsim.FaultMatch{Path: "/allowed_debit_days"}, Kind: "foreign_json",
		Body: json.RawMessage(`[{"debitDay": 5, "date": "soon"}, {"debitDay": 10, "date": "2026-12-10"}]`)})
	m.c.Do("GET", "/v1/clubs/11/debit-days", nil).Into(http.StatusOK, nil)
	m.SetFaults(m.t)
}

// losePayment makes the card processor forget a payment, which the visitor then gives up.
func (m *metricEnv) losePayment() {
	registration := m.c.Register()
	m.c.Pay(registration.Id)
	m.Upstreams.Cards.Reset("")
	m.c.Do("DELETE", "/v1/registrations/"+registration.Id, nil)
}

func (m *metricEnv) limitMemory() {
	if err := m.client.ConfigSet(m.t.Context(), "maxmemory", "1gb").Err(); err != nil {
		m.t.Fatal(err)
	}
}

// refuseToken makes the club system reject the token, and issue no other.
func (m *metricEnv) refuseToken() {
	frontdesktest.Must(m.t, m.Upstreams.Sim.SetFaults([]clubsim.Fault{
		{Match: clubsim.FaultMatch{Path: "/contacts"}, Kind: "unauthorized_once"},
		{Match: clubsim.FaultMatch{Path: "/oauth/v2/token"}, Kind: "error_before", Status: http.StatusUnauthorized},
	}))
	m.c.Token = ""
	m.c.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Person: frontdesktest.Person()}, frontdesktest.Key(""))
}

// pauseRedis pauses Redis for a moment while many requests arrive.
func (m *metricEnv) pauseRedis() {
	if err := m.client.Do(m.t.Context(), "CLIENT", "PAUSE", "8000", "ALL").Err(); err != nil {
		m.t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 300 { // several times the number of connections
		all.Go(func() {
			request, _ := http.NewRequestWithContext(
				m.t.Context(), http.MethodGet, m.gateway.URL+"/v1/registrations/00000000-0000-4000-8000-000000000000", nil,
			)
			request.Header.Set("Authorization", "Bearer unknown")
			request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", n/100, n%100)) // not counted yet
			if response, err := http.DefaultClient.Do(request); err == nil {
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	all.Wait()
}
