package payment

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// The figures of rebuilds on demand.
const (
	// onDemandEvery: those who ask for what Redis does not know cause one comparison of
	// a gateway a minute, however many they are.
	onDemandEvery = time.Minute
	// onDemandTimeout: how long they may wait for it; the worker goes on with more time.
	onDemandTimeout = 10 * time.Second
)

// onDemandRebuild is the state of the comparisons that somebody waits for.
type onDemandRebuild struct {
	flight singleflight.Group
	last   time.Time   // of the latest; only touched inside one
	owed   atomic.Bool // one was not finished, so that the worker has to do it
}

// RebuildOnDemand has everything rebuilt that Redis lost, for somebody who asks for what
// Redis does not know and who has our signature for it. After nil, whatever Redis
// still does not know is not known to the processor either. It does not ask Redis
// whose turn it is, since Redis is what it does not believe.
func (m *Machine) RebuildOnDemand(ctx context.Context) error {
	_, err, _ := m.onDemand.flight.Do("", func() (any, error) {
		now := m.cfg.Now()
		if wait := m.onDemand.last.Add(onDemandEvery).Sub(now); wait > 0 {
			return nil, &flows.Error{Code: flows.StorageUnavailable, Detail: "This is being looked for; please ask again in a moment.", RetryAfter: wait}
		}
		m.onDemand.last = now
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), onDemandTimeout)
		defer cancel()
		ctx, span := tracing.StartSpan(ctx, "rebuild")
		defer span.End()
		err := m.Rebuild(ctx, WholeWindow)
		if err != nil {
			m.onDemand.owed.Store(true)
			m.cfg.Log.WarnContext(ctx, "lost payments not rebuilt", "error", err)
		}
		return nil, err
	})
	return err
}

// TakeOwedRebuild tells, once, whether a rebuild on demand was left unfinished, so that
// the worker has to do it.
func (m *Machine) TakeOwedRebuild() bool { return m.onDemand.owed.Swap(false) }
