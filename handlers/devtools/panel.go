// Package devtools is the developer panel of mock mode: a custom element in the signup site that
// shows the simulator's data (messages, personas, calls) and controls it (faults, clock, reset).
//
// Live and test mode have no panel. It is not part of web-example, so a copy of that folder is a
// site without it. Nothing here imports the simulator: the page uses its HTTP interface, and finds
// the calls of a request by their trace id.
//
// Start reading at New for the routes, and at web/panel.js for the page.
package devtools

import (
	"context"
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"frontdesk/handlers"
)

//go:embed web/*.js web/*.css
var web embed.FS

// Config is what a panel needs; every field is required.
type Config struct {
	Now func() time.Time
}

// Panel keeps the latest requests of each world, and notifies open pages of changes.
type Panel struct {
	now      func() time.Time
	mux      *http.ServeMux
	requests requestLog
	changes  changeHub
	closed   <-chan struct{} // by close
	close    context.CancelFunc
}

// New returns a panel. Wrap puts it before the gateway.
func New(cfg Config) *Panel {
	ctx, cancel := context.WithCancel(context.Background())
	panel := &Panel{now: cfg.Now, mux: http.NewServeMux(), closed: ctx.Done(), close: cancel}
	panel.changes.change = make(chan struct{})
	panel.mux.HandleFunc("GET /panel/requests", panel.listRequests)
	panel.mux.HandleFunc("DELETE /panel/requests", panel.clearRequests)
	panel.mux.HandleFunc("GET /panel/changes", panel.streamChanges)
	panel.mux.HandleFunc("GET /panel/{file}", serveFile)
	return panel
}

// Record keeps a request, for handlers.Config.OnRequest.
func (p *Panel) Record(request handlers.RequestInfo) { p.requests.add(request) }

// Wrap serves the panel before next. After each request that may change what open panels show, it
// notifies them. Their own reads do not count, or they would read for ever.
func (p *Panel) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := strings.HasPrefix(r.URL.Path, "/panel/")
		isReading := r.Method == http.MethodGet && (own || strings.Contains(r.URL.Path, "/_control/"))
		if !isReading {
			defer p.changes.notify()
		}
		if own {
			p.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Changed notifies open panels of a change that no request made, such as a mail that has arrived.
func (p *Panel) Changed() { p.changes.notify() }

// Close ends the streams of changes, for which a stopping server waits.
func (p *Panel) Close() { p.close() }

// ServeHTTP serves the paths below /panel/ to pages of the same origin.
func (p *Panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-cache")
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		http.Error(w, "This is for the panel alone.", http.StatusForbidden)
		return
	}
	p.mux.ServeHTTP(w, r)
}

func serveFile(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, web, "web/"+r.PathValue("file")) // #nosec G703 -- what is embedded is public
}

type requestList struct {
	Items  []handlers.RequestInfo `json:"items"`  // of one world, newest last
	Worlds []string               `json:"worlds"` // worlds with requests, in alphabetical order
}

func (p *Panel) listRequests(w http.ResponseWriter, r *http.Request) {
	world, ok := worldOf(w, r)
	if !ok {
		return
	}
	body, err := json.Marshal(requestList{Items: p.requests.of(world), Worlds: p.requests.worlds()})
	if err != nil {
		http.Error(w, "The requests cannot be encoded.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a page that is gone has no use for the error
}

func (p *Panel) clearRequests(w http.ResponseWriter, r *http.Request) {
	if world, ok := worldOf(w, r); ok {
		p.requests.clear(world)
		w.WriteHeader(http.StatusNoContent)
	}
}

// worldOf reads the parameter world, and writes a 400 without one.
func worldOf(w http.ResponseWriter, r *http.Request) (string, bool) {
	world := r.URL.Query().Get("world")
	if world == "" {
		http.Error(w, "world: which one? As in /panel/requests?world=demo", http.StatusBadRequest)
	}
	return world, world != ""
}

// eventTimeout closes a stream whose page does not read an event in this time.
const eventTimeout = 10 * time.Second

// changeHub notifies open pages that something changed, not what: a page knows what it shows.
// Changes in quick succession count as one.
type changeHub struct {
	mu     sync.Mutex
	change chan struct{} // closed by the next change
}

func (h *changeHub) next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.change
}

func (h *changeHub) notify() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.change)
	h.change = make(chan struct{})
}

// streamChanges serves GET /panel/changes as server-sent events: one at the start, and one
// whenever something may have changed. The browser reconnects when the process was restarted.
func (p *Panel) streamChanges(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a server without deadlines has none to lift
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		change := p.changes.next()
		_ = control.SetWriteDeadline(p.now().Add(eventTimeout)) // as above
		if _, err := io.WriteString(w, "data: changed\n\n"); err != nil {
			return
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-p.closed:
			return
		case <-change:
		}
	}
}
