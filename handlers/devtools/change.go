package devtools

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// eventTimeout: a page that takes an event no faster than this is gone.
const eventTimeout = 10 * time.Second

// changeHub are the pages that want to know when to read again. What changed is
// not told: a page knows best what it shows. The zero value is ready.
type changeHub struct {
	mu          sync.Mutex
	subscribers map[chan struct{}]bool
	closed      bool
}

// subscribe gives a channel that hears of changes, and is closed when there are no
// more. Changes that come faster than they are read count as one.
func (c *changeHub) subscribe() (changed <-chan struct{}, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	channel := make(chan struct{}, 1)
	if c.closed {
		close(channel)
		return channel, func() {}
	}
	if c.subscribers == nil {
		c.subscribers = map[chan struct{}]bool{}
	}
	c.subscribers[channel] = true
	return channel, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subscribers, channel)
	}
}

func (c *changeHub) notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for follower := range c.subscribers {
		select {
		case follower <- struct{}{}:
		default: // it has not read the one before
		}
	}
}

func (c *changeHub) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for follower := range c.subscribers {
		close(follower)
	}
	c.subscribers, c.closed = nil, true
}

// streamChanges serves GET /panel/changes as server-sent events: one at the
// start, and one whenever something may have changed. The browser comes back by
// itself when the process was started again.
func (p *Panel) streamChanges(w http.ResponseWriter, r *http.Request) {
	changed, leave := p.changes.subscribe()
	defer leave()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a server without deadlines has nothing to lift
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		_ = control.SetWriteDeadline(p.now().Add(eventTimeout)) // as above
		if _, err := io.WriteString(w, "data: changed\n\n"); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case _, goesOn := <-changed:
			if !goesOn {
				return
			}
		}
	}
}
