package club_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
)

// TestNewcomersWaitForEachOther: newcomers wait only for each other; readers of a catalogue, visitors and payers do not wait for
// newcomers.
func TestNewcomersWaitForEachOther(t *testing.T) {
	t.Parallel()
	arrived, held := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo/products" {
			arrived <- struct{}{}
			<-held
			io.WriteString(w, `{"hydra:member": []}`)
			return
		}
		io.WriteString(w, saleJSON)
	})
	t.Cleanup(release) // also if the test fails half-way
	cfg := configured(upstream.URL)
	cfg.Limits.MaxConcurrency, cfg.Limits.QueueTimeout = 1, 20*time.Millisecond
	client := club.New(cfg)
	newcomer := club.WithLane(t.Context(), club.Newcomers)
	var first sync.WaitGroup
	first.Go(func() { client.ListProducts(newcomer, demo, club.ProductQuery{}) })
	frontdesktest.Receive(t, arrived, "the first newcomer's call")
	_, err := client.GetSale(newcomer, demo, sale)
	wantOutcome(t, err, club.NotSent)
	if !errors.Is(err, club.ErrBusy) {
		t.Errorf("the second newcomer: %v, want ErrBusy", err)
	}
	for _, lane := range []club.Lane{club.Visitors, club.Browsers, club.Payers} {
		must[club.Sale](t)(client.GetSale(club.WithLane(t.Context(), lane), demo, sale))
	}
	release()
	first.Wait()
	must[club.Sale](t)(client.GetSale(newcomer, demo, sale))
}

// TestOneBudget: the lanes of an organisation share one retry budget.
func TestOneBudget(t *testing.T) {
	t.Parallel()
	upstream := serve(t, failing(1<<30, answering(503, "")))
	cfg := configured(upstream.URL)
	cfg.Limits.BreakerCalls = 1 << 20 // keeps the breaker closed
	c := club.New(cfg)
	lanes := []club.Lane{club.Visitors, club.Newcomers, club.Browsers, club.Payers}
	const rounds = 10
	for range rounds {
		for _, lane := range lanes {
			_, err := c.GetSale(club.WithLane(t.Context(), lane), demo, sale)
			wantOutcome(t, err, club.Unknown)
		}
	}
	calls := rounds * len(lanes)
	if got := len(upstream.seen()); got > calls+10+calls/10 {
		t.Errorf("%d requests for %d calls, want at most %d", got, calls, calls+10+calls/10)
	}
}

// TestPayersKeepRetries: failing calls of newcomers leave payers some retries, because an unreadable sale
// would cancel the buyer's authorised payment.
func TestPayersKeepRetries(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	upstream := serveSale(t, &failing)
	cfg := configured(upstream.URL)
	cfg.Limits.BreakerCalls = 1 << 20 // keeps the breaker closed
	client := club.New(cfg)
	requests := func(lane club.Lane) int {
		before := len(upstream.seen())
		_, err := client.GetSale(club.WithLane(t.Context(), lane), demo, sale)
		wantOutcome(t, err, club.Unknown)
		return len(upstream.seen()) - before
	}
	authorise(t, client)
	failing.Store(true)
	eventually(t, func() bool { return requests(club.Newcomers) == 1 })
	if requests(club.Payers) == 1 {
		t.Error("newcomers used up the retries of payers")
	}
	eventually(t, func() bool { return requests(club.Payers) == 1 })
}

// TestBegunWriteIsFinished: when the caller leaves, a write that has started is finished, and one that has not
// is not started.
func TestBegunWriteIsFinished(t *testing.T) {
	t.Parallel()
	arrived, held := make(chan struct{}), make(chan struct{})
	upstream := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-held
		io.WriteString(w, saleJSON)
	})
	client := club.New(configured(upstream.URL))
	authorise(t, client)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := client.CreateSale(ctx, demo, club.NewSale{})
		done <- err
	}()
	frontdesktest.Receive(t, arrived, "the write arrives")
	leave()
	close(held)
	if err := frontdesktest.Receive(t, done, "the write ends"); err != nil {
		t.Errorf("the write that was begun: %v", err)
	}
	before := len(upstream.seen())
	_, err := client.CreateSale(ctx, demo, club.NewSale{})
	wantOutcome(t, err, club.NotSent)
	if len(upstream.seen()) != before {
		t.Error("a write was begun for a caller that had left")
	}
}
