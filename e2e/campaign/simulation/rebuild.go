package simulation

import (
	"context"
	"time"
)

// rebuilder is a payment machine that can bring back from the processor what Redis lost.
type rebuilder interface {
	Rebuild(ctx context.Context, window time.Duration) error
}

// The rebuilds, as the gateways' watch over Redis has them.
const (
	rebuildWindow = 8 * 24 * time.Hour // of everything
	rebuildSoon   = 20 * time.Second   // a loss is noticed by the next sweep, or the one after it
	rebuildAgain  = time.Minute        // after one that failed
)

// rebuilds tells whether the gateways can bring back what Redis lost. While they
// cannot, Redis forgets only what does not need it.
func (f *flow) rebuilds() bool {
	_, ok := any(f.gateways[0].payments).(rebuilder)
	return ok
}

// rebuild has a gateway bring back what Redis lost, and again until it is done.
func (f *flow) rebuild(d time.Duration) {
	if !f.rebuilds() {
		return
	}
	f.spawn(d, f.anyGateway(), "rebuild", func(ctx context.Context, t *task) {
		machine, _ := any(t.gateway.payments).(rebuilder)
		if err := machine.Rebuild(ctx, rebuildWindow); err != nil || t.dead.Load() {
			f.tracef("%s: rebuild: %v", t.gateway.name, err)
			f.rebuild(rebuildAgain)
		}
	})
}

// wipe makes Redis forget everything.
func (f *flow) wipe() {
	f.fault(redisWiped)
	f.redis.FlushAll()
	f.forgot()
}

// forgot is what follows when Redis has lost something.
func (f *flow) forgot() {
	f.epochs++
	f.bodies = map[string]string{}
	f.rebuild(f.between(0, rebuildSoon))
}
