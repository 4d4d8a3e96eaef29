package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// streams is how many visitors follow their registrations on one gateway.
	streams = 10_000
	// opening is how many begin to do so at once.
	opening = 64
	// settled is more than one heartbeat after the last stream was opened.
	settled = 20 * time.Second
)

// measureStreams holds event streams open.
func measureStreams(ctx context.Context, h *harness) ([]row, error) {
	outside, err := h.upstreams()
	if err != nil {
		return nil, err
	}
	c, err := h.population(outside, streams)
	if err != nil {
		return nil, err
	}
	before, err := memory(c.Process)
	if err != nil {
		return nil, err
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(opening)
	open := make([]net.Conn, streams)
	for i := range streams {
		group.Go(func() (err error) { open[i], err = follow(within, c, i); return err })
	}
	defer func() {
		for _, conn := range open {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	if err := group.Wait(); err != nil {
		return nil, err
	}
	// A heartbeat has come to each.
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(settled):
	}
	held, err := memory(c.Process)
	if err != nil {
		return nil, err
	}
	const most = 250 << 20
	return []row{{
		"10,000 event streams on one gateway", fmt.Sprintf("%d MB", held>>20), fmt.Sprintf("250 MB; without a stream %d MB", before>>20),
		float64(held) / most, threshold{atMost: 1},
	}}, nil
}

// follow opens a stream, and reads until its first event has come.
func follow(ctx context.Context, c *population, i int) (net.Conn, error) {
	var dialer net.Dialer
	host := strings.TrimPrefix(c.url, "http://")
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	at := c.targets[i]
	fmt.Fprintf(conn, "GET %s/events HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nX-Forwarded-For: 10.1.%d.%d\r\n\r\n",
		at.path, host, at.header.Get("Authorization"), i>>8&255, i&255)
	conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	answer := bufio.NewReader(conn)
	for first := true; ; first = false {
		line, err := answer.ReadString('\n')
		switch {
		case err != nil:
			return conn, err
		case first && !strings.HasPrefix(line, "HTTP/1.1 200 "):
			return conn, fmt.Errorf("a stream was answered with %s", line)
		case strings.HasPrefix(line, "data: "):
			return conn, nil
		}
	}
}
