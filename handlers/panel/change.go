package panel

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// eventTime: a page that takes an event no faster than this is gone.
const eventTime = 10 * time.Second

// changes are the pages that want to know when to read again. What changed is
// not told: a page knows best what it shows. The zero value is ready.
type changes struct {
	mu        sync.Mutex
	followers map[chan struct{}]bool
	closed    bool
}

// follow gives a channel that hears of changes, and is closed when there are no
// more. Changes that come faster than they are read count as one.
func (c *changes) follow() (changed <-chan struct{}, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	channel := make(chan struct{}, 1)
	if c.closed {
		close(channel)
		return channel, func() {}
	}
	if c.followers == nil {
		c.followers = map[chan struct{}]bool{}
	}
	c.followers[channel] = true
	return channel, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.followers, channel)
	}
}

func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for follower := range c.followers {
		select {
		case follower <- struct{}{}:
		default: // it has not read the one before
		}
	}
}

func (c *changes) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for follower := range c.followers {
		close(follower)
	}
	c.followers, c.closed = nil, true
}

// followChanges serves GET /panel/changes as server-sent events: one at the
// start, and one whenever something may have changed. The browser comes back by
// itself when the process was started again.
func (p *Panel) followChanges(w http.ResponseWriter, r *http.Request) {
	changed, leave := p.changes.follow()
	defer leave()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a server without deadlines has nothing to lift
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		_ = control.SetWriteDeadline(p.now().Add(eventTime)) // as above
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
