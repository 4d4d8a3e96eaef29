package cmd

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/stripe"
	"frontdesk/upstream/identity"
)

// checkProcessor checks that the card processor responds to the keys, and that it
// reports to this gateway.
func (cfg Config) checkProcessor(ctx context.Context, processor cards.Processor) []flows.Check {
	if account, ok := processor.(*stripe.Client); ok {
		return cfg.checkAccount(ctx, account)
	}
	check := flows.Check{Part: "card processor", Verdict: flows.OK, Found: processor.Name() + " answers; it takes no real money"}
	if _, err := processor.List(ctx, time.Now().Add(-time.Hour)); err != nil {
		check.Verdict, check.Found, check.Fix = flows.Failed, err.Error(), "check that FRONTDESK_SANDBOX_URL leads to it"
	}
	return []flows.Check{check}
}

// checkAccount checks whose money the keys move, and that the account may take payments.
func (cfg Config) checkAccount(ctx context.Context, processor *stripe.Client) []flows.Check {
	check := flows.Check{Part: "card processor", Verdict: flows.Failed}
	account, err := processor.Account(ctx)
	if err != nil {
		check.Found, check.Fix = err.Error(), "check that FRONTDESK_STRIPE_SECRET_KEY is a key of the account with permission to read it"
		return []flows.Check{check}
	}
	mode := "test"
	if account.Live {
		mode = "live"
	}
	check.Found = fmt.Sprintf("%s: account %s (%s, %s), %s keys", processor.Name(), account.ID, account.Country, account.Currency, mode)
	if account.Live && !account.ChargesEnabled {
		check.Fix = "the account may not take payments yet: finish its activation at the processor"
		return []flows.Check{check}
	}
	check.Verdict = flows.OK
	if cfg.StripeURL != "" {
		check.Found += ", at another address than the processor's own"
	}
	return []flows.Check{check, cfg.checkWebhookEndpoint(ctx, processor)}
}

// checkWebhookEndpoint looks for the webhook endpoint that reports to this gateway.
// Payments are polled too, so a missing endpoint delays them and loses none.
func (cfg Config) checkWebhookEndpoint(ctx context.Context, processor *stripe.Client) flows.Check {
	check := flows.Check{Part: "card processor", Aspect: "webhook", Verdict: flows.Degraded}
	at := cfg.PublicURL + "/v1/webhooks/card"
	hooks, err := processor.WebhookEndpoints(ctx)
	if err != nil {
		check.Found, check.Fix = "the endpoints cannot be read", "permit the restricted key to read webhook endpoints, or check at the processor that one leads to "+at
		return check
	}
	check.Found, check.Fix = "no endpoint leads to "+at, "create one at the processor, and set FRONTDESK_STRIPE_WEBHOOK_SECRET to its signing secret"
	for _, hook := range hooks {
		if hook.URL != at {
			continue
		}
		switch missing := hook.Missing(); {
		case !hook.Enabled:
			check.Found, check.Fix = at+" is disabled", "enable it at the processor"
		case len(missing) > 0:
			check.Found, check.Fix = fmt.Sprintf("%s does not get %v", at, missing), "add them to the endpoint at the processor"
		default:
			check.Verdict, check.Found, check.Fix = flows.OK, fmt.Sprintf("%s, API version %s", at, hook.APIVersion), ""
		}
		break
	}
	return check
}

// checkLogin checks that the club's login publishes keys that can verify its tokens.
func (cfg Config) checkLogin(ctx context.Context, login *identity.Verifier) flows.Check {
	check := flows.Check{Part: "login", Verdict: flows.OK, Found: "signs with a shared secret"}
	if cfg.IdentityJWKSURL == "" {
		return check
	}
	usable, err := login.UsableKeys(ctx)
	switch {
	case err != nil:
		check.Verdict, check.Found, check.Fix = flows.Failed, cfg.IdentityJWKSURL+": "+err.Error(), "check that the login publishes its keys at FRONTDESK_IDENTITY_JWKS_URL"
	case usable == 0:
		check.Verdict, check.Found, check.Fix = flows.Failed, "publishes no usable key", "have it sign with RS256, ES256 or EdDSA"
	default:
		check.Found = fmt.Sprintf("usable keys: %d", usable)
	}
	return check
}

// maxContract is above the size of openapi.yaml.
const maxContract = 1 << 20

// checkPublicAddress reads the contract through the address that browsers use. In mock
// mode nothing is between them and the gateway.
func (cfg Config) checkPublicAddress(ctx context.Context) []flows.Check {
	if cfg.Mode == "mock" {
		return nil
	}
	check := flows.Check{Part: "public address", Verdict: flows.Failed, Fix: "check that FRONTDESK_PUBLIC_URL leads through your proxy to a gateway"}
	status, body, err := get(ctx, cfg.PublicURL+"/openapi.yaml")
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		check.Found, check.Fix = cfg.PublicURL+" has a certificate that no browser accepts", "renew it, or send its chain with it"
	case err != nil:
		check.Verdict, check.Found, check.Fix = flows.Degraded, "nothing answers at "+cfg.PublicURL, "start a gateway and run doctor again; "+check.Fix
	case bytes.Equal(body, cfg.assets.Contract):
		check.Verdict, check.Found, check.Fix = flows.OK, cfg.PublicURL+" leads to a gateway of this version", ""
	case status == http.StatusOK && bytes.HasPrefix(body, []byte("openapi:")):
		check.Verdict, check.Found, check.Fix = flows.Degraded, cfg.PublicURL+" leads to a gateway of another version", "finish the upgrade"
	default:
		check.Found = fmt.Sprintf("%s answers with %d, and is not a gateway", cfg.PublicURL, status)
	}
	return []flows.Check{check}
}

// get reads a response of up to maxContract bytes.
func get(ctx context.Context, address string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxContract))
	return response.StatusCode, body, err
}

// checkOperators checks that a gateway serves operators.
func (cfg Config) checkOperators(ctx context.Context) []flows.Check {
	check := flows.Check{Part: "operators", Verdict: flows.OK}
	switch {
	case cfg.OpsAddr == "off":
		check.Found = "off: payments in doubt can be decided on through another gateway only"
		return []flows.Check{check}
	case cfg.OpsAddr == defaultOpsAddr && cfg.Mode == "mock":
		return nil // whether another gateway runs on the machine does not matter
	}
	check.Found = cfg.OpsAddr + " is served"
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", cfg.OpsAddr)
	if err != nil {
		check.Verdict, check.Found, check.Fix = flows.Degraded, "nothing answers at "+cfg.OpsAddr, "start a gateway and run doctor again"
		return []flows.Check{check}
	}
	_ = connection.Close() // the connection itself was the check
	return []flows.Check{check}
}
