package security_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// maliciousClub replaces the club system: it passes everything on to the simulator, except the
// operations that it answers itself.
type maliciousClub struct {
	*httptest.Server
	mu      sync.Mutex
	suffix  string // the end of the paths that it answers
	handler http.HandlerFunc
	calls   atomic.Int64
}

// newMaliciousClubGateway returns a gateway with a malicious club system, and a client of it.
func newMaliciousClubGateway(t *testing.T) (*maliciousClub, *frontdesktest.Process, *frontdesktest.Client) {
	t.Helper()
	s := frontdesktest.NewEnv(t)
	tr := newMaliciousClub(t, s.Upstreams.URL+"/sim")
	gateway, c := gatewayWithClub(t, s, tr.URL)
	return tr, gateway, c
}

// gatewayWithClub returns a gateway that uses another address for the club system.
func gatewayWithClub(t *testing.T, s frontdesktest.Env, club string) (*frontdesktest.Process, *frontdesktest.Client) {
	t.Helper()
	gateway := frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+club, "FRONTDESK_SANDBOX_URL="+s.Upstreams.URL+"/sandbox",
		"FRONTDESK_REDIS_URL="+s.Redis, "FRONTDESK_IDENTITY_JWKS_URL="+s.Upstreams.URL+"/sim/demo/_control/jwks")
	c := frontdesktest.NewClient(t, gateway.URL)
	c.UpstreamsURL = s.Upstreams.URL
	return gateway, c
}

func newMaliciousClub(t *testing.T, club string) *maliciousClub {
	t.Helper()
	at, err := url.Parse(club)
	if err != nil {
		t.Fatal(err)
	}
	honest := httputil.NewSingleHostReverseProxy(at)
	tr := &maliciousClub{}
	tr.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tr.mu.Lock()
		on, response := tr.suffix, tr.handler
		tr.mu.Unlock()
		if on != "" && strings.HasSuffix(r.URL.Path, on) {
			tr.calls.Add(1)
			response(w, r)
			return
		}
		honest.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { tr.CloseClientConnections(); tr.Close() })
	return tr
}

// respond sets the response to paths with a given end.
func (tr *maliciousClub) respond(on string, response http.HandlerFunc) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.suffix, tr.handler = on, response
	tr.calls.Store(0)
}

// says returns a response with a body.
func says(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// TestAPI10UnsafeConsumptionOfAPIs checks that whatever the club system responds, a visitor gets one of
// our problem documents. None of the response is passed on, and it costs no more memory than a response
// may have.
func TestAPI10UnsafeConsumptionOfAPIs(t *testing.T) {
	t.Parallel()
	lure := newTrapServer(t)
	tr, gateway, c := newMaliciousClubGateway(t)
	customer := c.As("customer")
	customer.Do("GET", "/v1/me", nil).Into(http.StatusOK, nil)
	const ld, marker = "application/ld+json", "internal-detail-4711"
	for name, response := range map[string]http.HandlerFunc{
		"a page":             says(200, "text/html", "<html><script>alert('"+marker+"')</script></html>"),
		"an error with text": says(500, "text/plain", marker+" at Sale.php:4711 SELECT * FROM contacts"),
		"a refusal in HTML":  says(400, "text/html", "<h1>"+marker+"</h1>"),
		"numbers for texts":  says(200, ld, `{"@id":1,"number":{"a":"`+marker+`"},"status":[1],"tags":"x"}`),
		"a list":             says(200, ld, `[{"@id":"/demo/contacts/1001"}]`),
		"null":               says(200, ld, `null`),
		"nothing":            says(200, ld, ``),
		"deep":               says(200, ld, strings.Repeat(`{"a":`, 20000)+strings.Repeat("}", 20000)),
		"another contact": says(200, ld,
			`{"@id":"/other/contacts/1002","number":"`+marker+`","status":"customer","clubId":"/other/clubs/11"}`),
		"another contact of the club": says(200, ld,
			`{"@id":"/demo/contacts/1002","number":"`+marker+`","status":"customer","clubId":"/demo/clubs/11"}`),
		"identifiers in identifiers": says(200, ld, strings.Repeat(`{"@id":`, 40)+"7"+strings.Repeat("}", 40)),
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, lure.URL+"/"+marker, http.StatusTemporaryRedirect)
		},
		"elsewhere for good": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, lure.URL, http.StatusMovedPermanently)
		},
		"a wrong length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"number"`)
		},
		"a flood":     flood(false),
		"a gzip bomb": flood(true),
		"endless headers": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 2000 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		},
	} {
		tr.respond("/contacts/1001", response)
		got := customer.Do("GET", "/v1/me", nil)
		if got.Status < 400 || got.Header.Get("Content-Type") != "application/problem+json" || strings.Contains(string(got.Body), marker) ||
			strings.Contains(string(got.Body), "alert") {
			t.Errorf("%s is passed on as %d %s", name, got.Status, got.Body)
		}
		if got.Status == http.StatusInternalServerError {
			t.Errorf("%s is taken for a failure of the gateway: %s", name, got.Body)
		}
		tr.respond("", nil)
		frontdesktest.Eventually(t, "served again after "+name, func() bool { return customer.Do("GET", "/v1/me", nil).Status == http.StatusOK })
	}
	if came := lure.requests.Load(); came > 0 {
		t.Errorf("%d requests, with the club system's token, went elsewhere", came)
	}
	if log := gateway.Log(); strings.Contains(log, marker) || strings.Contains(log, "panic") {
		t.Errorf("the log holds what the club system said:\n%s", log)
	}
	if err := gateway.Stop(); err != nil {
		t.Error(err)
	}
	const most = 1 << 30 // enough for a fully read response under the race detector; each flood continues until the gateway stops reading
	if peak := peakMemory(gateway); peak <= 0 || peak > most {
		t.Errorf("the gateway has grown to %d bytes", peak)
	}
}

// flood responds with endless JSON, or with the few bytes that decompress to it.
func flood(packed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/ld+json")
		var to io.Writer = w
		if packed {
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			defer zip.Close()
			to = zip
		}
		io.WriteString(to, `{"number":"`)
		for block := strings.Repeat("A", 1<<20); ; {
			if _, err := io.WriteString(to, block); err != nil {
				return // the gateway has closed the connection
			}
		}
	}
}

// TestAPI10EndlessPages checks that the gateway gives up on an endless list, and that a name that is a
// script arrives as text.
func TestAPI10EndlessPages(t *testing.T) {
	t.Parallel()
	tr, _, c := newMaliciousClubGateway(t)
	customer := c.As("customer")
	tr.respond("/optins", func(w http.ResponseWriter, r *http.Request) {
		page := fmt.Sprintf(`{"hydra:member":[{"@id":"/demo/optins/9%s","name":"x"}],"hydra:totalItems":1000000000,
			"hydra:view":{"hydra:next":"/demo/optins?page=next"}}`, r.URL.Query().Get("page"))
		says(200, "application/ld+json", page)(w, r) // pages are requested concurrently
	})
	customer.Do("GET", "/v1/me/consents", nil).Problem(api.ClubSystemFailed)
	if asked := tr.calls.Load(); asked < 2 || asked > 500 {
		t.Errorf("a list without an end was asked for %d times", asked)
	}
	const script = `<script>alert(1)</script>\u2028\u202e`
	tr.respond(
		"/contacts/1001",
		says(
			200, "application/ld+json",
			`{"@id":"/demo/contacts/1001","@type":"Person","number":"`+script+`","status":"customer","clubId":"/demo/clubs/11","tags":[]}`,
		),
	)
	response := customer.Do("GET", "/v1/me", nil)
	if strings.Contains(string(response.Body), "<script>") || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/") ||
		response.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a script for a number is passed on as %s %s", response.Header.Get("Content-Type"), response.Body)
	}
}

// peakMemory returns the most memory, in bytes, that a process used until it ended, as the system
// counted it; 0 if the system does not count, or before the end.
func peakMemory(p *frontdesktest.Process) int64 {
	if p.State() == nil {
		return 0
	}
	usage, ok := p.State().SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss // in bytes there, in KiB elsewhere
	}
	return usage.Maxrss << 10
}
