package payment

import (
	"context"
	"sync"
	"time"
)

// sayAbsent is how long a gateway repeats that the processor has no payment of a registration. It is as long as the pause
// between rebuilds, so that visitors who wait for a rebuild learn its result. A registration that returns to Redis, is paid
// and is lost again within this time is found only afterwards.
const sayAbsent = time.Minute

// lookups are a gateway's searches for registrations that Redis lacks, by id.
type lookups struct {
	mu      sync.Mutex
	missing map[string]missing
}

// missing is a registration that Redis lacks.
type missing struct {
	since  time.Time
	absent time.Time // end of a complete rebuild that began later and found no payment of it; zero: none yet
}

// LookUp rebuilds the payments of a registration that Redis lacks. After nil, read it again: if Redis still lacks it, the
// processor has no payment of it, or it has expired. StorageUnavailable until a rebuild that began after this call is
// complete. One rebuild answers for all registrations that were missing when it began.
func (m *Machine) LookUp(ctx context.Context, registration string) error {
	if m.lookups.miss(registration, m.cfg.Now()) {
		return nil
	}
	if err := m.RebuildOnDemand(ctx); err != nil {
		return err
	}
	if m.lookups.waits(registration) { // that rebuild had begun before this call
		return lookedUpIn(onDemandEvery)
	}
	return nil
}

// miss notes that Redis lacks a registration. It reports whether the processor has no payment of it either.
func (l *lookups) miss(registration string, now time.Time) (absent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, known := l.missing[registration]
	switch {
	case one.isAbsent(now):
		return true
	case !known, !one.absent.IsZero():
		l.missing[registration] = missing{since: now}
	}
	return false
}

func (one missing) isAbsent(now time.Time) bool {
	return !one.absent.IsZero() && now.Sub(one.absent) < sayAbsent
}

// waits reports whether no rebuild has answered for a registration that is missing.
func (l *lookups) waits(registration string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, known := l.missing[registration]
	return known && one.absent.IsZero()
}

// found ends the search for a registration, because the processor has a payment of it. A second loss starts another search.
func (l *lookups) found(registration string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.missing, registration)
}

// conclude notes that a rebuild was complete: what was missing before it began, and was not found, is absent.
func (l *lookups) conclude(began, ended time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for registration, one := range l.missing {
		switch {
		case one.absent.IsZero() && !one.since.After(began):
			l.missing[registration] = missing{since: one.since, absent: ended}
		case !one.absent.IsZero() && !one.isAbsent(ended):
			delete(l.missing, registration)
		}
	}
}
