package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"frontdesk/e2e/campaign/rig"
)

const (
	// starts of the built binary, of which the median counts.
	starts = 15
	// requestsBeforeMemory is how many requests a mock has answered when its memory is looked at.
	requestsBeforeMemory = 1000
	// pollInterval is how soon a process that does not listen yet is asked again.
	pollInterval = 500 * time.Microsecond
)

// firstPath is a read that goes all the way: through the gateway to the simulator and back.
const firstPath = "/v1/clubs"

// measureStart starts the mock with nothing configured but where it listens.
func measureStart(ctx context.Context, h *harness) ([]row, error) {
	var took series
	for range starts {
		at, err := address()
		if err != nil {
			return nil, err
		}
		first, err := h.firstAnswer(ctx, at)
		if err != nil {
			return nil, err
		}
		took = append(took, first)
	}
	held, err := h.afterRequests(ctx)
	if err != nil {
		return nil, err
	}
	const mostTime, mostMemory = 50, 40 << 20
	return []row{
		{"Mock mode, from the start of the built binary to the first answer of " + firstPath, fmt.Sprintf("%.0f ms", took.median()), "50 ms", took.median() / mostTime, threshold{atMost: 1}},
		{"Mock mode, memory after 1,000 requests", fmt.Sprintf("%.1f MB", float64(held)/(1<<20)), "40 MB", float64(held) / mostMemory, threshold{atMost: 1}},
	}, nil
}

// mock is how mock mode is started here: without operators, whose port may be taken.
func mock(at string) []string { return []string{"FRONTDESK_ADDR=" + at, "FRONTDESK_OPS_ADDR=off"} }

// firstAnswer starts the binary, asks until it answers, and gives the time in milliseconds.
// It does not wait for a line that the process prints, since others do not either.
func (h *harness) firstAnswer(ctx context.Context, at string) (float64, error) {
	cmd := h.onAllCores(h.binary)
	cmd.Env = mock(at)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }() // it is gone either way
	for time.Since(began) < 10*time.Second {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+firstPath, nil)
		if err != nil {
			return 0, err
		}
		if answer, err := client.Do(request); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return float64(time.Since(began).Microseconds()) / 1000, nil
			}
			return 0, fmt.Errorf("the first answer is %s", answer.Status)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(pollInterval):
		}
	}
	return 0, fmt.Errorf("no answer at %s within ten seconds", at)
}

// afterRequests is what a mock holds in memory after its first thousand requests.
func (h *harness) afterRequests(ctx context.Context) (int64, error) {
	at, err := address()
	if err != nil {
		return 0, err
	}
	var p *rig.Process
	if p, err = h.start("mock mode", mock(at), h.binary); err != nil {
		return 0, err
	}
	for range requestsBeforeMemory {
		if _, _, err := fetch(ctx, "http://"+at+catalogue, nil); err != nil {
			return 0, err
		}
	}
	return memory(p)
}
