package ops_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// expectStartRefused starts the binary with an environment that it must refuse, and returns its output.
func expectStartRefused(t *testing.T, arguments []string, environment ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), frontdesktest.Patience) // it might start
	defer stop()
	cmd := exec.CommandContext(ctx, frontdesktest.Binary(t), arguments...)
	cmd.Env = append([]string{"FRONTDESK_ADDR=127.0.0.1:0"}, environment...)
	out, err := cmd.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Fatalf("it ran:\n%s", out)
	}
	return string(out)
}

func expectAll(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("%q is missing in:\n%s", part, said)
		}
	}
}

// expectLogged is expectAll for the log of a running process: a request's line may appear after its
// response.
func expectLogged(t *testing.T, process *frontdesktest.Process, parts ...string) {
	t.Helper()
	for _, part := range parts {
		frontdesktest.Eventually(t, "the log says "+part, func() bool { return strings.Contains(process.Log(), part) })
	}
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	t.Run("test mode lists all that is missing", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_MODE=test"), "FRONTDESK_REDIS_URL", "FRONTDESK_CLUB_URL", "FRONTDESK_SANDBOX_URL")
	})
	t.Run("live mode lists all that is missing", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_MODE=live"),
			"FRONTDESK_REDIS_URL", "FRONTDESK_CLUB_URL", "FRONTDESK_PUBLIC_URL", "FRONTDESK_CLUB_TOKEN",
			"FRONTDESK_CLUB_CLIENT_ID", "FRONTDESK_CLUB_CLIENT_SECRET", "FRONTDESK_CLUB_GATEWAY_KEY",
			"FRONTDESK_SEAL_KEYS", "FRONTDESK_OPERATORS", "FRONTDESK_STRIPE_SECRET_KEY",
			"FRONTDESK_IDENTITY_JWKS_URL", "FRONTDESK_IDENTITY_AUDIENCE", "FRONTDESK_IDENTITY_ISSUER")
	})
	t.Run("unknown mode", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_MODE=prod"), "mock", "test", "live")
	})
	t.Run("short key", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_SEAL_KEYS=c2hvcnQ="), "FRONTDESK_SEAL_KEYS", "at least 32")
	})
	t.Run("the demo key with a shared account", func(t *testing.T) {
		const stripe, complaint = "FRONTDESK_STRIPE_SECRET_KEY=sk_test_x", "FRONTDESK_SEAL_KEYS must have your own keys with Stripe"
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_MODE=test", stripe), complaint)
		withDemoKey := "FRONTDESK_SEAL_KEYS=" + sealKey() + ",ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc="
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_MODE=test", stripe, withDemoKey), complaint)
		said := expectStartRefused(t, nil, "FRONTDESK_MODE=test", stripe, "FRONTDESK_SEAL_KEYS="+sealKey())
		if strings.Contains(said, complaint) {
			t.Errorf("a key of its own is refused: %s", said)
		}
	})
	t.Run("not a Redis", func(t *testing.T) {
		said := expectStartRefused(
			t, nil, "FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL=http://secret@host",
			"FRONTDESK_CLUB_URL=http://127.0.0.1:1/sim", "FRONTDESK_SANDBOX_URL=http://127.0.0.1:1/sandbox",
		)
		expectAll(t, said, "FRONTDESK_REDIS_URL", "redis://")
		if strings.Contains(said, "secret") {
			t.Errorf("the address is repeated: %s", said)
		}
	})
	t.Run("address in use", func(t *testing.T) {
		taken := frontdesktest.NewMock(t)
		said := expectStartRefused(t, nil, "FRONTDESK_ADDR="+strings.TrimPrefix(taken.URL, "http://"))
		expectAll(t, said, "FRONTDESK_ADDR", "address already in use")
	})
	t.Run("addresses without a scheme, and a slip of the keyboard", func(t *testing.T) {
		said := expectStartRefused(
			t, nil, "FRONTDESK_PUBLIC_URL=signup.club", "FRONTDESK_ALLOWED_ORIGINS=foo",
			"FRONTDESK_REDISURL=redis://127.0.0.1:1",
		)
		expectAll(t, said, "FRONTDESK_PUBLIC_URL", "FRONTDESK_ALLOWED_ORIGINS", "FRONTDESK_REDISURL is not known",
			"did you mean FRONTDESK_REDIS_URL?")
	})
	t.Run("a variable of an earlier release", func(t *testing.T) {
		said := expectStartRefused(t, nil, "FRONTDESK_MODE=test", "FRONTDESK_CARD_PROCESSOR=stripe")
		expectAll(t, said, "FRONTDESK_CARD_PROCESSOR is not known", "remove it", "FRONTDESK_SANDBOX_URL", "keys of Stripe")
	})
	t.Run("a collector that cannot be spoken to", func(t *testing.T) {
		at := "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"
		said := expectStartRefused(t, nil, at, "OTEL_EXPORTER_OTLP_HEADERS=api-key=k1,no secret")
		expectAll(t, said, "OTEL_EXPORTER_OTLP_HEADERS", "header 2")
		if strings.Contains(said, "secret") {
			t.Errorf("the header is repeated: %s", said)
		}
		said = expectStartRefused(t, nil, at, "OTEL_EXPORTER_OTLP_CERTIFICATE=/none", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=zip")
		expectAll(t, said, "OTEL_EXPORTER_OTLP_CERTIFICATE", "no such file", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "gzip")
	})
	t.Run("replicas that there cannot be", func(t *testing.T) {
		for _, replicas := range []string{"1", "-1", "10"} { // mock mode has none
			expectAll(t, expectStartRefused(t, nil, "FRONTDESK_REDIS_WAIT="+replicas), "FRONTDESK_REDIS_WAIT", "from 0 to 9", "0 in mock mode")
		}
	})
	t.Run("not a duration", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_DRAIN_DELAY=x"), "FRONTDESK_DRAIN_DELAY")
	})
	t.Run("neither true nor false", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_REDIS_ASSUME_DURABLE=perhaps"), "FRONTDESK_REDIS_ASSUME_DURABLE", "true")
	})
}

func TestBadCommandLine(t *testing.T) {
	t.Parallel()
	t.Run("unknown command", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, []string{"bake"}), "bake")
		expectAll(t, expectStartRefused(t, []string{"payments", "bake"}), "bake", "confirm-recorded")
		expectAll(t, expectStartRefused(t, []string{"payments"}), "confirm-recorded")
	})
	t.Run("flags that do not go with a command", func(t *testing.T) {
		expectAll(t, expectStartRefused(t, []string{"--brew"}), "--brew")
		expectAll(t, expectStartRefused(t, []string{"version", "--addr", ":0"}), "--addr")
		expectAll(t, expectStartRefused(t, []string{"payments", "show"}), "<id> is missing")
		expectAll(t, expectStartRefused(t, []string{"payments", "show", "a", "b"}), "unexpected argument b")
		expectAll(t, expectStartRefused(t, []string{"invite", "--club", "11"}), "contact")
		expectAll(t, expectStartRefused(t, []string{"erase"}), "email", "registration")
		expectAll(t, expectStartRefused(t, []string{"erase", "--email", "a@example.com", "--mobile", "+33612345678"}), "email", "mobile")
		expectAll(t, expectStartRefused(t, []string{"payments", "confirm-not-recorded", "p", "--refund", "--send-again"}), "refund", "send-again")
	})
}

// TestKeysOfTwoModes checks that the keys of the card processor must be of one mode, for a gateway in test mode, doctor and the
// simulator. TestLiveRefuses has live mode.
func TestKeysOfTwoModes(t *testing.T) {
	t.Parallel()
	const secret, publishable = "FRONTDESK_STRIPE_SECRET_KEY=", "FRONTDESK_STRIPE_PUBLISHABLE_KEY="
	doctor := func(environment ...string) string { return expectStartRefused(t, []string{"doctor"}, environment...) }
	for _, address := range []string{"", "http://127.0.0.1:1/sandbox"} {
		processor := "FRONTDESK_SANDBOX_URL=" + address
		for key, wrong := range map[string]bool{"pk_live_x": true, "sk_test_x": true, "pk_test_x": false} {
			mixed := []string{"FRONTDESK_MODE=test", processor, secret + "sk_test_x", publishable + key}
			for _, output := range []string{expectStartRefused(t, nil, mixed...), doctor(mixed...)} {
				if refused := strings.Contains(output, "FRONTDESK_STRIPE_PUBLISHABLE_KEY is not a test key"); refused != wrong {
					t.Errorf("%s: refused: %t\n%s", key, refused, output)
				}
			}
		}
		said := doctor("FRONTDESK_MODE=test", processor, secret+"sk_live_x", publishable+"pk_test_x")
		expectAll(t, said, "FRONTDESK_STRIPE_SECRET_KEY is a live key")
	}
	for _, key := range []string{secret + "rk_live_x", publishable + "pk_live_x"} { // the other one is a demo key
		expectAll(t, expectStartRefused(t, []string{"sim", "--addr=127.0.0.1:0"}, key), "must both be live keys or both test keys")
	}
}

// TestAddressesToListenOn checks that all wrong ones are named, together with another mistake.
func TestAddressesToListenOn(t *testing.T) {
	t.Parallel()
	said := expectStartRefused(t, nil, "FRONTDESK_ADDR=8080", "FRONTDESK_OPS_ADDR=127.0.0.1:99999", "FRONTDESK_METRICS_ADDR=localhost",
		"FRONTDESK_SEAL_KEYS=c2hvcnQ=")
	expectAll(t, said, "FRONTDESK_ADDR must be host:port", "FRONTDESK_OPS_ADDR must be host:port",
		"FRONTDESK_METRICS_ADDR must be host:port", "FRONTDESK_SEAL_KEYS")
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("demo-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := frontdesktest.NewClient(t, frontdesktest.Start(t, "FRONTDESK_CLUB_CLIENT_SECRET_FILE="+path).URL)
	c.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)

	expectAll(t, expectStartRefused(t, nil, "FRONTDESK_CLUB_TOKEN_FILE="+path+".none"), "FRONTDESK_CLUB_TOKEN_FILE", "no such file")
	expectAll(t, expectStartRefused(t, nil, "FRONTDESK_CLUB_TOKEN_FILE="+path, "FRONTDESK_CLUB_TOKEN=demo"), "both set")
}

func TestWrongClubCredentials(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.Start(t, "FRONTDESK_CLUB_CLIENT_SECRET=wrong").URL)
	problem := c.Do("GET", "/v1/clubs", nil)
	problem.Problem("club_system_failed")
	if strings.Contains(string(problem.Body), "wrong") {
		t.Errorf("the answer shows the secret: %s", problem.Body)
	}
}

func TestGracefulStop(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	frontdesktest.NewClient(t, mock.URL).Register()
	if err := mock.Stop(); err != nil {
		t.Errorf("it ended with %v:\n%s", err, mock.Log())
	}
}

func TestRedisUnavailable(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	frontdesktest.StopRedis(t, env.Redis)
	client.Do("GET", "/v1/registrations/"+registration.Id, nil).Problem("storage_unavailable")
	client.Do("POST", "/v1/registrations/"+registration.Id+"/payment", `{"method":"card"}`,
		frontdesktest.Key("")).Problem("storage_unavailable")
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil) // the catalogue is served
	client.Do("GET", "/readyz", nil).Into(http.StatusServiceUnavailable, nil)
	client.Do("GET", "/healthz", nil).Into(http.StatusOK, nil)
	client.Confirm(payment, "4242424242424242")
	if ledger := env.Upstreams.Sim.Ledger(); len(ledger) != 0 {
		t.Errorf("the ledger holds %+v", ledger)
	}
}

// TestEmptyIsNotSet: deployment templates write variables without a value. The operators' listener, whose profiles need no
// token, then stays on loopback, and every other option keeps its default.
func TestEmptyIsNotSet(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, environment := range map[string][]string{
		"the variable": {"FRONTDESK_OPS_ADDR="},
		"its file":     {"FRONTDESK_OPS_ADDR_FILE=" + empty, "FRONTDESK_OPS_ADDR="},
		"all": {"FRONTDESK_OPS_ADDR=", "FRONTDESK_METRICS_ADDR=", "FRONTDESK_MODE=", "FRONTDESK_METHODS=",
			"FRONTDESK_REDIS_ASSUME_DURABLE=", "FRONTDESK_SANDBOX_URL=", "FRONTDESK_CLUB_API="},
	} {
		t.Run(name, func(t *testing.T) {
			process := frontdesktest.Start(t, environment...)
			if log := process.Log(); !strings.Contains(log, "address=127.0.0.1:9090") || strings.Contains(log, "[::]") {
				t.Errorf("operators are served elsewhere:\n%s", log)
			}
		})
	}
}

// TestAnotherAPIGateway checks that a club system is reached behind an API gateway with another header, token endpoint and prefix.
func TestAnotherAPIGateway(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	club, err := url.Parse(env.Upstreams.URL + "/sim")
	if err != nil {
		t.Fatal(err)
	}
	apiGateway := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		path, isAPI := strings.CutPrefix(r.In.URL.Path, "/api/v6")
		switch {
		case r.In.URL.Path == "/auth/token":
			path = "/oauth/v2/token"
		case !isAPI:
			path = "/not-here"
		}
		r.Out.URL.Path = path
		r.Out.Header.Del("X-Gateway-Api-Key")
		r.Out.Header.Set("X-Gateway-Api-Key", r.In.Header.Get("X-Club-Key"))
		r.SetURL(club)
	}})
	t.Cleanup(apiGateway.Close)
	_, c := env.Gateway(t, "FRONTDESK_CLUB_URL="+apiGateway.URL,
		"FRONTDESK_CLUB_API=key-header:X-Club-Key,token-path:/auth/token,path-prefix:/api/v6")
	var clubs api.ClubList
	c.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	if len(clubs.Items) == 0 {
		t.Error("it has no clubs")
	}
}

// TestSandboxSeed checks that the log of mock mode has the seed of the sandbox, and that a sandbox with this seed repeats its ids, in mock
// mode and on its own.
func TestSandboxSeed(t *testing.T) {
	t.Parallel()
	ids := func(url string) (drawn []string) { // one for each call, in the order of the seed; the gateway's own calls draw some too
		c := frontdesktest.NewClient(t, url)
		for range 50 {
			account := c.Do("GET", url+"/sandbox/v1/account", nil, [2]string{"Authorization", "Bearer " + sandbox.DemoSecretKey})
			account.Into(http.StatusOK, nil)
			drawn = append(drawn, account.Header.Get("Request-Id"))
		}
		return drawn
	}
	first := frontdesktest.NewMock(t)
	seed := regexp.MustCompile(`"sandbox seed" seed=([1-9]\d*)\s`).FindStringSubmatch(first.Log())
	if seed == nil {
		t.Fatalf("the log has no seed:\n%s", first.Log())
	}
	arguments := []string{"sim", "--addr=127.0.0.1:0", "--sandbox-seed=" + seed[1]}
	sim, err := frontdesktest.Launch(t.Context(), "card processor at", nil, frontdesktest.Binary(t), arguments...)
	sim.EndWith(t)
	if err != nil {
		t.Fatal(err)
	}
	simURL := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(sim.Output())
	drawn := ids(first.URL)
	for name, of := range map[string]struct {
		url  string
		same bool
	}{
		"mock mode": {frontdesktest.Start(t, "FRONTDESK_SANDBOX_SEED="+seed[1]).URL, true},
		"its own":   {simURL, true},
		"no seed":   {frontdesktest.NewMock(t).URL, false},
	} {
		same := slices.ContainsFunc(ids(of.url), func(id string) bool { return slices.Contains(drawn, id) })
		if same != of.same {
			t.Errorf("%s: ids are repeated: %t, want %t", name, same, of.same)
		}
	}
	for _, wrong := range []string{"0", "-1", "demo"} {
		expectAll(t, expectStartRefused(t, nil, "FRONTDESK_SANDBOX_SEED="+wrong), "FRONTDESK_SANDBOX_SEED", "above 0")
		expectAll(t, expectStartRefused(t, []string{"sim", "--sandbox-seed", wrong}), "--sandbox-seed", "above 0")
	}
}
