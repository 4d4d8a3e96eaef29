package ops_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// TestLive runs the journey in live mode: a visitor connects over https and pays through the
// processor's adapter, and the club system has the payment once.
func TestLive(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	process, client := live.Start(t)
	live.Processor.SetWebhooks(sandbox.Normal, process.URL+"/v1/webhooks/card")
	registration := client.Register()
	script := client.WithT(t)
	script.Token = "" // each request has the credentials that the test gives it
	unseen := script.RequestPayment(registration.Id, `{"method":"card"}`, [2]string{"Authorization", "Bearer " + client.Token}).
		Problem(api.InvalidRequest)
	fields := frontdesktest.Value(unseen.Errors)
	if len(fields) != 1 || frontdesktest.Place(fields[0]) != "/cart" || len(live.Processor.Payments()) != 0 {
		t.Errorf("a payment without the cart's revision is refused with %+v", unseen)
	}
	var payment api.Payment
	client.RequestPayment(registration.Id, map[string]string{"method": "card", "cart": registration.Cart.Revision}).
		Into(http.StatusCreated, &payment)
	held := live.Processor.Payments()
	if len(held) != 1 || payment.Card.Processor != "stripe" ||
		frontdesktest.Value(payment.Card.PublishableKey) != live.Processor.PublishableKey {
		t.Fatalf("%d payments, and %+v", len(held), payment.Card)
	}
	if _, err := live.Processor.Confirm(held[0].ID, "4242424242424242"); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "the club system has the payment", func() bool { return len(live.Upstreams.Sim.Ledger()) > 0 })
	client.Await(registration.Id, api.Completed)
	frontdesktest.Env{Upstreams: live.Upstreams}.ExpectOnePayment(t, payment.Total.Amount)
	if held := live.Processor.Payments(); held[0].Captured != payment.Total.Amount || held[0].Metadata["fd_environment"] != "live" {
		t.Errorf("the processor holds %+v", held[0])
	}
}

// TestLiveEdge checks what only live mode, or only https, does at the edge.
func TestLiveEdge(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	_, client := live.Start(t)
	inCookie := [2]string{"X-Frontdesk-Session", "cookie"}
	started := client.Do("POST", "/v1/registrations", `{"clubId":"`+client.Club()+`"}`, frontdesktest.Key(""), inCookie)
	cookie := started.Header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") {
		t.Errorf("the cookie is %q", cookie)
	}
	var registration api.Registration
	started.Into(http.StatusCreated, &registration)
	session, _, _ := strings.Cut(started.Header.Get("Set-Cookie"), ";")
	for _, sent := range []struct {
		origin, site string
		let          bool
	}{
		{live.Front.URL, "same-origin", true}, {live.Front.URL, "cross-site", false},
		{"https://www.gym-4711.fr", "same-site", true}, {"https://gym-4711.fr", "same-site", false},
	} {
		answer := client.Do(
			"PUT", "/v1/registrations/"+registration.Id+"/person", frontdesktest.Person(), [2]string{"Cookie", session},
			[2]string{"Origin", sent.origin}, [2]string{"Sec-Fetch-Site", sent.site},
		)
		if let := answer.Status == http.StatusOK; let != sent.let {
			t.Errorf("%+v: %d %s", sent, answer.Status, answer.Body)
		}
	}
	for name, want := range map[string]string{"Strict-Transport-Security": "max-age=31536000", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"} {
		if got := started.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	for origin, let := range map[string]bool{
		"https://www.gym-4711.fr": true,
		"https://WWW.gym-4711.fr": false,
		"https://gym-4711.fr":     false,
		"http://localhost:5173":   false,
	} {
		response := client.Do("OPTIONS", "/v1/registrations", nil, [2]string{"Origin", origin},
			[2]string{"Access-Control-Request-Method", "POST"})
		if got := response.Header.Get("Access-Control-Allow-Origin") == origin; got != let {
			t.Errorf("%s is let in: %t", origin, got)
		}
	}
	client.Do("GET", "/v1/clubs", nil, [2]string{"X-Frontdesk-Staff-Key", "demo-staff-key-1"}).Problem(api.StaffKeyUnknown)
	var all api.ClubList
	client.Do("GET", "/v1/clubs", nil, [2]string{"X-Frontdesk-World", "demo-other"}).Into(http.StatusOK, &all) // has no meaning in live mode
}

// TestMetricsListener checks that in live mode a scraper reaches only the metrics, and operators' tools
// find no metrics.
func TestMetricsListener(t *testing.T) {
	t.Parallel()
	process, client := frontdesktest.NewLive(t).Start(t)
	operators, metrics := "http://"+process.OpsAddress(), "http://"+process.AddressOf("metrics")
	scraped := client.Do("GET", metrics+"/metrics", nil)
	if scraped.Status != http.StatusOK || !strings.Contains(string(scraped.Body), "frontdesk_build_info") {
		t.Errorf("a scrape: %d %s", scraped.Status, scraped.Body)
	}
	for _, elsewhere := range []string{
		operators + "/metrics", metrics + "/ops/payments", metrics + "/ops/queue", metrics + "/debug/pprof/",
		metrics + "/healthz",
	} {
		if response := client.Do("GET", elsewhere, nil); response.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", elsewhere, response.Status, response.Body)
		}
	}
	page := client.Do("GET", metrics+"/metrics", nil, [2]string{"Origin", "https://elsewhere.example"})
	if page.Status != http.StatusForbidden {
		t.Errorf("a page in a browser: %d", page.Status)
	}
}

// TestDoctorInLiveMode checks that doctor finds no fault in the environment, and names a fault once
// there is one.
func TestDoctorInLiveMode(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	process, _ := live.Start(t)
	live.Processor.SetWebhooks(sandbox.Drop, live.Front.URL+"/v1/webhooks/card")
	mails := frontdesktest.NewMailServer(t, sink.Config{TLS: &tls.Config{Certificates: live.Front.TLS.Certificates}})
	changes := map[string]string{
		"FRONTDESK_OPS_ADDR":  process.OpsAddress(),
		"FRONTDESK_SMTP_URL":  "smtp://" + mails.Addr,
		"FRONTDESK_MAIL_FROM": "signup@gym-4711.fr",
	}
	printed, content := doctor(t, live.Environment(changes))
	if !content || strings.Contains(printed, "FAIL") || strings.Contains(printed, "warning") {
		t.Errorf("content: %t\n%s", content, printed)
	}
	expectAll(
		t, printed, "appendfsync always", "noeviction", "5 clubs", "read endpoints are granted", "live keys", "API version",
		"shared secret", "leads to a gateway of this version", "is served",
	)

	configure(t, live.Redis, "maxmemory-policy", "allkeys-lru")
	live.Processor.SetWebhooks(sandbox.Drop, "https://elsewhere.fr/v1/webhooks/card")
	live.Upstreams.Sim.Configure(func(s *clubsim.Settings) {
		s.ProductionMode, s.GrantedEndpoints = true, []string{"listNetworkNodes", "getClub", "listProducts"}
	})
	changes["FRONTDESK_IDENTITY_SECRET"], changes["FRONTDESK_IDENTITY_JWKS_URL"] = "", live.Front.URL+"/nothing"
	printed, content = doctor(t, live.Environment(changes))
	if content {
		t.Error("it is content")
	}
	expectAll(
		t, printed, "FAIL     redis eviction", "allkeys-lru", "FAIL     club system grants",
		"offers, allowed_debit_days, contacts", "warning  card processor webhook", "no endpoint leads to", "FAIL     login",
		"status 404",
	)
	for _, secret := range []string{
		live.Processor.SecretKey, live.Processor.WebhookSecret, live.Env["FRONTDESK_CLUB_CLIENT_SECRET"],
		live.Env["FRONTDESK_CLUB_GATEWAY_KEY"], live.Env["FRONTDESK_SEAL_KEYS"],
	} {
		if strings.Contains(printed, secret) {
			t.Errorf("it prints a secret:\n%s", printed)
		}
	}
}

// TestReadinessWatchesRedis changes the settings of Redis while gateways run.
func TestReadinessWatchesRedis(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	process, c := live.Start(t)
	ready := func(status int, checks map[string]string) {
		t.Helper()
		var health api.Health
		frontdesktest.Eventually(t, "readiness changes", func() bool {
			response := c.Do("GET", "/readyz", nil)
			response.Into(response.Status, &health)
			return response.Status == status
		})
		for part, want := range checks {
			if got := frontdesktest.Value(health.Checks)[part]; got != want {
				t.Errorf("%s is %q in %+v", part, got, health)
			}
		}
	}
	ready(http.StatusOK, map[string]string{"redis": "ok", "club_system": "ok"})
	for _, bad := range [][3]string{
		{"appendfsync", "everysec", "always"}, {"maxmemory-policy", "volatile-lru", "noeviction"},
		{"min-replicas-to-write", "1", "0"},
	} {
		configure(t, live.Redis, bad[0], bad[1])
		ready(http.StatusServiceUnavailable, map[string]string{"redis": "unavailable"})
		configure(t, live.Redis, bad[0], bad[2])
		ready(http.StatusOK, map[string]string{"redis": "ok"})
	}
	expectLogged(t, process, "everysec", "volatile-lru", "NOREPLICAS", "ready again")
}

// TestReadinessWithoutTheClubSystem checks that gateways stay ready without the club system.
func TestReadinessWithoutTheClubSystem(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(
		t, "FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL="+frontdesktest.NewRedis(t),
		"FRONTDESK_CLUB_URL=http://127.0.0.1:1/sim", "FRONTDESK_SANDBOX_URL=http://127.0.0.1:1/sandbox",
	)
	var health api.Health
	frontdesktest.NewClient(t, gateway.URL).Do("GET", "/readyz", nil).Into(http.StatusOK, &health)
	checks := frontdesktest.Value(health.Checks)
	if health.Status != api.Degraded || checks["club_system"] != "degraded" || checks["redis"] != "ok" {
		t.Errorf("%+v", health)
	}
}

// configure changes a running Redis.
func configure(t *testing.T, address, name, value string) {
	t.Helper()
	options, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.ConfigSet(context.Background(), name, value).Err(); err != nil {
		t.Fatal(err)
	}
}

// TestAPI8LiveMode checks that what is only for developers is not available to the public, and that no
// header enables it.
func TestAPI8LiveMode(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	_, client := live.Start(t)
	for _, path := range []string{
		"/sim/demo/_control/personas", "/sim/demo/_control/requests", "/sim/oauth/v2/token", "/sim/",
		frontdesktest.MerchantPage, "/sandbox/settings", "/panel/requests", "/panel/changes", "/panel/panel.js",
		"/ops/payments", "/metrics", "/debug/pprof/",
	} {
		for _, method := range []string{"GET", "POST"} {
			client.Do(method, path, nil, frontdesktest.Key("")).Problem(api.NotFound)
		}
	}
	site := client.Do("GET", "/", nil)
	if strings.Contains(string(site.Body), "/panel/") || strings.Contains(site.Header.Get("Content-Security-Policy"), "unsafe") {
		t.Errorf("the site comes with %s", site.Header.Get("Content-Security-Policy"))
	}
	docs := client.Do("GET", "/docs/api", nil) // the contract is public; its page may call only this origin, and no page may frame it
	policy := docs.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") ||
		strings.Contains(policy, "http") {
		t.Errorf("the documentation has the policy %q", policy)
	}
	for _, secret := range live.Env {
		if len(secret) < 8 || strings.HasPrefix(secret, "http") {
			continue
		}
		for what, response := range map[string]*frontdesktest.Response{
			"the site":          site,
			"the documentation": docs,
			"readiness":         client.Do("GET", "/readyz", nil),
		} {
			if strings.Contains(string(response.Body), secret) {
				t.Errorf("%s holds a secret", what)
			}
		}
	}
	for _, path := range []string{"/", "/docs", "/docs/api", "/v1/clubs", "/v1/nothing"} {
		if hsts := client.Do("GET", path, nil).Header.Get("Strict-Transport-Security"); !strings.HasPrefix(hsts, "max-age=31536000") {
			t.Errorf("%s comes with %q", path, hsts)
		}
	}
	before := len(live.Upstreams.Sim.Requests())
	client.Do("GET", "/v1/clubs", nil, frontdesktest.StaffKey()).Problem(api.StaffKeyUnknown)
	client.Do("POST", "/v1/registrations", `{"clubId":"11","channel":"club"}`, frontdesktest.Key(""), [2]string{"X-Frontdesk-World", "demo"}).
		Problem(api.StaffOnly)
	client.Do("POST", "/v1/webhooks/club/demo-webhook-secret", `{"event":"contact.updated"}`).Problem(api.NotFound)
	if made := len(live.Upstreams.Sim.Requests()) - before; made > 0 {
		t.Errorf("the demo's keys made %d calls", made)
	}
	for _, origin := range []string{
		"http://localhost:5173", "null", "https://evil.example", "https://www.gym-4711.fr.evil.example",
		"http://www.gym-4711.fr",
	} {
		if response := client.Do("GET", "/v1/clubs", nil, [2]string{"Origin", origin}); response.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a page at %s may read", origin)
		}
	}
}

// TestLiveLaterNeedsIdentity checks that in live mode identified contacts and staff can pay later, and
// visitors cannot.
func TestLiveLaterNeedsIdentity(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	_, client := live.Start(t)
	deferred := func() (n int) {
		for _, request := range live.Upstreams.Sim.Requests() {
			if strings.HasSuffix(request.Path, "/postpone_due") {
				n++
			}
		}
		return n
	}
	later := func(of api.Registration) map[string]string {
		return map[string]string{"method": "later", "cart": of.Cart.Revision, "dueDate": time.Now().AddDate(0, 0, 14).Format(time.DateOnly)}
	}
	visitor := client.Register()
	client.RequestPayment(visitor.Id, later(visitor)).Problem("method_not_offered")
	if methods := frontdesktest.Value(visitor.Next[0].Methods); !slices.Equal(methods, []api.PaymentMethod{"card"}) || deferred() != 0 {
		t.Errorf("a visitor is offered %v; %d sales were deferred", methods, deferred())
	}
	now := time.Now()
	login, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": "1001", "club": "11", "aud": live.Env["FRONTDESK_IDENTITY_AUDIENCE"],
		"iss": live.Env["FRONTDESK_IDENTITY_ISSUER"], "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}).SignedString([]byte(live.Env["FRONTDESK_IDENTITY_SECRET"]))
	if err != nil {
		t.Fatal(err)
	}
	var contact api.Registration
	day := now.AddDate(0, 0, 1).Format(time.DateOnly)
	client.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "201", StartDate: &day}}},
		frontdesktest.Key(""), [2]string{"Authorization", "Bearer " + login}).Into(http.StatusCreated, &contact)
	known := *client
	known.Token = *contact.Token
	known.RequestPayment(contact.Id, later(contact)).Into(http.StatusCreated, nil)
	client.RequestPayment(visitor.Id, later(visitor), [2]string{"X-Frontdesk-Staff-Key", live.Env["FRONTDESK_STAFF_KEYS"]}).
		Into(http.StatusCreated, nil)
	if deferred() != 2 {
		t.Errorf("%d sales were deferred, want 2", deferred())
	}
}

// tokenHash is the hash of an operator's token, for FRONTDESK_OPERATORS.
func tokenHash(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

func sealKey() string {
	key := make([]byte, 32)
	rand.Read(key)
	return base64.StdEncoding.EncodeToString(key)
}

// hookSecret returns a signing secret like the processor's.
func hookSecret() string { return "whsec_" + rand.Text() + rand.Text() }
