package handlers_test

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/redact"
	"frontdesk/handlers"
	"frontdesk/handlers/ops"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// nowhere discards log lines after they were formatted, unlike io.Discard, which slog recognises.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// newEdge returns the edge with a simulator in the test's process, with everything that live mode has between
// a request and its response: limits, a trusted proxy, request logs, metrics. It has only what the catalogue
// needs.
func newEdge(t testing.TB, now, readAt func() time.Time) *handlers.Server {
	t.Helper()
	simulator := clubsim.New(clubsim.Config{Now: time.Now})
	outside := httptest.NewServer(simulator)
	t.Cleanup(func() { outside.CloseClientConnections(); simulator.Close(); outside.Close() })
	log := slog.New(redact.New(slog.NewJSONHandler(nowhere{}, nil)))
	edge, err := handlers.New(handlers.Config{
		Contract: frontdesktest.Contract(t),
		Catalogue: catalogue.New(catalogue.Config{Now: readAt, Log: log, Club: club.New(club.Config{
			BaseURL:      outside.URL,
			ClientID:     clubsim.DemoClientID,
			ClientSecret: clubsim.DemoClientSecret,
			GatewayKey:   clubsim.DemoGatewayKey,
			Now:          time.Now,
		})}),
		Cards:           frontdesktest.ProcessorClient(outside.URL),
		Site:            os.DirFS(filepath.Join(frontdesktest.Root(), "web-example")),
		ClientToken:     "demo",
		PublicURL:       "https://club.example",
		AllowedOrigins:  []string{"https://www.club.example"},
		OnRequestMetric: ops.NewMetrics(ops.MetricsConfig{Version: "test", Mode: "live"}).CountRequest,
		AccessLevel:     slog.LevelDebug,
		RateLimits:      true,
		TrustedProxies:  []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Ready:           func(context.Context) []flows.Check { return nil },
		Now:             now,
		After:           time.After,
		Log:             log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return edge
}

// discard accepts a response as a connection does: its headers are new each time.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) WriteHeader(status int) { d.status = status }

func (d *discard) Write(p []byte) (int, error) {
	d.status = cmp.Or(d.status, http.StatusOK)
	d.bytes += len(p)
	return len(p), nil
}

// BenchmarkCatalogueWarm measures a catalogue from the response cache, from the request to the response,
// without the network and with the request log off.
func BenchmarkCatalogueWarm(b *testing.B) {
	edge := newEdge(b, time.Now, time.Now)
	read := httptest.NewRecorder()
	edge.ServeHTTP(read, catalogueRequest(0))
	if read.Code != http.StatusOK {
		b.Fatalf("status %d: %s", read.Code, read.Body)
	}
	for name, test := range map[string]struct {
		header, value string
		status        int
	}{
		"200":      {"Accept", "application/json", http.StatusOK},
		"200 gzip": {"Accept-Encoding", "gzip, deflate, br, zstd", http.StatusOK},
		"304":      {"If-None-Match", read.Header().Get("ETag"), http.StatusNotModified},
	} {
		b.Run(name, func(b *testing.B) {
			requests := make([]*http.Request, 1<<14)
			for i := range requests {
				requests[i] = catalogueRequest(i)
				requests[i].Header.Set(test.header, test.value)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				response := discard{header: http.Header{}}
				edge.ServeHTTP(&response, requests[i%len(requests)])
				if response.status != test.status && response.status != http.StatusTooManyRequests {
					b.Fatalf("status %d", response.status)
				}
			}
		})
	}
}

// BenchmarkCatalogueServed reads a catalogue from the response cache over a connection, and the same bytes from bare
// net/http: benchstat -col /server compares them. The client's time is part of both.
func BenchmarkCatalogueServed(b *testing.B) {
	edge := newEdge(b, time.Now, time.Now)
	read := httptest.NewRecorder()
	edge.ServeHTTP(read, catalogueRequest(0))
	page, tag := read.Body.Bytes(), read.Header().Get("ETag")
	bare := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		w.Write(page)
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true}}
	for _, kind := range []struct {
		name, tag string
		status    int
		server    http.Handler
	}{
		{"status=200/server=gateway", "", http.StatusOK, edge},
		{"status=200/server=bare", "", http.StatusOK, http.HandlerFunc(bare)},
		{"status=304/server=gateway", tag, http.StatusNotModified, edge},
		{"status=304/server=bare", tag, http.StatusNotModified, http.HandlerFunc(bare)},
	} {
		b.Run(kind.name, func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.RemoteAddr = "192.0.2.1:1234" // the trusted proxy, which names the caller
				kind.server.ServeHTTP(w, r)
			}))
			defer server.Close()
			for n := 0; b.Loop(); n++ {
				request := catalogueRequest(n)
				if kind.tag != "" {
					request.Header.Set("If-None-Match", kind.tag)
				}
				request.RequestURI, request.URL.Scheme, request.URL.Host = "", "http", server.Listener.Addr().String()
				response, err := client.Do(request)
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != kind.status {
					b.Fatal(response.Status, err)
				}
			}
		})
	}
}

// catalogueRequest comes through a proxy from one of many addresses.
func catalogueRequest(i int) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/v1/clubs/11/products", nil)
	address := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
	r.Header.Set("X-Forwarded-For", address.String())
	return r
}
