package cards_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// TestCheckClaimHolds: each claim has one winner, although the callers find the key in use and the processor busy.
func TestCheckClaimHolds(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	// The first call of each round is slow, so that the others find its key in use.
	slow := pair.double.Inject(sandbox.Fault{Param: "metadata[fd_claim_check]", Stage: sandbox.During, Times: 40,
		Delay: 200 * time.Millisecond})
	// A call to a processor that is briefly busy is retried, whatever the call.
	busy := []*sandbox.Injected{
		pair.double.Inject(sandbox.Fault{Path: "/v1/payment_intents", Status: http.StatusTooManyRequests}),
		pair.double.Inject(sandbox.Fault{Method: http.MethodGet, Path: "/v1/payment_intents/*", Status: http.StatusTooManyRequests}),
		pair.double.Inject(sandbox.Fault{Path: "/v1/payment_intents/*/cancel", Status: http.StatusTooManyRequests}),
	}
	const rounds, racers = 3, 32
	report, err := cards.CheckClaim(t.Context(), pair.Client, rounds, racers)
	if err != nil || !report.Holds() || report.Rounds != rounds || report.Won != rounds || report.Lost != rounds*(racers-1) {
		t.Errorf("%+v, %v, want one winner in each of %d rounds", report, err, rounds)
	}
	claims := 0
	for _, request := range pair.double.Requests() {
		if strings.Contains(request.Form, "fd_claim_check") {
			claims++
		}
	}
	if slow.Hits() == 0 || claims <= rounds*racers*2 { // each caller claims, and checks that a repetition says the same
		t.Errorf("no claim met a key in use: %d calls", claims)
	}
	for _, held := range pair.double.Payments() {
		if held.Status != "canceled" || held.Charges != 0 {
			t.Errorf("left behind: %+v", held)
		}
	}
	if made := len(pair.double.Payments()); made != rounds {
		t.Errorf("%d payments were made", made)
	}
	for i, fault := range busy {
		if fault.Hits() != 1 {
			t.Errorf("the processor was not busy at moment %d", i)
		}
	}
}

// TestCheckClaimCatches processors whose claims are unsafe.
func TestCheckClaimCatches(t *testing.T) {
	t.Parallel()
	sound := newPair(t)
	// claims returns a client for which the calls of the racers go another way.
	claims := func(do func(r *http.Request, send roundTripper) (*http.Response, error)) *cards.Client {
		return sound.through(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost || strings.Count(r.URL.Path, "/") != strings.Count("/v1/payment_intents/pi_1", "/") {
				return http.DefaultTransport.RoundTrip(r)
			}
			return do(r, http.DefaultTransport.RoundTrip)
		})
	}
	lose := func() (*http.Response, error) {
		body := io.NopCloser(strings.NewReader(`{"error":{"type":"idempotency_error"}}`))
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: body}, nil
	}
	var answered sync.Map
	for name, test := range map[string]struct {
		processor *cards.Client
		says      string
	}{
		"one that forgets keys": {claims(func(r *http.Request, send roundTripper) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Del("Idempotency-Key")
			return send(r)
		}), "of 8 racers won"},
		"one that answers everybody with the payment": {claims(func(r *http.Request, send roundTripper) (*http.Response, error) {
			response, err := send(r)
			if err == nil && response.StatusCode == http.StatusBadRequest {
				r = r.Clone(r.Context())
				r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
				return send(r)
			}
			return response, err
		}), "accepted that wrote nothing"},
		"one without a winner": {claims(func(*http.Request, roundTripper) (*http.Response, error) { return lose() }), "0 of 8 racers won"},
		"one whose winner's entry is lost": {claims(func(r *http.Request, send roundTripper) (*http.Response, error) {
			response, err := send(r)
			if err == nil && response.StatusCode == http.StatusOK {
				id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
				_, err = sound.UpdateMetadata(r.Context(), r.Header.Get("Idempotency-Key")+":gone", id, map[string]string{"fd_claim_check": ""})
			}
			return response, err
		}), "not the one that is read back"},
		"one that does not know its winner again": {claims(func(r *http.Request, send roundTripper) (*http.Response, error) {
			response, err := send(r)
			if err == nil && response.StatusCode == http.StatusOK {
				if _, before := answered.LoadOrStore(r.Header.Get("Idempotency-Key"), true); before {
					return lose()
				}
			}
			return response, err
		}), "a retry lost"},
	} {
		report, err := cards.CheckClaim(t.Context(), test.processor, 2, 8)
		if err != nil || report.Holds() || !strings.Contains(strings.Join(report.Broken, "\n"), test.says) {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
}

// TestCheckClaimThatCannotBeMade: a check that fails makes no statement about the claim, and cleans up.
func TestCheckClaimThatCannotBeMade(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	server, client := p.double, p.Client
	server.Inject(sandbox.Fault{Param: "metadata[fd_claim_check]", Times: -1, Status: http.StatusUnauthorized, Type: "invalid_request_error"})
	if report, err := cards.CheckClaim(t.Context(), client, 1, 4); !errors.Is(err, cards.ErrRefused) || report.Holds() {
		t.Errorf("%+v, %v", report, err)
	}
	if all := server.Payments(); len(all) != 1 || all[0].Status != "canceled" {
		t.Errorf("left behind: %+v", all)
	}
	for _, size := range [][2]int{{0, 2}, {1, 1}} {
		if report, err := cards.CheckClaim(t.Context(), client, size[0], size[1]); err == nil || report.Holds() {
			t.Errorf("%v: %+v", size, report)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	server.ClearFaults()
	busy := server.Inject(sandbox.Fault{
		Param:  "metadata[fd_claim_check]",
		Times:  -1,
		Status: http.StatusTooManyRequests,
		Type:   "invalid_request_error",
		Code:   "lock_timeout",
	})
	go func() { <-busy.Reached(); cancel() }()
	if report, err := cards.CheckClaim(ctx, client, 1, 4); !errors.Is(err, context.Canceled) || report.Holds() {
		t.Errorf("given up: %+v, %v", report, err)
	}
	if all := server.Payments(); all[0].Status != "canceled" {
		t.Errorf("left behind: %+v", all)
	}
}

// TestRepeatedClaim: the winner's repeated call is replayed, even after others tried to write; a day
// later the key is forgotten.
func TestRepeatedClaim(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	ctx := t.Context()
	made := pair.created("c")
	mine, theirs := map[string]string{"fd_post_1": "mine"}, map[string]string{"fd_post_1": "theirs"}
	for range 3 {
		if held, err := pair.UpdateMetadata(ctx, "claim", made.ID, mine); err != nil || held.Metadata["fd_post_1"] != "mine" {
			t.Fatalf("the winner: %+v, %v", held, err)
		}
		if _, err := pair.UpdateMetadata(ctx, "claim", made.ID, theirs); !errors.Is(err, cards.ErrKeyReused) {
			t.Fatalf("the loser: %v", err)
		}
	}
	pair.clock.advance(24*time.Hour - time.Second)
	if _, err := pair.UpdateMetadata(ctx, "claim", made.ID, theirs); !errors.Is(err, cards.ErrKeyReused) {
		t.Errorf("just before the day is over: %v", err)
	}
	pair.clock.advance(time.Second)
	if _, err := pair.UpdateMetadata(ctx, "claim", made.ID, theirs); err != nil {
		t.Errorf("a key that is forgotten: %v", err)
	}
}
