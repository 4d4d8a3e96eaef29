package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/stripe"
)

// doctorCommand checks what a gateway with this configuration would stand on.
type doctorCommand struct {
	Config
	CheckClaims bool `help:"Also let callers race for claims at the card processor: each must have exactly one winner. Makes payments that nobody pays and cancels them; refused with live keys."`
	Rounds      int  `help:"Rounds of --check-claims." default:"5"`
	Racers      int  `help:"Callers in each round of --check-claims." default:"8"`
}

// claimRoundTimeout: a round is a race and a repetition by every racer, with pauses where an account is busy.
const claimRoundTimeout = time.Minute

// Run prints a line for each finding, and fails when one of them did.
func (c *doctorCommand) Run(ctx context.Context) error {
	redis.SetLogger(&redisLog{log: slog.New(slog.DiscardHandler)}) // its errors are on the lines of the checks
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	failed, err := c.examine(ctx, group)
	stop()
	if err := errors.Join(err, group.Wait()); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of the checks failed", failed)
	}
	return nil
}

// examine makes the checks, one after the other, and counts those that failed.
// What rests on a configuration that cannot be used is not checked, but for Redis.
func (c *doctorCommand) examine(ctx context.Context, group *errgroup.Group) (failed int, err error) {
	if len(c.problems()) > 0 {
		failed = report(c.checkConfiguration(ctx))
		if connection, err := store.Connect(c.RedisURL); c.RedisURL != "" && err == nil {
			defer connection.Close()
			failed += report(within(ctx, checkTime, func(ctx context.Context) []flows.Check { return c.checkRedis(ctx, connection) }))
		}
		return failed, nil
	}
	if err := c.prepare(ctx, group); err != nil {
		return 0, err
	}
	p, err := c.connect(slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return 0, err
	}
	defer p.redis.Close()
	for _, check := range c.probes(p) {
		failed += report(within(ctx, checkTime, check.run))
	}
	if c.CheckClaims && failed == 0 {
		failed += report(within(ctx, time.Duration(c.Rounds)*claimRoundTimeout, func(ctx context.Context) []flows.Check { return c.checkClaims(ctx, p.cards) }))
	}
	return failed, nil
}

func within(ctx context.Context, limit time.Duration, find func(context.Context) []flows.Check) []flows.Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return find(ctx)
}

// report prints what was found, and counts what must not be so.
func report(found []flows.Check) (failed int) {
	for _, d := range found {
		word := "ok"
		switch {
		case !d.Safe():
			word = "FAIL"
			failed++
		case d.Verdict == flows.Degraded:
			word = "warning"
		}
		text := d.Found
		if d.Fix != "" {
			text += ": " + d.Fix
		}
		fmt.Printf("%-8s %-23s %s\n", word, d.Name(), text)
	}
	return failed
}

// prepare fills in the defaults; in mock mode it runs the doubles that a gateway
// would bring along, so that there is something to be checked.
func (c *doctorCommand) prepare(ctx context.Context, group *errgroup.Group) error {
	if c.Mode != "mock" {
		_, port, err := net.SplitHostPort(c.Addr)
		if err != nil {
			return fmt.Errorf("FRONTDESK_ADDR: %w", err)
		}
		c.setDefaults(port, port)
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.setDefaults(portOf(listener), portOf(listener))
	outside := newOutsideWorld(c.PublicURL, "", slog.New(slog.DiscardHandler))
	group.Go(func() error { return serve(ctx, listener, outside.Handler(), outside.Close) })
	c.RedisURL, err = outside.StartRedis(ctx, group)
	return err
}

// checkClaims lets callers race for claims: exactly one may win each.
func (c *doctorCommand) checkClaims(ctx context.Context, processor cards.Processor) []flows.Check {
	d := flows.Check{Part: "claim", Verdict: flows.Failed}
	if account, ok := processor.(*stripe.Client); ok && account.Live() {
		d.Found = "refused: these are live keys, and the check makes payments; run it with keys of the processor's sandbox"
		return []flows.Check{d}
	}
	seen, err := cards.CheckClaim(ctx, processor, c.Rounds, c.Racers)
	switch {
	case err != nil:
		d.Found = err.Error()
	case !seen.Holds():
		d.Found = "no claim can rest on this processor: " + strings.Join(seen.Broken, "; ")
	default:
		d.Verdict = flows.OK
		d.Found = fmt.Sprintf("%d rounds of %d callers, %d winners; %d calls lost, %d had to ask again",
			seen.Rounds, seen.Racers, seen.Won, seen.Lost, seen.Retried)
	}
	return []flows.Check{d}
}
