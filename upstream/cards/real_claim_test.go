package cards_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// TestOneWinnerOfAClaim lets racers write their own entries under one key at the same time. The first one is
// slow, so that the others find the key in use.
func TestOneWinnerOfAClaim(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	made := p.created("c")
	const racers = 32
	met := int32(0)
	for round := range 5 {
		slow := p.double.Inject(sandbox.Fault{Param: "metadata", Stage: sandbox.During, Delay: 20 * time.Millisecond})
		key, name := fmt.Sprint("claim:p:", round), fmt.Sprint("fd_post_", round)
		var won, lost, unknown atomic.Int32
		var winner atomic.Value
		start := make(chan struct{})
		var running sync.WaitGroup
		for i := range racers {
			running.Go(func() {
				<-start
				for {
					_, err := p.UpdateMetadata(t.Context(), key, made.ID, map[string]string{name: fmt.Sprint(i)})
					switch {
					case err == nil:
						won.Add(1)
						winner.Store(fmt.Sprint(i))
					case errors.Is(err, cards.ErrKeyReused):
						lost.Add(1)
					case isOutcome(err):
						t.Errorf("racer %d: %v", i, err)
					default:
						unknown.Add(1)
						continue
					}
					return
				}
			})
		}
		close(start)
		running.Wait()
		if won.Load() != 1 || lost.Load() != racers-1 {
			t.Errorf("round %d: %d won, %d lost", round, won.Load(), lost.Load())
		}
		if held := p.ledger(made.ID); held.Metadata[name] != winner.Load() {
			t.Errorf("round %d: %q is held, %q won", round, held.Metadata[name], winner.Load())
		}
		if slow.Hits() != 1 {
			t.Errorf("round %d: the first request was not held up", round)
		}
		met += unknown.Load()
	}
	if met == 0 { // a busy machine may cause that in one round, but not in all
		t.Error("there was no race: no claim met the key in use")
	}
}

// TestRepeatedClaim: the winner's repeated call is replayed, even after others tried to write; a day
// later the key is forgotten.
func TestRepeatedClaim(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	ctx := t.Context()
	made := p.created("c")
	mine, theirs := map[string]string{"fd_post_1": "mine"}, map[string]string{"fd_post_1": "theirs"}
	for range 3 {
		if held, err := p.UpdateMetadata(ctx, "claim", made.ID, mine); err != nil || held.Metadata["fd_post_1"] != "mine" {
			t.Fatalf("the winner: %+v, %v", held, err)
		}
		if _, err := p.UpdateMetadata(ctx, "claim", made.ID, theirs); !errors.Is(err, cards.ErrKeyReused) {
			t.Fatalf("the loser: %v", err)
		}
	}
	p.clock.advance(24*time.Hour - time.Second)
	if _, err := p.UpdateMetadata(ctx, "claim", made.ID, theirs); !errors.Is(err, cards.ErrKeyReused) {
		t.Errorf("just before the day is over: %v", err)
	}
	p.clock.advance(time.Second)
	if _, err := p.UpdateMetadata(ctx, "claim", made.ID, theirs); err != nil {
		t.Errorf("a key that is forgotten: %v", err)
	}
}

// TestRefusedClaimLeavesTheKeyFree: a call with invalid parameters does not use up its key.
func TestRefusedClaimLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	made := p.created("c")
	if _, err := p.UpdateMetadata(t.Context(), "claim", made.ID, map[string]string{"a[b]": "c"}); !errors.Is(err, cards.ErrRefused) {
		t.Fatal(err)
	}
	if _, err := p.UpdateMetadata(t.Context(), "claim", made.ID, map[string]string{"fd_post_1": "mine"}); err != nil {
		t.Errorf("the corrected call: %v", err)
	}
}
