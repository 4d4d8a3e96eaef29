package simulation

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

type event struct {
	at time.Time
	do func()
}

// after schedules do after a time, behind all other events of that instant.
func (f *journey) after(d time.Duration, do func()) {
	f.orders++
	e := event{f.Now().Add(d), do}
	place, _ := slices.BinarySearchFunc(f.pending, e.at.Add(1), func(other event, at time.Time) int { return other.at.Compare(at) })
	f.pending = slices.Insert(f.pending, place, e)
}

// maxEvents is far beyond the 1,500 of the longest among thousands of journeys:
// a journey that gets there never ends.
const maxEvents = 100_000

// play runs all events until an instant; zero means all.
func (f *journey) play(until time.Time) {
	for len(f.pending) > 0 && (until.IsZero() || !f.pending[0].at.After(until)) {
		e := f.pending[0]
		f.pending = f.pending[1:]
		f.advanceTo(e.at)
		e.do()
		f.events++
		if f.events == maxEvents { // an endless journey
			for _, g := range f.gateways {
				f.crash(g)
			}
		}
		f.sendDeliveries()
		f.takeWoken()
	}
	if !until.IsZero() {
		f.advanceTo(until)
	}
}

// advanceTo moves the clock, unless an event has moved it further already.
func (f *journey) advanceTo(at time.Time) { f.Advance(max(0, at.Sub(f.Now()))) }

// task is a request, a webhook or a job of one gateway. Exactly one task runs at a time. It yields at its
// calls to Redis and the processor and in its POST, so that the seed decides their order. Reads from the
// club system run concurrently, as in the code.
type task struct {
	journey *journey
	gateway *gateway
	began   time.Time
	resume  chan struct{}
	dead    atomic.Bool // its process is dead: its calls reach nothing
}

var errDead = errors.New("simulation: the process is gone") // the error of every call of a dead process

type taskKey struct{}

// taskOf returns the task of a call; nil for the simulation's own calls.
func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// gaveUp reports whether the journey was stopped because it did not end.
func (f *journey) gaveUp() bool { return f.events >= maxEvents }

// spawn starts a task of any gateway after a time, unless the journey was given up.
func (f *journey) spawn(delay time.Duration, body func(context.Context, *task)) {
	gateway := oneOf(f, f.gateways...)
	if f.gaveUp() {
		return
	}
	t := &task{journey: f, resume: make(chan struct{})}
	f.after(delay, func() {
		t.gateway, t.began = gateway.take(), f.Now()
		f.tasks[t] = true
		f.resumeTask(t, func() {
			go func() {
				f.fence.Add(1)
				body(context.WithValue(context.Background(), taskKey{}, t), t)
				f.fence.Add(1)
				delete(f.tasks, t)
				if !t.dead.Load() {
					gateway.idle = append(gateway.idle, t.gateway)
				}
				f.handoff <- struct{}{}
			}()
		})
	})
}

// resumeTask lets a task run until it yields or ends.
func (f *journey) resumeTask(t *task, start func()) {
	f.running.Store(t)
	start()
	<-f.handoff
	f.running.Store(nil)
}

// yield lets other tasks run, and continues after a time.
func (t *task) yield(pause time.Duration) {
	if t.dead.Load() {
		return
	}
	f := t.journey
	f.fence.Add(1)
	f.after(pause, func() { f.resumeTask(t, func() { t.resume <- struct{}{} }) })
	f.handoff <- struct{}{}
	<-t.resume
	f.fence.Add(1)
}

// dies reports whether the process is killed at a call, before the call has its effect or afterwards.
func (t *task) dies(effect func()) bool {
	journey := t.journey
	if !journey.chance(journey.plan.crashes) {
		return false
	}
	journey.fault(crashed)
	if journey.chance(0.5) {
		effect()
	}
	journey.crash(t.gateway)
	return true
}

// crash ends a gateway's process: the calls of its tasks no longer reach anything.
func (f *journey) crash(gateway *gateway) {
	f.tracef("%s: the process is killed", gateway.name)
	for t := range f.tasks {
		if t.gateway.name == gateway.name {
			t.dead.Store(true)
		}
	}
	for _, replica := range f.gateways {
		if replica.name == gateway.name {
			replica.idle = nil
		}
	}
}
