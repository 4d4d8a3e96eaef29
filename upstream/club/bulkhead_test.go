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

// breaking returns a client that never retries; its breaker opens briefly after four attempts if two of them
// failed.
func breaking(u *recordingServer) *club.Client {
	cfg := configured(u.URL)
	cfg.Limits = club.Limits{MaxAttempts: 1, BreakerCalls: 4, BreakerPause: time.Second}
	return club.New(cfg)
}

// serveSale serves a sale, or 503 while failing.
func serveSale(t *testing.T, failing *atomic.Bool) *recordingServer {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if failing.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, saleJSON)
	})
}

// TestBreaker: after half of the calls failed, further calls are held back. Then two trial calls are let
// through, and if either fails, the rest are held back again.
func TestBreaker(t *testing.T) {
	var failing atomic.Bool
	upstream := serveSale(t, &failing)
	c := breaking(upstream)
	read := func() error {
		_, err := c.GetSale(t.Context(), demo, sale)
		return err
	}
	held := func() {
		t.Helper()
		before := len(upstream.seen())
		err := read()
		wantOutcome(t, err, club.NotSent)
		if !errors.Is(err, club.ErrUnavailable) || len(upstream.seen()) != before {
			t.Fatalf("%v, want ErrUnavailable and no request", err)
		}
	}
	letThrough := func(want club.Outcome) {
		t.Helper()
		eventually(t, func() bool {
			err := read()
			return !errors.Is(err, club.ErrUnavailable) && club.OutcomeOf(err) == want
		})
	}
	wantOutcome(t, read(), club.Accepted)
	wantOutcome(t, read(), club.Accepted)
	failing.Store(true)
	wantOutcome(t, read(), club.Unknown)
	wantOutcome(t, read(), club.Unknown) // half of four
	held()
	letThrough(club.Unknown) // after the pause, the first trial fails
	held()
	failing.Store(false)
	letThrough(club.Accepted)
	wantOutcome(t, read(), club.Accepted) // the second trial also succeeds
	failing.Store(true)
	for range 4 {
		wantOutcome(t, read(), club.Unknown) // the count starts again
	}
	held()
}

// TestBreakerIgnoresEarlierCalls: a call that began before the breaker opened, and fails when the club system has
// recovered, does not hold calls back again.
func TestBreakerIgnoresEarlierCalls(t *testing.T) {
	var failing atomic.Bool
	arrived, held := make(chan struct{}), make(chan struct{})
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo/products" {
			arrived <- struct{}{}
			<-held
			w.WriteHeader(http.StatusServiceUnavailable)
		} else if failing.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			io.WriteString(w, saleJSON)
		}
	})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release) // also if the test fails half-way
	client := breaking(upstream)
	read := func() error {
		_, err := client.GetSale(t.Context(), demo, sale)
		return err
	}
	var earlier sync.WaitGroup
	earlier.Go(func() { client.ListProducts(t.Context(), demo, club.ProductQuery{}) })
	frontdesktest.Receive(t, arrived, "the earlier call arrives")
	failing.Store(true)
	eventually(t, func() bool { return errors.Is(read(), club.ErrUnavailable) }) // the breaker opens
	failing.Store(false)
	eventually(t, func() bool { return read() == nil }) // the first trial
	release()
	earlier.Wait()
	wantOutcome(t, read(), club.Accepted) // the second
	wantOutcome(t, read(), club.Accepted)
}

// TestBreakerIgnoresCallersWhoLeave: callers who leave do not make a failing club system look healthy.
func TestBreakerIgnoresCallersWhoLeave(t *testing.T) {
	var failing atomic.Bool
	arrived := make(chan struct{}, 1)
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if failing.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	client := breaking(upstream)
	for range 8 {
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			<-arrived
			leave()
		}()
		client.GetSale(ctx, demo, sale)
	}
	failing.Store(true)
	for range 4 {
		_, err := client.GetSale(t.Context(), demo, sale)
		wantOutcome(t, err, club.Unknown)
	}
	if _, err := client.GetSale(t.Context(), demo, sale); !errors.Is(err, club.ErrUnavailable) {
		t.Errorf("%v, want ErrUnavailable", err)
	}
}

// TestAnswersDoNotBreak: a club system that refuses a request is healthy.
func TestAnswersDoNotBreak(t *testing.T) {
	for _, status := range []int{400, 403, 404, 409, 422, 429, 501} {
		u := serve(t, answering(status, ""))
		c := breaking(u)
		for range 12 {
			_, err := c.GetSale(t.Context(), demo, sale)
			if asError(t, err).Status != status {
				t.Fatalf("status %d: %v", status, err)
			}
		}
	}
}

// TestLanesAreApart: neither a failing organisation nor a full catalogue lane delays another organisation or a
// payment.
func TestLanesAreApart(t *testing.T) {
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo/products" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, `{"@id": "`+r.URL.Path+`", "totalTI": 4990, "state": "building", "articles": []}`)
	})
	client := breaking(upstream)
	for range 4 {
		client.ListProducts(t.Context(), demo, club.ProductQuery{})
	}
	if _, err := client.GetSale(t.Context(), demo, sale); !errors.Is(err, club.ErrUnavailable) {
		t.Fatalf("%v, want ErrUnavailable", err)
	}
	if _, err := client.Money().GetSale(t.Context(), demo, sale); err != nil {
		t.Errorf("money lane: %v", err)
	}
	if _, err := client.CreatePayment(t.Context(), demo, sale, payment, nil); err != nil {
		t.Errorf("payment: %v", err)
	}
	if _, err := client.GetSale(t.Context(), club.Scope{ClientToken: "demo-b"}, "/demo-b/sales/1"); err != nil {
		t.Errorf("another organisation: %v", err)
	}
}

// TestFullLane: all places are taken, so the next call waits its turn and gives up.
func TestFullLane(t *testing.T) {
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
	cfg.Limits.MaxConcurrency, cfg.Limits.QueueTimeout = 2, 20*time.Millisecond
	var heldBack atomic.Int32
	cfg.OnAttempt = func(a club.Attempt) {
		if a.Operation == "GetSale" && a.Outcome == club.NotSent {
			heldBack.Add(1)
		}
	}
	client := club.New(cfg)
	var catalogue sync.WaitGroup
	for range 2 {
		catalogue.Go(func() { client.ListProducts(t.Context(), demo, club.ProductQuery{}) })
		frontdesktest.Receive(t, arrived, "a call takes its place")
	}
	_, err := client.GetSale(t.Context(), demo, sale)
	wantOutcome(t, err, club.NotSent)
	if !errors.Is(err, club.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	if heldBack.Load() == 0 {
		t.Error("no metric shows the call that was held back")
	}
	must[club.Sale](t)(client.Money().GetSale(t.Context(), demo, sale))
	must[club.Receipt](t)(client.CreatePayment(t.Context(), demo, sale, payment, nil))
	release()
	catalogue.Wait()
	must[club.Sale](t)(client.GetSale(t.Context(), demo, sale))
}
