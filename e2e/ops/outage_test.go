package ops_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// outage is a failure of something that a gateway depends on, with its visible effects.
type outage struct {
	fsync   string // how Redis syncs writes; empty: at every write, as live mode demands
	start   func(*outageEnv)
	end     func(*outageEnv)
	code    api.ProblemCode // of the problem for a visitor's payment meanwhile
	ready   string          // the one part that /readyz reports as not well, with its state; empty: all is well
	log     []string        // the parts of the one line in the log: the fault and, where it is ours to fix, the remedy
	unsaved bool            // the sender cannot store the outcome of a payment that was just being sent
	inDoubt bool            // and the outcome is unknown to everyone
}

// redisDown and full are the findings about Redis.
var (
	redisDown = []string{
		"redis is failed: does not answer",
		"check that it runs, and that FRONTDESK_REDIS_URL leads to it",
		"when its disk is full",
	}
	diskFull = []string{"redis writes is failed: refused, because its disk is full", "make room on its disk"}
)

// outages are the ways in which a dependency fails. Each gives the operator one clear log line and the
// visitor one clear problem document, and no money is lost.
var outages = map[string]outage{
	"bad configuration": {
		start:   func(s *outageEnv) { s.restart("FRONTDESK_CLUB_CLIENT_SECRET=wrong") },
		end:     func(s *outageEnv) { s.restart() },
		code:    api.ClubSystemFailed,
		ready:   "club_system degraded",
		unsaved: true,
		inDoubt: true,
		log: []string{
			"club system token is degraded",
			"refused, status 401",
			"check that FRONTDESK_CLUB_URL leads to it",
			"FRONTDESK_CLUB_CLIENT_SECRET",
		},
	},
	"dead Redis": {
		start:   func(s *outageEnv) { s.redis.Cut() },
		end:     func(s *outageEnv) { s.redis.Restore() },
		code:    api.StorageUnavailable,
		ready:   "redis unavailable",
		log:     redisDown,
		unsaved: true,
	},
	"slow Redis": {
		start:   func(s *outageEnv) { s.redis.Trickle() },
		end:     func(s *outageEnv) { s.redis.Restore() },
		code:    api.StorageUnavailable,
		ready:   "redis unavailable",
		log:     redisDown,
		unsaved: true,
	},
	// A Redis that syncs at every write ends itself when it cannot: it has acknowledged writes that are
	// only in memory, or is about to.
	"full disk": {
		start:   func(s *outageEnv) { s.must(limitFiles(s.storage, "1:")) },
		end:     func(s *outageEnv) { _ = s.storage.Wait(); s.storage.Start() },
		code:    api.StorageUnavailable,
		ready:   "redis unavailable",
		log:     redisDown,
		unsaved: true,
	},
	"full disk, synced each second": {
		fsync:   frontdesktest.FsyncEverySec,
		start:   func(s *outageEnv) { s.must(limitFiles(s.storage, "1:")); s.awaitWriteFailure() },
		end:     func(s *outageEnv) { s.must(limitFiles(s.storage, "unlimited:")) },
		code:    api.StorageUnavailable,
		ready:   "redis unavailable",
		log:     diskFull,
		unsaved: true,
	},
	"dead club system": {
		start:   func(s *outageEnv) { s.club.Cut() },
		end:     func(s *outageEnv) { s.club.Restore() },
		code:    api.ClubSystemUnavailable,
		log:     []string{"request failed", "club_system_unavailable", "connection refused"},
		inDoubt: true,
	},
	"slow club system": {
		start: func(s *outageEnv) { s.club.Trickle() }, end: func(s *outageEnv) { s.club.Restore() },
		code: api.ClubSystemFailed, log: []string{"request failed", "club_system_failed", "timeout"},
	},
	"dead processor": {
		start: func(s *outageEnv) { s.cards.Cut() }, end: func(s *outageEnv) { s.cards.Restore() },
		code: api.ProcessorUnavailable, log: []string{"request failed", "processor_unavailable", "connection refused"},
	},
	"slow processor": {
		start: func(s *outageEnv) { s.cards.Trickle() }, end: func(s *outageEnv) { s.cards.Restore() },
		code: api.ProcessorUnavailable, log: []string{"request failed", "processor_unavailable", "deadline exceeded"},
	},
}

// TestOutages has three visitors meet each outage: one is about to request payment, one to enter the
// card, and one's money is taken and being booked at the club system. When it is over, the first
// continues with the same key, and each is booked once.
func TestOutages(t *testing.T) {
	t.Parallel()
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newOutageEnv(t, outage.fsync)
			shopping, entering, sending := env.buyer(), env.buyer(), env.buyer()
			shopping.Pay(shopping.registration.Id) // a payment that is given up: the next one has the cart read again
			shopping.Do(http.MethodDelete, "/v1/registrations/"+shopping.registration.Id+"/payment", nil).Into(http.StatusOK, nil)
			payment := entering.Pay(entering.registration.Id)
			reached := env.upstreams.HoldResponses(http.MethodPost, "/sales/*/payments")
			sending.Confirm(sending.Pay(sending.registration.Id), frontdesktest.ApprovedCard)
			frontdesktest.Receive(t, reached, "a payment is being recorded")
			outage.start(env)
			const key = "the key of a buyer with patience" // gets a response while the outage lasts
			expectHelpfulProblem(t, shopping.ask(key), outage.code)
			expectOneLogLine(t, env.gateway, outage.log)
			expectReady(t, shopping.Client, outage.ready)
			entering.Confirm(payment, frontdesktest.ApprovedCard)
			env.upstreams.Release()
			if outage.unsaved && !outage.inDoubt {
				frontdesktest.Eventually(
					t, "it is known at the processor that the payment was booked",
					func() bool { return env.acceptanceJournaled(sending) },
				)
			}
			outage.end(env)
			if outage.unsaved {
				frontdesktest.ExpireLease(t, env.storage.URL(), sending.registration.Id)
			}
			frontdesktest.Eventually(t, "the same key succeeds", func() bool { return shopping.ask(key).Status == http.StatusCreated })
			shopping.payUntil(api.Recorded)
			entering.payUntil(api.Recorded)
			if outage.inDoubt {
				sending.payUntil(api.Recorded, api.InDoubt)
			} else {
				sending.payUntil(api.Recorded)
			}
			env.expectNoLoss(shopping, entering, sending)
		})
	}
}

// TestFailedRequestsAreSummed: while Redis is away every request fails. A request is logged for each way in which the
// first ones fail; the others are counted.
func TestFailedRequestsAreSummed(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	gateway, c := s.Gateway(t)
	frontdesktest.StopRedis(t, s.Redis)
	c.Token = "unknown"
	const requests, most = 40, 5 // a connection that ends, one that is refused, a response that does not come in time
	for range requests {
		c.Do("GET", "/v1/registrations/unknown-1", nil).Problem(api.StorageUnavailable)
	}
	lines := 0
	for line := range strings.Lines(gateway.Log()) {
		if strings.Contains(line, `msg="request failed"`) && !strings.Contains(line, "repeated=") {
			lines++
		}
	}
	if lines == 0 || lines > most {
		t.Errorf("%d of %d requests are logged:\n%s", lines, requests, gateway.Log())
	}
}

// expectHelpfulProblem checks that the response to a visitor is helpful, and reveals nothing else.
func expectHelpfulProblem(t *testing.T, response *frontdesktest.Response, code api.ProblemCode) {
	t.Helper()
	problem := response.Problem(code)
	if problem.Status != http.StatusServiceUnavailable && problem.Status != http.StatusBadGateway || problem.Retry == api.ProblemRetryNever ||
		problem.Retry == api.ProblemRetryAfter && response.Header.Get("Retry-After") == "" || problem.TraceId == nil || problem.Title == "" {
		t.Errorf("the visitor reads %v %s", response.Header, response.Body)
	}
	for _, inside := range []string{"127.0.0.1", "edis", "MISCONF", "dial", "EOF", "timeout", "deadline", "secret"} {
		if strings.Contains(string(response.Body), inside) {
			t.Errorf("the visitor sees %q: %s", inside, response.Body)
		}
	}
}

// expectOneLogLine expects exactly one log line that contains all parts.
func expectOneLogLine(t *testing.T, of *frontdesktest.Process, parts []string) {
	t.Helper()
	found := 0
	frontdesktest.Eventually(t, "the log says "+strings.Join(parts, ", "), func() bool {
		found = 0
		for line := range strings.Lines(of.Log()) {
			if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
				found++
			}
		}
		return found > 0
	})
	if found != 1 {
		t.Errorf("%d lines of the log say %q", found, parts)
	}
}

// expectReady expects /readyz to report all parts well except one.
func expectReady(t *testing.T, client *frontdesktest.Client, but string) {
	t.Helper()
	want, status := map[string]string{"redis": "ok", "club_system": "ok"}, http.StatusOK
	if part, how, found := strings.Cut(but, " "); found {
		want[part] = how
		if how == string(api.Unavailable) {
			status = http.StatusServiceUnavailable
		}
	}
	var health api.Health
	client.Do("GET", "/readyz", nil).Into(status, &health)
	if health.Checks == nil || !maps.Equal(*health.Checks, want) {
		t.Errorf("the gateway says %+v of itself", health)
	}
}

// outageEnv is a gateway with a proxy to each thing that it depends on.
type outageEnv struct {
	t                  *testing.T
	upstreams          *frontdesktest.Upstreams
	storage            *frontdesktest.RedisServer
	redis, club, cards *frontdesktest.TCPProxy
	gateway            *frontdesktest.Process
}

func newOutageEnv(t *testing.T, fsync string) *outageEnv {
	t.Helper()
	if fsync == "" {
		fsync = frontdesktest.FsyncAlways
	}
	s := &outageEnv{t: t, upstreams: frontdesktest.NewUpstreams(t), storage: frontdesktest.NewRedisServer(t, fsync)}
	at := strings.TrimPrefix(s.upstreams.URL, "http://")
	s.redis = frontdesktest.NewTCPProxy(t, strings.TrimPrefix(s.storage.URL(), "redis://"))
	s.club, s.cards = frontdesktest.NewTCPProxy(t, at), frontdesktest.NewTCPProxy(t, at)
	s.restart()
	return s
}

func (s *outageEnv) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// restart replaces the gateway by a new one, with additional variables if there are any.
func (s *outageEnv) restart(more ...string) {
	s.t.Helper()
	if s.gateway != nil {
		s.gateway.Kill()
	}
	s.gateway = frontdesktest.Start(s.t, append([]string{"FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL=redis://" + s.redis.Address(),
		"FRONTDESK_CLUB_URL=http://" + s.club.Address() + "/sim", "FRONTDESK_SANDBOX_URL=http://" + s.cards.Address() + "/sandbox"}, more...)...)
}

// awaitWriteFailure waits until Redis notices that it cannot write: until then it acknowledges writes.
func (s *outageEnv) awaitWriteFailure() {
	s.t.Helper()
	client := s.storage.Client()
	defer client.Close()
	frontdesktest.Eventually(s.t, "Redis notices", func() bool { return client.Set(s.t.Context(), "anything", 1, time.Minute).Err() != nil })
}

// buyer is a visitor on the way to a membership.
type buyer struct {
	*frontdesktest.Client
	s            *outageEnv
	registration api.Registration
}

func (s *outageEnv) buyer() *buyer {
	s.t.Helper()
	b := &buyer{Client: frontdesktest.NewClient(s.t, s.gateway.URL), s: s}
	b.UpstreamsURL = s.upstreams.URL
	b.registration = b.Register()
	return b
}

// ask requests the payment, at the current gateway.
func (b *buyer) ask(key string) *frontdesktest.Response {
	b.s.t.Helper()
	b.URL = b.s.gateway.URL
	return b.RequestPayment(b.registration.Id, `{"method":"card"}`, frontdesktest.Key(key))
}

// payUntil completes the payment, retrying it as people do, and paying again when the response says so.
func (b *buyer) payUntil(ends ...api.PaymentState) {
	b.s.t.Helper()
	b.URL = b.s.gateway.URL
	frontdesktest.Eventually(b.s.t, "the payment comes to its end", func() bool {
		var registration api.Registration
		response := b.ask("")
		if response.Status >= http.StatusBadRequest || json.Unmarshal(response.Body, &registration) != nil || registration.Payment == nil {
			return false
		}
		seen := *registration.Payment
		if seen.State == api.RequiresAction {
			b.Confirm(seen, frontdesktest.ApprovedCard)
		}
		return slices.Contains(ends, seen.State)
	})
}

// acceptanceJournaled reports whether the processor's journal says that a buyer's payment was booked.
func (s *outageEnv) acceptanceJournaled(b *buyer) bool {
	for _, held := range s.upstreams.Cards.Payments() {
		if held.Metadata["fd_registration"] == b.registration.Id && held.Metadata["fd_done_1"] != "" {
			return true
		}
	}
	return false
}

// expectNoLoss compares the ledgers of the club system and of the processor with what the buyers owed.
func (s *outageEnv) expectNoLoss(buyers ...*buyer) {
	s.t.Helper()
	owed, booked, captured := int64(0), int64(0), int64(0)
	for _, b := range buyers {
		owed += b.registration.Cart.DueNow.Amount
	}
	ledger := s.upstreams.Sim.Ledger()
	for _, entry := range ledger {
		booked += int64(entry.Amount)
	}
	for _, held := range s.upstreams.Cards.Payments() {
		captured += held.Captured - held.Refunded
	}
	if audit := s.upstreams.Sim.Audit(); len(ledger) != len(buyers) || booked != owed || captured != owed || !audit.OK {
		s.t.Errorf("%d cents were owed by %d people, %d were captured and %d booked by %d payments; the audit finds %+v",
			owed, len(buyers), captured, booked, len(ledger), audit)
	}
}

// limitFiles makes every write of a Redis to its files fail from now on, as on a full disk, or succeed again.
func limitFiles(r *frontdesktest.RedisServer, limit string) error {
	out, err := exec.Command("prlimit", "--pid", fmt.Sprint(r.PID()), "--fsize="+limit).CombinedOutput()
	if err != nil {
		return fmt.Errorf("prlimit, of Debian's util-linux: %w: %s", err, out)
	}
	return nil
}
