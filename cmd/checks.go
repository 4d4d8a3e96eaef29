package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/store"
	"frontdesk/handlers/ops"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/identity"
	"frontdesk/upstream/mail"
)

const (
	// checkTimeout bounds a check; a longer wait is itself the diagnosis.
	checkTimeout = 20 * time.Second
	// readyTimeout bounds the checks of readiness: load balancers wait for a few seconds
	// at most, and a slower gateway is not ready.
	readyTimeout = 2 * time.Second
	// redisStartTimeout is enough for a Redis that starts together with the gateways, on
	// a machine that starts everything at once.
	redisStartTimeout = 10 * time.Second
	// redisPollInterval is the pause between two attempts to reach such a Redis.
	redisPollInterval = 250 * time.Millisecond
)

// clients are the connections of a gateway to what it depends on.
type clients struct {
	redis redis.UniversalClient
	club  *club.Client
	cards *cards.Client
	login *identity.Verifier
	mail  *mail.Client // nil: no mail is sent
}

// connect creates the clients without dialling. metrics counts their calls; nil: none are counted.
func (cfg Config) connect(log *slog.Logger, metrics *ops.Metrics) (peers clients, err error) {
	if peers.redis, err = store.Connect(cfg.RedisURL); err != nil {
		return peers, fmt.Errorf("FRONTDESK_REDIS_URL: %w", err)
	}
	metrics.InstrumentRedis(peers.redis, cfg.now)
	peers.club, peers.login = cfg.clubSystem(peers.redis, log, metrics), cfg.login()
	if peers.mail, err = cfg.newMail(); err != nil {
		return peers, fmt.Errorf("FRONTDESK_SMTP_URL: %w", err)
	}
	peers.cards, err = cfg.processor(metrics.CountCardCall)
	return peers, err
}

// checks is the one list of what a gateway depends on, for doctor.
func (cfg Config) checks() []func(context.Context, clients) []flows.Check {
	return []func(context.Context, clients) []flows.Check{
		cfg.checkConfiguration, cfg.checkRedis, cfg.checkSealKeys, cfg.checkToken, cfg.checkClubSystem,
		cfg.checkProcessor, cfg.checkCheckouts, cfg.checkOwnPayments, checkBrake, cfg.checkLogin, cfg.checkPublicAddress, cfg.checkOperators,
		cfg.checkMail,
	}
}

// preflight returns an error that lists everything that keeps the gateway from starting:
// problems of the configuration, missing seal keys and, in live mode, problems of Redis.
func (cfg Config) preflight(ctx context.Context) error {
	lines := cfg.problems()
	// Live mode does not dial an unprotected Redis: the password would be readable on the way.
	dials := cfg.Mode == "test" && len(lines) == 0 || cfg.Mode == "live" && store.IsProtected(cfg.RedisURL)
	if dials {
		connection := must(store.Connect(cfg.RedisURL))
		defer connection.Close()
		ctx, cancel := context.WithTimeout(ctx, redisStartTimeout+checkTimeout)
		defer cancel()
		peers, checks := clients{redis: connection}, []flows.Check(nil)
		if cfg.Mode == "live" {
			awaitRedis(ctx, connection)
			checks = cfg.checkRedis(ctx, peers)
		}
		for _, check := range append(checks, cfg.checkSealKeys(ctx, peers)...) {
			if !check.Safe() {
				lines = append(lines, fmt.Errorf("%s: %s", check.Name(), describe(check)))
			}
		}
	}
	if len(lines) > 0 {
		return fmt.Errorf("cannot start in %s mode:\n%w", cfg.Mode, errors.Join(lines...))
	}
	return nil
}

// awaitRedis waits for a Redis that cannot be reached yet, or still loads its file.
func awaitRedis(ctx context.Context, connection redis.UniversalClient) {
	ctx, cancel := context.WithTimeout(ctx, redisStartTimeout)
	defer cancel()
	for {
		err := connection.Ping(ctx).Err()
		if _, replied := errors.AsType[redis.Error](err); err == nil || replied && !redis.HasErrorPrefix(err, "LOADING") {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(redisPollInterval):
		}
	}
}

func finding(part, aspect string, verdict flows.Verdict, found, fix string) []flows.Check {
	return []flows.Check{{
		Part:    part,
		Aspect:  aspect,
		Verdict: verdict,
		Found:   found,
		Fix:     fix,
	}}
}

func describe(check flows.Check) string {
	if check.Fix == "" {
		return check.Found
	}
	return check.Found + ": " + check.Fix
}

// ready returns the readiness check. A failing club system only degrades it: it fails for
// every gateway alike, and taking all of them out of service would hide the reason, and
// the payments in progress with it.
func (cfg Config) ready(peers clients, halted func() error) func(context.Context) []flows.Check {
	return func(ctx context.Context) []flows.Check {
		ctx, cancel := context.WithTimeout(ctx, readyTimeout)
		defer cancel()
		checks := append(cfg.checkRedis(ctx, peers), cfg.checkToken(ctx, peers)...)
		if token := &checks[len(checks)-1]; !token.Safe() {
			token.Verdict = flows.Degraded
		}
		if wrong := halted(); wrong != nil { // others, with the right configuration, can take payments
			checks = append(checks, finding(partFingerprint, "", flows.Failed, wrong.Error(), "")...)
		}
		return checks
	}
}

func (cfg Config) checkConfiguration(context.Context, clients) (checks []flows.Check) {
	for _, problem := range cfg.problems() {
		checks = append(checks, finding("configuration", "", flows.Failed, problem.Error(), "")...)
	}
	if len(checks) == 0 {
		return finding("configuration", "", flows.OK, cfg.Mode+" mode", "")
	}
	return checks
}

// checkRedis checks that Redis is reachable and durable. Outside live mode it need not
// be durable, because nothing there is real.
func (cfg Config) checkRedis(ctx context.Context, peers clients) []flows.Check {
	if cfg.Mode == "mock" {
		if err := peers.redis.Ping(ctx).Err(); err != nil {
			return finding("redis", "", flows.Failed, err.Error(), "")
		}
		return finding("redis", "", flows.OK, "embedded; its data is lost when the process ends", "")
	}
	checks := store.CheckRedis(ctx, peers.redis, store.CheckOptions{AssumeDurable: cfg.RedisAssumeDurable, Replicas: cfg.RedisWait}, cfg.now)
	if strings.Contains(cfg.RedisURL, "+sentinel://") {
		checks[0].Found += ", found by Sentinels"
	}
	for i, check := range checks {
		if check.Verdict == flows.Unsafe && cfg.Mode != "live" {
			checks[i].Verdict, checks[i].Fix = flows.OK, ""
			checks[i].Found += " (live mode refuses that)"
		}
	}
	return checks
}

// checkSealKeys checks that every key that sealed a record in Redis is configured.
func (cfg Config) checkSealKeys(ctx context.Context, peers clients) []flows.Check {
	keys, err := cfg.newKeyring()
	if err != nil {
		return nil // checkConfiguration reports it
	}
	const part = "seal keys"
	missing, err := store.New(store.Config{Redis: peers.redis, Keys: keys}).MissingSealKeys(ctx, cfg.now().Add(-store.KeepSealed))
	if err != nil {
		return nil // checkRedis reports it
	}
	missing = slices.DeleteFunc(missing, func(id string) bool { return slices.Contains(cfg.ForgetSealKeys, id) })
	if len(missing) > 0 {
		ids := strings.Join(missing, ",")
		return finding(part, "", flows.Failed, "Redis holds records of the seal keys "+ids+", which FRONTDESK_SEAL_KEYS lacks",
			"add them again, after the current one, until 30 days after their last use; only if what they sealed may stay unreadable, "+
				"set FRONTDESK_FORGET_SEAL_KEYS="+ids)
	}
	return finding(part, "", flows.OK, strings.Join(keys.IDs(), ", ")+"; the first one is the current one", "")
}

const partClub = "club system"

// concurrentReads is gentle on a club system that is in use.
const concurrentReads = 8

func (cfg Config) checkToken(ctx context.Context, peers clients) []flows.Check {
	if err := peers.club.Authorise(ctx, cfg.ClubToken); err != nil {
		return finding(partClub, "token", flows.Failed, err.Error(), clubFix(err,
			"check that FRONTDESK_CLUB_URL leads to it, and that FRONTDESK_CLUB_CLIENT_ID, FRONTDESK_CLUB_CLIENT_SECRET and "+
				"FRONTDESK_CLUB_GATEWAY_KEY are the ones from its provider"))
	}
	return finding(partClub, "token", flows.OK, "issued", "")
}

// clubFix is what to do about a call that failed: what the caller says, unless a limit explains it.
func clubFix(err error, otherwise string) string {
	if failure, ok := errors.AsType[*club.Error](err); ok && (failure.LimitReached() || failure.Status == http.StatusTooManyRequests) {
		return "nothing is wrong with the configuration: the club system's API gateway allows no more calls now; run doctor again in a minute, " +
			"and see QuotaReached in the runbook"
	}
	return otherwise
}

func (cfg Config) checkClubSystem(ctx context.Context, peers clients) []flows.Check {
	if peers.club.Authorise(ctx, cfg.ClubToken) != nil {
		return nil // checkToken reports it
	}
	network, err := peers.club.NetworkNodes(ctx, club.Scope{ClientToken: cfg.ClubToken})
	if err != nil {
		return finding(partClub, "network", flows.Failed, err.Error(), clubFix(err,
			"check that FRONTDESK_CLUB_TOKEN is the organisation's client token, and that FRONTDESK_CLUB_API has the path-prefix "+
				"with which its paths begin"))
	}
	clubs := network.Clubs()
	if len(clubs) == 0 {
		return finding(partClub, "network", flows.Failed, "shows no club to these credentials",
			"ask the club system's provider to grant the OAuth client its clubs")
	}
	return slices.Concat(
		finding(partClub, "network", flows.OK, fmt.Sprintf("%d clubs", len(clubs)), ""),
		cfg.checkClubs(ctx, peers.club, clubs),
		cfg.checkGrants(ctx, peers.club, clubs[0]),
		cfg.checkRecords(ctx, peers.club, clubs[0]),
	)
}

// checkRecords reads a club's catalogue, and reports what this and the other checks could not read of it.
func (cfg Config) checkRecords(ctx context.Context, client *club.Client, at club.NetworkNode) []flows.Check {
	const part = "records"
	scope := club.Scope{ClientToken: cfg.ClubToken, Club: at.Club, Node: at.IRI}
	products, err := client.ListProducts(ctx, scope, club.ProductQuery{Channel: club.ChannelWeb, Club: at.Club})
	var reads errgroup.Group
	reads.SetLimit(concurrentReads)
	for _, product := range products {
		reads.Go(func() error {
			_, err := client.ListOffers(ctx, scope, product.IRI)
			return err
		})
	}
	err = cmp.Or(err, reads.Wait())
	var left []string
	for _, kind := range client.Unreadable() {
		left = append(left, fmt.Sprintf("%s: %d without a readable %s", kind.Operation, kind.Count, kind.Field))
	}
	slices.Sort(left)
	switch {
	case len(left) > 0:
		return finding(partClub, part, flows.Degraded, "visitors do not see all of club "+at.Club.ID()+"; "+strings.Join(left, "; "),
			"correct these records in the club system, or report them to its provider")
	case err != nil:
		return finding(partClub, part, flows.Degraded, "the catalogue of club "+at.Club.ID()+" cannot be read: "+err.Error(),
			"run doctor again when the club system is not busy")
	}
	return finding(partClub, part, flows.OK, fmt.Sprintf("all of the %d products of club %s can be read", len(products), at.Club.ID()), "")
}

// checkClubs compares the operator's file about the clubs with the clubs of the chain.
func (cfg Config) checkClubs(ctx context.Context, client *club.Client, clubs []club.NetworkNode) []flows.Check {
	file, err := cfg.clubs()
	if err != nil {
		return nil // checkConfiguration reports it
	}
	return append(checkClubIDs(file, clubs), cfg.checkContracts(ctx, client, file, clubs)...)
}

// checkClubIDs reports clubs of the file that the chain does not have.
func checkClubIDs(file *catalogue.Directory, clubs []club.NetworkNode) []flows.Check {
	unknown := slices.DeleteFunc(file.IDs(), func(id string) bool {
		return slices.ContainsFunc(clubs, func(node club.NetworkNode) bool { return node.Club.ID() == id })
	})
	const part = "clubs file"
	if len(unknown) > 0 {
		return finding(partClub, part, flows.Degraded, "has clubs that the network does not have: "+strings.Join(unknown, ", "),
			"correct their ids in FRONTDESK_CLUBS_FILE")
	}
	return finding(partClub, part, flows.OK, fmt.Sprintf("the club system has each of its %d clubs", len(file.IDs())), "")
}

// checkGrants calls what the journeys read. Where an id is needed, it asks for a record
// that does not exist: the response shows whether the endpoint is granted. Endpoints that
// the journeys write are not called, because the call would have an effect.
func (cfg Config) checkGrants(ctx context.Context, client *club.Client, at club.NetworkNode) []flows.Check {
	scope := club.Scope{ClientToken: cfg.ClubToken, Club: at.Club, Node: at.IRI}
	none := func(collection string) club.IRI { return club.NewIRI(cfg.ClubToken, collection, club.NoID) }
	reads := []struct {
		endpoint string
		try      func() error
	}{
		{"clubs", func() error { _, err := client.GetClub(ctx, scope, at.Club); return err }},
		{"products", func() error { _, err := client.ListProducts(ctx, scope, club.ProductQuery{}); return err }},
		{"offers", func() error { _, err := client.ListOffers(ctx, scope, none("products")); return err }},
		{"allowed_debit_days", func() error {
			_, err := client.ListAllowedDebitDays(ctx, scope, cfg.now().Format(time.DateOnly))
			return err
		}},
		{"contacts", func() error { _, err := client.GetContact(ctx, scope, none("contacts")); return err }},
		{"stats/accounts", func() error { _, err := client.GetAccountStatistics(ctx, scope, none("contacts")); return err }},
		{"sales", func() error { _, err := client.GetSale(ctx, scope, none("sales")); return err }},
		{"sales/check", func() error { _, err := client.CheckSale(ctx, scope, none("sales")); return err }},
		{"mandates", func() error { _, err := client.GetMandate(ctx, scope, none("mandates")); return err }},
		{"optins", func() error { _, err := client.ListOptins(ctx, scope, none("contacts")); return err }},
	}
	var refused []string
	for _, read := range reads {
		if errors.Is(read.try(), club.ErrEndpointNotGranted) {
			refused = append(refused, read.endpoint)
		}
	}
	if len(refused) > 0 {
		return finding(partClub, "grants", flows.Failed, "not granted: "+strings.Join(refused, ", "),
			"ask the club system's provider to grant the OAuth client these, and the endpoints that the journeys write to")
	}
	granted := fmt.Sprintf("all %d read endpoints are granted; write endpoints are not tried", len(reads))
	return finding(partClub, "grants", flows.OK, granted, "")
}
