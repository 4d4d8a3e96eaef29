package cmd_test

import (
	"fmt"
	"testing"

	"frontdesk/cmd"
)

// TestDefaults: what each mode does if the operator says nothing, and if they say otherwise.
func TestDefaults(t *testing.T) {
	t.Parallel()
	asksRepeats := func(c cmd.Config) any { return c.AsksRepeats("gym-4711") }
	limitHeaders := func(c cmd.Config) any { return c.Club.LimitHeaders }
	public := func(c cmd.Config) any {
		return len(c.SealKeys) + len(c.StaffKeys) + len(c.Operators) + len(c.WebhookSecret)
	}
	rateLimited := func(c cmd.Config) any { return c.RateLimited() }
	revision := func(c cmd.Config) any { return c.CartRevision }
	methods := func(c cmd.Config) any {
		policy, err := c.MethodPolicy()
		return fmt.Sprint(policy.Visitor, policy.Contact, policy.Staff, policy.LaterDays, err)
	}
	metrics := func(c cmd.Config) any { return c.MetricsAddr }
	origins := func(c cmd.Config) any { return len(c.AllowedOrigins) }
	for name, is := range map[string]struct {
		of         func(cmd.Config) any
		demo, live any // demo: in mock and test mode
		flag       string
		otherwise  any // in each mode with the flag
	}{
		"repeated purchases are asked about":  {asksRepeats, false, true, "--ask-repeats=all", true},
		"of none":                             {asksRepeats, false, true, "--ask-repeats=none", false},
		"of this organisation":                {asksRepeats, false, true, "--ask-repeats=gym-4711", true},
		"of another organisation":             {asksRepeats, false, true, "--ask-repeats=demo-a", false},
		"limit headers are the API gateway's": {limitHeaders, true, false, "--club-limit-headers=on", true},
		"limit headers are anybody's":         {limitHeaders, true, false, "--club-limit-headers=off", false},
		"requests are counted":                {rateLimited, false, true, "--rate-limits=on", true},
		"the cart's revision":                 {revision, "", "", "--cart-revision=optional", "optional"},
		"how buyers pay": {
			methods, "[] [] [] 0 <nil>", "[card free] [] [] 0 <nil>", "--methods=visitor:later,staff:desk+free,later-days:9",
			"[later] [] [desk free] 9 <nil>",
		},
		"where metrics are served":        {metrics, "off", "127.0.0.1:9091", "--metrics-addr=off", "off"},
		"other origins of front ends":     {origins, 1, 0, "--allowed-origins=https://a.fr", 1},
		"public keys, tokens and secrets": {public, 4, 0, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for mode, want := range map[string]any{"mock": is.demo, "test": is.demo, "live": is.live} {
				cfg, err := cmd.Defaults(mode)
				if got := is.of(cfg); err != nil || got != want {
					t.Errorf("%s mode: %v, want %v (%v)", mode, got, want, err)
				}
				if is.flag == "" {
					continue
				}
				cfg, err = cmd.Defaults(mode, is.flag)
				if got := is.of(cfg); err != nil || got != is.otherwise {
					t.Errorf("%s mode with %s: %v, want %v (%v)", mode, is.flag, got, is.otherwise, err)
				}
			}
		})
	}
}

// TestCardProcessor checks which card processor each mode calls, with which keys, and where browsers load its library.
func TestCardProcessor(t *testing.T) {
	t.Parallel()
	const demo, sim = "sk_test_sandbox_demo pk_test_sandbox_demo [whsec_sandbox_demo]", "--sandbox-url=http://sim:8081/sandbox/"
	for name, is := range map[string]struct {
		mode         string
		flags        []string
		keys, script string
	}{
		"mock mode has its own":       {"mock", nil, demo, "http://localhost:8080/sandbox/v3/"},
		"mock mode ignores another's": {"mock", []string{sim, "--stripe-secret-key=sk_test_x"}, demo, "http://localhost:8080/sandbox/v3/"},
		"the simulator's":             {"test", []string{sim}, demo, "http://sim:8081/sandbox/v3/"},
		"the simulator's, with keys of its own": {"test", []string{sim, "--stripe-secret-key=sk_test_x", "--stripe-publishable-key=pk_test_x",
			"--stripe-webhook-secret=whsec_x,whsec_y"}, "sk_test_x pk_test_x [whsec_x whsec_y]", "http://sim:8081/sandbox/v3/"},
		"the simulator's, for browsers elsewhere": {"test", []string{sim, "--stripe-script-url=http://localhost/v3/"},
			demo, "http://localhost/v3/"},
		"another address": {"test", []string{sim, "--stripe-url=http://double", "--stripe-secret-key=sk_test_x"},
			"sk_test_x  []", "http://double/v3/"},
		"Stripe, in test mode":     {"test", []string{"--stripe-secret-key=sk_test_x"}, "sk_test_x  []", "https://js.stripe.com/v3/"},
		"Stripe, in live mode":     {"live", []string{"--stripe-secret-key=sk_live_x"}, "sk_live_x  []", "https://js.stripe.com/v3/"},
		"no demo key in live mode": {"live", []string{sim}, "  []", "https://js.stripe.com/v3/"},
	} {
		cfg, err := cmd.Defaults(is.mode, is.flags...)
		keys := fmt.Sprint(cfg.Stripe.SecretKey, " ", cfg.StripePublicKey, " ", cfg.Stripe.WebhookSecrets)
		if err != nil || keys != is.keys || cfg.CardScriptURL() != is.script {
			t.Errorf("%s: %v, keys %s, library at %s", name, err, keys, cfg.CardScriptURL())
		}
	}
}
