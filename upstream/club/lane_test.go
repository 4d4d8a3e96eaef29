package club_test

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/upstream/club"
)

// breaking is a client whose breaker opens after four attempts, two of them
// failed, and which repeats nothing.
func breaking(u *upstream, now *clock) *club.Client {
	cfg := configured(u.URL)
	cfg.Now, cfg.Limits.Attempts, cfg.Limits.BreakerCalls = now.Now, 1, 4
	return club.New(cfg)
}

func TestBreaker(t *testing.T) {
	now := newClock()
	var failing atomic.Bool
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if failing.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, saleJSON)
	})
	c := breaking(u, now)
	read := func() error {
		_, err := c.GetSale(t.Context(), demo, sale)
		return err
	}
	held := func() {
		t.Helper()
		before := len(u.seen())
		err := read()
		wantOutcome(t, err, club.NotSent)
		if !errors.Is(err, club.ErrUnavailable) || len(u.seen()) != before {
			t.Fatalf("%v, want ErrUnavailable and no request", err)
		}
	}
	wantOutcome(t, read(), club.Accepted)
	wantOutcome(t, read(), club.Accepted)
	failing.Store(true)
	wantOutcome(t, read(), club.Unknown)
	wantOutcome(t, read(), club.Unknown) // half of four
	held()
	now.add(4999 * time.Millisecond)
	held()
	now.add(time.Millisecond)
	wantOutcome(t, read(), club.Unknown) // the trial fails
	held()
	now.add(5 * time.Second)
	failing.Store(false)
	wantOutcome(t, read(), club.Accepted) // the trial succeeds
	failing.Store(true)
	for range 3 {
		wantOutcome(t, read(), club.Unknown) // counted anew
	}
	now.add(10 * time.Second) // and forgotten after the window
	for range 4 {
		wantOutcome(t, read(), club.Unknown)
	}
	held()
}

// TestBreakerTrial: while the one trial is under way, the others are held back.
func TestBreakerTrial(t *testing.T) {
	now := newClock()
	trial, release := make(chan struct{}), make(chan struct{})
	var slow atomic.Bool
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if slow.Load() {
			close(trial)
			<-release
			io.WriteString(w, saleJSON)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	c := breaking(u, now)
	for range 4 {
		c.GetSale(t.Context(), demo, sale)
	}
	now.add(5 * time.Second)
	slow.Store(true)
	done := make(chan error)
	go func() {
		_, err := c.GetSale(t.Context(), demo, sale)
		done <- err
	}()
	<-trial
	if _, err := c.GetSale(t.Context(), demo, sale); !errors.Is(err, club.ErrUnavailable) {
		t.Errorf("during the trial: %v, want ErrUnavailable", err)
	}
	close(release)
	wantOutcome(t, <-done, club.Accepted)
}

// TestAnswersDoNotBreak: a club system that says no is well.
func TestAnswersDoNotBreak(t *testing.T) {
	for _, status := range []int{400, 403, 404, 409, 422, 429, 501} {
		u := serve(t, answering(status, ""))
		c := breaking(u, newClock())
		for range 12 {
			_, err := c.GetSale(t.Context(), demo, sale)
			if asError(t, err).Status != status {
				t.Fatalf("status %d: %v", status, err)
			}
		}
	}
}

// TestLanesAreApart: neither an organisation that fails nor a full catalogue
// holds up another organisation or a payment.
func TestLanesAreApart(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo/products" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, `{"@id": "/demo-b/sales/1", "totalTI": 4990}`)
	})
	c := breaking(u, newClock())
	for range 4 {
		c.ListProducts(t.Context(), demo, club.ProductQuery{})
	}
	if _, err := c.GetSale(t.Context(), demo, sale); !errors.Is(err, club.ErrUnavailable) {
		t.Fatalf("%v, want ErrUnavailable", err)
	}
	if _, err := c.Money().GetSale(t.Context(), demo, sale); err != nil {
		t.Errorf("money lane: %v", err)
	}
	if _, err := c.CreatePayment(t.Context(), demo, sale, payment, nil); err != nil {
		t.Errorf("payment: %v", err)
	}
	if _, err := c.GetSale(t.Context(), club.Scope{ClientToken: "demo-b"}, "/demo-b/sales/1"); err != nil {
		t.Errorf("another organisation: %v", err)
	}
}

// TestFullLane: the places are taken, so the next one waits its turn and leaves.
func TestFullLane(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/demo/products" {
			arrived <- struct{}{}
			<-release
			io.WriteString(w, `{"hydra:member": []}`)
			return
		}
		io.WriteString(w, saleJSON)
	})
	cfg := configured(u.URL)
	cfg.Limits.Concurrency, cfg.Limits.Queue = 2, 20*time.Millisecond
	c := club.New(cfg)
	var catalogue sync.WaitGroup
	for range 2 {
		catalogue.Go(func() { c.ListProducts(t.Context(), demo, club.ProductQuery{}) })
		<-arrived
	}
	_, err := c.GetSale(t.Context(), demo, sale)
	wantOutcome(t, err, club.NotSent)
	if !errors.Is(err, club.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	must[club.Sale](t)(c.Money().GetSale(t.Context(), demo, sale))
	must[club.Receipt](t)(c.CreatePayment(t.Context(), demo, sale, payment, nil))
	close(release)
	catalogue.Wait()
	must[club.Sale](t)(c.GetSale(t.Context(), demo, sale))
}
