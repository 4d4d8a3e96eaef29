package devtools

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// eventTimeout closes a stream whose page does not read an event in this time.
const eventTimeout = 10 * time.Second

// changeHub notifies open pages that something changed, not what: a page knows what it shows.
// Changes in quick succession count as one. The zero value is ready.
type changeHub struct {
	mu     sync.Mutex
	change chan struct{} // closed by the next change
}

// next returns a channel that the next change closes.
func (h *changeHub) next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.change == nil {
		h.change = make(chan struct{})
	}
	return h.change
}

func (h *changeHub) notify() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.change != nil {
		close(h.change)
		h.change = nil
	}
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
