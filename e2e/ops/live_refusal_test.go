package ops_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

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
	"mails without a sender":  {"FRONTDESK_SMTP_URL", "smtps://mail.gym-4711.fr", "FRONTDESK_MAIL_FROM is missing"},
	"a sender without mails":  {"FRONTDESK_MAIL_FROM", "signup@gym-4711.fr", "has no effect alone"},
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
	"origin with a *":         {"FRONTDESK_ALLOWED_ORIGINS", "https://*.gym-4711.fr", "a * inside an origin matches nothing"},
	"an unknown app's origin": {"FRONTDESK_ALLOWED_ORIGINS", "app://localhost", "app://localhost"},
	"a header of any name":    {"FRONTDESK_ALLOWED_HEADERS", "*", "list each name"},
	"origin by http":          {"FRONTDESK_ALLOWED_ORIGINS", "https://www.gym-4711.fr,http://www.gym-4711.fr", "http://www.gym-4711.fr"},
	"origin with a slash":     {"FRONTDESK_ALLOWED_ORIGINS", "https://www.gym-4711.fr/", "not an origin"},
	"origin in capitals":      {"FRONTDESK_ALLOWED_ORIGINS", "https://WWW.gym-4711.fr", "lower case"},
	"every app's scheme":      {"FRONTDESK_RETURN_SCHEMES", "*", "is *"},
	"a browser's scheme":      {"FRONTDESK_RETURN_SCHEMES", "com.gym-4711,gym4711,javascript", "not an app's own scheme"},
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
	"an unknown method":       {"FRONTDESK_METHODS", "visitor:card+barter", "has \"barter\" for visitor"},
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
	live := frontdesktest.NewLive(t)
	for address, says := range map[string]string{
		"http://login.gym-4711.fr/jwks":                     "https://",
		"login.gym-4711.fr":                                 "not an address",
		live.Env["FRONTDESK_CLUB_URL"] + "/x/_control/jwks": "the simulator's login",
	} {
		lines := strings.Join(
			complaints(t, live.Environment(map[string]string{"FRONTDESK_IDENTITY_SECRET": "", "FRONTDESK_IDENTITY_JWKS_URL": address})),
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
		"everything": {
			[]string{"--appendonly", "no", "--maxmemory-policy", "volatile-ttl", "--min-replicas-to-write", "1"},
			[]string{"redis eviction", "redis persistence", "redis writes: refused: NOREPLICAS"},
		},
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
		live := frontdesktest.NewLive(t, "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0")
		host, port, _ := strings.Cut(strings.TrimPrefix(live.Redis, "redis://"), ":")
		replica := frontdesktest.NewRedis(t, "--replicaof", host, port)
		live.Env["FRONTDESK_REDIS_WAIT"] = "1"
		frontdesktest.Eventually(t, "the replica follows", func() bool {
			doctor := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "doctor")
			doctor.Env = live.Environment(nil)
			said, _ := doctor.CombinedOutput() // it reports what is not there yet
			return strings.Contains(string(said), "each is acknowledged by 1")
		})
		process, client := live.Start(t)
		var registration api.Registration
		frontdesktest.Eventually(t, "a replica that has a moment acknowledges", func() bool {
			started := client.Do("POST", "/v1/registrations", `{"clubId":"`+client.Club()+`"}`, frontdesktest.Key(""))
			return started.Status == http.StatusCreated && json.Unmarshal(started.Body, &registration) == nil
		})
		client.Token = *registration.Token
		frontdesktest.StopRedis(t, replica)
		client.RequestPayment(registration.Id, `{"method":"card"}`).Problem(api.StorageUnavailable)
		client.Registration(registration.Id) // reads are still served
		expectOneLogLine(
			t, process,
			[]string{"redis writes is failed: refused: fewer than 1 of its replicas", "start the replica", "FRONTDESK_REDIS_WAIT"},
		)
		expectReady(t, client, "redis unavailable")
	})
}
