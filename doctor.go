package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/stripe"
	"frontdesk/upstream/club"
)

// doctorCommand checks what a gateway with this configuration would stand on.
type doctorCommand struct {
	Config
	Claim  bool `help:"Also let callers race for claims at the card processor: each must have exactly one winner. Makes payments that nobody pays and cancels them; refused with live keys."`
	Rounds int  `help:"Rounds of --claim." default:"5"`
	Racers int  `help:"Callers in each round of --claim." default:"8"`
}

const (
	// checkTime bounds a check: an operator who waits longer has the answer already.
	checkTime = 20 * time.Second
	// claimRoundTime: a round is a race and a repetition by every racer, with pauses where an account is busy.
	claimRoundTime = time.Minute
)

// finding is what a check has to say; an error makes the line a FAIL.
type finding func(ctx context.Context) (string, error)

// Run prints a line for each check, and fails when one of them did.
func (c *doctorCommand) Run(ctx context.Context) error {
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)}) // its errors are on the lines of the checks
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	failed := c.examine(ctx, group)
	stop()
	if err := group.Wait(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of the checks failed", failed)
	}
	return nil
}

// examine makes the checks, one after the other, and counts those that failed.
// What rests on a check that failed is not checked.
func (c *doctorCommand) examine(ctx context.Context, group *errgroup.Group) (failed int) {
	report := func(what string, limit time.Duration, find finding) bool {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		text, err := find(ctx)
		if err != nil {
			failed++
			fmt.Printf("FAIL  %-15s %v\n", what, err)
			return false
		}
		fmt.Printf("ok    %-15s %s\n", what, text)
		return true
	}
	if !report("configuration", checkTime, func(context.Context) (string, error) { return c.Mode + " mode", c.prepare(ctx, group) }) {
		return failed
	}
	report("redis", checkTime, c.findRedis)
	report("club system", checkTime, c.findClubSystem)
	if report("card processor", checkTime, c.findProcessor) && c.Claim {
		report("claim", time.Duration(c.Rounds)*claimRoundTime, c.findClaim)
	}
	return failed
}

// prepare checks the configuration and fills in the defaults; in mock mode it runs the doubles that a
// gateway would bring along, so that there is something to be checked.
func (c *doctorCommand) prepare(ctx context.Context, group *errgroup.Group) error {
	if err := c.check(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.setDefaults(listener)
	if c.Mode != "mock" {
		return listener.Close()
	}
	mux := http.NewServeMux()
	outside := newOutsideWorld(c.PublicURL, slog.New(slog.DiscardHandler))
	outside.mount(mux)
	group.Go(func() error { return serve(ctx, listener, mux, outside.close) })
	c.RedisURL, err = embedRedis(ctx, group)
	return err
}

// redisVersion finds the version in what Redis tells of itself.
var redisVersion = regexp.MustCompile(`(?m)^redis_version:(\S+)`)

func (c *doctorCommand) findRedis(ctx context.Context) (string, error) {
	client, err := store.Connect(c.RedisURL)
	if err != nil {
		return "", fmt.Errorf("FRONTDESK_REDIS_URL: %w", err)
	}
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return "", err
	}
	if c.Mode == "mock" {
		return "embedded, forgets everything at the end", nil
	}
	info, err := client.Info(ctx, "server").Result()
	if version := redisVersion.FindStringSubmatch(info); version != nil {
		return "version " + version[1], err
	}
	return "answers", err
}

func (c *doctorCommand) findClubSystem(ctx context.Context) (string, error) {
	client := c.clubSystem(slog.New(slog.DiscardHandler))
	network, err := client.NetworkNodes(ctx, club.Scope{ClientToken: c.ClubToken})
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.ClubURL, err)
	}
	clubs := network.Clubs()
	if len(clubs) == 0 {
		return "", errors.New("answers, and shows no club to these credentials")
	}
	return fmt.Sprintf("token given, %d clubs", len(clubs)), nil
}

func (c *doctorCommand) findProcessor(ctx context.Context) (string, error) {
	processor, err := c.processor()
	if err != nil {
		return "", err
	}
	if account, ok := processor.(*stripe.Client); ok {
		return c.findAccount(ctx, account)
	}
	if _, err := processor.List(ctx, time.Now().Add(-time.Hour)); err != nil {
		return "", err
	}
	return processor.Name() + " answers; it takes no real money", nil
}

// findAccount says whose money the keys would move, and refuses keys that cannot.
func (c *doctorCommand) findAccount(ctx context.Context, processor *stripe.Client) (string, error) {
	account, err := processor.Account(ctx)
	if err != nil {
		return "", err
	}
	mode := "test"
	if account.Live {
		mode = "live"
	}
	text := fmt.Sprintf("%s: account %s (%s, %s), %s keys", processor.Name(), account.ID, account.Country, account.Currency, mode)
	if account.Live && !account.ChargesEnabled {
		return "", fmt.Errorf("%s: the account may not take payments yet", text)
	}
	return text, nil
}

func (c *doctorCommand) findClaim(ctx context.Context) (string, error) {
	processor, err := c.processor()
	if err != nil {
		return "", err
	}
	if account, ok := processor.(*stripe.Client); ok && account.Live() {
		return "", errors.New("refused: these are live keys, and the check makes payments; run it with keys of the processor's sandbox")
	}
	seen, err := cards.CheckClaim(ctx, processor, c.Rounds, c.Racers)
	switch {
	case err != nil:
		return "", err
	case !seen.Holds():
		return "", fmt.Errorf("no claim can rest on this processor: %s", strings.Join(seen.Broken, "; "))
	}
	return fmt.Sprintf("%d rounds of %d callers, %d winners; %d calls lost, %d had to ask again",
		seen.Rounds, seen.Racers, seen.Won, seen.Lost, seen.Asked), nil
}
