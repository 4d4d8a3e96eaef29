package oldsandbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

const createBody = `{"amount":4990,"currency":"EUR"}`

func TestSameKeyAndRequestReplays(t *testing.T) {
	b := newTestEnv(t)
	first := b.merchant("/payments", "create:s1", createBody)
	b.confirm(first.payment().ID, goodCard)
	again := b.merchant("/payments", "create:s1", createBody)
	if first.status != http.StatusCreated || first.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("first: %d, %v", first.status, first.header)
	}
	if again.status != http.StatusCreated || again.header.Get("Idempotent-Replayed") != "true" || string(again.body) != string(first.body) {
		t.Errorf("again: %d %v %s, want the first answer %s", again.status, again.header, again.body, first.body)
	}
	if n := len(b.server.Payments()); n != 1 {
		t.Errorf("%d payments of one key", n)
	}
}

// A replay has no effect: a second capture or refund under the same key moves no money.
func TestReplaysMoveNothing(t *testing.T) {
	b := newTestEnv(t)
	p := b.in("authorised")
	for range 3 {
		if got, err := b.client.Capture(t.Context(), "capture", p.ID, 4990); err != nil || got.Captured != 4990 {
			t.Errorf("capture: %+v, %v", got, err)
		}
	}
	for range 3 {
		if got, err := b.client.Refund(t.Context(), "refund", p.ID, 1000); err != nil || got.Refunded != 1000 {
			t.Errorf("refund: %+v, %v", got, err)
		}
	}
	if got := b.get(p.ID); got.Captured != 4990 || got.Refunded != 1000 {
		t.Errorf("three times each came to %+v", got)
	}
}

func TestSameKeyAndAnotherRequestIsRefused(t *testing.T) {
	b := newTestEnv(t)
	p, other := b.in("authorised"), b.in("authorised")
	if _, err := b.client.UpdateMetadata(t.Context(), "claim", p.ID, map[string]string{"fd_post_1": "me"}); err != nil {
		t.Fatal(err)
	}
	r := b.merchant("/payments/"+p.ID+"/metadata", "claim", `{"metadata":{"fd_post_1":"you"}}`)
	if r.status != http.StatusBadRequest || r.wireError().Type != "idempotency_error" {
		t.Errorf("another body: %d %s", r.status, r.body)
	}
	for name, call := range verbs() {
		_, err := call(t.Context(), b.client, "claim", p.ID)
		wantErr(t, name+" with the claim's key", err, cards.ErrKeyReused)
	}
	_, err := b.client.UpdateMetadata(t.Context(), "claim", other.ID, map[string]string{"fd_post_1": "me"})
	wantErr(t, "another payment", err, cards.ErrKeyReused)
	if got := b.get(p.ID); got.Metadata["fd_post_1"] != "me" || got.State != cards.Authorised {
		t.Errorf("the claim became %+v", got)
	}
}

// The stored response is that of the first request, even a refusal that would no longer be given.
func TestRefusedByStateIsKept(t *testing.T) {
	b := newTestEnv(t)
	p := b.create()
	_, err := b.client.Capture(t.Context(), "capture", p.ID, 4990)
	wantErr(t, "too early", err, cards.ErrState)
	b.confirm(p.ID, goodCard)
	_, err = b.client.Capture(t.Context(), "capture", p.ID, 4990)
	wantErr(t, "replayed", err, cards.ErrState)
	if _, err = b.client.Capture(t.Context(), "capture 2", p.ID, 4990); err != nil {
		t.Errorf("a new key: %v", err)
	}
}

func TestRefusedBeforeItRanLeavesTheKeyFree(t *testing.T) {
	b := newTestEnv(t)
	authorised := b.in("authorised").ID
	valid := `{"amount":4990}`
	for what, refused := range map[string]func(key string) reply{
		"validation": func(key string) reply { return b.merchant("/payments/"+authorised+"/capture", key, `{"amount":0}`) },
		"body":       func(key string) reply { return b.merchant("/payments/"+authorised+"/capture", key, `{"sum":1}`) },
		"payment":    func(key string) reply { return b.merchant("/payments/pay_none/capture", key, valid) },
		"secret key": func(key string) reply {
			return b.send(http.MethodPost, "/payments/"+authorised+"/capture", valid, header{"Idempotency-Key", key}, header{"Authorization", "Bearer sk_wrong"})
		},
	} {
		key := "key of " + what
		if r := refused(key); r.status < 400 || r.status > 404 {
			t.Fatalf("%s: %d %s", what, r.status, r.body)
		}
		if r := b.merchant("/payments", key, createBody); r.status != http.StatusCreated {
			t.Errorf("after a wrong %s the key answers %d %s", what, r.status, r.body)
		}
	}
}

func TestKeysAreNeeded(t *testing.T) {
	b := newTestEnv(t)
	p := b.in("authorised")
	for _, path := range []string{"/payments", "/payments/" + p.ID + "/capture", "/payments/" + p.ID + "/cancel", "/payments/" + p.ID + "/refund", "/payments/" + p.ID + "/metadata"} {
		for key, code := range map[string]string{"": "idempotency_key_missing", strings.Repeat("k", 256): "idempotency_key_too_long"} {
			r := b.merchant(path, key, `{}`)
			if r.status != http.StatusBadRequest || r.wireError().Code != code {
				t.Errorf("%s without a good key: %d %s", path, r.status, r.body)
			}
		}
		r := b.send(http.MethodPost, path, `{}`, header{"Idempotency-Key", "k"})
		if r.status != http.StatusUnauthorized || r.wireError().Type != "authentication_error" || r.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s without the secret key: %d %s", path, r.status, r.body)
		}
	}
}

func TestKeysAreRememberedFor24Hours(t *testing.T) {
	b := newTestEnv(t)
	first := b.merchant("/payments", "create", createBody)
	b.clock.advance(24*time.Hour - time.Second)
	if r := b.merchant("/payments", "create", createBody); r.payment().ID != first.payment().ID {
		t.Errorf("a second before 24 h: %s", r.body)
	}
	if r := b.merchant("/payments", "create", `{"amount":100,"currency":"EUR"}`); r.wireError().Type != "idempotency_error" {
		t.Errorf("another request a second before 24 h: %s", r.body)
	}
	b.clock.advance(time.Second)
	if r := b.merchant("/payments", "create", createBody); r.status != http.StatusCreated || r.payment().ID == first.payment().ID {
		t.Errorf("after 24 h: %d %s", r.status, r.body)
	}
}

// blockingLog blocks the first request that logs, while it is in progress, until it is released.
type blockingLog struct {
	slog.Handler
	once             sync.Once
	reached, release chan struct{}
}

func (l *blockingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *blockingLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "sandbox write" {
		l.once.Do(func() { close(l.reached); <-l.release })
	}
	return nil
}

func TestKeyInUse(t *testing.T) {
	log := &blockingLog{Handler: slog.DiscardHandler, reached: make(chan struct{}), release: make(chan struct{})}
	b := newTestEnv(t, func(cfg *oldsandbox.ServerConfig) { cfg.Logger = slog.New(log) })
	first := make(chan reply)
	go func() { first <- b.merchant("/payments", "create", createBody) }()
	<-log.reached

	_, err := b.client.Create(t.Context(), "create", cards.NewPayment{Amount: 4990, Currency: "EUR"})
	wantUnknown(t, "the same request while the first runs", err)
	if r := b.merchant("/payments", "create", createBody); r.status != http.StatusConflict || r.wireError().Code != "idempotency_key_in_use" {
		t.Errorf("while the first runs: %d %s", r.status, r.body)
	}
	r := b.merchant("/payments", "create", `{"amount":100,"currency":"EUR"}`)
	if r.status != http.StatusBadRequest || r.wireError().Type != "idempotency_error" {
		t.Errorf("another request while the first runs: %d %s", r.status, r.body)
	}
	close(log.release)
	if r := <-first; r.status != http.StatusCreated {
		t.Errorf("first: %d %s", r.status, r.body)
	}
	if r := b.merchant("/payments", "create", createBody); r.status != http.StatusCreated {
		t.Errorf("after it: %d %s", r.status, r.body)
	}
}

// Of any number of concurrent claims with one key and different bodies, one wins. All others get a permanent
// error, and the winner's body is kept.
func TestOneClaimHasOneWinner(t *testing.T) {
	const rounds, racers = 20, 16
	b := newTestEnv(t)
	p := b.in("captured")
	for round := range rounds {
		member := fmt.Sprintf("fd_post_%d", round)
		errs := race(racers, func(racer int) error {
			_, err := b.client.UpdateMetadata(t.Context(), "claim:"+member, p.ID, map[string]string{member: fmt.Sprint(racer)})
			return err
		})
		var winners []string
		for racer, err := range errs {
			if err == nil {
				winners = append(winners, fmt.Sprint(racer))
			} else if !errors.Is(err, cards.ErrKeyReused) {
				t.Errorf("racer %d: %v", racer, err)
			}
		}
		if len(winners) != 1 || b.get(p.ID).Metadata[member] != winners[0] {
			t.Errorf("round %d: winners %v, metadata %q", round, winners, b.get(p.ID).Metadata[member])
		}
	}
}

// Concurrent requests with the same key and body create one payment.
func TestOneKeyMakesOnePayment(t *testing.T) {
	b := newTestEnv(t)
	race(32, func(int) error {
		_, err := b.client.Create(t.Context(), "create", cards.NewPayment{Amount: 4990, Currency: "EUR"})
		return err
	})
	if n := len(b.server.Payments()); n != 1 {
		t.Errorf("%d payments", n)
	}
}

// Concurrent captures under different keys take the money once.
func TestOneCaptureWins(t *testing.T) {
	b := newTestEnv(t)
	p := b.in("authorised")
	won := 0
	for _, err := range race(16, func(racer int) error {
		_, err := b.client.Capture(t.Context(), fmt.Sprintf("capture:%d", racer), p.ID, 4990)
		return err
	}) {
		if err == nil {
			won++
		} else {
			wantErr(t, "a later capture", err, cards.ErrState)
		}
	}
	if got := b.get(p.ID); won != 1 || got.Captured != 4990 {
		t.Errorf("%d captures won, %+v", won, got)
	}
}

// race runs n calls at once and returns their errors.
func race(n int, call func(racer int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	running.Wait()
	return errs
}
