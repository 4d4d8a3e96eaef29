package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// upstreamTime is what each answer of the club system takes in a cold reading.
	upstreamTime = 50 * time.Millisecond
	// coldProducts are three pages of the club system, each product with its offers.
	coldProducts = 90
	// ownProducts are those that a visitor of the website is shown in club 11 of a world as it is made.
	ownProducts = 41
	// coldReaders asks at the same moment for what nobody has read.
	coldReaders = 1000
)

// measureCold asks fresh gateways for a catalogue that nobody has read, before a slow
// club system: one visitor at one, and then a rush at three.
func measureCold(ctx context.Context, h *harness) ([]row, error) {
	took := make(series, rounds)
	for i := range rounds {
		w, err := h.coldEnv(ctx, 1)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if _, _, err := fetch(ctx, w.gateways[0].url+catalogue, nil); err != nil {
			return nil, err
		}
		took[i] = time.Since(began).Seconds()
		h.clear()
	}
	calls := took.median() / upstreamTime.Seconds()
	alone := row{fmt.Sprintf("Catalogue, cold, %d products, every upstream call %s", coldProducts, upstreamTime), fmt.Sprintf("%.0f ms, access token included", took.median()*1000),
		"one upstream call", calls, threshold{atMost: 8}}
	together, err := h.measureCrowd(ctx)
	return append([]row{alone}, together...), err
}

// measureCrowd has a rush ask three gateways at once.
func (h *harness) measureCrowd(ctx context.Context) ([]row, error) {
	w, err := h.coldEnv(ctx, 3)
	if err != nil {
		return nil, err
	}
	failed := make([]error, coldReaders)
	began := time.Now()
	var all sync.WaitGroup
	for i := range coldReaders {
		header := http.Header{"X-Forwarded-For": {fmt.Sprintf("10.0.%d.%d", i>>8, i&255)}}
		all.Go(func() { _, _, failed[i] = fetch(ctx, w.gateways[i%len(w.gateways)].url+catalogue, header) })
	}
	all.Wait()
	took := time.Since(began)
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	asked, err := w.countCalls(ctx)
	if err != nil {
		return nil, err
	}
	const once = 1 + 1 + coldProducts/30 + coldProducts // the chain, the club, the pages, the offers of each product
	return []row{{fmt.Sprintf("%d cold readers on %d gateways", coldReaders, len(w.gateways)), fmt.Sprintf("%d upstream calls, in %.1f s", asked, took.Seconds()),
		fmt.Sprintf("one set: %d calls", once), float64(asked) / once, threshold{atMost: 1}}}, nil
}

// coldEnv is a slow club system with a long catalogue, and gateways that have read nothing.
type coldEnv struct {
	control  string // of the simulator
	gateways []*gateway
}

func (h *harness) coldEnv(ctx context.Context, gateways int) (*coldEnv, error) {
	redis, err := h.redis()
	if err != nil {
		return nil, err
	}
	outside, err := h.upstreams()
	if err != nil {
		return nil, err
	}
	w := &coldEnv{control: outside + "/sim/demo/_control/"}
	for range gateways {
		g, err := h.gateway(outside, redis.URL())
		if err != nil {
			return nil, err
		}
		w.gateways = append(w.gateways, g)
	}
	if err := w.put(ctx, "settings", fmt.Sprintf(`{"extraProducts": %d}`, coldProducts-ownProducts)); err != nil {
		return nil, err
	}
	return w, w.put(ctx, "faults", fmt.Sprintf(`[{"match": {}, "kind": "delay", "delayMs": %d}]`, upstreamTime.Milliseconds()))
}

// put changes the simulator's world.
func (w *coldEnv) put(ctx context.Context, what, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, w.control+what, strings.NewReader(body))
	if err != nil {
		return err
	}
	_, _, err = do(request)
	return err
}

// countCalls counts what the club system was asked, access tokens apart.
func (w *coldEnv) countCalls(ctx context.Context) (n int, err error) {
	_, text, err := fetch(ctx, w.control+"requests", nil)
	if err != nil {
		return 0, err
	}
	var journal struct{ Items []struct{ Operation string } }
	if err := json.Unmarshal(text, &journal); err != nil {
		return 0, err
	}
	for _, call := range journal.Items {
		if call.Operation != "token" {
			n++
		}
	}
	return n, nil
}
