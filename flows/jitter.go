package flows

import (
	"math/rand/v2"
	"time"
)

// jitter spreads a duration by a fifth either way, so that payments that were
// started together are not looked at together for ever.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) // #nosec G404 -- it hides nothing
}
