package cmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

const partProcessor = "card processor"

// checkProcessor checks that the card processor responds to the keys, and that it
// reports to this gateway.
func (cfg Config) checkProcessor(ctx context.Context, peers clients) []flows.Check {
	return append(checkPermissions(ctx, peers.cards), cfg.checkAccount(ctx, peers.cards)...)
}

// checkPermissions checks that the key may read what every step of a payment needs. No gateway starts with another one.
func checkPermissions(ctx context.Context, processor *cards.Client) []flows.Check {
	if err := processor.CheckPermissions(ctx); errors.Is(err, cards.ErrNoPermission) {
		return finding(partProcessor, "permissions", flows.Failed, err.Error(), "")
	}
	return nil // checkAccount reports other errors
}

// checkAccount reports which account the keys belong to, and checks that it may take payments.
func (cfg Config) checkAccount(ctx context.Context, processor *cards.Client) []flows.Check {
	account, err := processor.Account(ctx)
	if err != nil {
		fix := "check that FRONTDESK_STRIPE_SECRET_KEY is a key of the account with permission to read it"
		if cfg.usesSandbox() {
			fix = "check that FRONTDESK_SANDBOX_URL leads to it"
		}
		return finding(partProcessor, "", flows.Failed, err.Error(), fix)
	}
	mode := "test"
	if account.Live {
		mode = "live"
	}
	found := fmt.Sprintf("%s: account %s (%s, %s), %s keys", processor.Name(), account.ID, account.Country, account.Currency, mode)
	if account.Live && !account.ChargesEnabled {
		return finding(partProcessor, "", flows.Failed, found, "the account may not take payments yet: finish its activation at the processor")
	}
	switch {
	case cfg.usesSandbox():
		found += ", in the sandbox, which takes no real money"
	case cfg.Stripe.URL != "":
		found += ", at FRONTDESK_STRIPE_URL instead of the processor's own address"
	}
	return append(finding(partProcessor, "", flows.OK, found, ""), cfg.checkWebhookEndpoint(ctx, processor)...)
}

// checkWebhookEndpoint looks for the webhook endpoint that reports to this gateway.
// Payments are polled too, so a missing endpoint delays them and loses none.
func (cfg Config) checkWebhookEndpoint(ctx context.Context, processor *cards.Client) []flows.Check {
	const aspect = "webhook"
	at := cfg.PublicURL + "/v1/webhooks/card"
	hooks, err := processor.WebhookEndpoints(ctx)
	if err != nil {
		return finding(partProcessor, aspect, flows.Degraded, "the endpoints cannot be read",
			"permit the restricted key to read webhook endpoints, or check at the processor that one leads to "+at)
	}
	index := slices.IndexFunc(hooks, func(hook cards.WebhookEndpoint) bool { return hook.URL == at })
	switch {
	case index < 0:
		return finding(partProcessor, aspect, flows.Degraded, "no endpoint leads to "+at,
			"create one at the processor, and set FRONTDESK_STRIPE_WEBHOOK_SECRET to its signing secret")
	case !hooks[index].Enabled:
		return finding(partProcessor, aspect, flows.Degraded, at+" is disabled", "enable it at the processor")
	case len(hooks[index].Missing()) > 0:
		return finding(partProcessor, aspect, flows.Degraded, fmt.Sprintf("%s does not get %v", at, hooks[index].Missing()),
			"add them to the endpoint at the processor")
	}
	return finding(partProcessor, aspect, flows.OK, fmt.Sprintf("%s, API version %s", at, hooks[index].APIVersion), "")
}

// checkCheckouts compares the account of the card keys with the one that the registers (checkouts) of the clubs show, in installations
// that show it: with another one, the money is not where the club system books it. It is not a condition of the start: a gateway must
// be able to start while the club system is away, and it is not documented what the club system does with that account.
func (cfg Config) checkCheckouts(ctx context.Context, peers clients) []flows.Check {
	const part = "registers"
	account, err := peers.cards.Account(ctx)
	if err != nil {
		return nil // checkAccount reports it
	}
	network, err := peers.club.NetworkNodes(ctx, club.Scope{ClientToken: cfg.ClubToken})
	if err != nil {
		return nil // checkClubSystem reports it
	}
	clubs := network.Clubs()
	checkouts, err := cfg.readCheckouts(ctx, peers.club, clubs)
	if err != nil {
		return finding(partClub, part, flows.Degraded, "they cannot be read: "+err.Error(), "run doctor again when the club system is not busy")
	}
	compared, verdict, others := 0, flows.Degraded, map[string][]string{} // the clubs of each other account
	isOwn := func(checkout club.Checkout) bool { return checkout.Account == account.ID }
	for i, at := range clubs {
		shown := slices.DeleteFunc(checkouts[i], func(checkout club.Checkout) bool { return checkout.Account == "" })
		compared += len(shown)
		if account.Live && len(shown) > 0 && !slices.ContainsFunc(shown, isOwn) {
			verdict = flows.Unsafe
		}
		for _, checkout := range shown {
			inCurrency := cmp.Or(strings.ToUpper(checkout.Currency), account.Currency)
			if !isOwn(checkout) || inCurrency != account.Currency {
				other := checkout.Account + " in " + inCurrency
				others[other] = append(others[other], at.Club.ID())
			}
		}
	}
	own := account.ID + " in " + account.Currency
	switch {
	case compared == 0:
		return nil
	case len(others) == 0:
		return finding(partClub, part, flows.OK, fmt.Sprintf("%d registers show the account of the card keys, %s", compared, own), "")
	}
	found := []string{"the card keys are those of " + own}
	for _, other := range slices.Sorted(maps.Keys(others)) {
		found = append(found, "registers of "+other+": clubs "+strings.Join(others[other], ", "))
	}
	return finding(partClub, part, verdict, strings.Join(found, "; "),
		"where the club system books another account than the one that is paid, set FRONTDESK_STRIPE_SECRET_KEY to a key of that account, "+
			"or have the register corrected")
}

// readCheckouts reads the registers of each club; none if the installation does not show those of the first one.
func (cfg Config) readCheckouts(ctx context.Context, client *club.Client, clubs []club.NetworkNode) ([][]club.Checkout, error) {
	checkouts := make([][]club.Checkout, len(clubs))
	read := func(i int) (err error) {
		scope := club.Scope{ClientToken: cfg.ClubToken, Club: clubs[i].Club, Node: clubs[i].IRI}
		checkouts[i], err = client.ListCheckouts(ctx, scope)
		return err
	}
	if len(clubs) == 0 {
		return checkouts, nil
	}
	if err := read(0); err != nil {
		if outcome := club.OutcomeOf(err); outcome == club.Rejected || outcome == club.Refused {
			return checkouts, nil
		}
		return nil, err
	}
	var reads errgroup.Group
	reads.SetLimit(concurrentReads)
	for i := 1; i < len(clubs); i++ {
		reads.Go(func() error { return read(i) })
	}
	return checkouts, reads.Wait()
}

const partFingerprint = "fingerprint"

// ownPayments returns a machine that can only compare and store fingerprints.
func (cfg Config) ownPayments(peers clients) *payment.Machine {
	return payment.New(payment.Config{
		Store:        store.New(store.Config{Redis: peers.redis, Keys: must(cfg.newKeyring()), Replicas: cfg.RedisWait}),
		Cards:        peers.cards,
		Environment:  cfg.Mode,
		Organisation: cfg.ClubToken,
		Now:          cfg.now,
		Log:          slog.New(slog.DiscardHandler),
	})
}

// checkOwnPayments checks that Redis holds the payments of this account, organisation and mode.
func (cfg Config) checkOwnPayments(ctx context.Context, peers clients) []flows.Check {
	own, stored, err := cfg.ownPayments(peers).ReadFingerprint(ctx)
	switch foreign, ok := errors.AsType[*payment.FingerprintError](err); {
	case ok:
		return finding(partFingerprint, "", flows.Failed, foreign.Error(), "")
	case err != nil:
		return nil // the checks of Redis and of the processor report it
	case !stored:
		return finding(partFingerprint, "", flows.OK, own.String()+"; the first gateway stores it", "")
	}
	return finding(partFingerprint, "", flows.OK, own.String(), "")
}

// adoptFingerprint replaces the stored fingerprint by that of this configuration, on an operator's request.
func (cfg Config) adoptFingerprint(ctx context.Context, peers clients) []flows.Check {
	unfinished, err := cfg.ownPayments(peers).AdoptFingerprint(ctx)
	switch {
	case err != nil:
		return finding(partFingerprint, "adopted", flows.Failed, err.Error(), "check Redis and the card processor, and repeat it")
	case unfinished > 0:
		return finding(partFingerprint, "adopted", flows.Degraded, fmt.Sprintf("%d payments in Redis have not ended", unfinished),
			"find them with frontdesk payments list --all and end them: the former account holds their money")
	}
	return finding(partFingerprint, "adopted", flows.OK, "every payment in Redis has ended", "")
}

// checkLogin checks that the club's login publishes keys that can verify its tokens.
func (cfg Config) checkLogin(ctx context.Context, peers clients) []flows.Check {
	if cfg.Login.JWKSURL == "" {
		return finding("login", "", flows.OK, "signs with a shared secret", "")
	}
	usable, err := peers.login.UsableKeys(ctx)
	switch {
	case err != nil:
		return finding("login", "", flows.Failed, cfg.Login.JWKSURL+": "+err.Error(),
			"check that the login publishes its keys at FRONTDESK_IDENTITY_JWKS_URL")
	case usable == 0:
		return finding("login", "", flows.Failed, "publishes no usable key", "have it sign with RS256, ES256 or EdDSA")
	}
	return finding("login", "", flows.OK, fmt.Sprintf("usable keys: %d", usable), "")
}

// checkPublicAddress reads the contract through the address that browsers use, to find a proxy that leads elsewhere. Mock mode
// has no proxy.
func (cfg Config) checkPublicAddress(ctx context.Context, _ clients) []flows.Check {
	if cfg.Mode == "mock" {
		return nil
	}
	const part, fix = "public address", "check that FRONTDESK_PUBLIC_URL leads through your proxy to a gateway"
	status, body, err := get(ctx, cfg.PublicURL+"/openapi.yaml")
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return finding(part, "", flows.Failed, cfg.PublicURL+" has a certificate that no browser accepts", "renew it, or send its chain with it")
	case err != nil:
		return finding(part, "", flows.Degraded, "nothing responds at "+cfg.PublicURL, "start a gateway and run doctor again; "+fix)
	case bytes.Equal(body, cfg.assets.Contract):
		return finding(part, "", flows.OK, cfg.PublicURL+" leads to a gateway of this version", "")
	case status == http.StatusOK && bytes.HasPrefix(body, []byte("openapi:")):
		return finding(part, "", flows.Degraded, cfg.PublicURL+" leads to a gateway of another version", "finish the upgrade")
	}
	return finding(part, "", flows.Failed, fmt.Sprintf("%s responds with %d and is not a gateway", cfg.PublicURL, status), fix)
}

// get reads up to a megabyte of a response. The longest one that is expected, openapi.yaml, is shorter.
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
	body, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, body, err
}

func (cfg Config) checkOperators(ctx context.Context, _ clients) []flows.Check {
	switch {
	case cfg.OpsAddr == "off":
		return finding("operators", "", flows.OK, "off: payments in doubt can be decided on through another gateway only", "")
	case cfg.OpsAddr == defaultOpsAddr && cfg.Mode == "mock":
		return nil // whether another gateway runs on the machine does not matter
	}
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", cfg.OpsAddr)
	if err != nil {
		return finding("operators", "", flows.Degraded, "nothing responds at "+cfg.OpsAddr, "start a gateway and run doctor again")
	}
	_ = connection.Close() // the connection itself was the check
	return finding("operators", "", flows.OK, cfg.OpsAddr+" is served", "")
}

// checkBrake reports a brake that holds payments back. The gateway itself works.
func checkBrake(ctx context.Context, peers clients) []flows.Check {
	held, err := store.New(store.Config{Redis: peers.redis}).Brakes(ctx)
	if err != nil {
		return nil // checkRedis reports it
	}
	checks := []flows.Check{}
	for _, brake := range held {
		checks = append(checks, finding("payments", "brake", flows.Degraded,
			fmt.Sprintf("the club system has recorded no payment since %s, so cards are not charged", instant(brake.Since)),
			"call its provider; see frontdesk payments list")...)
	}
	return checks
}
