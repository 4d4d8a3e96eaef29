package ops_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// TestFingerprint starts gateways with the keys of two accounts on one Redis. The second one does not start, doctor says
// why, and an operator can change the account on purpose.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	environment := func(account string) []string {
		processor := sandbox.New(sandbox.Config{Accounts: []sandbox.Account{{ID: account}}})
		t.Cleanup(processor.Close)
		return []string{
			"FRONTDESK_MODE=test",
			"FRONTDESK_REDIS_URL=" + env.Redis,
			"FRONTDESK_CLUB_URL=" + env.Upstreams.URL + "/sim",
			"FRONTDESK_OPS_ADDR=off",
			"FRONTDESK_SEAL_KEYS=" + frontdesktest.SealKey,
			"FRONTDESK_STRIPE_URL=" + processor.URL,
			"FRONTDESK_STRIPE_SECRET_KEY=" + processor.SecretKey,
			"FRONTDESK_STRIPE_PUBLISHABLE_KEY=" + processor.PublishableKey,
			"FRONTDESK_STRIPE_WEBHOOK_SECRET=" + processor.WebhookSecret,
		}
	}
	first, second := environment("acct_first"), environment("acct_second")
	printed, ok := doctor(t, first)
	if !ok || !strings.Contains(printed, "account stripe acct_first, organisation demo, test mode; the first gateway stores it") {
		t.Errorf("doctor on an empty Redis:\n%s", printed)
	}
	gateway := frontdesktest.Start(t, first...)
	const differs = "the card processor's account is stripe acct_second, but Redis holds the payments of stripe acct_first"
	expectAll(t, expectStartRefused(t, nil, second...), "cannot start in test mode", differs, "frontdesk doctor --adopt")
	if printed, ok := doctor(t, second); ok || !strings.Contains(printed, differs) {
		t.Errorf("doctor with the other key:\n%s", printed)
	}
	if printed, ok := doctor(t, first); !ok {
		t.Errorf("doctor with the right key:\n%s", printed)
	}
	if err := gateway.Stop(); err != nil {
		t.Fatal(err)
	}
	if printed, ok := doctor(t, second, "--adopt"); !ok {
		t.Errorf("the change of the account:\n%s", printed)
	}
	frontdesktest.Start(t, second...)
	expectAll(t, expectStartRefused(t, nil, first...), "is stripe acct_first, but Redis holds the payments of stripe acct_second")
}
