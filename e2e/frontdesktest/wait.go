package frontdesktest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Patience is how long a test waits for something before it fails. It only ends hangs: a busy machine
// slows everything down by a factor, and no test asserts how long something takes.
const Patience = 5 * time.Minute

// Eventually waits until a condition holds. It fails the test after Patience, or as soon
// as a process of the test has crashed.
func Eventually(t TB, what string, condition func() bool) {
	t.Helper()
	crashed := false
	err := Within(context.Background(), what, Patience, func() bool {
		crashed = hasCrashed(t)
		return crashed || condition()
	})
	switch {
	case crashed && !condition():
		t.Fatalf("a process of the test has crashed, so this did not happen: %s", what)
	case err != nil:
		t.Fatal(err)
	}
}

// Within waits for a condition. It returns an error if the condition does not hold within the limit. The longer it
// has waited, the less often it checks, because each check takes time from what it waits for.
func Within(ctx context.Context, what string, limit time.Duration, condition func() bool) error {
	const shortest, longest = 10 * time.Millisecond, 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for begun := time.Now(); !condition(); {
		if !Sleep(ctx, min(max(shortest, time.Since(begun)/10), longest)) {
			return fmt.Errorf("did not happen within %s: %s: %w", limit, what, ctx.Err())
		}
	}
	return nil
}

// Receive waits for a value, or until the channel is closed. It fails the test after Patience. Call it in the test's own goroutine.
func Receive[T any](t TB, from <-chan T, what string) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(Patience):
		t.Fatalf("did not happen within %s: %s", Patience, what)
	}
	return value
}

// Sleep waits, and reports false if the context ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// crashes has the names of the tests whose gateways ended unasked; "" for a gateway that tests share.
var crashes sync.Map

// hasCrashed reports whether a gateway of a test or of one of its parents has crashed.
func hasCrashed(t TB) (crashed bool) {
	crashes.Range(func(name, _ any) bool {
		crashed = name == "" || strings.HasPrefix(t.Name()+"/", name.(string)+"/")
		return !crashed
	})
	return crashed
}

// Clock is a clock that a test moves. It does not advance on its own, so that whatever depends on time
// happens when the test says so.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the clock's time.
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
