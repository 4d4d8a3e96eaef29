package main

import (
	"fmt"
	"net/http"
	"time"

	"frontdesk/e2e/frontdesktest"
)

const (
	starts    = 15          // of the binary; the median counts
	firstPath = "/v1/clubs" // a read that goes through the gateway to the simulator and back
)

// mockEnvironment starts mock mode at an address, without the operators' listener, whose port may be taken.
func mockEnvironment(at string) []string {
	return []string{"FRONTDESK_ADDR=" + at, "FRONTDESK_OPS_ADDR=off"}
}

// measureStart starts mock mode with nothing configured but the listen address.
func measureStart(h *harness) []row {
	var times series
	for range starts {
		times = append(times, h.firstResponse())
	}
	const most = 50
	return []row{{"Mock mode, from the start of the built binary to the first response of " + firstPath,
		fmt.Sprintf("%.0f ms", times.median()), "50 ms", judged(times.median()/most, threshold{atMost: 1})}}
}

// firstResponse starts the binary, sends requests until it responds, and returns the time in
// milliseconds. It does not wait for a line that the process prints, because callers do not either.
func (h *harness) firstResponse() float64 {
	at := h.freeAddress()
	cmd := h.onAllCores(h.binary)
	cmd.Env = mockEnvironment(at)
	request, err := http.NewRequestWithContext(h.Context(), http.MethodGet, "http://"+at+firstPath, nil)
	h.must(err)
	began := time.Now()
	h.must(cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for time.Since(began) < 10*time.Second {
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				h.Fatalf("the first response is %s", response.Status)
			}
			return float64(time.Since(began).Microseconds()) / 1000
		}
		h.sleep(500 * time.Microsecond)
	}
	h.Fatalf("no response at %s within ten seconds", at)
	return 0
}

func measureMemory(bench *harness) []row {
	at := bench.freeAddress()
	mock := bench.start(at, frontdesktest.GatewayReady, mockEnvironment(at), bench.binary)
	for range 1000 {
		bench.fetch(mock.URL+catalogue, nil)
	}
	held := float64(bench.memory(mock))
	const most = 40 << 20
	return []row{
		{"Mock mode, memory after 1,000 requests", fmt.Sprintf("%.1f MB", held/(1<<20)), "40 MB", judged(held/most, threshold{atMost: 1})},
	}
}
