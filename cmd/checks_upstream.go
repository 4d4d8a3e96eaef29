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

// checkProcessor says whose money the keys move, and whether the processor reports
// to this gateway.
func (cfg Config) checkProcessor(ctx context.Context, processor cards.Processor) []flows.Check {
	d := flows.Check{Part: "card processor", Verdict: flows.OK, Found: processor.Name() + " answers; it takes no real money"}
	if account, ok := processor.(*stripe.Client); ok {
		return cfg.checkAccount(ctx, account)
	}
	if _, err := processor.List(ctx, time.Now().Add(-time.Hour)); err != nil {
		d.Verdict, d.Found, d.Fix = flows.Failed, err.Error(), "see that FRONTDESK_SANDBOX_URL leads to it"
	}
	return []flows.Check{d}
}

func (cfg Config) checkAccount(ctx context.Context, processor *stripe.Client) []flows.Check {
	d := flows.Check{Part: "card processor", Verdict: flows.Failed}
	account, err := processor.Account(ctx)
	if err != nil {
		d.Found, d.Fix = err.Error(), "see that FRONTDESK_STRIPE_SECRET_KEY is a key of the account that may read it"
		return []flows.Check{d}
	}
	mode := "test"
	if account.Live {
		mode = "live"
	}
	d.Found = fmt.Sprintf("%s: account %s (%s, %s), %s keys", processor.Name(), account.ID, account.Country, account.Currency, mode)
	if account.Live && !account.ChargesEnabled {
		d.Fix = "the account may not take payments yet: finish its activation at the processor"
		return []flows.Check{d}
	}
	d.Verdict = flows.OK
	if cfg.StripeURL != "" {
		d.Found += ", at another address than the processor's own"
	}
	return []flows.Check{d, cfg.checkWebhookEndpoint(ctx, processor)}
}

// checkWebhookEndpoint looks for the webhook endpoint that reports to this gateway. Payments
// are polled as well, so that a missing one delays them and loses none.
func (cfg Config) checkWebhookEndpoint(ctx context.Context, processor *stripe.Client) flows.Check {
	d := flows.Check{Part: "card processor", Aspect: "webhook", Verdict: flows.Degraded}
	at := cfg.PublicURL + "/v1/webhooks/card"
	hooks, err := processor.WebhookEndpoints(ctx)
	if err != nil {
		d.Found, d.Fix = "the endpoints cannot be read", "give the restricted key leave to read webhook endpoints, or look at the processor that one leads to "+at
		return d
	}
	for _, hook := range hooks {
		switch missing := hook.Missing(); {
		case hook.URL != at:
		case !hook.Enabled:
			d.Found, d.Fix = at+" is disabled", "enable it at the processor"
			return d
		case len(missing) > 0:
			d.Found, d.Fix = fmt.Sprintf("%s does not get %v", at, missing), "add them to the endpoint at the processor"
			return d
		default:
			d.Verdict, d.Found = flows.OK, fmt.Sprintf("%s, API version %s", at, hook.APIVersion)
			return d
		}
	}
	d.Found, d.Fix = "no endpoint leads to "+at, "make one at the processor, and put its signing secret into FRONTDESK_STRIPE_WEBHOOK_SECRET"
	return d
}

// checkLogin reads the keys that the club's own login publishes.
func (cfg Config) checkLogin(ctx context.Context, login *identity.Verifier) []flows.Check {
	d := flows.Check{Part: "login", Verdict: flows.OK, Found: "signs with a shared secret"}
	if cfg.IdentityJWKSURL == "" {
		return []flows.Check{d}
	}
	usable, err := login.UsableKeys(ctx)
	switch {
	case err != nil:
		d.Verdict, d.Found, d.Fix = flows.Failed, cfg.IdentityJWKSURL+": "+err.Error(), "see that FRONTDESK_IDENTITY_JWKS_URL is where the login publishes its keys"
	case usable == 0:
		d.Verdict, d.Found, d.Fix = flows.Failed, "publishes no key that can be used", "have it sign with RS256, ES256 or EdDSA"
	default:
		d.Found = fmt.Sprintf("usable keys: %d", usable)
	}
	return []flows.Check{d}
}

// maxContract is above the size of openapi.yaml.
const maxContract = 1 << 20

// checkPublicAddress asks for the contract where browsers would. In mock mode there
// is nothing between them and the gateway.
func (cfg Config) checkPublicAddress(ctx context.Context) []flows.Check {
	if cfg.Mode == "mock" {
		return nil
	}
	d := flows.Check{Part: "public address", Verdict: flows.Failed, Fix: "see that FRONTDESK_PUBLIC_URL leads through your proxy to a gateway"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.PublicURL+"/openapi.yaml", nil)
	if err != nil {
		d.Found = cfg.PublicURL + " is no address"
		return []flows.Check{d}
	}
	answer, err := http.DefaultClient.Do(request)
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		d.Found, d.Fix = cfg.PublicURL+" has a certificate that no browser accepts", "renew it, or send its chain along"
		return []flows.Check{d}
	case err != nil:
		d.Verdict, d.Found, d.Fix = flows.Degraded, "nothing answers at "+cfg.PublicURL, "start a gateway and look again; "+d.Fix
		return []flows.Check{d}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxContract))
	switch {
	case err == nil && bytes.Equal(body, assets.Contract):
		d.Verdict, d.Found, d.Fix = flows.OK, cfg.PublicURL+" leads to a gateway of this version", ""
	case answer.StatusCode == http.StatusOK && bytes.HasPrefix(body, []byte("openapi:")):
		d.Verdict, d.Found, d.Fix = flows.Degraded, cfg.PublicURL+" leads to a gateway of another version", "finish the upgrade"
	default:
		d.Found = fmt.Sprintf("%s answers with %d, and is no gateway", cfg.PublicURL, answer.StatusCode)
	}
	return []flows.Check{d}
}

// checkOperators looks whether a gateway serves operators.
func (cfg Config) checkOperators(ctx context.Context) []flows.Check {
	d := flows.Check{Part: "operators", Verdict: flows.OK, Found: "off: payments in doubt can be decided on at another gateway alone"}
	switch cfg.OpsAddr {
	case "off":
		return []flows.Check{d}
	case defaultOpsAddr:
		if cfg.Mode == "mock" {
			return nil // whether somebody runs a gateway at the same time is no concern of theirs
		}
	}
	d.Found = cfg.OpsAddr + " is served"
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", cfg.OpsAddr)
	if err != nil {
		d.Verdict, d.Found, d.Fix = flows.Degraded, "nothing answers at "+cfg.OpsAddr, "start a gateway and look again"
		return []flows.Check{d}
	}
	_ = connection.Close() // it was there, which is all that was asked
	return []flows.Check{d}
}
