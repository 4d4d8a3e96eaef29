package main

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

// findProcessor says whose money the keys move, and whether the processor reports
// to this gateway.
func (cfg Config) findProcessor(ctx context.Context, processor cards.Processor) []flows.Diagnosis {
	d := flows.Diagnosis{Part: "card processor", Verdict: flows.Fine, Seen: processor.Name() + " answers; it takes no real money"}
	if account, ok := processor.(*stripe.Client); ok {
		return cfg.findAccount(ctx, account)
	}
	if _, err := processor.List(ctx, time.Now().Add(-time.Hour)); err != nil {
		d.Verdict, d.Seen, d.Remedy = flows.Broken, err.Error(), "see that FRONTDESK_SANDBOX_URL leads to it"
	}
	return []flows.Diagnosis{d}
}

func (cfg Config) findAccount(ctx context.Context, processor *stripe.Client) []flows.Diagnosis {
	d := flows.Diagnosis{Part: "card processor", Verdict: flows.Broken}
	account, err := processor.Account(ctx)
	if err != nil {
		d.Seen, d.Remedy = err.Error(), "see that FRONTDESK_STRIPE_SECRET_KEY is a key of the account that may read it"
		return []flows.Diagnosis{d}
	}
	mode := "test"
	if account.Live {
		mode = "live"
	}
	d.Seen = fmt.Sprintf("%s: account %s (%s, %s), %s keys", processor.Name(), account.ID, account.Country, account.Currency, mode)
	if account.Live && !account.ChargesEnabled {
		d.Remedy = "the account may not take payments yet: finish its activation at the processor"
		return []flows.Diagnosis{d}
	}
	d.Verdict = flows.Fine
	if cfg.StripeURL != "" {
		d.Seen += ", at another address than the processor's own"
	}
	return []flows.Diagnosis{d, cfg.findHook(ctx, processor)}
}

// findHook looks for the webhook endpoint that reports to this gateway. Payments
// are polled as well, so that a missing one delays them and loses none.
func (cfg Config) findHook(ctx context.Context, processor *stripe.Client) flows.Diagnosis {
	d := flows.Diagnosis{Part: "card processor", Aspect: "webhook", Verdict: flows.Impaired}
	at := cfg.PublicURL + "/v1/webhooks/card"
	hooks, err := processor.WebhookEndpoints(ctx)
	if err != nil {
		d.Seen, d.Remedy = "the endpoints cannot be read", "give the restricted key leave to read webhook endpoints, or look at the processor that one leads to "+at
		return d
	}
	for _, hook := range hooks {
		switch missing := hook.Missing(); {
		case hook.URL != at:
		case !hook.Enabled:
			d.Seen, d.Remedy = at+" is disabled", "enable it at the processor"
			return d
		case len(missing) > 0:
			d.Seen, d.Remedy = fmt.Sprintf("%s does not get %v", at, missing), "add them to the endpoint at the processor"
			return d
		default:
			d.Verdict, d.Seen = flows.Fine, fmt.Sprintf("%s, API version %s", at, hook.APIVersion)
			return d
		}
	}
	d.Seen, d.Remedy = "no endpoint leads to "+at, "make one at the processor, and put its signing secret into FRONTDESK_STRIPE_WEBHOOK_SECRET"
	return d
}

// findLogin reads the keys that the club's own login publishes.
func (cfg Config) findLogin(ctx context.Context, login *identity.Verifier) []flows.Diagnosis {
	d := flows.Diagnosis{Part: "login", Verdict: flows.Fine, Seen: "signs with a shared secret"}
	if cfg.IdentityJWKSURL == "" {
		return []flows.Diagnosis{d}
	}
	usable, err := login.UsableKeys(ctx)
	switch {
	case err != nil:
		d.Verdict, d.Seen, d.Remedy = flows.Broken, cfg.IdentityJWKSURL+": "+err.Error(), "see that FRONTDESK_IDENTITY_JWKS_URL is where the login publishes its keys"
	case usable == 0:
		d.Verdict, d.Seen, d.Remedy = flows.Broken, "publishes no key that can be used", "have it sign with RS256, ES256 or EdDSA"
	default:
		d.Seen = fmt.Sprintf("usable keys: %d", usable)
	}
	return []flows.Diagnosis{d}
}

// maxContract is above the size of openapi.yaml.
const maxContract = 1 << 20

// findPublicAddress asks for the contract where browsers would. In mock mode there
// is nothing between them and the gateway.
func (cfg Config) findPublicAddress(ctx context.Context) []flows.Diagnosis {
	if cfg.Mode == "mock" {
		return nil
	}
	d := flows.Diagnosis{Part: "public address", Verdict: flows.Broken, Remedy: "see that FRONTDESK_PUBLIC_URL leads through your proxy to a gateway"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.PublicURL+"/openapi.yaml", nil)
	if err != nil {
		d.Seen = cfg.PublicURL + " is no address"
		return []flows.Diagnosis{d}
	}
	answer, err := http.DefaultClient.Do(request)
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		d.Seen, d.Remedy = cfg.PublicURL+" has a certificate that no browser accepts", "renew it, or send its chain along"
		return []flows.Diagnosis{d}
	case err != nil:
		d.Verdict, d.Seen, d.Remedy = flows.Impaired, "nothing answers at "+cfg.PublicURL, "start a gateway and look again; "+d.Remedy
		return []flows.Diagnosis{d}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxContract))
	switch {
	case err == nil && bytes.Equal(body, contract):
		d.Verdict, d.Seen, d.Remedy = flows.Fine, cfg.PublicURL+" leads to a gateway of this version", ""
	case answer.StatusCode == http.StatusOK && bytes.HasPrefix(body, []byte("openapi:")):
		d.Verdict, d.Seen, d.Remedy = flows.Impaired, cfg.PublicURL+" leads to a gateway of another version", "finish the upgrade"
	default:
		d.Seen = fmt.Sprintf("%s answers with %d, and is no gateway", cfg.PublicURL, answer.StatusCode)
	}
	return []flows.Diagnosis{d}
}

// findOperators looks whether a gateway serves operators.
func (cfg Config) findOperators(ctx context.Context) []flows.Diagnosis {
	d := flows.Diagnosis{Part: "operators", Verdict: flows.Fine, Seen: "off: payments in doubt can be decided on at another gateway alone"}
	switch cfg.OpsAddr {
	case "off":
		return []flows.Diagnosis{d}
	case defaultOpsAddr:
		if cfg.Mode == "mock" {
			return nil // whether somebody runs a gateway at the same time is no concern of theirs
		}
	}
	d.Seen = cfg.OpsAddr + " is served"
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", cfg.OpsAddr)
	if err != nil {
		d.Verdict, d.Seen, d.Remedy = flows.Impaired, "nothing answers at "+cfg.OpsAddr, "start a gateway and look again"
		return []flows.Diagnosis{d}
	}
	_ = connection.Close() // it was there, which is all that was asked
	return []flows.Diagnosis{d}
}
