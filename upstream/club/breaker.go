package club

import (
	"sync"
	"time"
)

const (
	// breakerWindow is the time over which failures are counted: long enough for a
	// quiet gateway to see enough calls, short enough for an outage to show soon.
	breakerWindow = 10 * time.Second
	// breakerShare is the share of failures, one in two, from which on calls are
	// held back. Below that a repetition gets through more often than not.
	breakerShare = 2
)

// breaker holds calls back while the club system mostly fails, so that visitors
// get their answer at once and the club system gets a rest.
//
//	closed ── half of enough calls failed ──→ open ── pause over ──→ one trial ─┐
//	   ↑                                       ↑                                │
//	   └───────────── succeeded ───────────────┼──────────── failed ────────────┘
type breaker struct {
	now   func() time.Time
	least int           // calls in a window before their failures mean anything
	pause time.Duration // how long calls are held back

	mu            sync.Mutex
	since         time.Time // begin of the window
	calls, failed int       // in the window
	open          bool
	until         time.Time // end of the pause, when open
	trying        bool      // the trial is under way
}

// allow reports whether a call may go, and whether it is the trial on which
// the others wait. Each call that goes is followed by one report.
func (b *breaker) allow() (trial, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return false, true
	}
	if b.trying || b.now().Before(b.until) {
		return false, false
	}
	b.trying = true
	return true, true
}

// report tells how a call went. Calls that began before the breaker opened and
// end afterwards change nothing.
func (b *breaker) report(trial, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	switch {
	case trial:
		b.open, b.trying, b.until = failed, false, now.Add(b.pause)
		b.since, b.calls, b.failed = now, 0, 0
	case !b.open:
		b.count(now, failed)
		b.open = b.calls >= b.least && b.failed*breakerShare >= b.calls
		b.until = now.Add(b.pause)
	}
}

func (b *breaker) count(now time.Time, failed bool) {
	if now.Sub(b.since) >= breakerWindow {
		b.since, b.calls, b.failed = now, 0, 0
	}
	b.calls++
	if failed {
		b.failed++
	}
}
