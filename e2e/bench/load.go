package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/frontdesktest"
)

// load sends requests to a server, one after another on each bare connection: a client of net/http
// takes more CPU time than the measured servers.
type load struct {
	url         string
	process     *frontdesktest.Process // the server; nil when its CPU time does not count
	header      http.Header            // of every request
	connections int                    // zero: 32
	status      int                    // of the response; zero: 200
	targets     []target               // requested in turn, below url; none: url itself
	addresses   int                    // the number of callers, each with an address in X-Forwarded-For; zero: no such header
}

// target is the request of one caller.
type target struct {
	path   string
	header http.Header
}

const duration = time.Second // how long one load lasts

// result is the result of a load.
type result struct {
	requests  float64
	perSecond float64
	p50       float64 // milliseconds
	cpu       float64 // CPU time of the server, in seconds
}

func medianLatency(r result) float64 { return r.p50 }

// cpuPer10k is the CPU time of ten thousand responses, in seconds.
func cpuPer10k(r result) float64 { return r.cpu / r.requests * 10_000 }

// contender is one side of a comparison: a figure of a load.
func (h *harness) contender(l load, figure func(result) float64) func() float64 {
	return func() float64 { return figure(h.send(l)) }
}

// side is one side of a comparison of servers, with its totals over all rounds.
type side struct {
	perSecond series
	requests  float64
	cpu       float64 // seconds
}

// String describes how much the server did, and the CPU time of one response.
func (s *side) String() string {
	return fmt.Sprintf("%.0f/s, %.1f µs each", s.perSecond.median(), s.cpu/s.requests*1e6)
}

// compare sends loads to servers in turn, and returns a side for each.
func (h *harness) compare(loads ...load) []*side {
	sides := make([]*side, len(loads))
	contenders := make([]func() float64, len(loads))
	for i, l := range loads {
		sides[i] = &side{}
		contenders[i] = func() float64 {
			found := h.send(l)
			sides[i].requests += found.requests
			sides[i].cpu += found.cpu
			return found.perSecond
		}
	}
	for i, perSecond := range interleave(contenders...) {
		sides[i].perSecond = perSecond
	}
	return sides
}

// compared returns the row that compares the requests per second of two sides.
func compared(work string, of *side, name string, than *side, threshold threshold) row {
	return row{work, of.String(), name + ": " + than.String(), of.perSecond.ratioTo(than.perSecond), threshold}
}

// send runs a load. Any response but the expected one is a failure.
func (h *harness) send(l load) result {
	l.connections, l.status = cmp.Or(l.connections, 32), cmp.Or(l.status, http.StatusOK)
	to, err := url.Parse(l.url)
	h.must(err)
	requests := l.requests(to)
	var before, after float64
	if l.process != nil {
		before = h.cpu(l.process.PID())
	}
	ctx, cancel := context.WithTimeout(h.Context(), duration)
	defer cancel()
	times := make([][]time.Duration, l.connections)
	began := time.Now()
	var all errgroup.Group
	for i := range l.connections {
		all.Go(func() (err error) { times[i], err = l.connection(ctx, to.Host, requests, i); return err })
	}
	err = all.Wait()
	elapsed := time.Since(began)
	if l.process != nil {
		after = h.cpu(l.process.PID())
	}
	if err != nil {
		h.Fatalf("%s: %w", l.url, err)
	}
	sorted := slices.Concat(times...)
	if len(sorted) == 0 {
		h.Fatalf("%s: no response within %s", l.url, duration)
	}
	slices.Sort(sorted)
	n := float64(len(sorted))
	return result{requests: n, perSecond: n / elapsed.Seconds(), p50: float64(sorted[len(sorted)/2].Microseconds()) / 1000, cpu: after - before}
}

// requests returns the requests as they go over the wire, one for each caller.
func (l load) requests(to *url.URL) (all [][]byte) {
	for i := range max(1, l.addresses) {
		at := target{to.RequestURI(), l.header}
		if len(l.targets) > 0 {
			at = l.targets[i%len(l.targets)]
		}
		var text bytes.Buffer
		fmt.Fprintf(&text, "GET %s HTTP/1.1\r\nHost: %s\r\n", at.path, to.Host)
		at.header.Write(&text)
		if l.addresses > 0 {
			fmt.Fprintf(&text, "X-Forwarded-For: %s\r\n", callerAddress(i))
		}
		text.WriteString("\r\n")
		all = append(all, text.Bytes())
	}
	return all
}

func callerAddress(n int) string { return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255) }

// connection sends one request after another until the time is over.
func (l load) connection(ctx context.Context, host string, requests [][]byte, at int) (times []time.Duration, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reader := bufio.NewReaderSize(conn, 64<<10)
	for ; ctx.Err() == nil; at += l.connections {
		began := time.Now()
		if _, err := conn.Write(requests[at%len(requests)]); err != nil {
			return nil, err
		}
		status, err := readResponse(reader)
		if err != nil {
			return nil, err
		}
		if status != l.status {
			return nil, fmt.Errorf("status %d instead of %d", status, l.status)
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

func readResponse(r *bufio.Reader) (status int, err error) {
	length, chunked := 0, false
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch name, value, _ := bytes.Cut(line, []byte(":")); {
		case first && len(line) > 12:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, err
			}
		case len(line) == 0 && chunked:
			if _, err := io.Copy(io.Discard, httputil.NewChunkedReader(r)); err != nil {
				return 0, err
			}
			_, err := r.Discard(len("\r\n"))
			return status, err
		case len(line) == 0:
			_, err := r.Discard(length)
			return status, err
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
}
