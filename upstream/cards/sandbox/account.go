package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
)

// Account is an account of the processor in one mode: live if its secret key is. It has its own payments
// and idempotency keys.
type Account struct {
	ID             string     // zero: DemoAccount
	SecretKey      string     // sk_… or rk_…; zero: DemoSecretKey
	PublishableKey string     // of a buyer's browser; zero: DemoPublishableKey
	WebhookSecrets []string   // that sign events, two while one replaces the other; zero: DemoWebhookSecret
	Endpoints      []Endpoint // that receive events, in addition to an address that a caller names

	// RestrictedKeys are further secret keys (rk_…), each with the permissions that it lacks, such as
	// rak_charge_read (https://docs.stripe.com/keys/restricted-api-keys).
	RestrictedKeys map[string][]string
}

// account is an account with its payments. The lock of the Server guards it.
type account struct {
	Account
	live  bool
	lacks map[string][]string // by secret key
}

func newAccount(cfg Account) *account {
	cfg.ID, cfg.SecretKey = cmp.Or(cfg.ID, DemoAccount), cmp.Or(cfg.SecretKey, DemoSecretKey)
	cfg.PublishableKey = cmp.Or(cfg.PublishableKey, DemoPublishableKey)
	if len(cfg.WebhookSecrets) == 0 {
		cfg.WebhookSecrets = []string{DemoWebhookSecret}
	}
	account := &account{Account: cfg, live: strings.Contains(cfg.SecretKey, "k_live_"), lacks: map[string][]string{cfg.SecretKey: nil}}
	maps.Copy(account.lacks, cfg.RestrictedKeys)
	return account
}

// authenticate accepts a secret key. It accepts the publishable key for what a buyer's
// browser may do: read and confirm a payment whose client secret it knows.
func (s *Server) authenticate(rq *request) error {
	key, ok := strings.CutPrefix(rq.header.Get("Authorization"), "Bearer ")
	if !ok {
		key, _, _ = (&http.Request{Header: rq.header}).BasicAuth()
	}
	if key == "" && rq.form.Has("key") {
		key = rq.form.Get("key")
		rq.form.Del("key")
		rq.canonical = rq.form.Encode()
	}
	if key == "" {
		return refused(http.StatusUnauthorized, "", "You did not provide an API key. Send it as Authorization: Bearer YOUR_SECRET_KEY.")
	}
	for _, account := range s.accounts {
		lacks, secret := account.lacks[key]
		rq.publishable = key == account.PublishableKey
		if !secret && !rq.publishable {
			continue
		}
		rq.account, rq.lacks = account, lacks
		rq.intent = s.store.byID[cmp.Or(rq.id, rq.form.Get("payment_intent"))]
		if rq.intent != nil && rq.intent.account != account {
			rq.intent = nil
		}
		forBuyers := rq.intent != nil && rq.endpoint.knows("client_secret") && rq.intent.clientSecret() == rq.form.Get("client_secret")
		if rq.publishable && !forBuyers {
			return refused(http.StatusForbidden, "secret_key_required", "This API call cannot be made with a publishable API key.")
		}
		return nil
	}
	return refused(http.StatusUnauthorized, "", "Invalid API Key provided.")
}

func forbidden(right string) *apiError {
	return &apiError{Type: typeInvalid, status: http.StatusForbidden, Message: "The provided key does not have the required permissions. " +
		"Having the '" + right + "' permission would allow this request to continue."}
}

// ForbidCharges sets whether the secret key lacks the permission to read charges and refunds, as a restricted key may.
func (s *Server) ForbidCharges(forbidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lacks []string
	if forbidden {
		lacks = []string{readCharges}
	}
	s.accounts[0].lacks[s.SecretKey] = lacks
}

// getAccount is GET /v1/account.
func (s *Server) getAccount(rq *request) (any, error) {
	return object{
		"object": "account", "id": rq.account.ID, "country": "FR", "default_currency": "eur", "type": "standard",
		"charges_enabled": true, "details_submitted": true, "payouts_enabled": true,
	}, nil
}
