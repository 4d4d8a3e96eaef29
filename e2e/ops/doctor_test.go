package ops_test

import (
	"maps"
	"os/exec"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// doctor runs the check with an environment, and returns its output and whether it passed.
func doctor(t *testing.T, environment []string, args ...string) (printed string, content bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t), append([]string{"doctor"}, args...)...)
	cmd.Env = append([]string{"FRONTDESK_ADDR=127.0.0.1:0"}, environment...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// verdicts returns the verdict of each part: FAIL if any of its checks failed, else ok.
func verdicts(printed string) map[string]string {
	said := map[string]string{}
	for _, part := range []string{"configuration", "redis", "club system", "card processor", "login", "claim"} {
		for line := range strings.Lines(printed) {
			verdict, rest, _ := strings.Cut(line, " ")
			if !strings.HasPrefix(strings.TrimSpace(rest), part) || said[part] == "FAIL" {
				continue
			}
			if verdict == "warning" {
				verdict = "ok"
			}
			said[part] = verdict
		}
	}
	return said
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{})
	t.Cleanup(processor.Close)
	test := []string{"FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL=" + s.Redis, "FRONTDESK_CLUB_URL=" + s.Upstreams.URL + "/sim"}
	sandboxURL := "FRONTDESK_SANDBOX_URL=" + s.Upstreams.URL + "/sandbox"
	race := []string{"--check-claims", "--rounds=2", "--racers=4"}
	unreachable := []string{
		"FRONTDESK_MODE=test",
		"FRONTDESK_REDIS_URL=redis://127.0.0.1:1",
		"FRONTDESK_CLUB_URL=http://127.0.0.1:1",
		"FRONTDESK_SANDBOX_URL=http://127.0.0.1:1",
	}
	withStripe := func(key string) []string {
		return append(
			[]string{"FRONTDESK_SEAL_KEYS=" + frontdesktest.SealKey, "FRONTDESK_STRIPE_URL=" + processor.URL, "FRONTDESK_STRIPE_SECRET_KEY=" + key,
				"FRONTDESK_STRIPE_PUBLISHABLE_KEY=" + processor.PublishableKey, "FRONTDESK_STRIPE_WEBHOOK_SECRET=" + processor.WebhookSecret},
			test...)
	}
	all := map[string]string{"configuration": "ok", "redis": "ok", "club system": "ok", "card processor": "ok", "login": "ok"}
	and := func(verdict string, parts ...string) map[string]string {
		said := maps.Clone(all)
		for _, part := range parts {
			said[part] = verdict
		}
		return said
	}
	for name, c := range map[string]struct {
		environment []string
		args        []string
		verdicts    map[string]string
		says        string
	}{
		"nothing configured":        {nil, nil, all, "mock mode"},
		"nothing configured, claim": {nil, race, and("ok", "claim"), "2 rounds of 4 callers, 2 winners; 6 calls lost"},
		"everything responds":       {append([]string{sandboxURL}, test...), nil, all, "5 clubs"},
		"nothing responds": {
			unreachable, []string{"--check-claims"}, and("FAIL", "redis", "club system", "card processor", "login"),
			"4 of the checks failed",
		},
		"wrong client secret": {
			append([]string{"FRONTDESK_CLUB_CLIENT_SECRET=wrong", sandboxURL}, test...), nil,
			and("FAIL", "club system"), "1 of the checks failed",
		},
		"a foreign organisation": {
			append([]string{"FRONTDESK_CLUB_TOKEN=foreign", sandboxURL}, test...), nil,
			and("FAIL", "club system", "login"), "2 of the checks failed",
		},
		"stripe": {withStripe(processor.SecretKey), race, and("ok", "claim"), "test keys"},
		"stripe, wrong key": {
			withStripe("sk_test_wrong"), []string{"--check-claims"}, and("FAIL", "card processor"),
			"1 of the checks failed",
		},
		"half a configuration": {
			[]string{"FRONTDESK_MODE=test"}, nil, map[string]string{"configuration": "FAIL"},
			"FRONTDESK_REDIS_URL is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printed, content := doctor(t, c.environment, c.args...)
			said, failed := verdicts(printed), false
			for check, want := range c.verdicts {
				failed = failed || want == "FAIL"
				if said[check] != want {
					t.Errorf("%s: %q instead of %q", check, said[check], want)
				}
			}
			if len(said) != len(c.verdicts) || content == failed || !strings.Contains(printed, c.says) {
				t.Errorf("content %v, and printed, and %q is not the only line:\n%s", content, c.says, printed)
			}
			if strings.Contains(printed, processor.SecretKey) {
				t.Error("it prints a secret key")
			}
		})
	}
}

// TestKeyWithoutPermission checks that no gateway starts with a restricted key that may not read what every step of a payment
// needs, and that doctor finds such a key, also if it may not read its account either.
func TestKeyWithoutPermission(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	const account = "rak_accounts_kyc_basic_read"
	processor := sandbox.New(sandbox.Config{Accounts: []sandbox.Account{{RestrictedKeys: map[string][]string{
		"rk_test_all": nil, "rk_test_charges": {"rak_charge_read"}, "rk_test_charges_account": {"rak_charge_read", account},
		"rk_test_payments": {"rak_payment_intent_read"}, "rk_test_payments_account": {"rak_payment_intent_read", account},
	}}}})
	t.Cleanup(processor.Close)
	for key, permission := range map[string]string{
		"rk_test_all": "", "rk_test_charges": "Charges and Refunds", "rk_test_charges_account": "Charges and Refunds",
		"rk_test_payments": "PaymentIntents", "rk_test_payments_account": "PaymentIntents",
	} {
		environment := []string{
			"FRONTDESK_MODE=test",
			"FRONTDESK_REDIS_URL=" + env.Redis,
			"FRONTDESK_CLUB_URL=" + env.Upstreams.URL + "/sim",
			"FRONTDESK_OPS_ADDR=off",
			"FRONTDESK_SEAL_KEYS=" + frontdesktest.SealKey,
			"FRONTDESK_STRIPE_URL=" + processor.URL,
			"FRONTDESK_STRIPE_SECRET_KEY=" + key,
			"FRONTDESK_STRIPE_PUBLISHABLE_KEY=" + processor.PublishableKey,
			"FRONTDESK_STRIPE_WEBHOOK_SECRET=" + processor.WebhookSecret,
		}
		printed, ok := doctor(t, environment)
		if permission == "" {
			if !ok || strings.Contains(printed, "permission to write") {
				t.Errorf("doctor with every permission:\n%s", printed)
			}
			continue
		}
		failed := strings.Contains(printed, "FAIL     card processor permissions")
		if ok || !failed || !strings.Contains(printed, "permission to write "+permission) {
			t.Errorf("doctor with %s:\n%s", key, printed)
		}
		expectAll(t, expectStartRefused(t, nil, environment...), "cannot start in test mode", "permission to write "+permission)
	}
	if all := processor.Payments(); len(all) != 0 {
		t.Errorf("the checks made %+v", all)
	}
}

// TestDoctorRefusesClaimCheckWithLiveKeys checks that doctor refuses the check of claims with live
// keys.
func TestDoctorRefusesClaimCheckWithLiveKeys(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{Accounts: []sandbox.Account{{SecretKey: "sk_live_double"}}})
	t.Cleanup(processor.Close)
	printed, content := doctor(
		t,
		[]string{"FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL=" + s.Redis, "FRONTDESK_CLUB_URL=" + s.Upstreams.URL + "/sim",
			"FRONTDESK_SEAL_KEYS=" + frontdesktest.SealKey, "FRONTDESK_STRIPE_URL=" + processor.URL, "FRONTDESK_STRIPE_SECRET_KEY=sk_live_double",
			"FRONTDESK_STRIPE_PUBLISHABLE_KEY=pk", "FRONTDESK_STRIPE_WEBHOOK_SECRET=whsec"},
		"--check-claims",
	)
	if content || !strings.Contains(printed, "live") || len(processor.Payments()) != 0 {
		t.Errorf("content %v with %d payments, and printed:\n%s", content, len(processor.Payments()), printed)
	}
}
