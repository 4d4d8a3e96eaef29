// Package collector sends spans to an OpenTelemetry collector: OTLP over HTTP, in
// protobuf. It is only the transport. The OpenTelemetry libraries decide what a span
// holds, when a batch is sent and what is dropped.
//
// Their own transport, otlptracehttp, is not used because it links gRPC into the
// program: with it the binary has 43.0 MB instead of 29.4, and the image may have 30.
//
// Start reading at Client.UploadTraces.
package collector

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	// attempts of one batch: with pauses of 1, 2 and 4 s they outlast a collector's
	// restart, and end before the next batch has waited for long.
	attempts = 4
	// defaultPause comes before the second attempt, and doubles for each further one.
	defaultPause = time.Second
	// defaultTimeout is what the OTLP specification gives an attempt.
	defaultTimeout = 10 * time.Second
	// maxResponse limits what is read of a response; a collector's own has a few dozen bytes.
	maxResponse = 64 << 10
)

// Config is the configuration of a Client.
type Config struct {
	URL     string            // required: the address for batches, such as http://127.0.0.1:4318/v1/traces
	Now     func() time.Time  // required: a Retry-After may be a date
	Headers map[string]string // such as the collector's API key; zero: none
	Gzip    bool              // whether batches are compressed
	TLS     *tls.Config       // trusted certificates and the client certificate; zero: Go's defaults
	Timeout time.Duration     // of one attempt; zero: 10 s
	Pause   time.Duration     // before the second attempt; zero: 1 s
}

// Client implements otlptrace.Client. It is safe for concurrent use.
type Client struct {
	cfg     Config
	http    *http.Client
	stopped chan struct{}
}

var _ otlptrace.Client = (*Client)(nil)

// New returns a client. It makes no call before there are spans.
func New(cfg Config) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Pause == 0 {
		cfg.Pause = defaultPause
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // documented to be one
	transport.TLSClientConfig = cfg.TLS
	return &Client{cfg: cfg, stopped: make(chan struct{}), http: &http.Client{
		Transport: transport, Timeout: cfg.Timeout,
		// The headers may hold a key, which only the collector may see.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Start does nothing.
func (c *Client) Start(context.Context) error { return nil }

// Stop ends pauses and loses the batches that wait for a retry. It is called once.
func (c *Client) Stop(context.Context) error {
	close(c.stopped)
	c.http.CloseIdleConnections()
	return nil
}

// busy is the error of a failed attempt that may be retried.
type busy struct {
	error
	pause time.Duration // as requested by Retry-After; negative: not requested
}

// UploadTraces sends a batch. It retries calls without a response, and responses that the
// OTLP specification calls transient. Errors contain only the status of a response, because
// a collector may repeat what it was sent.
func (c *Client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the encoding of a request, and its package does not need gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.cfg.Gzip {
		if body, err = compressed(body); err != nil {
			return err
		}
	}
	pause := c.cfg.Pause
	for n := 1; ; n++ {
		err := c.post(ctx, body)
		var transient *busy
		if !errors.As(err, &transient) || n == attempts {
			return err
		}
		wait := transient.pause
		if wait < 0 {
			wait = pause/2 + rand.N(pause) // #nosec G404 -- it hides nothing
		}
		if !c.wait(ctx, wait) {
			return err
		}
		pause *= 2
	}
}

func compressed(body []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(body); err != nil {
		return nil, err
	}
	err := writer.Close()
	return packed.Bytes(), err
}

// post makes one attempt.
func (c *Client) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range c.cfg.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	if c.cfg.Gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return &busy{err, -1}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests, status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return &busy{fmt.Errorf("the collector answered %s", response.Status), c.retryAfter(response.Header)}
	case status < 200 || status > 299:
		return fmt.Errorf("the collector answered %s", response.Status)
	case err != nil:
		return nil // the spans were accepted; the rest of the response does not matter
	}
	if spans := rejected(answer); spans > 0 {
		return fmt.Errorf("the collector rejected %d spans", spans)
	}
	return nil
}

// retryAfter reads the Retry-After header, in seconds or a date; negative without one.
func (c *Client) retryAfter(header http.Header) time.Duration {
	said := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(said, 10, 16); err == nil {
		return time.Duration(seconds) * time.Second // #nosec G115 -- of 16 bits
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, at.Sub(c.cfg.Now()))
	}
	return -1
}

// wait reports whether a pause ended before ctx and before Stop.
func (c *Client) wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-c.stopped:
	}
	return false
}

// rejected returns how many spans a collector did not accept, from an
// ExportTraceServiceResponse: field 1 of its field 1.
func rejected(answer []byte) int64 {
	partial, _ := protowire.ConsumeBytes(field(answer, 1, protowire.BytesType))
	spans, n := protowire.ConsumeVarint(field(partial, 1, protowire.VarintType))
	if n < 0 {
		return 0
	}
	return int64(min(spans, 1<<31)) // #nosec G115 -- bounded
}

// field returns a message from its first field of that number and type on; nil: it has
// none.
func field(message []byte, number protowire.Number, kind protowire.Type) []byte {
	for len(message) > 0 {
		found, is, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		if found == number && is == kind {
			return message
		}
		if n = protowire.ConsumeFieldValue(found, is, message); n < 0 {
			return nil
		}
		message = message[n:]
	}
	return nil
}
