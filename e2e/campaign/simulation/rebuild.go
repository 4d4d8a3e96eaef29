package simulation

import (
	"context"
	"time"
)

// The timing of the rebuilds, as in the gateways' watch over Redis.
const (
	rebuildWindow = 8 * 24 * time.Hour // of everything
	rebuildSoon   = 20 * time.Second   // a loss is noticed by the next sweep, or the one after it
	rebuildAgain  = time.Minute        // after one that failed
	rebuildEvery  = 4 * time.Minute    // whether a loss was noticed or not
)

// rebuild has a gateway restore what Redis lost, and repeats until it is done. It then verifies what it found unverified.
func (f *journey) rebuild(d time.Duration) {
	f.spawn(d, f.anyGateway(), "rebuild", func(ctx context.Context, t *task) {
		noWait, end := context.WithCancel(context.Background())
		end() // so that NextUnverified returns only what is listed
		if err := t.gateway.payments.Rebuild(ctx, rebuildWindow); err != nil || t.dead.Load() {
			f.tracef("%s: rebuild: %v", t.gateway.name, err)
			f.rebuild(rebuildAgain)
		}
		for id, ok := t.gateway.payments.NextUnverified(noWait); ok; id, ok = t.gateway.payments.NextUnverified(noWait) {
			f.advance(0, id)
		}
	})
}

// rebuilds has the gateways occasionally compare Redis with the processor until an instant of the
// journey, in journeys where there may be something to find.
func (f *journey) rebuilds(until time.Duration) {
	if f.plan.rollbacks == 0 && f.plan.cards == 0 {
		return
	}
	for at := rebuildEvery; at < until; at += rebuildEvery {
		f.rebuild(at)
	}
}

// scheduleFallBack has Redis forget the payment, and the buyer choose a method again, in journeys whose plan
// says so.
func (f *journey) scheduleFallBack() {
	if !f.plan.choosesAgain {
		return
	}
	f.after(f.between(time.Second, time.Minute), func() {
		f.rollBackTo(0)
		f.pay(f.between(0, rebuildSoon))
	})
}

func (f *journey) wipe() {
	f.fault(redisWiped)
	f.redis.FlushAll()
	f.afterLoss()
}

// afterLoss is what follows when Redis has lost something. Each gateway notices the losses since its last
// sweep at once, so there are no more rebuilds to come than gateways.
func (f *journey) afterLoss() {
	f.epochs++
	f.bodies = map[string]string{}
	if f.sweepsDue == replicas {
		return
	}
	f.sweepsDue++
	f.after(f.between(0, rebuildSoon), func() {
		f.sweepsDue--
		f.rebuild(0)
	})
}
