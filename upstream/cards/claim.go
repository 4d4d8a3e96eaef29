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
	// claimCheckAmount is above every processor's least amount. It is never
	// authorised, let alone captured.
	claimCheckAmount = 1_00

	// claimCheckAttempts and claimCheckPause: a call that met a key in use or a busy
	// account is repeated for about ten seconds, far longer than one takes.
	claimCheckAttempts = 20
	claimCheckPause    = 500 * time.Millisecond
)

// ClaimReport is what CheckClaim saw.
type ClaimReport struct {
	Rounds  int // rounds that were played to their end
	Racers  int // callers in each round
	Won     int // calls that were told that they won; as many as Rounds when the claim holds
	Lost    int // calls that were told that another won
	Retried int // calls that had to be repeated, since their first answer told nothing
	// Broken has a sentence for each time that the processor did not behave as a
	// claim needs it.
	Broken []string
}

// Holds tells whether a claim can rest on the processor: rounds were played, and
// nothing was broken in any.
func (r ClaimReport) Holds() bool { return r.Rounds > 0 && len(r.Broken) == 0 }

// CheckClaim lets callers race for one-shot claims and reports whether each had
// exactly one winner, whose entry is the one that is read back, and whether a
// repetition gets the same verdict. The payment machine rests on this, so it is
// worth a check against the processor's own test environment; it must never be
// run against live payments. Every round makes a payment that nobody pays, and
// cancels it.
//
// An error means that the check could not be carried out, and says nothing about
// the claim; the report has what was seen until then.
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

// run makes the payment, races for its claim, and cancels it whatever happened.
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

// retryIdempotent repeats a call while its answer tells nothing, with the same key.
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

// claimResult is what one racer was told.
type claimResult struct {
	entry    string // what it wrote
	accepted bool   // the answer was no error
	won      bool   // and had its entry
	retried  bool   // more than once
	err      error
}

// race lets all racers go at once and waits for all.
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

// claim claims with an entry of one's own.
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

// evaluate compares the verdicts with each other, with what the payment says, and
// with what repetitions are told.
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
			r.reportBroken("a repetition was told %s, the call itself %s", outcomeWord(again.won), outcomeWord(v.won))
		}
	}
	return nil
}

func (r *claimRound) reportBroken(format string, args ...any) {
	r.report.Broken = append(r.report.Broken, fmt.Sprintf("payment %s: ", r.payment)+fmt.Sprintf(format, args...))
}

func outcomeWord(won bool) string {
	if won {
		return "that it won"
	}
	return "that it lost"
}

// sleep waits, unless the context ends before.
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
