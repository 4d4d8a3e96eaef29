package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanCollector takes the spans that a gateway hands over (OTLP over HTTP).
type spanCollector struct {
	url    string
	server *http.Server

	mu   sync.Mutex
	kept []*spans.Span
}

func (h *harness) collector() (*spanCollector, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &spanCollector{url: "http://" + listener.Addr().String()}
	c.server = &http.Server{Handler: http.HandlerFunc(c.take), ReadHeaderTimeout: time.Minute}
	go c.server.Serve(listener) //nolint:errcheck // it ends with Kill
	h.started = append(h.started, c)
	return c, nil
}

// Kill ends it.
func (c *spanCollector) Kill() { c.server.Close() }

func (c *spanCollector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var batch collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &batch) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range batch.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.kept = append(c.kept, scope.Spans...)
		}
	}
}

// since are the spans that began at an instant or later, in the order in which they began.
func (c *spanCollector) since(at time.Time) []*spans.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := slices.DeleteFunc(slices.Clone(c.kept), func(s *spans.Span) bool { return s.StartTimeUnixNano < uint64(at.UnixNano()) })
	slices.SortFunc(found, func(a, b *spans.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	return found
}

// drawTrace walks one card journey, every call of other systems upstreamCall long, and
// draws what the gateway's own spans say of it.
func drawTrace(ctx context.Context, to io.Writer) error {
	h, err := newHarness(ctx, false)
	if err != nil {
		return err
	}
	defer h.close()
	spans, err := h.collector()
	if err != nil {
		return err
	}
	outside, g, err := h.env(ctx, direct, "OTEL_EXPORTER_OTLP_ENDPOINT="+spans.url)
	if err != nil {
		return err
	}
	b := newBuyers(g.url, outside)
	if err := b.whole(ctx); err != nil {
		return err
	}
	<-time.After(time.Second) // the events of that one are over
	outside.delay.Store(int64(upstreamCall))
	began := time.Now()
	if err := b.whole(ctx); err != nil {
		return err
	}
	gone, err := os.FindProcess(g.PID())
	if err == nil {
		err = gone.Signal(syscall.SIGTERM) // at its end it hands over the last spans
	}
	if err != nil {
		return err
	}
	const handedOver = 10 * time.Second // it ends within one
	if err := until(ctx, handedOver, func() bool { return gone.Signal(syscall.Signal(0)) != nil }); err != nil {
		return err
	}
	found := spans.since(began)
	if len(found) == 0 {
		return fmt.Errorf("the gateway has handed over no spans")
	}
	return drawSpans(to, found)
}

// until waits for a condition.
func until(ctx context.Context, limit time.Duration, so func() bool) error {
	const every = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !so() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
	return nil
}
