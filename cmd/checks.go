package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/handlers/ops"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/identity"
)

const (
	// checkTime bounds a check: an operator who waits longer has the answer already.
	checkTime = 20 * time.Second
	// readyTimeout bounds a check that readiness waits for: load balancers ask for some
	// seconds at most. What takes longer is not ready.
	readyTimeout = 2 * time.Second
	// startTime: a Redis that is started together with the gateways, or a machine that
	// starts everything at once, has settled by then.
	startTime = 10 * time.Second
	// redisPollInterval is between two looks at such a Redis.
	redisPollInterval = 250 * time.Millisecond
)

// Clients are a gateway's connections to what it stands on.
type Clients struct {
	redis redis.UniversalClient
	club  *club.Client
	cards cards.Processor
	login *identity.Verifier
}

// connect makes the connections; nothing is dialled yet. seen counts the calls; nil: nobody does.
func (cfg Config) connect(log *slog.Logger, seen *ops.Metrics) (p Clients, err error) {
	if p.redis, err = store.Connect(cfg.RedisURL); err != nil {
		return p, fmt.Errorf("FRONTDESK_REDIS_URL: %w", err)
	}
	seen.InstrumentRedis(p.redis, time.Now)
	p.club, p.login = cfg.clubSystem(log, seen), cfg.login()
	p.cards, err = cfg.processor()
	return p, err
}

// occasion says who makes a check.
type occasion uint8

// The uses. Doctor makes every check.
const (
	atStart occasion = 1 << iota // live mode does not start unless it holds
	watched                      // readiness goes on making it
)

// probe is one thing that a gateway stands on.
type probe struct {
	on  occasion
	run func(context.Context) []flows.Check
}

// probes is the one list of what a gateway stands on: the start of live mode and
// readiness make some of it, doctor all of it.
func (cfg Config) probes(p Clients) []probe {
	return []probe{
		{atStart, cfg.checkConfiguration},
		{atStart | watched, func(ctx context.Context) []flows.Check { return cfg.checkRedis(ctx, p.redis) }},
		{watched, func(ctx context.Context) []flows.Check { return checkToken(ctx, p.club) }},
		{0, func(ctx context.Context) []flows.Check { return cfg.checkClubSystem(ctx, p.club) }},
		{0, func(ctx context.Context) []flows.Check { return cfg.checkProcessor(ctx, p.cards) }},
		{0, func(ctx context.Context) []flows.Check { return cfg.checkLogin(ctx, p.login) }},
		{0, cfg.checkPublicAddress},
		{0, cfg.checkOperators},
	}
}

// runProbes makes the checks of a use, one after the other.
func (cfg Config) runProbes(ctx context.Context, p Clients, of occasion) (found []flows.Check) {
	for _, c := range cfg.probes(p) {
		if c.on&of == of {
			found = append(found, c.run(ctx)...)
		}
	}
	return found
}

// preflight lists everything for which a gateway cannot start, at once.
func (cfg Config) preflight(ctx context.Context) error {
	found := cfg.checkConfiguration(ctx)
	if connection, err := store.Connect(cfg.RedisURL); cfg.Mode == "live" && cfg.RedisURL != "" && err == nil {
		defer connection.Close()
		awaitRedis(ctx, connection)
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		found = cfg.runProbes(ctx, Clients{redis: connection}, atStart)
	}
	var lines []error
	for _, d := range found {
		if !d.Safe() {
			lines = append(lines, errors.New(sentence(d)))
		}
	}
	if len(lines) > 0 {
		return fmt.Errorf("cannot start in %s mode:\n%w", cfg.Mode, errors.Join(lines...))
	}
	return nil
}

// awaitRedis waits a while for a Redis that cannot be reached, or is reading its file.
func awaitRedis(ctx context.Context, connection redis.UniversalClient) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := connection.Ping(ctx).Err()
		var answer redis.Error
		if err == nil || errors.As(err, &answer) && !redis.HasErrorPrefix(err, "LOADING") {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(redisPollInterval):
		}
	}
}

// sentence is a diagnosis as a line, without its verdict.
func sentence(d flows.Check) string {
	text := d.Found
	if d.Part != "configuration" {
		text = d.Name() + ": " + text
	}
	if d.Fix != "" {
		text += ": " + d.Fix
	}
	return text
}

// ready is what readiness says of a gateway. The club system is not held against
// it: when it fails, so does every gateway, and taking all of them out of service
// would only hide why, and the payments that are under way along with it.
func (cfg Config) ready(p Clients) func(context.Context) []flows.Check {
	return func(ctx context.Context) []flows.Check {
		ctx, cancel := context.WithTimeout(ctx, readyTimeout)
		defer cancel()
		found := cfg.runProbes(ctx, p, watched)
		for i, d := range found {
			if d.Part == partClub && !d.Safe() {
				found[i].Verdict = flows.Degraded
			}
		}
		return found
	}
}

func (cfg Config) checkConfiguration(context.Context) (found []flows.Check) {
	for _, problem := range cfg.problems() {
		found = append(found, flows.Check{Part: "configuration", Verdict: flows.Failed, Found: problem.Error()})
	}
	if len(found) == 0 {
		found = append(found, flows.Check{Part: "configuration", Verdict: flows.OK, Found: cfg.Mode + " mode"})
	}
	return found
}

// checkRedis examines Redis. Outside live mode it may forget what it likes: nothing
// there is real.
func (cfg Config) checkRedis(ctx context.Context, connection redis.UniversalClient) []flows.Check {
	if cfg.Mode == "mock" {
		d := flows.Check{Part: "redis", Verdict: flows.OK, Found: "embedded, forgets everything at the end"}
		if err := connection.Ping(ctx).Err(); err != nil {
			d.Verdict, d.Found = flows.Failed, err.Error()
		}
		return []flows.Check{d}
	}
	found := store.CheckRedis(ctx, connection, store.CheckOptions{AssumeDurable: cfg.RedisAssumeDurable, Replicas: cfg.RedisWait}, time.Now)
	if strings.Contains(cfg.RedisURL, "+sentinel://") {
		found[0].Found += ", found by Sentinels"
	}
	for i, d := range found {
		if d.Verdict == flows.Unsafe && cfg.Mode != "live" {
			found[i].Verdict, found[i].Fix = flows.OK, ""
			found[i].Found += " (live mode refuses that)"
		}
	}
	return found
}

// partClub names the club system in diagnoses.
const partClub = "club system"

// checkToken asks for an access token, or takes the one in hand.
func checkToken(ctx context.Context, client *club.Client) []flows.Check {
	d := flows.Check{Part: partClub, Aspect: "token", Verdict: flows.OK, Found: "given"}
	if err := client.Authorise(ctx); err != nil {
		d.Verdict, d.Found = flows.Failed, err.Error()
		d.Fix = "see that FRONTDESK_CLUB_URL leads to it, and that FRONTDESK_CLUB_CLIENT_ID, FRONTDESK_CLUB_CLIENT_SECRET and FRONTDESK_CLUB_GATEWAY_KEY are what its provider gave you"
	}
	return []flows.Check{d}
}

// checkClubSystem reads the chain, and asks for one of each kind that the journeys
// read.
func (cfg Config) checkClubSystem(ctx context.Context, client *club.Client) []flows.Check {
	if client.Authorise(ctx) != nil {
		return nil // told already
	}
	d := flows.Check{Part: partClub, Aspect: "network", Verdict: flows.Failed}
	network, err := client.NetworkNodes(ctx, club.Scope{ClientToken: cfg.ClubToken})
	switch {
	case err != nil:
		d.Found, d.Fix = err.Error(), "see that FRONTDESK_CLUB_TOKEN is the organisation's client token, and FRONTDESK_CLUB_PATH_PREFIX what its addresses begin with"
		return []flows.Check{d}
	case len(network.Clubs()) == 0:
		d.Found, d.Fix = "shows no club to these credentials", "have the club system's provider give the OAuth client its clubs"
		return []flows.Check{d}
	}
	d.Verdict, d.Found = flows.OK, fmt.Sprintf("%d clubs", len(network.Clubs()))
	return []flows.Check{d, cfg.checkGrants(ctx, client, network.Clubs()[0])}
}

// checkGrants asks for what the journeys read. Records that are not there are asked
// for where an id is needed: whether the endpoint is granted shows all the same.
// What the journeys write is not tried, since trying it would do it.
func (cfg Config) checkGrants(ctx context.Context, client *club.Client, at club.NetworkNode) flows.Check {
	s := club.Scope{ClientToken: cfg.ClubToken, Club: at.Club, Node: at.IRI}
	none := func(collection string) club.IRI { return club.NewIRI(cfg.ClubToken, collection, "0") }
	reads := []struct {
		endpoint string
		try      func() error
	}{
		{"clubs", func() error { _, err := client.GetClub(ctx, s, at.Club); return err }},
		{"products", func() error { _, err := client.ListProducts(ctx, s, club.ProductQuery{}); return err }},
		{"offers", func() error { _, err := client.ListOffers(ctx, s, none("products")); return err }},
		{"allowed_debit_days", func() error {
			_, err := client.ListAllowedDebitDays(ctx, s, time.Now().Format(time.DateOnly))
			return err
		}},
		{"contacts", func() error { _, err := client.GetContact(ctx, s, none("contacts")); return err }},
		{"stats/accounts", func() error { _, err := client.GetAccountStatistics(ctx, s, none("contacts")); return err }},
		{"sales", func() error { _, err := client.GetSale(ctx, s, none("sales")); return err }},
		{"sales/check", func() error { _, err := client.CheckSale(ctx, s, none("sales")); return err }},
		{"mandates", func() error { _, err := client.GetMandate(ctx, s, none("mandates")); return err }},
		{"optins", func() error { _, err := client.ListOptins(ctx, s, none("contacts")); return err }},
	}
	var refused []string
	for _, read := range reads {
		if errors.Is(read.try(), club.ErrEndpointNotGranted) {
			refused = append(refused, read.endpoint)
		}
	}
	d := flows.Check{Part: partClub, Aspect: "grants", Verdict: flows.OK, Found: fmt.Sprintf("all %d endpoints that are read are granted; those that are written are not tried", len(reads))}
	if len(refused) > 0 {
		d.Verdict, d.Found = flows.Failed, "not granted: "+strings.Join(refused, ", ")
		d.Fix = "have the club system's provider grant them, and those that the journeys write, to the OAuth client"
	}
	return d
}
