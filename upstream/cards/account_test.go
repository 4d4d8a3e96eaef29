package cards_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

func TestAccount(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	account, err := pair.Account(t.Context())
	want := cards.Account{ID: sandbox.DemoAccount, Country: "FR", Currency: "EUR", ChargesEnabled: true}
	if err != nil || account != want {
		t.Errorf("account %+v, %v, want %+v", account, err, want)
	}
	stranger := newClient(t, cards.Config{SecretKey: "rk_live_stranger", URL: pair.double.URL})
	if _, err := stranger.Account(t.Context()); !errors.Is(err, cards.ErrRefused) || strings.Contains(err.Error(), "stranger") {
		t.Errorf("a wrong key: %v", err)
	}
}

// TestPermissions: a restricted key must be able to read payments with their charges, which every step of a payment reads.
func TestPermissions(t *testing.T) {
	t.Parallel()
	double := sandbox.New(sandbox.Config{Accounts: []sandbox.Account{{RestrictedKeys: map[string][]string{
		"rk_test_all":      {"rak_webhook_read", "rak_accounts_kyc_basic_read"},
		"rk_test_charges":  {"rak_charge_read"},
		"rk_test_payments": {"rak_payment_intent_read"},
	}}}})
	t.Cleanup(double.Close)
	for key, says := range map[string]string{
		"rk_test_all": "", "rk_test_charges": "permission to write Charges and Refunds", "rk_test_payments": "permission to write PaymentIntents",
	} {
		client := newClient(t, cards.Config{SecretKey: key, URL: double.URL})
		err := client.CheckPermissions(t.Context())
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), key)) {
			t.Errorf("%s: %v", key, err)
		}
		want := cards.ErrNoPermission
		if says == "" {
			want = cards.ErrRefused // it may not read its account
		}
		if _, idErr := client.AccountID(t.Context()); !errors.Is(idErr, want) || err != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, the account's id: %v", key, err, idErr)
		}
	}
	stranger := newClient(t, cards.Config{SecretKey: "rk_test_stranger", URL: double.URL})
	if err := stranger.CheckPermissions(t.Context()); !errors.Is(err, cards.ErrRefused) || errors.Is(err, cards.ErrNoPermission) {
		t.Errorf("a wrong key: %v", err)
	}
	if all := double.Payments(); len(all) != 0 {
		t.Errorf("the check made %+v", all)
	}
}

// TestForbiddenForAnotherReason: a refusal that is not about permissions does not send the operator to the key's permissions.
func TestForbiddenForAnotherReason(t *testing.T) {
	t.Parallel()
	client := canned(t, http.StatusForbidden, `{"error":{"type":"invalid_request_error","message":"This address may not use the key."}}`)
	err := client.CheckPermissions(t.Context())
	if !errors.Is(err, cards.ErrRefused) || errors.Is(err, cards.ErrNoPermission) || !strings.Contains(err.Error(), "status 403") ||
		strings.Contains(err.Error(), "permission") {
		t.Errorf("%v", err)
	}
}

// TestWebhookEndpoints reads where the processor sends its events, and which events it leaves out.
func TestWebhookEndpoints(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	if hooks, err := pair.WebhookEndpoints(t.Context()); err != nil || len(hooks) != 0 {
		t.Errorf("none is there, and %+v (%v)", hooks, err)
	}
	const at = "https://signup.club.fr/v1/webhooks/card"
	pair.double.SetWebhooks(sandbox.Drop, at)
	hooks, err := pair.WebhookEndpoints(t.Context())
	if err != nil || len(hooks) != 1 || hooks[0].URL != at || !hooks[0].Enabled ||
		hooks[0].APIVersion != sandbox.APIVersion || len(hooks[0].Missing()) != 0 {
		t.Errorf("%+v (%v)", hooks, err)
	}
	some := cards.WebhookEndpoint{Events: []string{"payment_intent.succeeded", "payment_intent.canceled",
		"payment_intent.payment_failed", "charge.refunded", "refund.updated", "refund.failed", "charge.dispute.created"}}
	if missing := some.Missing(); len(missing) != 1 || missing[0] != "payment_intent.amount_capturable_updated" {
		t.Errorf("missing: %v", missing)
	}
	stranger := newClient(t, cards.Config{SecretKey: "sk_test_stranger", URL: pair.double.URL, Now: pair.clock.Now})
	if _, err := stranger.WebhookEndpoints(t.Context()); !errors.Is(err, cards.ErrRefused) {
		t.Errorf("a stranger gets %v", err)
	}
}
