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
	visitors := func(c cmd.Config) any { return fmt.Sprint(c.MethodsVisitor) }
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
		"the cart's revision":                 {revision, "", "required", "--cart-revision=optional", "optional"},
		"how visitors pay":                    {visitors, "[]", "[card free]", "--methods-visitor=later", "[later]"},
		"where metrics are served":            {metrics, "off", "127.0.0.1:9091", "--metrics-addr=off", "off"},
		"other origins of front ends":         {origins, 1, 0, "--allowed-origins=https://a.fr", 1},
		"public keys, tokens and secrets":     {public, 4, 0, "", nil},
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
