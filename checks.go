package main

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
	"frontdesk/handlers/metrics"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/identity"
)

const (
	// checkTime bounds a check: an operator who waits longer has the answer already.
	checkTime = 20 * time.Second
	// watchTime bounds a check that readiness waits for: load balancers ask for some
	// seconds at most. What takes longer is not ready.
	watchTime = 2 * time.Second
	// startTime: a Redis that is started together with the gateways, or a machine that
	// starts everything at once, has settled by then.
	startTime = 10 * time.Second
	// startPause is between two looks at such a Redis.
	startPause = 250 * time.Millisecond
)

// parts are a gateway's connections to what it stands on.
type parts struct {
	redis redis.UniversalClient
	club  *club.Client
	cards cards.Processor
	login *identity.Verifier
}

// connect makes the connections; nothing is dialled yet. seen counts the calls; nil: nobody does.
func (cfg Config) connect(log *slog.Logger, seen *metrics.Metrics) (p parts, err error) {
	if p.redis, err = store.Connect(cfg.RedisURL); err != nil {
		return p, fmt.Errorf("FRONTDESK_REDIS_URL: %w", err)
	}
	seen.WatchRedis(p.redis, time.Now)
	p.club, p.login = cfg.clubSystem(log, seen), cfg.login()
	p.cards, err = cfg.processor()
	return p, err
}

// use says who makes a check.
type use uint8

// The uses. Doctor makes every check.
const (
	atStart use = 1 << iota // live mode does not start unless it holds
	watched                 // readiness goes on making it
)

// check is one thing that a gateway stands on.
type check struct {
	use  use
	find func(context.Context) []flows.Diagnosis
}

// checks is the one list of what a gateway stands on: the start of live mode and
// readiness make some of it, doctor all of it.
func (cfg Config) checks(p parts) []check {
	return []check{
		{atStart, cfg.findConfiguration},
		{atStart | watched, func(ctx context.Context) []flows.Diagnosis { return cfg.findRedis(ctx, p.redis) }},
		{watched, func(ctx context.Context) []flows.Diagnosis { return findToken(ctx, p.club) }},
		{0, func(ctx context.Context) []flows.Diagnosis { return cfg.findClubSystem(ctx, p.club) }},
		{0, func(ctx context.Context) []flows.Diagnosis { return cfg.findProcessor(ctx, p.cards) }},
		{0, func(ctx context.Context) []flows.Diagnosis { return cfg.findLogin(ctx, p.login) }},
		{0, cfg.findPublicAddress},
		{0, cfg.findOperators},
	}
}

// diagnose makes the checks of a use, one after the other.
func (cfg Config) diagnose(ctx context.Context, p parts, of use) (found []flows.Diagnosis) {
	for _, c := range cfg.checks(p) {
		if c.use&of == of {
			found = append(found, c.find(ctx)...)
		}
	}
	return found
}

// check lists everything for which a gateway cannot start, at once.
func (cfg Config) check(ctx context.Context) error {
	found := cfg.findConfiguration(ctx)
	if connection, err := store.Connect(cfg.RedisURL); cfg.Mode == "live" && cfg.RedisURL != "" && err == nil {
		defer connection.Close()
		awaitRedis(ctx, connection)
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		found = cfg.diagnose(ctx, parts{redis: connection}, atStart)
	}
	var lines []error
	for _, d := range found {
		if !d.Holds() {
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
		case <-time.After(startPause):
		}
	}
}

// sentence is a diagnosis as a line, without its verdict.
func sentence(d flows.Diagnosis) string {
	text := d.Seen
	if d.Part != "configuration" {
		text = d.Name() + ": " + text
	}
	if d.Remedy != "" {
		text += ": " + d.Remedy
	}
	return text
}

// ready is what readiness says of a gateway. The club system is not held against
// it: when it fails, so does every gateway, and taking all of them out of service
// would only hide why, and the payments that are under way along with it.
func (cfg Config) ready(p parts) func(context.Context) []flows.Diagnosis {
	return func(ctx context.Context) []flows.Diagnosis {
		ctx, cancel := context.WithTimeout(ctx, watchTime)
		defer cancel()
		found := cfg.diagnose(ctx, p, watched)
		for i, d := range found {
			if d.Part == partClub && !d.Holds() {
				found[i].Verdict = flows.Impaired
			}
		}
		return found
	}
}

func (cfg Config) findConfiguration(context.Context) (found []flows.Diagnosis) {
	for _, problem := range cfg.problems() {
		found = append(found, flows.Diagnosis{Part: "configuration", Verdict: flows.Broken, Seen: problem.Error()})
	}
	if len(found) == 0 {
		found = append(found, flows.Diagnosis{Part: "configuration", Verdict: flows.Fine, Seen: cfg.Mode + " mode"})
	}
	return found
}

// findRedis examines Redis. Outside live mode it may forget what it likes: nothing
// there is real.
func (cfg Config) findRedis(ctx context.Context, connection redis.UniversalClient) []flows.Diagnosis {
	if cfg.Mode == "mock" {
		d := flows.Diagnosis{Part: "redis", Verdict: flows.Fine, Seen: "embedded, forgets everything at the end"}
		if err := connection.Ping(ctx).Err(); err != nil {
			d.Verdict, d.Seen = flows.Broken, err.Error()
		}
		return []flows.Diagnosis{d}
	}
	found := store.Examine(ctx, connection, store.Given{Vouched: cfg.RedisVouched, Replicas: cfg.RedisWait}, time.Now)
	if strings.Contains(cfg.RedisURL, "+sentinel://") {
		found[0].Seen += ", found by Sentinels"
	}
	for i, d := range found {
		if d.Verdict == flows.Unsafe && cfg.Mode != "live" {
			found[i].Verdict, found[i].Remedy = flows.Fine, ""
			found[i].Seen += " (live mode refuses that)"
		}
	}
	return found
}

// partClub names the club system in diagnoses.
const partClub = "club system"

// findToken asks for an access token, or takes the one in hand.
func findToken(ctx context.Context, client *club.Client) []flows.Diagnosis {
	d := flows.Diagnosis{Part: partClub, Aspect: "token", Verdict: flows.Fine, Seen: "given"}
	if err := client.Authorise(ctx); err != nil {
		d.Verdict, d.Seen = flows.Broken, err.Error()
		d.Remedy = "see that FRONTDESK_CLUB_URL leads to it, and that FRONTDESK_CLUB_CLIENT_ID, FRONTDESK_CLUB_CLIENT_SECRET and FRONTDESK_CLUB_GATEWAY_KEY are what its provider gave you"
	}
	return []flows.Diagnosis{d}
}

// findClubSystem reads the chain, and asks for one of each kind that the journeys
// read.
func (cfg Config) findClubSystem(ctx context.Context, client *club.Client) []flows.Diagnosis {
	if client.Authorise(ctx) != nil {
		return nil // told already
	}
	d := flows.Diagnosis{Part: partClub, Aspect: "network", Verdict: flows.Broken}
	network, err := client.NetworkNodes(ctx, club.Scope{ClientToken: cfg.ClubToken})
	switch {
	case err != nil:
		d.Seen, d.Remedy = err.Error(), "see that FRONTDESK_CLUB_TOKEN is the organisation's client token, and FRONTDESK_CLUB_PATH_PREFIX what its addresses begin with"
		return []flows.Diagnosis{d}
	case len(network.Clubs()) == 0:
		d.Seen, d.Remedy = "shows no club to these credentials", "have the club system's provider give the OAuth client its clubs"
		return []flows.Diagnosis{d}
	}
	d.Verdict, d.Seen = flows.Fine, fmt.Sprintf("%d clubs", len(network.Clubs()))
	return []flows.Diagnosis{d, cfg.findGrants(ctx, client, network.Clubs()[0])}
}

// findGrants asks for what the journeys read. Records that are not there are asked
// for where an id is needed: whether the endpoint is granted shows all the same.
// What the journeys write is not tried, since trying it would do it.
func (cfg Config) findGrants(ctx context.Context, client *club.Client, at club.NetworkNode) flows.Diagnosis {
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
	d := flows.Diagnosis{Part: partClub, Aspect: "grants", Verdict: flows.Fine, Seen: fmt.Sprintf("all %d endpoints that are read are granted; those that are written are not tried", len(reads))}
	if len(refused) > 0 {
		d.Verdict, d.Seen = flows.Broken, "not granted: "+strings.Join(refused, ", ")
		d.Remedy = "have the club system's provider grant them, and those that the journeys write, to the OAuth client"
	}
	return d
}
