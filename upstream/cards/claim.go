package cards

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// claimCheckAmount is above every processor's minimum. It is never authorised.
	claimCheckAmount = 1_00

	// claimCheckAttempts and claimCheckPause: a call that met a key in use or a busy
	// account is retried for about ten seconds, far longer than a call takes.
	claimCheckAttempts = 20
	claimCheckPause    = 500 * time.Millisecond
)

// ClaimReport is the result of CheckClaim.
type ClaimReport struct {
	Rounds  int // completed rounds
	Racers  int // callers in each round
	Won     int // calls that won; as many as Rounds when the claim holds
	Lost    int // calls that lost to another caller
	Retried int // calls that were retried because their first response was inconclusive
	// Broken has a sentence for each time that the processor did not behave as a claim
	// needs.
	Broken []string
}

// Holds reports whether the processor supports claims: at least one round, and nothing
// broken.
func (r ClaimReport) Holds() bool { return r.Rounds > 0 && len(r.Broken) == 0 }

// CheckClaim lets callers race for claims. It reports whether each claim had exactly one
// winner, whether the winner's entry is the one that is read back, and whether a retry gets
// the same verdict. The payment machine depends on this, so check it against the
// processor's own test environment. Never run it against live payments. Every round creates
// a payment that is not paid, and cancels it.
//
// An error means that the check could not be completed; the report holds the results so
// far.
func CheckClaim(ctx context.Context, p Processor, rounds, racers int) (ClaimReport, error) {
	report := ClaimReport{Racers: racers}
	if rounds < 1 || racers < 2 {
		return report, errors.New("cards: a claim is checked with at least one round and two racers")
	}
	run := uuid.NewString()
	for n := range rounds {
		round := claimRound{processor: p, key: fmt.Sprintf("claim-check:%s:%d", run, n+1), report: &report}
		if err := round.run(ctx, racers); err != nil {
			return report, fmt.Errorf("cards: claim check, round %d: %w", n+1, err)
		}
		report.Rounds++
	}
	return report, nil
}

// claimRound is one payment and one claim on it.
type claimRound struct {
	processor Processor
	key       string
	payment   string
	report    *ClaimReport
}

// claimEntry is the metadata key that the racers write.
const claimEntry = "fd_claim_check"

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
	verdicts, err := r.race(ctx, racers)
	if err != nil {
		return err
	}
	return r.evaluate(ctx, verdicts)
}

// retryIdempotent retries a call with the same key while its response is inconclusive.
func retryIdempotent(ctx context.Context, call func() (Payment, error)) (p Payment, repeated bool, err error) {
	for try := 1; ; try++ {
		p, err = call()
		known := err == nil || errors.Is(err, ErrKeyReused) || errors.Is(err, ErrRefused) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrState)
		if known || try == claimCheckAttempts {
			return p, try > 1, err
		}
		if err := sleep(ctx, claimCheckPause); err != nil {
			return Payment{}, true, err
		}
	}
}

// claimResult is the outcome of one racer's call.
type claimResult struct {
	entry    string // what it wrote
	accepted bool   // the call succeeded
	won      bool   // and the response had the racer's entry
	retried  bool   // the call was retried
	err      error
}

// race starts all racers at once and waits for them.
func (r *claimRound) race(ctx context.Context, racers int) ([]claimResult, error) {
	verdicts := make([]claimResult, racers)
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range verdicts {
		running.Go(func() {
			<-start
			verdicts[i] = r.claim(ctx, uuid.NewString())
		})
	}
	close(start)
	running.Wait()
	for _, v := range verdicts {
		if v.err != nil {
			return nil, v.err
		}
	}
	return verdicts, nil
}

// claim claims with the given entry.
func (r *claimRound) claim(ctx context.Context, entry string) claimResult {
	held, repeated, err := retryIdempotent(ctx, func() (Payment, error) {
		return r.processor.UpdateMetadata(ctx, r.key, r.payment, map[string]string{claimEntry: entry})
	})
	v := claimResult{entry: entry, retried: repeated}
	switch {
	case err == nil:
		v.accepted, v.won = true, held.Metadata[claimEntry] == entry
	case !errors.Is(err, ErrKeyReused):
		v.err = err
	}
	return v
}

// evaluate compares the results with each other, with the payment, and with retries.
func (r *claimRound) evaluate(ctx context.Context, verdicts []claimResult) error {
	var winners []string
	for _, v := range verdicts {
		if v.won {
			winners = append(winners, v.entry)
		}
		if v.retried {
			r.report.Retried++
		}
		if v.accepted && !v.won {
			r.reportBroken("a call was accepted that wrote nothing")
		}
	}
	r.report.Won += len(winners)
	r.report.Lost += len(verdicts) - len(winners)
	if len(winners) != 1 {
		r.reportBroken("%d of %d racers won", len(winners), len(verdicts))
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
	for _, v := range verdicts {
		again := r.claim(ctx, v.entry)
		if again.err != nil {
			return again.err
		}
		if again.won != v.won {
			r.reportBroken("a retry %s, the first call %s", outcomeWord(again.won), outcomeWord(v.won))
		}
	}
	return nil
}

func (r *claimRound) reportBroken(format string, args ...any) {
	r.report.Broken = append(r.report.Broken, fmt.Sprintf("payment %s: ", r.payment)+fmt.Sprintf(format, args...))
}

func outcomeWord(won bool) string {
	if won {
		return "won"
	}
	return "lost"
}

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
