package cmd

import (
	"runtime"
	"runtime/debug"
)

// Go collects garbage when there is as much of it as there is in use. A gateway has little
// in use, so that it would collect all the time.
const (
	// mockGarbage is how much garbage mock mode lets lie, in percent of what is in use, where Go's
	// own is 100: it shares a developer's machine, which has more use for 2 MB than for the twentieth
	// of its thousands of answers a second that they cost.
	mockGarbage = 75
	// simGarbage is the same for the simulator alone, which many tests ask at once: an eighth more
	// answers, and no more than 40 MB in all.
	simGarbage = 200
	// ballast is added to what a gateway for real visitors has in use, some 8 MB: it then collects
	// a fifth as often, which saves a tenth of its processor time, and keeps up to 32 MB of garbage.
	// As it is never touched, it takes no memory itself. A larger share in percent would grow with
	// the number of visitors, of whom ten thousand have 100 MB in use.
	ballast = 32 << 20
)

// collectGarbage sets how often garbage is collected, until what it returns is called.
func (cfg Config) collectGarbage() (done func()) {
	if cfg.Mode == "mock" {
		debug.SetGCPercent(mockGarbage)
		return func() {}
	}
	weight := make([]byte, ballast)
	return func() { runtime.KeepAlive(weight) }
}
