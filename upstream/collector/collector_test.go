package collector_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	request "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/collector"
)

// receiver is a collector: it sends the given responses in order, and accepts every later request.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answers []func(http.ResponseWriter)
	came    []came
}

// came is a received request.
type came struct {
	header http.Header
	spans  []string
	at     time.Time
}

func newReceiver(t *testing.T, answers ...func(http.ResponseWriter)) *receiver {
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP decodes a request with the specification's published messages.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var body io.Reader = q.Body
	if q.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(q.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	text, err := io.ReadAll(body)
	var batch request.ExportTraceServiceRequest
	if err != nil || q.Method != http.MethodPost || q.URL.Path != "/v1/traces" || q.Header.Get("Content-Type") != "application/x-protobuf" ||
		proto.Unmarshal(text, &batch) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	seen := came{header: q.Header, at: time.Now()}
	for _, resource := range batch.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				seen.spans = append(seen.spans, span.Name)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came = append(r.came, seen)
	if len(r.answers) > 0 {
		answer := r.answers[0]
		r.answers = r.answers[1:]
		answer(w)
	}
}

func status(code int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "what was sent is secret")
	}
}

func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// export exports one span as the gateway does, and returns the exporter's error.
func export(t *testing.T, cfg collector.Config) error {
	t.Helper()
	cfg.Now = time.Now
	if cfg.Pause == 0 {
		cfg.Pause = time.Millisecond
	}
	exporter, err := otlptrace.New(t.Context(), collector.New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	provider := sdk.NewTracerProvider(sdk.WithSyncer(keep{exporter, &failed}))
	_, span := provider.Tracer("test").Start(t.Context(), "the span")
	span.End()
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	return failed
}

// keep captures an exporter's error, which the library otherwise reports only to the global error handler.
type keep struct {
	sdk.SpanExporter
	failed *error
}

func (k keep) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	*k.failed = k.SpanExporter.ExportSpans(ctx, spans)
	return *k.failed
}

// TestSpansArrive: spans arrive with the headers, compressed or not.
func TestSpansArrive(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{false, true} {
		receiver := newReceiver(t)
		err := export(t, collector.Config{URL: receiver.URL + "/v1/traces", Gzip: packed, Headers: map[string]string{"Api-Key": "k1"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(receiver.came) != 1 || len(receiver.came[0].spans) != 1 || receiver.came[0].spans[0] != "the span" ||
			receiver.came[0].header.Get("Api-Key") != "k1" {
			t.Errorf("gzip %t: %+v came", packed, receiver.came)
		}
		if is := receiver.came[0].header.Get("Content-Encoding") == "gzip"; is != packed {
			t.Errorf("gzip %t: %v came", packed, receiver.came[0].header)
		}
	}
}

// TestRepeats: errors that the specification calls transient are retried a few times, others never.
func TestRepeats(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []func(http.ResponseWriter)
		came    int
		failure string
	}{
		"busy":                {[]func(http.ResponseWriter){status(429), status(502), status(503)}, 4, ""},
		"a gateway's time":    {[]func(http.ResponseWriter){status(504)}, 2, ""},
		"no answer":           {[]func(http.ResponseWriter){hangUp}, 2, ""},
		"busy for too long":   {[]func(http.ResponseWriter){status(503), status(503), status(503), status(503)}, 4, "503"},
		"refused":             {[]func(http.ResponseWriter){status(400)}, 1, "400"},
		"not known":           {[]func(http.ResponseWriter){status(401)}, 1, "401"},
		"broken":              {[]func(http.ResponseWriter){status(500)}, 1, "500"},
		"elsewhere":           {[]func(http.ResponseWriter){status(307, "Location", "/v1/traces")}, 1, "307"},
		"taken in part":       {[]func(http.ResponseWriter){partial}, 1, "rejected 3 spans"},
		"an answer of no use": {[]func(http.ResponseWriter){status(200)}, 1, ""},
	} {
		r := newReceiver(t, test.answers...)
		err := export(t, collector.Config{URL: r.URL + "/v1/traces"})
		if len(r.came) != test.came {
			t.Errorf("%s: %d requests came", name, len(r.came))
		}
		if (err == nil) != (test.failure == "") ||
			err != nil && (!strings.Contains(err.Error(), test.failure) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func partial(w http.ResponseWriter) {
	text, _ := proto.Marshal(
		&request.ExportTraceServiceResponse{
			PartialSuccess: &request.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "what was sent is secret"},
		},
	)
	_, _ = w.Write(text)
}

// TestComesBackWhenAsked: the client waits as long as the collector says, in either format.
func TestComesBackWhenAsked(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]func() string{
		"seconds": func() string { return "1" },
		"instant": func() string { return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, func(w http.ResponseWriter) { status(503, "Retry-After", said())(w) })
			if err := export(t, collector.Config{URL: r.URL + "/v1/traces"}); err != nil {
				t.Fatal(err)
			}
			if len(r.came) != 2 || r.came[1].at.Sub(r.came[0].at) < 900*time.Millisecond {
				t.Errorf("%+v came", r.came)
			}
		})
	}
}

// TestStopsWaiting: the client stops waiting when its caller leaves or when it is stopped.
func TestStopsWaiting(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	later := func(w http.ResponseWriter) { asked <- struct{}{}; status(503, "Retry-After", "3600")(w) }
	r := newReceiver(t, later, later)
	client := collector.New(collector.Config{URL: r.URL + "/v1/traces", Now: time.Now})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- client.UploadTraces(ctx, nil) }()
	frontdesktest.Receive(t, asked, "it asks the collector")
	cancel()
	if err := frontdesktest.Receive(t, ended, "its caller has left"); err == nil {
		t.Error("it says that spans were taken")
	}
	go func() { ended <- client.UploadTraces(t.Context(), nil) }()
	frontdesktest.Receive(t, asked, "it asks again")
	if err := client.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := frontdesktest.Receive(t, ended, "it is stopped"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("it says %v", err)
	}
}

// TestSlowCollector: an attempt ends at its timeout.
func TestSlowCollector(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(over) })
	if err := export(t, collector.Config{URL: slow.URL + "/v1/traces", Timeout: 20 * time.Millisecond}); err == nil {
		t.Error("it says that spans were taken")
	}
}
