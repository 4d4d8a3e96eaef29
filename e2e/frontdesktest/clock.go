package frontdesktest

import (
	"sync"
	"time"
)

// Clock is a clock that a test moves. It stands still in between, so that what
// depends on time happens when the test says so.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that shows the present.
func NewClock() *Clock { return &Clock{now: time.Now()} }

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
