package payment

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// Limits of what a gateway looks up at the processor for a caller whose record Redis lacks.
const (
	// onDemandEvery bounds the rebuilds on demand of a gateway, however many callers ask: see Config.LookUpEvery.
	onDemandEvery = time.Minute
	// onDemandTimeout: callers wait for no longer. The worker completes the rebuild.
	onDemandTimeout = 10 * time.Second
	// sayAbsent is how long a gateway repeats that the processor has no payment of a registration. It is as long as the pause
	// between rebuilds, so that visitors who wait for a rebuild learn its result. A registration that returns to Redis, is paid
	// and is lost again within this time is found only afterwards.
	sayAbsent = time.Minute
)

// onDemandRebuild is the state of the rebuilds on demand.
type onDemandRebuild struct {
	flight singleflight.Group
	last   time.Time // of the latest rebuild; used only inside flight
}

// RebuildOnDemand rebuilds what the processor created within WholeWindow, for a record that Redis lacks. After
// nil, a payment that Redis still lacks is older or does not exist at the processor. StorageUnavailable if
// another rebuild began within Config.LookUpEvery. It takes no lease in Redis, because Redis has lost data.
func (m *Machine) RebuildOnDemand(ctx context.Context) error {
	_, err, _ := m.onDemand.flight.Do("", func() (any, error) {
		if err := m.requireOwn(ctx); err != nil {
			return nil, err
		}
		now := m.cfg.Now()
		if wait := m.onDemand.last.Add(m.cfg.LookUpEvery).Sub(now); wait > 0 {
			return nil, lookedUpIn(wait)
		}
		m.onDemand.last = now
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), onDemandTimeout)
		defer cancel()
		ctx, span := tracing.StartSpan(ctx, "rebuild")
		defer span.End()
		_, err := m.rebuildSince(ctx, now.Add(-WholeWindow))
		if err != nil {
			m.OweRebuild()
			m.cfg.Log.WarnContext(ctx, "lost payments not rebuilt", "error", err)
		}
		return nil, err
	})
	return err
}

// lookedUpIn asks the caller to return when the next rebuild on demand may begin.
func lookedUpIn(wait time.Duration) error {
	return &flows.Error{
		Code:       flows.StorageUnavailable,
		Detail:     flows.DetailPaymentsLookedUp,
		RetryAfter: wait,
	}
}

// lookups are a gateway's searches for registrations that Redis lacks, by id.
type lookups struct {
	mu     sync.Mutex
	since  map[string]time.Time // when a search began that no rebuild has answered yet
	absent map[string]time.Time // end of a complete rebuild that began later and found no payment
}

// LookUp rebuilds the payments of a registration that Redis lacks. After nil, read it again: if Redis still lacks it, the
// processor has no payment of it, or it has expired. StorageUnavailable until a rebuild that began after this call is
// complete. One rebuild answers for all registrations that were missing when it began.
func (m *Machine) LookUp(ctx context.Context, registration string) error {
	if m.lookups.miss(registration, m.cfg.Now()) {
		return nil
	}
	for { // a rebuild that had begun before this call does not answer for it
		if err := m.RebuildOnDemand(ctx); err != nil {
			return err
		}
		if !m.lookups.waits(registration) {
			return nil
		}
	}
}

// miss notes that Redis lacks a registration. It reports whether the processor has no payment of it either.
func (l *lookups) miss(registration string, now time.Time) (absent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, known := l.absent[registration]; known && now.Sub(at) < sayAbsent {
		return true
	}
	delete(l.absent, registration)
	if _, searched := l.since[registration]; !searched {
		l.since[registration] = now
	}
	return false
}

// waits reports whether no rebuild has answered for a registration that is missing.
func (l *lookups) waits(registration string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, waits := l.since[registration]
	return waits
}

// found ends the search for a registration, because the processor has a payment of it. A second loss starts another search.
func (l *lookups) found(registration string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.since, registration)
	delete(l.absent, registration)
}

// conclude notes that a rebuild was complete: what was missing before it began, and was not found, is absent.
func (l *lookups) conclude(began, ended time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.absent, func(_ string, at time.Time) bool { return ended.Sub(at) >= sayAbsent })
	for registration, since := range l.since {
		if !since.After(began) {
			delete(l.since, registration)
			l.absent[registration] = ended
		}
	}
}
