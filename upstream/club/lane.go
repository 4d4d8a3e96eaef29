package club

import (
	"context"
	"errors"
	"sync"
	"time"
)

// laneKey tells whose calls share a lane: those of one organisation, payments
// apart. One organisation's outage or rush is thus not another's, and neither is
// ever a payment's.
type laneKey struct {
	clientToken string
	money       bool
}

// lane bounds how much a group of calls asks of the club system: how many at
// once, how many repetitions, and whether at all.
type lane struct {
	places  chan struct{}
	queue   time.Duration
	breaker breaker
	budget  budget
}

// lane returns the lane for the calls of an organisation.
func (c *Client) lane(clientToken string) *lane {
	key := laneKey{clientToken, c.money}
	if l, ok := c.lanes.Load(key); ok {
		return l.(*lane)
	}
	limits := c.cfg.Limits
	l, _ := c.lanes.LoadOrStore(key, &lane{
		places:  make(chan struct{}, limits.Concurrency),
		queue:   limits.Queue,
		breaker: breaker{now: c.cfg.Now, least: limits.BreakerCalls, pause: limits.BreakerPause},
		budget:  budget{tenths: budgetBurst * 10},
	})
	return l.(*lane)
}

// enter takes a place in the lane. What it returns gives the place back and
// tells the breaker how the call went.
func (l *lane) enter(ctx context.Context) (leave func(*Error), err error) {
	if err := l.takePlace(ctx); err != nil {
		return nil, err
	}
	trial, ok := l.breaker.allow()
	if !ok {
		<-l.places
		return nil, ErrUnavailable
	}
	return func(e *Error) {
		<-l.places
		l.breaker.report(trial, e.blamesUpstream())
	}, nil
}

func (l *lane) takePlace(ctx context.Context) error {
	select {
	case l.places <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(l.queue)
	defer timer.Stop()
	select {
	case l.places <- struct{}{}:
		return nil
	case <-timer.C:
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// blamesUpstream reports whether a failure shows the club system unwell. A
// refusal or a rejection is an answer like any other, 429 says that it lives, and
// a caller who left says nothing about it.
func (e *Error) blamesUpstream() bool {
	return e != nil && e.transient && e.Status != 429 && !errors.Is(e, context.Canceled)
}

// budget keeps repetitions to a tenth of the calls, so that a club system in
// trouble gets a tenth more work from here, and not three times as much. It
// starts full, since a gateway that was just started has no calls to count.
type budget struct {
	mu     sync.Mutex
	tenths int
}

// budgetBurst is how many repetitions a lane may have in hand: what one visitor's
// journey makes in calls.
const budgetBurst = 10

// earn counts a call.
func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tenths = min(b.tenths+1, budgetBurst*10)
}

// spend takes one repetition, if there is one left.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tenths < 10 {
		return false
	}
	b.tenths -= 10
	return true
}
