package cards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

const (
	// claimCheckAmount is above the processor's minimum. It is never authorised.
	claimCheckAmount = 1_00

	// A call to a busy account is retried for about ten seconds, far longer than a call takes.
	claimCheckAttempts = 20
	claimCheckPause    = 500 * time.Millisecond

	// claimEntry is the metadata key that the racers write.
	claimEntry = "fd_claim_check"
)

// ClaimReport is the result of CheckClaim.
type ClaimReport struct {
	Rounds  int      // completed rounds
	Racers  int      // callers in each round
	Won     int      // calls that won; as many as Rounds when the claim holds
	Lost    int      // calls that lost to another caller
	Retried int      // calls that were retried because their first response was inconclusive
	Broken  []string // each way in which the processor broke a claim
}

// Holds reports whether the processor supports claims: at least one round, and no
// broken claim.
func (r ClaimReport) Holds() bool { return r.Rounds > 0 && len(r.Broken) == 0 }

// CheckClaim lets callers race for claims, on which the payment machine depends. Each claim
// must have exactly one winner, whose entry is read back, and a retry must get the same
// verdict. Run it against the processor's test environment, never against live payments:
// each round creates an unpaid payment, and cancels it.
//
// An error means that the check could not be completed; the report holds the results so
// far.
func CheckClaim(ctx context.Context, client *Client, rounds, racers int) (ClaimReport, error) {
	report := ClaimReport{Racers: racers}
	if rounds < 1 || racers < 2 {
		return report, errors.New("cards: a claim is checked with at least one round and two racers")
	}
	run := uuid.NewString()
	for n := range rounds {
		round := claimRound{processor: client, key: fmt.Sprintf("claim-check:%s:%d", run, n+1), report: &report}
		if err := round.run(ctx, racers); err != nil {
			return report, fmt.Errorf("cards: claim check, round %d: %w", n+1, err)
		}
		report.Rounds++
	}
	return report, nil
}

type claimRound struct {
	processor *Client
	key       string
	payment   string // its id
	report    *ClaimReport
}

// run makes the payment, races for its claim, and cancels the payment in any case.
func (r *claimRound) run(ctx context.Context, racers int) (err error) {
	made, _, err := retryIdempotent(ctx, func() (Payment, error) {
		return r.processor.Create(ctx, r.key+":create", NewPayment{
			Amount: claimCheckAmount, Currency: "EUR", Metadata: map[string]string{"fd_purpose": "claim check"},
		})
	})
	if err != nil {
		return err
	}
	r.payment = made.ID
	defer func() {
		ctx := context.WithoutCancel(ctx)
		_, _, cancelErr := retryIdempotent(ctx, func() (Payment, error) { return r.processor.Cancel(ctx, r.key+":cancel", r.payment) })
		err = errors.Join(err, cancelErr)
	}()
	results, err := r.race(ctx, racers)
	if err != nil {
		return err
	}
	return r.evaluate(ctx, results)
}

// retryIdempotent retries a call with the same key while its response is inconclusive.
func retryIdempotent(ctx context.Context, call func() (Payment, error)) (payment Payment, retried bool, err error) {
	for try := 1; ; try++ {
		payment, err = call()
		if outcomeOf(err) != "unknown" || try == claimCheckAttempts {
			return payment, try > 1, err
		}
		select {
		case <-ctx.Done():
			return Payment{}, true, ctx.Err()
		case <-time.After(claimCheckPause):
		}
	}
}

// claimResult is the outcome of one racer's call.
type claimResult struct {
	entry    string // what it wrote
	accepted bool   // the call succeeded
	won      bool   // and the response had the racer's entry
	retried  bool
}

// race starts all racers at once and waits for them.
func (r *claimRound) race(ctx context.Context, racers int) ([]claimResult, error) {
	results := make([]claimResult, racers)
	start := make(chan struct{})
	var running errgroup.Group
	for i := range results {
		running.Go(func() (err error) {
			<-start
			results[i], err = r.claim(ctx, uuid.NewString())
			return err
		})
	}
	close(start)
	return results, running.Wait()
}

func (r *claimRound) claim(ctx context.Context, entry string) (claimResult, error) {
	held, retried, err := retryIdempotent(ctx, func() (Payment, error) {
		return r.processor.UpdateMetadata(ctx, r.key, r.payment, map[string]string{claimEntry: entry})
	})
	result := claimResult{entry: entry, accepted: err == nil, retried: retried}
	if errors.Is(err, ErrKeyReused) {
		return result, nil
	}
	result.won = err == nil && held.Metadata[claimEntry] == entry
	return result, err
}

// evaluate compares the results with each other, with the payment, and with retries.
func (r *claimRound) evaluate(ctx context.Context, results []claimResult) error {
	var winners []string
	for _, result := range results {
		if result.won {
			winners = append(winners, result.entry)
		}
		if result.retried {
			r.report.Retried++
		}
		if result.accepted && !result.won {
			r.reportBroken("a call was accepted that wrote nothing")
		}
	}
	r.report.Won += len(winners)
	r.report.Lost += len(results) - len(winners)
	if len(winners) != 1 {
		r.reportBroken("%d of %d racers won", len(winners), len(results))
	}
	held, _, err := retryIdempotent(ctx, func() (Payment, error) { return r.processor.Get(ctx, r.payment) })
	if err != nil {
		return err
	}
	for _, winner := range winners {
		if held.Metadata[claimEntry] != winner {
			r.reportBroken("a winner's entry is not the one that is read back")
		}
	}
	word := map[bool]string{true: "won", false: "lost"}
	for _, result := range results {
		again, err := r.claim(ctx, result.entry)
		if err != nil {
			return err
		}
		if again.won != result.won {
			r.reportBroken("a retry %s, the first call %s", word[again.won], word[result.won])
		}
	}
	return nil
}

func (r *claimRound) reportBroken(format string, args ...any) {
	r.report.Broken = append(r.report.Broken, fmt.Sprintf("payment %s: ", r.payment)+fmt.Sprintf(format, args...))
}
