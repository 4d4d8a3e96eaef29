package handlers

import (
	"math/rand/v2"
	"sync"
	"time"
)

// crowd says when newcomers who are turned away should return: so that about twice as many return in a
// second as are admitted, however many wait. Fewer would leave places empty, and more would fill the
// gateway's time with refusals.
type crowd struct {
	mu                 sync.Mutex
	since              time.Time // of the counts
	admitted, refusals float64
	pause              time.Duration // on average; zero before the first refusal
}

const (
	// minCrowdPause and maxCrowdPause bound the average pause. Few visitors watch a page for much longer.
	minCrowdPause = 6 * time.Second
	maxCrowdPause = time.Minute
	// minAdmitted a second is assumed while a burst has filled all places and none is free yet.
	minAdmitted = 5
	// crowdMemory: after so long without a refusal, the crowd has gone.
	crowdMemory = 10 * time.Second
)

func (c *crowd) admit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.admitted++
}

// turnAway counts a refusal, and returns the pause for its caller.
func (c *crowd) turnAway(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if counted := now.Sub(c.since); c.pause == 0 || counted > crowdMemory {
		c.since, c.admitted, c.refusals, c.pause = now, 0, 0, minCrowdPause
	} else if counted >= time.Second {
		// Little's law: as many wait as are turned away in a second, times the seconds that each waits.
		waiting := c.refusals / counted.Seconds() * c.pause.Seconds()
		returning := 2 * max(c.admitted/counted.Seconds(), minAdmitted)
		wanted := time.Duration(waiting / returning * float64(time.Second))
		c.pause = min(max(wanted, c.pause/2, minCrowdPause), 2*c.pause, maxCrowdPause)
		c.since, c.admitted, c.refusals = now, 0, 0
	}
	c.refusals++
	return c.pause/2 + rand.N(c.pause) // #nosec G404 -- it hides nothing
}
