package handlers

import (
	"testing"
	"time"
)

// TestCrowdReturnsAsFastAsItIsServed: however many visitors wait, about twice as many return in a second as
// are admitted, and a small crowd returns soon.
func TestCrowdReturnsAsFastAsItIsServed(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		arrivals, places int           // in a second
		pause            time.Duration // on average at the end of the minute, at most
		returns          int           // in the last second of the minute, at most
	}{
		"a small crowd": {arrivals: 55, places: 50, pause: minCrowdPause, returns: 100},
		"a large crowd": {arrivals: 400, places: 50, pause: maxCrowdPause, returns: 400},
	} {
		var c crowd
		now := time.Unix(0, 0)
		due := map[int]int{} // visitors who return, by second
		returned := 0
		for second := range 60 {
			returned = due[second]
			for n := range of.arrivals + returned {
				if n < of.places {
					c.admit()
					continue
				}
				due[second+int(c.turnAway(now.Add(time.Duration(second)*time.Second)).Seconds())]++
			}
		}
		if returned > of.returns || c.pause > of.pause {
			t.Errorf("%s: %d return in a second, after %s on average", name, returned, c.pause)
		}
		quiet := now.Add(time.Hour)
		c.turnAway(quiet)
		if c.pause != minCrowdPause {
			t.Errorf("%s, an hour later: %s", name, c.pause)
		}
	}
}
