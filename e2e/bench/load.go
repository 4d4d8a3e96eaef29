package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// load asks a server for something again and again. It is written on bare
// connections, since a client of net/http takes more processor time than the servers that
// are measured.
type load struct {
	url         string
	header      http.Header   // of every request
	connections int           // zero: 32
	during      time.Duration // zero: one second
	status      int           // of the answer; zero: 200
	targets     []target      // of the visitors in turn, below url; none: url itself
	addresses   int           // so many visitors ask, each from an address of their own, as a proxy says it; zero: none is said
}

// target is what one of the visitors asks for.
type target struct {
	path   string
	header http.Header
}

// result is what a load found.
type result struct {
	requests  int
	perSecond float64
	p50, p99  time.Duration
}

// run sends the load. Any answer but the expected one is an error.
func (h load) run(ctx context.Context) (result, error) {
	if h.connections == 0 {
		h.connections = 32
	}
	if h.during == 0 {
		h.during = time.Second
	}
	if h.status == 0 {
		h.status = http.StatusOK
	}
	texts, host, err := h.texts()
	if err != nil {
		return result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, h.during)
	defer cancel()
	took := make([][]time.Duration, h.connections)
	failed := make([]error, h.connections)
	began := time.Now()
	var all sync.WaitGroup
	for i := range h.connections {
		all.Go(func() { took[i], failed[i] = h.connection(ctx, host, texts, i) })
	}
	all.Wait()
	elapsed := time.Since(began)
	for _, err := range failed {
		if err != nil {
			return result{}, fmt.Errorf("%s: %w", h.url, err)
		}
	}
	sorted := slices.Concat(took...)
	if len(sorted) == 0 {
		return result{}, fmt.Errorf("%s: no answer within %s", h.url, h.during)
	}
	slices.Sort(sorted)
	return result{
		requests: len(sorted), perSecond: float64(len(sorted)) / elapsed.Seconds(),
		p50: sorted[len(sorted)/2], p99: sorted[len(sorted)*99/100],
	}, nil
}

// texts are the requests as they go over the wire, one for each visitor.
func (h load) texts() (texts [][]byte, host string, err error) {
	to, err := url.Parse(h.url)
	if err != nil {
		return nil, "", err
	}
	for i := range max(1, h.addresses) {
		at := target{to.RequestURI(), h.header}
		if len(h.targets) > 0 {
			at = h.targets[i%len(h.targets)]
		}
		var text bytes.Buffer
		fmt.Fprintf(&text, "GET %s HTTP/1.1\r\nHost: %s\r\n", at.path, to.Host)
		if err := at.header.Write(&text); err != nil {
			return nil, "", err
		}
		if h.addresses > 0 {
			fmt.Fprintf(&text, "X-Forwarded-For: 10.%d.%d.%d\r\n", i>>16&255, i>>8&255, i&255)
		}
		text.WriteString("\r\n")
		texts = append(texts, text.Bytes())
	}
	return texts, to.Host, nil
}

// connection sends one request after another until the time is over.
func (h load) connection(ctx context.Context, host string, texts [][]byte, at int) (took []time.Duration, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reader := bufio.NewReaderSize(conn, 64<<10)
	for ; ctx.Err() == nil; at += h.connections {
		began := time.Now()
		if _, err := conn.Write(texts[at%len(texts)]); err != nil {
			return nil, err
		}
		status, err := readAnswer(reader)
		if err != nil {
			return nil, err
		}
		if status != h.status {
			return nil, fmt.Errorf("status %d instead of %d", status, h.status)
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// readResponse reads an answer to its end, and keeps nothing but the status.
func readAnswer(r *bufio.Reader) (status int, err error) {
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
			return status, discardChunks(r)
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

func discardChunks(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err := r.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}

// do sends a request and reads the whole of its answer, which has to be a success.
func do(request *http.Request) (http.Header, []byte, error) {
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode > 299 {
		err = fmt.Errorf("%s %s: status %d: %s", request.Method, request.URL, answer.StatusCode, body)
	}
	return answer.Header, body, err
}
