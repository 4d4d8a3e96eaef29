// Package collector sends batches of spans to an OpenTelemetry collector: OTLP over HTTP, in
// protobuf. The OpenTelemetry libraries make the batches. Their own transport,
// otlptracehttp, links gRPC: the binary would grow from 29.4 MB to 43.0 MB, and the image is
// limited to 36 MB.
//
// Start reading at Client.UploadTraces.
package collector

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	// attempts of one batch: with pauses of 1, 2 and 4 s they outlast a collector's restart.
	attempts = 4
	// defaultPause comes before the second attempt, and doubles for each further one.
	defaultPause = time.Second
	// maxResponse limits how much of a response is read; a collector's has a few dozen bytes.
	maxResponse = 64 << 10
)

// Config is the configuration of a Client.
type Config struct {
	URL     string            // required: the address for batches, such as http://127.0.0.1:4318/v1/traces
	Now     func() time.Time  // required: a Retry-After may be a date
	Headers map[string]string // such as the collector's API key; zero: none
	Gzip    bool              // whether batches are compressed
	TLS     *tls.Config       // trusted certificates and the client certificate; zero: Go's defaults
	Timeout time.Duration     // of one attempt; zero: none
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
	cfg.Pause = cmp.Or(cfg.Pause, defaultPause)
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

// Stop ends all pauses, so that batches waiting for a retry are lost. It may be called only once.
func (c *Client) Stop(context.Context) error {
	close(c.stopped)
	c.http.CloseIdleConnections()
	return nil
}

// temporary is the error of a failed attempt that may be retried.
type temporary struct {
	error
	pause time.Duration // as requested by Retry-After; negative: not requested
}

// UploadTraces sends a batch. It retries calls without a response, and responses that the
// OTLP specification calls transient. Its errors name the status of a response and leave out
// the body, because that may repeat the spans.
func (c *Client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the encoding of a request, and its package does not need gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.cfg.Gzip {
		body = compressed(body)
	}
	pause := c.cfg.Pause
	for n := 1; ; n++ {
		err := c.post(ctx, body)
		failure, ok := errors.AsType[*temporary](err)
		if !ok || n == attempts {
			return err
		}
		wait := failure.pause
		if wait < 0 {
			wait = pause/2 + rand.N(pause) // #nosec G404 -- it hides nothing
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		case <-c.stopped:
			return err
		}
		pause *= 2
	}
}

func compressed(body []byte) []byte {
	var packed bytes.Buffer // whose writes never fail
	writer := gzip.NewWriter(&packed)
	_, _ = writer.Write(body)
	_ = writer.Close()
	return packed.Bytes()
}

// transient are the statuses with which a collector asks for a retry (OTLP specification, section OTLP/HTTP Response).
var transient = []int{
	http.StatusTooManyRequests,
	http.StatusBadGateway,
	http.StatusServiceUnavailable,
	http.StatusGatewayTimeout,
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
		return &temporary{err, -1}
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case slices.Contains(transient, status):
		return &temporary{fmt.Errorf("the collector responded with %s", response.Status), c.retryAfter(response.Header)}
	case status < 200 || status > 299:
		return fmt.Errorf("the collector responded with %s", response.Status)
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxResponse)) // the status has accepted the spans, even if this fails
	if spans := rejected(text); spans > 0 {
		return fmt.Errorf("the collector rejected %d spans", spans)
	}
	return nil
}

// retryAfter reads the Retry-After header, in seconds or a date; negative without one.
func (c *Client) retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 16); err == nil {
		return time.Duration(seconds) * time.Second // #nosec G115 -- of 16 bits
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(c.cfg.Now()))
	}
	return -1
}

// rejected returns how many spans a collector did not accept: field 1 (rejected_spans) of
// field 1 (partial_success) of an ExportTraceServiceResponse.
func rejected(response []byte) int64 {
	partial, _ := protowire.ConsumeBytes(first(response, protowire.BytesType))
	spans, _ := protowire.ConsumeVarint(first(partial, protowire.VarintType))
	return int64(min(spans, 1<<31)) // #nosec G115 -- bounded
}

// first returns the part of a message that begins with the value of field 1; nil if the message has no field 1 of that type.
func first(message []byte, wanted protowire.Type) []byte {
	for len(message) > 0 {
		number, found, size := protowire.ConsumeField(message)
		switch {
		case size < 0:
			return nil
		case number == 1 && found == wanted:
			return message[protowire.SizeTag(number):]
		}
		message = message[size:]
	}
	return nil
}
