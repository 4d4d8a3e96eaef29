package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"time"
)

const (
	// streams is how many visitors follow their registrations on one gateway.
	streams = 10_000
	// opening is how many of them connect at once.
	opening = 64
	// settleTime is more than one heartbeat after the last stream was opened.
	settleTime = 20 * time.Second
)

func measureStreams(h *harness) []row {
	p := h.population(h.upstreams(), streams)
	before := h.memory(p.Process)
	h.concurrently(streams, opening, func(i int) { h.openStream(p.url, p.targets[i], i) })
	h.sleep(settleTime)
	held := h.memory(p.Process)
	const most = 450 << 20
	return []row{{
		"10,000 event streams on one gateway", fmt.Sprintf("%d MB", held>>20), fmt.Sprintf("450 MB; without a stream %d MB", before>>20),
		float64(held) / most, threshold{atMost: 1},
	}}
}

// openStream opens a stream, reads until its first event, and keeps it open until the
// measurement ends.
func (h *harness) openStream(gateway string, at target, caller int) {
	host := strings.TrimPrefix(gateway, "http://")
	var dialer net.Dialer
	conn, err := dialer.DialContext(h.Context(), "tcp", host)
	h.must(err)
	h.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s/events HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nX-Forwarded-For: %s\r\n\r\n",
		at.path, host, at.header.Get("Authorization"), callerAddress(1<<16+caller))
	conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	lines := bufio.NewReader(conn)
	for first := true; ; first = false {
		line, err := lines.ReadString('\n')
		h.must(err)
		if first && !strings.HasPrefix(line, "HTTP/1.1 200 ") {
			h.Fatalf("a stream was answered with %s", line)
		}
		if strings.HasPrefix(line, "data: ") {
			return
		}
	}
}
