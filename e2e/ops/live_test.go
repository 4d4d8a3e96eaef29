package ops_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
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
)

// TestLive runs the journey in live mode: a visitor connects over https and pays through the
// processor's adapter, and the club system has the payment once.
func TestLive(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	process, c := l.Start(t)
	l.Processor.SetWebhooks(sandbox.Normal, process.URL+"/v1/webhooks/card")
	registration := c.Register()
	unseen := c.RequestPayment(registration.Id, map[string]string{"method": "card"}).Problem(api.InvalidRequest)
	if errors := frontdesktest.Value(unseen.Errors); len(errors) != 1 || errors[0].Pointer != "/cart" || len(l.Processor.Payments()) != 0 {
		t.Errorf("a payment without the cart's revision is refused with %+v", unseen)
	}
	var payment api.Payment
	c.RequestPayment(registration.Id, map[string]string{"method": "card", "cart": registration.Cart.Revision}).
		Into(http.StatusCreated, &payment)
	held := l.Processor.Payments()
	if len(held) != 1 || payment.Card.Processor != "stripe" || frontdesktest.Value(payment.Card.PublishableKey) != l.Processor.PublishableKey {
		t.Fatalf("%d payments, and %+v", len(held), payment.Card)
	}
	if _, err := l.Processor.Confirm(held[0].ID, "4242424242424242"); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "the club system has the payment", func() bool { return len(l.Upstreams.Sim.Ledger()) > 0 })
	c.Await(registration.Id, api.Completed)
	frontdesktest.Env{Upstreams: l.Upstreams}.ExpectOnePayment(t, payment.Amount.Amount)
	if held := l.Processor.Payments(); held[0].Captured != payment.Amount.Amount || held[0].Metadata["fd_environment"] != "live" {
		t.Errorf("the processor holds %+v", held[0])
	}
}

// TestLiveEdge checks what only live mode, or only https, does at the edge.
func TestLiveEdge(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	_, c := l.Start(t)
	started := c.Do("POST", "/v1/registrations", `{"clubId":"`+c.Club()+`"}`, frontdesktest.Key(""), [2]string{"X-Frontdesk-Session", "cookie"})
	if cookie := started.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") {
		t.Errorf("the cookie is %q", cookie)
	}
	var registration api.Registration
	started.Into(http.StatusCreated, &registration)
	session, _, _ := strings.Cut(started.Header.Get("Set-Cookie"), ";")
	for _, sent := range []struct {
		origin, site string
		let          bool
	}{{l.Front.URL, "same-origin", true}, {l.Front.URL, "cross-site", false}, {"https://www.gym-4711.fr", "same-site", true}, {"https://gym-4711.fr", "same-site", false}} {
		answer := c.Do(
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
	for origin, let := range map[string]bool{"https://www.gym-4711.fr": true, "https://WWW.gym-4711.fr": false, "https://gym-4711.fr": false, "http://localhost:5173": false} {
		response := c.Do("OPTIONS", "/v1/registrations", nil, [2]string{"Origin", origin}, [2]string{"Access-Control-Request-Method", "POST"})
		if got := response.Header.Get("Access-Control-Allow-Origin") == origin; got != let {
			t.Errorf("%s is let in: %t", origin, got)
		}
	}
	c.Do("GET", "/v1/clubs", nil, [2]string{"X-Frontdesk-Staff-Key", "demo-staff-key-1"}).Problem(api.StaffKeyUnknown)
	var all api.ClubList
	c.Do("GET", "/v1/clubs", nil, [2]string{"X-Frontdesk-World", "demo-other"}).Into(http.StatusOK, &all) // has no meaning in live mode
}

// TestMetricsListener checks that in live mode a scraper reaches only the metrics, and operators' tools
// find no metrics.
func TestMetricsListener(t *testing.T) {
	t.Parallel()
	process, c := frontdesktest.NewLive(t).Start(t)
	operators, metrics := "http://"+process.OpsAddress(), "http://"+process.AddressOf("metrics")
	if scraped := c.Do("GET", metrics+"/metrics", nil); scraped.Status != http.StatusOK || !strings.Contains(string(scraped.Body), "frontdesk_build_info") {
		t.Errorf("a scrape: %d %s", scraped.Status, scraped.Body)
	}
	for _, elsewhere := range []string{operators + "/metrics", metrics + "/ops/payments", metrics + "/ops/queue", metrics + "/debug/pprof/", metrics + "/healthz"} {
		if answer := c.Do("GET", elsewhere, nil); answer.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", elsewhere, answer.Status, answer.Body)
		}
	}
	if page := c.Do("GET", metrics+"/metrics", nil, [2]string{"Origin", "https://elsewhere.example"}); page.Status != http.StatusForbidden {
		t.Errorf("a page in a browser: %d", page.Status)
	}
}

// TestDoctorInLiveMode checks that doctor finds no fault in the environment, and names a fault once
// there is one.
func TestDoctorInLiveMode(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	process, _ := l.Start(t)
	l.Processor.SetWebhooks(sandbox.Drop, l.Front.URL+"/v1/webhooks/card")
	changes := map[string]string{"FRONTDESK_OPS_ADDR": process.OpsAddress()}
	printed, content := doctor(t, l.Environment(changes))
	if !content || strings.Contains(printed, "FAIL") || strings.Contains(printed, "warning") {
		t.Errorf("content: %t\n%s", content, printed)
	}
	expectAll(
		t, printed, "appendfsync always", "noeviction", "5 clubs", "read endpoints are granted", "live keys", "API version",
		"shared secret", "leads to a gateway of this version", "is served",
	)

	configure(t, l.Redis, "maxmemory-policy", "allkeys-lru")
	l.Processor.SetWebhooks(sandbox.Drop, "https://elsewhere.fr/v1/webhooks/card")
	l.Upstreams.Sim.Configure(func(s *clubsim.Settings) {
		s.ProductionMode, s.GrantedEndpoints = true, []string{"listNetworkNodes", "getClub", "listProducts"}
	})
	changes["FRONTDESK_IDENTITY_SECRET"], changes["FRONTDESK_IDENTITY_JWKS_URL"] = "", l.Front.URL+"/nothing"
	printed, content = doctor(t, l.Environment(changes))
	if content {
		t.Error("it is content")
	}
	expectAll(
		t, printed, "FAIL     redis eviction", "allkeys-lru", "FAIL     club system grants",
		"offers, allowed_debit_days, contacts", "warning  card processor webhook", "no endpoint leads to", "FAIL     login",
		"status 404",
	)
	for _, secret := range []string{l.Processor.SecretKey, l.Processor.WebhookSecret, l.Env["FRONTDESK_CLUB_CLIENT_SECRET"], l.Env["FRONTDESK_CLUB_GATEWAY_KEY"], l.Env["FRONTDESK_SEAL_KEYS"]} {
		if strings.Contains(printed, secret) {
			t.Errorf("it prints a secret:\n%s", printed)
		}
	}
}

// TestReadinessWatchesRedis changes the settings of Redis while gateways run.
func TestReadinessWatchesRedis(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	process, c := l.Start(t)
	ready := func(status int, checks map[string]string) {
		t.Helper()
		var health api.Health
		frontdesktest.Eventually(t, "readiness changes", func() bool {
			answer := c.Do("GET", "/readyz", nil)
			answer.Into(answer.Status, &health)
			return answer.Status == status
		})
		for part, want := range checks {
			if got := frontdesktest.Value(health.Checks)[part]; got != want {
				t.Errorf("%s is %q in %+v", part, got, health)
			}
		}
	}
	ready(http.StatusOK, map[string]string{"redis": "ok", "club_system": "ok"})
	for _, bad := range [][3]string{{"appendfsync", "everysec", "always"}, {"maxmemory-policy", "volatile-lru", "noeviction"}, {"min-replicas-to-write", "1", "0"}} {
		configure(t, l.Redis, bad[0], bad[1])
		ready(http.StatusServiceUnavailable, map[string]string{"redis": "unavailable"})
		configure(t, l.Redis, bad[0], bad[2])
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
	if checks := frontdesktest.Value(health.Checks); health.Status != api.Degraded || checks["club_system"] != "degraded" || checks["redis"] != "ok" {
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

// complaints returns the lines of a refusal to start, without its heading. A busy Redis can take longer
// than the gateway waits, which is not tested here: the gateway is then started again.
func complaints(t *testing.T, environment []string) (lines []string) {
	t.Helper()
	frontdesktest.Eventually(t, "a start while Redis answers in time", func() bool {
		said := expectStartRefused(t, nil, environment...)
		heading, rest, ok := strings.Cut(said, "\n")
		if !ok || heading != "frontdesk: cannot start in live mode:" {
			t.Fatalf("it says:\n%s", said)
		}
		lines = slices.Collect(strings.Lines(strings.TrimSuffix(rest, "\n")))
		return !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "i/o timeout") })
	})
	return lines
}

// liveRefusals change one variable each, and give the text that the refusal must contain.
var liveRefusals = map[string]struct{ variable, value, says string }{
	"no Redis":                {"FRONTDESK_REDIS_URL", "", "is missing"},
	"no club system":          {"FRONTDESK_CLUB_URL", "", "is missing"},
	"no public address":       {"FRONTDESK_PUBLIC_URL", "", "is missing"},
	"no organisation":         {"FRONTDESK_CLUB_TOKEN", "", "is missing"},
	"no client":               {"FRONTDESK_CLUB_CLIENT_ID", "", "is missing"},
	"no client secret":        {"FRONTDESK_CLUB_CLIENT_SECRET", "", "is missing"},
	"no gateway key":          {"FRONTDESK_CLUB_GATEWAY_KEY", "", "is missing"},
	"no secret key":           {"FRONTDESK_STRIPE_SECRET_KEY", "", "is missing"},
	"no publishable key":      {"FRONTDESK_STRIPE_PUBLISHABLE_KEY", "", "is missing"},
	"no webhook secret":       {"FRONTDESK_STRIPE_WEBHOOK_SECRET", "", "is missing"},
	"no seal keys":            {"FRONTDESK_SEAL_KEYS", "", "openssl rand"},
	"no login":                {"FRONTDESK_IDENTITY_SECRET", "", "or set FRONTDESK_IDENTITY_SECRET"},
	"any audience":            {"FRONTDESK_IDENTITY_AUDIENCE", "", "is missing: the aud"},
	"any issuer":              {"FRONTDESK_IDENTITY_ISSUER", "", "is missing: the iss"},
	"two logins":              {"FRONTDESK_IDENTITY_JWKS_URL", "https://login.gym-4711.fr/jwks", "either could identify"},
	"demo organisation":       {"FRONTDESK_CLUB_TOKEN", "demo", "is an example"},
	"demo world":              {"FRONTDESK_CLUB_TOKEN", "demo-lilas", "is an example"},
	"demo client":             {"FRONTDESK_CLUB_CLIENT_ID", "demo", "is an example"},
	"demo client secret":      {"FRONTDESK_CLUB_CLIENT_SECRET", "demo-secret", "is an example"},
	"demo gateway key":        {"FRONTDESK_CLUB_GATEWAY_KEY", "demo-gateway-key", "is an example"},
	"a placeholder":           {"FRONTDESK_CLUB_CLIENT_SECRET", "ChangeMe!", "is an example"},
	"demo seal key":           {"FRONTDESK_SEAL_KEYS", "ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc=", "can be guessed"},
	"demo seal key, kept":     {"FRONTDESK_SEAL_KEYS", sealKey() + ",ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc=", "key 2"},
	"seal key of zeros":       {"FRONTDESK_SEAL_KEYS", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "can be guessed"},
	"short seal key":          {"FRONTDESK_SEAL_KEYS", "q7+/+w==", "at least 32"},
	"demo staff key":          {"FRONTDESK_STAFF_KEYS", "demo-staff-key-1", "key 1"},
	"short staff key":         {"FRONTDESK_STAFF_KEYS", "Zk2mWx9c", "at least 16"},
	"dull staff key":          {"FRONTDESK_STAFF_KEYS", "aaaaaaaaaaaaaaaaaaaaaaaa", "can be guessed"},
	"short identity secret":   {"FRONTDESK_IDENTITY_SECRET", "Zk2mWx9cZk2mWx9c", "at least 32"},
	"typed identity secret":   {"FRONTDESK_IDENTITY_SECRET", "password-of-the-club-and-its-website", "can be guessed"},
	"no operators":            {"FRONTDESK_OPERATORS", "", "is missing"},
	"operator, demo token":    {"FRONTDESK_OPERATORS", "ada:" + tokenHash(frontdesktest.OperatorToken), "demo token"},
	"operator, typed token":   {"FRONTDESK_OPERATORS", "ada:Zk2mWx9cQq7LpT4v", "64 hexadecimal digits"},
	"operator, short hash":    {"FRONTDESK_OPERATORS", "ada:" + tokenHash("a")[:62], "64 hexadecimal digits"},
	"operator, long hash":     {"FRONTDESK_OPERATORS", "ada:" + tokenHash("a") + "00", "64 hexadecimal digits"},
	"operator without a hash": {"FRONTDESK_OPERATORS", "ada", "entry 1 must be name:hash"},
	"operator, empty entry":   {"FRONTDESK_OPERATORS", "ada:" + tokenHash("a") + ",,bob:" + tokenHash("b"), "entry 2 must be name:hash"},
	"operator, odd name":      {"FRONTDESK_OPERATORS", "ada rose:" + tokenHash("a"), "entry 1: the name must be"},
	"operator, no name":       {"FRONTDESK_OPERATORS", ":" + tokenHash("a"), "entry 1: the name must be"},
	"operators, same name":    {"FRONTDESK_OPERATORS", "ada:" + tokenHash("a") + ",ada:" + tokenHash("b"), "entry 2 repeats"},
	"operators, same token":   {"FRONTDESK_OPERATORS", "ada:" + tokenHash("a") + ",bob:" + tokenHash("a"), "entry 2 repeats"},
	"sandbox":                 {"FRONTDESK_SANDBOX_URL", "http://127.0.0.1:8081/sandbox", "takes no real money"},
	"test secret key":         {"FRONTDESK_STRIPE_SECRET_KEY", "sk_test_double", "not a live key"},
	"test publishable key":    {"FRONTDESK_STRIPE_PUBLISHABLE_KEY", "pk_test_double", "not a live key"},
	"a key for a secret":      {"FRONTDESK_STRIPE_WEBHOOK_SECRET", "we_Zk2mWx9cQq7LpT4vZk2mWx9cQq7LpT4v", "whsec_"},
	"half a webhook secret":   {"FRONTDESK_STRIPE_WEBHOOK_SECRET", "whsec_9tZ4mQ", "too short"},
	"typed webhook secret":    {"FRONTDESK_STRIPE_WEBHOOK_SECRET", "whsec_example_example_example_example", "can be guessed"},
	"a second, cut secret":    {"FRONTDESK_STRIPE_WEBHOOK_SECRET", hookSecret() + ",whsec_9tZ4mQ", "secret 2"},
	"an empty webhook secret": {"FRONTDESK_STRIPE_WEBHOOK_SECRET", hookSecret() + ",,", "has an empty secret"},
	"three webhook secrets":   {"FRONTDESK_STRIPE_WEBHOOK_SECRET", hookSecret() + "," + hookSecret() + "," + hookSecret(), "at most 2"},
	"processor by http":       {"FRONTDESK_STRIPE_URL", "http://127.0.0.1:12111", "https://"},
	"public by http":          {"FRONTDESK_PUBLIC_URL", "http://signup.gym-4711.fr", "https://"},
	"public with a path":      {"FRONTDESK_PUBLIC_URL", "https://gym-4711.fr/signup", "has a path"},
	"public, no address":      {"FRONTDESK_PUBLIC_URL", "signup.gym-4711.fr", "not an address"},
	"public, an example":      {"FRONTDESK_PUBLIC_URL", "https://signup.example.com", "is an example"},
	"club system by http":     {"FRONTDESK_CLUB_URL", "http://api.gym-4711.fr", "https://"},
	"club with a password":    {"FRONTDESK_CLUB_URL", "https://me:secret@api.gym-4711.fr", "a password"},
	"origin: all":             {"FRONTDESK_ALLOWED_ORIGINS", "*", "is *"},
	"origin by http":          {"FRONTDESK_ALLOWED_ORIGINS", "https://www.gym-4711.fr,http://www.gym-4711.fr", "http://www.gym-4711.fr"},
	"origin with a slash":     {"FRONTDESK_ALLOWED_ORIGINS", "https://www.gym-4711.fr/", "not an origin"},
	"origin in capitals":      {"FRONTDESK_ALLOWED_ORIGINS", "https://WWW.gym-4711.fr", "lower case"},
	"every app's scheme":      {"FRONTDESK_RETURN_SCHEMES", "*", "is *"},
	"a scheme without a dot":  {"FRONTDESK_RETURN_SCHEMES", "com.gym-4711,gym4711", "not an app's own scheme"},
	"a scheme with a host":    {"FRONTDESK_RETURN_SCHEMES", "com.gym-4711://paid", "without ://"},
	"a scheme in capitals":    {"FRONTDESK_RETURN_SCHEMES", "com.Gym", "lower case"},
	"a script by http":        {"FRONTDESK_STRIPE_SCRIPT_URL", "http://127.0.0.1:12111/v3/", "https://"},
	"operators everywhere":    {"FRONTDESK_OPS_ADDR", ":9090", "not all of it has authentication"},
	"operators, all networks": {"FRONTDESK_OPS_ADDR", "0.0.0.0:9090", "not all of it has authentication"},
	"operators, public":       {"FRONTDESK_OPS_ADDR", "203.0.113.7:9090", "not all of it has authentication"},
	"operators, by name":      {"FRONTDESK_OPS_ADDR", "gateway.gym-4711.fr:9090", "not all of it has authentication"},
	"operators, nowhere":      {"FRONTDESK_OPS_ADDR", "9090", "must be host:port"},
	"metrics everywhere":      {"FRONTDESK_METRICS_ADDR", ":9091", "not all of it has authentication"},
	"metrics, public":         {"FRONTDESK_METRICS_ADDR", "203.0.113.7:9091", "not all of it has authentication"},
	"metrics, nowhere":        {"FRONTDESK_METRICS_ADDR", "9091", "must be host:port"},
	"a method that is none":   {"FRONTDESK_METHODS", "visitor:card+barter", "has \"barter\" for visitor"},
	"a prefix, no path":       {"FRONTDESK_CLUB_API", "path-prefix:api", "begins with a slash"},
	"asks by another word":    {"FRONTDESK_ASK_REPEATS", "on", "all or none"},
	"asks no buyer":           {"FRONTDESK_ASK_REPEATS", ",", "all or none"},
	"captcha's key alone":     {"FRONTDESK_CAPTCHA_SITE_KEY", "0x4AAAAAAA", "set FRONTDESK_CAPTCHA_URL"},
	"no such replica":         {"FRONTDESK_REDIS_WAIT", "1", "start the replica"},
	"not a Redis":             {"FRONTDESK_REDIS_URL", "http://127.0.0.1:6379", "redis://"},
	"no such Redis":           {"FRONTDESK_REDIS_URL", "redis://127.0.0.1:1", "does not answer"},
	"Redis by TLS":            {"FRONTDESK_REDIS_URL", "rediss://127.0.0.1:1", "does not answer"},
	"Redis in plain":          {"FRONTDESK_REDIS_URL", "redis://me:secret@10.1.2.3:6379", "rediss://"},
	"Redis in plain, by name": {"FRONTDESK_REDIS_URL", "redis://redis.gym-4711.fr", "rediss://"},
	"Sentinels in plain":      {"FRONTDESK_REDIS_URL", "redis+sentinel://10.1.2.3,10.1.2.4/main", "rediss+sentinel://"},
	"Sentinel on loopback":    {"FRONTDESK_REDIS_URL", "redis+sentinel://127.0.0.1/main", "rediss+sentinel://"},
	"cluster in plain":        {"FRONTDESK_REDIS_URL", "redis+cluster://127.0.0.1:1,10.1.2.3", "rediss+cluster://"},
}

// TestLiveRefuses changes one thing at a time in an environment in which live mode starts. The refusal
// is then one line, which names the fault and the remedy.
func TestLiveRefuses(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	for name, test := range liveRefusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := complaints(t, l.Environment(map[string]string{test.variable: test.value}))
			if len(lines) != 1 || !strings.Contains(lines[0], test.variable) || !strings.Contains(lines[0], test.says) {
				t.Errorf("%d lines, or not %s and %q:\n%s", len(lines), test.variable, test.says, strings.Join(lines, ""))
			}
			if strings.Contains(strings.Join(lines, ""), "secret@") {
				t.Error("it shows a password")
			}
		})
	}
}

// TestLiveRefusesRemovedVariables: a gateway that ignores a setting of an earlier release would not do what its operator means.
func TestLiveRefusesRemovedVariables(t *testing.T) {
	t.Parallel()
	environment := frontdesktest.NewLive(t).Environment(map[string]string{
		"FRONTDESK_LATER_DAYS":              "14",
		"FRONTDESK_METHODS_VISITOR_FILE":    "/run/methods",
		"FRONTDESK_CLUB_CLIENT_SECRET":      "",
		"FRONTDESK_STRIPE_PUBLISHABLE_KEY":  "pk_test_double",
		"OTEL_EXPORTER_OTLP_ENDPOINT":       "collector",
		"FRONTDESK_SMS_ORGANISATION_HOURLY": "-1",
	})
	said := expectStartRefused(t, nil, append(environment, "FRONTDESK_SMS_DAILY=")...) // an empty one is not set
	_, lines, _ := strings.Cut(said, "cannot start in live mode:\n")
	expectAll(t, lines,
		"FRONTDESK_LATER_DAYS is no longer known: set FRONTDESK_METHODS=later-days:",
		"FRONTDESK_METHODS_VISITOR is no longer known: set FRONTDESK_METHODS=visitor:",
		"FRONTDESK_CLUB_CLIENT_SECRET is missing",
		"FRONTDESK_STRIPE_PUBLISHABLE_KEY is not a live key",
		"OTEL_EXPORTER_OTLP_ENDPOINT is not an address",
		"FRONTDESK_SMS_ORGANISATION_HOURLY must not be negative")
	if strings.Count(lines, "\n") != 6 {
		t.Errorf("it says more or less:\n%s", lines)
	}
}

// TestLiveRefusesHiddenCaptcha: the gateway would require a captcha that no page can show.
func TestLiveRefusesHiddenCaptcha(t *testing.T) {
	t.Parallel()
	lines := complaints(t, frontdesktest.NewLive(t).Environment(map[string]string{
		"FRONTDESK_CAPTCHA_URL": "https://challenges.cloudflare.com/turnstile/v0/siteverify", "FRONTDESK_CAPTCHA_SECRET": "0x4AAAAAAAsecret",
	}))
	if len(lines) != 1 || !strings.Contains(lines[0], "FRONTDESK_CAPTCHA_SITE_KEY") {
		t.Errorf("it says:\n%s", strings.Join(lines, ""))
	}
}

// TestLiveRefusesLogin is separate because the login by secret must be removed for it.
func TestLiveRefusesLogin(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	for address, says := range map[string]string{"http://login.gym-4711.fr/jwks": "https://", "login.gym-4711.fr": "not an address", l.Env["FRONTDESK_CLUB_URL"] + "/x/_control/jwks": "the simulator's login"} {
		lines := strings.Join(
			complaints(t, l.Environment(map[string]string{"FRONTDESK_IDENTITY_SECRET": "", "FRONTDESK_IDENTITY_JWKS_URL": address})),
			"",
		)
		if !strings.Contains(lines, "FRONTDESK_IDENTITY_JWKS_URL") || !strings.Contains(lines, says) {
			t.Errorf("%s, without %q:\n%s", address, says, lines)
		}
	}
}

// TestLiveRefusesUnsafeRedis starts the gateway on a real Redis that is not safe.
func TestLiveRefusesUnsafeRedis(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []string
		says    []string
	}{
		"as it comes":       {[]string{"--appendonly", "no"}, []string{"redis persistence: appendonly no"}},
		"syncs each second": {[]string{"--appendfsync", "everysec"}, []string{"redis persistence: appendonly yes, appendfsync everysec"}},
		"evicts":            {[]string{"--maxmemory-policy", "allkeys-lfu"}, []string{"redis eviction: maxmemory-policy allkeys-lfu"}},
		"a replica":         {[]string{"--replicaof", "127.0.0.1", "1"}, []string{"redis role: a replica", "redis writes: refused: READONLY"}},
		"everything":        {[]string{"--appendonly", "no", "--maxmemory-policy", "volatile-ttl", "--min-replicas-to-write", "1"}, []string{"redis eviction", "redis persistence", "redis writes: refused: NOREPLICAS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := complaints(t, frontdesktest.NewLive(t, test.options...).Environment(nil))
			if len(lines) != len(test.says) {
				t.Errorf("%d lines instead of %d:\n%s", len(lines), len(test.says), strings.Join(lines, ""))
			}
			expectAll(t, strings.Join(lines, ""), test.says...)
		})
	}
	t.Run("with a bad configuration", func(t *testing.T) {
		t.Parallel()
		l := frontdesktest.NewLive(t, "--appendonly", "no")
		lines := complaints(t, l.Environment(map[string]string{"FRONTDESK_CLUB_TOKEN": "demo", "FRONTDESK_ALLOWED_ORIGINS": "*"}))
		if len(lines) != 3 {
			t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, ""))
		}
		expectAll(t, strings.Join(lines, ""), "FRONTDESK_CLUB_TOKEN", "FRONTDESK_ALLOWED_ORIGINS", "redis persistence")
	})
	t.Run("CONFIG is forbidden", func(t *testing.T) {
		t.Parallel()
		l := frontdesktest.NewLive(t, "--rename-command", "CONFIG", "")
		expectAll(t, strings.Join(complaints(t, l.Environment(nil)), ""), "redis persistence", "FRONTDESK_REDIS_ASSUME_DURABLE=true")
		l.Env["FRONTDESK_REDIS_ASSUME_DURABLE"] = "true"
		_, c := l.Start(t)
		c.Do("GET", "/readyz", nil).Into(http.StatusOK, nil)
	})
	t.Run("a replica acknowledges instead", func(t *testing.T) {
		t.Parallel()
		l := frontdesktest.NewLive(t, "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0")
		host, port, _ := strings.Cut(strings.TrimPrefix(l.Redis, "redis://"), ":")
		replica := frontdesktest.NewRedis(t, "--replicaof", host, port)
		l.Env["FRONTDESK_REDIS_WAIT"] = "1"
		frontdesktest.Eventually(t, "the replica follows", func() bool {
			doctor := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "doctor")
			doctor.Env = l.Environment(nil)
			said, _ := doctor.CombinedOutput() // it reports what is not there yet
			return strings.Contains(string(said), "each is acknowledged by 1")
		})
		process, c := l.Start(t)
		var registration api.Registration
		frontdesktest.Eventually(t, "a replica that has a moment acknowledges", func() bool {
			started := c.Do("POST", "/v1/registrations", `{"clubId":"`+c.Club()+`"}`, frontdesktest.Key(""))
			return started.Status == http.StatusCreated && json.Unmarshal(started.Body, &registration) == nil
		})
		c.Token = *registration.Token
		frontdesktest.StopRedis(t, replica)
		c.RequestPayment(registration.Id, `{"method":"card"}`).Problem(api.StorageUnavailable)
		c.Registration(registration.Id) // reads are still served
		expectOneLogLine(
			t, process,
			[]string{"redis writes is failed: refused: fewer than 1 of its replicas", "start the replica", "FRONTDESK_REDIS_WAIT"},
		)
		expectReady(t, c, "redis unavailable")
	})
}

// TestAPI8LiveMode checks that what is only for developers is not available to the public, and that no
// header enables it.
func TestAPI8LiveMode(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	_, c := l.Start(t)
	for _, path := range []string{"/sim/demo/_control/personas", "/sim/demo/_control/requests", "/sim/oauth/v2/token", "/sim/", frontdesktest.MerchantPage, "/sandbox/settings",
		"/panel/requests", "/panel/changes", "/panel/panel.js", "/ops/payments", "/metrics", "/debug/pprof/"} {
		for _, method := range []string{"GET", "POST"} {
			c.Do(method, path, nil, frontdesktest.Key("")).Problem(api.NotFound)
		}
	}
	site := c.Do("GET", "/", nil)
	if strings.Contains(string(site.Body), "/panel/") || strings.Contains(site.Header.Get("Content-Security-Policy"), "unsafe") {
		t.Errorf("the site comes with %s", site.Header.Get("Content-Security-Policy"))
	}
	docs := c.Do("GET", "/docs/api", nil) // the contract is public; its page may call only this origin, and no page may frame it
	if policy := docs.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "http") {
		t.Errorf("the documentation has the policy %q", policy)
	}
	for _, secret := range l.Env {
		if len(secret) < 8 || strings.HasPrefix(secret, "http") {
			continue
		}
		for what, answer := range map[string]*frontdesktest.Response{"the site": site, "the documentation": docs, "readiness": c.Do("GET", "/readyz", nil)} {
			if strings.Contains(string(answer.Body), secret) {
				t.Errorf("%s holds a secret", what)
			}
		}
	}
	for _, path := range []string{"/", "/docs", "/docs/api", "/v1/clubs", "/v1/nothing"} {
		if hsts := c.Do("GET", path, nil).Header.Get("Strict-Transport-Security"); !strings.HasPrefix(hsts, "max-age=31536000") {
			t.Errorf("%s comes with %q", path, hsts)
		}
	}
	before := len(l.Upstreams.Sim.Requests())
	c.Do("GET", "/v1/clubs", nil, frontdesktest.StaffKey()).Problem(api.StaffKeyUnknown)
	c.Do("POST", "/v1/registrations", `{"clubId":"11","channel":"club"}`, frontdesktest.Key(""), [2]string{"X-Frontdesk-World", "demo"}).
		Problem(api.StaffOnly)
	c.Do("POST", "/v1/webhooks/club/demo-webhook-secret", `{"event":"contact.updated"}`).Problem(api.NotFound)
	if made := len(l.Upstreams.Sim.Requests()) - before; made > 0 {
		t.Errorf("the demo's keys made %d calls", made)
	}
	for _, origin := range []string{"http://localhost:5173", "null", "https://evil.example", "https://www.gym-4711.fr.evil.example", "http://www.gym-4711.fr"} {
		if answer := c.Do("GET", "/v1/clubs", nil, [2]string{"Origin", origin}); answer.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a page at %s may read", origin)
		}
	}
}

// TestLiveLaterNeedsIdentity checks that in live mode identified contacts and staff can pay later, and
// visitors cannot.
func TestLiveLaterNeedsIdentity(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	_, c := l.Start(t)
	deferred := func() (n int) {
		for _, request := range l.Upstreams.Sim.Requests() {
			if strings.HasSuffix(request.Path, "/postpone_due") {
				n++
			}
		}
		return n
	}
	later := func(of api.Registration) map[string]string {
		return map[string]string{"method": "later", "cart": of.Cart.Revision, "dueDate": time.Now().AddDate(0, 0, 14).Format(time.DateOnly)}
	}
	visitor := c.Register()
	c.RequestPayment(visitor.Id, later(visitor)).Problem("method_not_offered")
	if methods := frontdesktest.Value(visitor.Next[0].Methods); !slices.Equal(methods, []api.PaymentMethod{"card"}) || deferred() != 0 {
		t.Errorf("a visitor is offered %v; %d sales were deferred", methods, deferred())
	}
	now := time.Now()
	login, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "1001", "club": "11", "aud": l.Env["FRONTDESK_IDENTITY_AUDIENCE"], "iss": l.Env["FRONTDESK_IDENTITY_ISSUER"], "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}).
		SignedString([]byte(l.Env["FRONTDESK_IDENTITY_SECRET"]))
	if err != nil {
		t.Fatal(err)
	}
	var contact api.Registration
	day := now.AddDate(0, 0, 1).Format(time.DateOnly)
	c.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "201", StartDate: &day}}},
		frontdesktest.Key(""), [2]string{"Authorization", "Bearer " + login}).Into(http.StatusCreated, &contact)
	known := *c
	known.Token = *contact.Token
	known.RequestPayment(contact.Id, later(contact)).Into(http.StatusCreated, nil)
	c.RequestPayment(visitor.Id, later(visitor), [2]string{"X-Frontdesk-Staff-Key", l.Env["FRONTDESK_STAFF_KEYS"]}).
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
