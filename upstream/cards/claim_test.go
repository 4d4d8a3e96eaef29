package cards_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
	"frontdesk/upstream/cards/sandbox"
)

func double(t *testing.T, cfg sandbox.Config) (*sandbox.Server, *cards.Client) {
	t.Helper()
	server := sandbox.New(cfg)
	t.Cleanup(server.Close)
	client, err := cards.New(cards.Config{SecretKey: server.SecretKey, URL: server.URL, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return server, client
}

func ownSandbox(t *testing.T) *oldsandbox.Client {
	t.Helper()
	mux := http.NewServeMux()
	listener := httptest.NewServer(mux)
	server := oldsandbox.NewServer(oldsandbox.ServerConfig{Now: time.Now, BaseURL: listener.URL})
	mux.Handle("/", server)
	t.Cleanup(func() { listener.Close(); server.Close() })
	return oldsandbox.New(oldsandbox.Config{URL: listener.URL, Now: time.Now})
}

// TestCheckClaimHolds on the processors whose claims are sound.
func TestCheckClaimHolds(t *testing.T) {
	t.Parallel()
	server, client := double(t, sandbox.Config{})
	// The first call of each round is slow, so that the others find its key in use.
	slow := server.Inject(sandbox.Fault{Param: "metadata[fd_claim_check]", Stage: sandbox.During, Times: 40, Delay: 5 * time.Millisecond})
	// A call to a processor that is briefly busy is retried, whatever the call.
	busy := []*sandbox.Injected{
		server.Inject(sandbox.Fault{Path: "/v1/payment_intents", Status: http.StatusTooManyRequests}),
		server.Inject(sandbox.Fault{Method: http.MethodGet, Path: "/v1/payment_intents/*", Status: http.StatusTooManyRequests}),
		server.Inject(sandbox.Fault{Path: "/v1/payment_intents/*/cancel", Status: http.StatusTooManyRequests}),
	}
	for name, processor := range map[string]cards.Processor{"sandbox": ownSandbox(t), "stripe": client} {
		const rounds, racers = 3, 16
		report, err := cards.CheckClaim(t.Context(), processor, rounds, racers)
		if err != nil || !report.Holds() {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		if report.Rounds != rounds || report.Won != rounds || report.Lost != rounds*(racers-1) {
			t.Errorf("%s: %+v, want one winner in each of %d rounds", name, report, rounds)
		}
		if name == "stripe" && (report.Retried == 0 || slow.Hits() == 0) {
			t.Errorf("no claim met a key in use: %+v", report)
		}
	}
	for _, p := range server.Payments() {
		if p.Status != "canceled" || p.Charges != 0 {
			t.Errorf("left behind: %+v", p)
		}
	}
	if made := len(server.Payments()); made != 3 {
		t.Errorf("%d payments were made", made)
	}
	for i, fault := range busy {
		if fault.Hits() != 1 {
			t.Errorf("the processor was not busy at moment %d", i)
		}
	}
}

// weakened is a processor that breaks one promise of the interface.
type weakened struct {
	cards.Processor
	updateMetadata func(p cards.Processor, ctx context.Context, key, id string, metadata map[string]string) (cards.Payment, error)
}

func (w weakened) UpdateMetadata(ctx context.Context, key, id string, metadata map[string]string) (cards.Payment, error) {
	return w.updateMetadata(w.Processor, ctx, key, id, metadata)
}

// TestCheckClaimCatches processors whose claims are unsafe.
func TestCheckClaimCatches(t *testing.T) {
	t.Parallel()
	_, forgetful := double(t, sandbox.Config{ForgetKeys: true})
	_, sound := double(t, sandbox.Config{})
	var answered sync.Map
	for name, c := range map[string]struct {
		processor cards.Processor
		says      string
	}{
		"one that forgets keys": {forgetful, "of 8 racers won"},
		"one that answers everybody with the first answer": {weakened{sound, func(p cards.Processor, ctx context.Context, key, id string, m map[string]string) (cards.Payment, error) {
			held, err := p.UpdateMetadata(ctx, key, id, m)
			if errors.Is(err, cards.ErrKeyReused) {
				return p.Get(ctx, id)
			}
			return held, err
		}}, "accepted that wrote nothing"},
		"one without a winner": {weakened{sound, func(cards.Processor, context.Context, string, string, map[string]string) (cards.Payment, error) {
			return cards.Payment{}, cards.ErrKeyReused
		}}, "0 of 8 racers won"},
		"one whose winner's entry is lost": {weakened{sound, func(p cards.Processor, ctx context.Context, key, id string, m map[string]string) (cards.Payment, error) {
			held, err := p.UpdateMetadata(ctx, key, id, m)
			if err == nil {
				_, err = p.UpdateMetadata(ctx, key+":gone", id, map[string]string{"fd_claim_check": ""})
			}
			return held, err
		}}, "not the one that is read back"},
		"one that does not know its winner again": {weakened{sound, func(p cards.Processor, ctx context.Context, key, id string, m map[string]string) (cards.Payment, error) {
			held, err := p.UpdateMetadata(ctx, key, id, m)
			if err != nil {
				return held, err
			}
			if _, before := answered.LoadOrStore(key, true); before {
				return cards.Payment{}, cards.ErrKeyReused
			}
			return held, nil
		}}, "a retry lost"},
	} {
		report, err := cards.CheckClaim(t.Context(), c.processor, 2, 8)
		if err != nil || report.Holds() || !strings.Contains(strings.Join(report.Broken, "\n"), c.says) {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
}

// TestCheckClaimThatCannotBeMade: a check that fails makes no statement about the claim, and cleans up.
func TestCheckClaimThatCannotBeMade(t *testing.T) {
	t.Parallel()
	server, client := double(t, sandbox.Config{})
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
	busy := server.Inject(sandbox.Fault{Param: "metadata[fd_claim_check]", Times: -1, Status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "lock_timeout"})
	go func() { <-busy.Reached(); cancel() }()
	if report, err := cards.CheckClaim(ctx, client, 1, 4); !errors.Is(err, context.Canceled) || report.Holds() {
		t.Errorf("given up: %+v, %v", report, err)
	}
	if all := server.Payments(); all[len(all)-1].Status != "canceled" {
		t.Errorf("left behind: %+v", all)
	}
}
