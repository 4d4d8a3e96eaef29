package background

import (
	"errors"
	"sync"
	"time"

	"frontdesk/flows"
)

const (
	// failuresInARow of a subscriber begin a pause: more than a restart behind a load balancer causes.
	failuresInARow = 5
	// firstPause follows these failures, and doubles after each further one, up to longestPause: a subscriber that is
	// back gets what waits within minutes.
	firstPause   = 15 * time.Second
	longestPause = 5 * time.Minute
)

// errPaused reports that a delivery waits because the subscriber fails. It is not an attempt.
var errPaused = errors.New("the subscriber fails; the delivery waits")

// streak is the failures in a row of a subscriber at this gateway. While they last, only deliveries that have failed
// before are attempted, each at its own time, and one of the others after each pause.
type streak struct {
	mu       sync.Mutex
	failures int
	until    time.Time // no delivery is attempted for the first time before
}

// admit reports whether a delivery may be attempted for the first time. The caller it admits after a pause is the only
// one until it reports the result.
func (s *streak) admit(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures < failuresInARow {
		return true
	}
	if now.Before(s.until) {
		return false
	}
	s.until = now.Add(deliveryTimeout)
	return true
}

// report counts the result of an attempt.
func (s *streak) report(now time.Time, delivered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delivered {
		s.failures = 0
		return
	}
	s.failures++
	if beyond := s.failures - failuresInARow; beyond >= 0 {
		s.until = now.Add(min(firstPause<<min(beyond, 8), longestPause))
	}
}

// wait is how long a delivery that was not admitted waits, with jitter so that they do not all return at once.
func (s *streak) wait(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return flows.Jitter(max(s.until.Sub(now), firstPause))
}
