// Package devtools is the developer's panel of mock mode: a custom element beside
// the signup site that shows what the simulator knows (messages, personas,
// calls), and switches what it can do (faults, clock, reset).
//
// In live and test mode it does not exist: main makes none, so that its files
// are not served and the site has no trace of it. It is part of the edge, since
// it serves pages, and stands apart from web-example, so that whoever takes that
// folder for a club's site does not take it along. Nothing here knows the
// simulator: the page asks it over HTTP, as a developer would by curl, and finds
// the calls of a request by their trace id.
//
// Start reading at New for what is served, and at web/panel.js for the page.
package devtools

import (
	"embed"
	"encoding/json"
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

// Panel keeps the latest requests of each world, and tells the pages that are
// open when there may be something new.
type Panel struct {
	now      func() time.Time
	mux      *http.ServeMux
	requests requestLog
	changes  changeHub
	closed   chan struct{} // by close
	close    func()
}

// New makes a panel; Around puts it before the gateway.
func New(cfg Config) *Panel {
	p := &Panel{now: cfg.Now, mux: http.NewServeMux(), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	p.mux.HandleFunc("GET /panel/requests", p.listRequests)
	p.mux.HandleFunc("DELETE /panel/requests", p.clearRequests)
	p.mux.HandleFunc("GET /panel/changes", p.streamChanges)
	p.mux.HandleFunc("GET /panel/{file}", serveFile)
	return p
}

// Record keeps what was answered, for handlers.Config.Answered.
func (p *Panel) Record(answer handlers.RequestInfo) { p.requests.add(answer) }

// Wrap serves the panel before next, and tells the open panels after every
// request that may have changed what they show. What they read themselves is
// none, or they would never stop.
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

// Close lets the pages go that follow changes: a server that is stopped waits for them.
func (p *Panel) Close() { p.close() }

// ServeHTTP serves what is below /panel/. A page of another site can make nothing of it.
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

// requestList is what GET /panel/requests answers.
type requestList struct {
	Items  []handlers.RequestInfo `json:"items"`  // of one world, newest last
	Worlds []string               `json:"worlds"` // that have had requests, in alphabetical order
}

func (p *Panel) listRequests(w http.ResponseWriter, r *http.Request) {
	world, ok := worldOf(w, r)
	if !ok {
		return
	}
	body, err := json.Marshal(requestList{Items: p.requests.of(world), Worlds: p.requests.worlds()})
	if err != nil {
		http.Error(w, "The requests cannot be told.", http.StatusInternalServerError)
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

// worldOf reads which world is meant, and answers who does not say it.
func worldOf(w http.ResponseWriter, r *http.Request) (string, bool) {
	world := r.URL.Query().Get("world")
	if world == "" {
		http.Error(w, "world: which one? As in /panel/requests?world=demo", http.StatusBadRequest)
	}
	return world, world != ""
}
