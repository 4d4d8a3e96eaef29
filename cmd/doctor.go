package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
)

// doctor checks what a gateway with this configuration depends on.
type doctor struct {
	cfg            Config
	claims         bool // also race for claims
	rounds, racers int  // of that race
	adopt          bool // also store this configuration's account, organisation and mode in Redis, in place of others
}

// claimRoundTimeout is for one race and a repetition by every racer, with pauses where
// the account is busy.
const claimRoundTimeout = time.Minute

func newDoctorCommand(assets Assets) *cobra.Command {
	doctor := doctor{cfg: Config{assets: assets, now: time.Now}}
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration, Redis, the club system, the card processor and the mail server: a line each; exit 1 if a check fails.",
		Args:  exactArgs(),
		RunE:  func(command *cobra.Command, _ []string) error { return doctor.run(command.Context()) },
	}
	addOptions(command.Flags(), doctor.cfg.options()...)
	command.Flags().BoolVar(&doctor.adopt, "adopt", false,
		"Also store this configuration's card account, organisation and mode in Redis, in place of others. "+
			"Only after an intended change, with all other gateways stopped.")
	command.Flags().BoolVar(&doctor.claims, "check-claims", false,
		"Also let callers race for claims at the card processor: each must have exactly one winner. "+
			"Creates payments and cancels them; refused with live keys.")
	command.Flags().IntVar(&doctor.rounds, "rounds", 5, "Rounds of --check-claims.")
	command.Flags().IntVar(&doctor.racers, "racers", 8, "Callers in each round of --check-claims.")
	return command
}

func (d *doctor) run(ctx context.Context) error {
	logging.Disable() // of the Redis client; the checks report its errors
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	failed, err := d.examine(ctx, group)
	stop()
	if err := errors.Join(err, group.Wait()); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of the checks failed", failed)
	}
	return nil
}

// examine runs the checks, one after the other, and counts those that failed. With an
// unusable configuration it checks only Redis.
func (d *doctor) examine(ctx context.Context, group *errgroup.Group) (failed int, err error) {
	if len(d.cfg.problems()) > 0 {
		failed = printChecks(ctx, checkTimeout, d.cfg.checkConfiguration, clients{})
		if connection, err := store.Connect(d.cfg.RedisURL); err == nil {
			defer connection.Close()
			failed += printChecks(ctx, checkTimeout, d.cfg.checkRedis, clients{redis: connection})
		}
		return failed, nil
	}
	_, port, _ := net.SplitHostPort(d.cfg.Addr) // listenRules has checked it
	end, err := d.cfg.complete(ctx, group, port)
	if err != nil {
		return 0, err
	}
	defer end()
	peers, err := d.cfg.connect(slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return 0, err
	}
	defer peers.redis.Close()
	if d.adopt {
		failed += printChecks(ctx, checkTimeout, d.cfg.adoptFingerprint, peers)
	}
	for _, check := range d.cfg.checks() {
		failed += printChecks(ctx, checkTimeout, check, peers)
	}
	if d.claims && failed == 0 {
		failed += printChecks(ctx, time.Duration(d.rounds)*claimRoundTimeout, d.checkClaims, peers)
	}
	return failed, nil
}

// printChecks runs a check within a time limit, prints a line for each finding, and
// counts those that failed.
func printChecks(ctx context.Context, limit time.Duration, run func(context.Context, clients) []flows.Check, peers clients) (failed int) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, check := range run(ctx, peers) {
		verdict := "ok"
		switch {
		case !check.Safe():
			verdict = "FAIL"
			failed++
		case check.Verdict == flows.Degraded:
			verdict = "warning"
		}
		fmt.Printf("%-8s %-23s %s\n", verdict, check.Name(), describe(check))
	}
	return failed
}

// checkClaims lets callers race for claims. Each claim must have exactly one winner.
func (d *doctor) checkClaims(ctx context.Context, peers clients) []flows.Check {
	if peers.cards.Live() {
		return finding("claim", "", flows.Failed,
			"refused: these are live keys, and the check creates payments; use keys of the processor's sandbox", "")
	}
	result, err := cards.CheckClaim(ctx, peers.cards, d.rounds, d.racers)
	switch {
	case err != nil:
		return finding("claim", "", flows.Failed, err.Error(), "")
	case !result.Holds():
		return finding("claim", "", flows.Failed, "this processor does not support claims: "+strings.Join(result.Broken, "; "), "")
	}
	return finding("claim", "", flows.OK, fmt.Sprintf("%d rounds of %d callers, %d winners; %d calls lost, %d had to ask again",
		result.Rounds, result.Racers, result.Won, result.Lost, result.Retried), "")
}
