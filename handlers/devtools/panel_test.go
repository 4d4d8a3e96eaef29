package devtools_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"frontdesk/handlers"
	"frontdesk/handlers/devtools"
)

// newPanel serves a panel in front of a site with empty responses.
func newPanel(t *testing.T) (*devtools.Panel, string) {
	t.Helper()
	panel := devtools.New(devtools.Config{Now: time.Now})
	mux := http.NewServeMux()
	mux.Handle("/panel/", panel)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(panel.Wrap(mux))
	t.Cleanup(server.Close)
	t.Cleanup(panel.Close)
	return panel, server.URL
}

func send(t *testing.T, method, address string, headers ...[2]string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		request.Header.Set(header[0], header[1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

type listed struct {
	Items  []handlers.RequestInfo
	Worlds []string
}

func list(t *testing.T, address, world string) (all listed) {
	t.Helper()
	status, body := send(t, "GET", address+"/panel/requests?world="+world)
	if err := json.Unmarshal([]byte(body), &all); status != http.StatusOK || err != nil {
		t.Fatalf("%d: %s", status, body)
	}
	return all
}

func TestMemoryIsBounded(t *testing.T) {
	p, address := newPanel(t)
	begin := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for world := range 150 {
		for n := range 120 {
			p.Record(
				handlers.RequestInfo{
					World: fmt.Sprintf("demo-%d", world),
					Path:  fmt.Sprint(n),
					At:    begin.Add(time.Duration(world*1000+n) * time.Second),
				},
			)
		}
	}
	latest := list(t, address, "demo-149")
	if len(latest.Items) != 100 || latest.Items[0].Path != "20" || latest.Items[99].Path != "119" {
		t.Errorf("of one world: %d requests, from %+v", len(latest.Items), latest.Items[0])
	}
	if len(latest.Worlds) != 100 {
		t.Errorf("of %d worlds", len(latest.Worlds))
	}
	if oldest := list(t, address, "demo-0"); len(oldest.Items) != 0 {
		t.Errorf("the quietest world still has %d requests", len(oldest.Items))
	}
}

func TestRequestsAreForgotten(t *testing.T) {
	p, address := newPanel(t)
	p.Record(handlers.RequestInfo{World: "demo"})
	p.Record(handlers.RequestInfo{World: "demo-b"})
	if status, _ := send(t, "DELETE", address+"/panel/requests?world=demo"); status != http.StatusNoContent {
		t.Errorf("status %d", status)
	}
	mine, other := list(t, address, "demo"), list(t, address, "demo-b")
	if len(mine.Items) != 0 || len(other.Items) != 1 || len(other.Worlds) != 1 {
		t.Errorf("left: %+v and %+v", mine, other)
	}
}

func TestBadRequests(t *testing.T) {
	p, address := newPanel(t)
	p.Record(handlers.RequestInfo{World: "demo"})
	foreign := [2]string{"Sec-Fetch-Site", "cross-site"}
	for name, test := range map[string]struct {
		method, path string
		header       [2]string
		want         int
	}{
		"which world":        {"GET", "/panel/requests", [2]string{}, 400},
		"forget which world": {"DELETE", "/panel/requests?world=", [2]string{}, 400},
		"of another site":    {"DELETE", "/panel/requests?world=demo", foreign, 403},
		"no such method":     {"PUT", "/panel/requests?world=demo", [2]string{}, 405},
		"no such file":       {"GET", "/panel/nothing.js", [2]string{}, 404},
		"not its folder":     {"GET", "/panel/", [2]string{}, 404},
		"not its sources":    {"GET", "/panel/jsconfig.json", [2]string{}, 404},
		"not above":          {"GET", "/panel/..%2fpanel.go", [2]string{}, 400},
	} {
		headers := [][2]string{test.header}
		if test.header[0] == "" {
			headers = nil
		}
		if status, body := send(t, test.method, address+test.path, headers...); status != test.want {
			t.Errorf("%s: status %d instead of %d: %s", name, status, test.want, body)
		}
	}
	if left := list(t, address, "demo"); len(left.Items) != 1 {
		t.Errorf("left: %+v", left)
	}
}

// TestChangesAreAnnounced follows changes: one event for a request that may have changed something, and none for
// the panel's own reads.
func TestChangesAreAnnounced(t *testing.T) {
	panel, address := newPanel(t)
	request, err := http.NewRequestWithContext(t.Context(), "GET", address+"/panel/changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	next := func() bool {
		for lines.Scan() {
			if lines.Text() == "data: changed" {
				return true
			}
		}
		return false
	}
	if !next() {
		t.Fatal("no event at the start")
	}
	send(t, "POST", address+"/v1/registrations")
	if !next() {
		t.Fatal("no event for a request of the page")
	}
	send(t, "PUT", address+"/sim/demo/_control/faults")
	if !next() {
		t.Fatal("no event for a fault")
	}
	send(t, "GET", address+"/sim/demo/_control/requests")
	send(t, "GET", address+"/panel/requests?world=demo")
	panel.Close()
	if next() {
		t.Error("what a panel reads makes it read again")
	}
	if status, body := send(t, "GET", address+"/panel/changes"); status != http.StatusOK || strings.Count(body, "data:") != 1 {
		t.Errorf("after the end: %d %q", status, body)
	}
}

func TestSiteHasOneExtraLine(t *testing.T) {
	plain := fstest.MapFS{
		"index.html": {Data: []byte("<html><head><title>Join</title>\n</head><body>…</body></html>")},
		"main.js":    {Data: []byte("// </head>")},
	}
	site, err := devtools.Site(plain)
	if err != nil {
		t.Fatal(err)
	}
	want := "<html><head><title>Join</title>\n  <script type=\"module\" src=\"/panel/panel.js\"></script>\n</head><body>…</body></html>"
	if page, err := fs.ReadFile(site, "index.html"); err != nil || string(page) != want {
		t.Errorf("the page is\n%s\n%v", page, err)
	}
	if script, err := fs.ReadFile(site, "main.js"); err != nil || string(script) != "// </head>" {
		t.Errorf("another file is %q, %v", script, err)
	}
	for _, broken := range []fstest.MapFS{{}, {"index.html": {Data: []byte("<html><body></body></html>")}}} {
		if _, err := devtools.Site(broken); err == nil {
			t.Error("a site without a head gets a panel")
		}
	}
}
