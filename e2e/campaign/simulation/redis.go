package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// errRefused and errLost are what a caller sees of a Redis that is gone, before and after it did what was asked.
var (
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	errLost    = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
)

type redisHook struct{ *env }

func (h redisHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h redisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.process(ctx, []redis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements redis.Hook. The commands of a pipeline share a round trip and its faults.
func (h redisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := h.process(ctx, cmds, func() error { return next(ctx, cmds) })
		var reply redis.Error
		if err == nil || errors.As(err, &reply) {
			return err // Redis answered each command
		}
		for _, cmd := range cmds {
			if cmd.Err() == nil {
				cmd.SetErr(err)
			}
		}
		return err
	}
}

// process makes one round trip to Redis, with the faults of the journey's plan.
func (h redisHook) process(ctx context.Context, cmds []redis.Cmder, next func() error) error {
	task := taskOf(ctx)
	if task != nil && task.dead.Load() {
		return errDead // sends nothing, so that nothing is new to Redis because of it
	}
	h.redis.SetTime(h.Now())
	if once := h.onlyOnce(cmds); once || task == nil {
		return next()
	}
	journey := task.journey
	send := func() error {
		err := next()
		journey.watchVersions(cmds)
		return err
	}
	if !task.interleave() {
		return errDead
	}
	h.redis.SetTime(h.Now())
	if task.dies(func() { _ = send() }) {
		return errDead
	}
	if journey.chance(journey.plan.rollbacks) {
		if journey.chance(0.2) {
			journey.wipe()
		} else if len(journey.snapshots) > 0 {
			journey.rollBackTo(journey.rng.IntN(len(journey.snapshots)))
		}
	}
	if journey.chance(journey.plan.redis) {
		if journey.chance(0.5) {
			journey.fault(redisRefused)
			return errRefused
		}
		journey.fault(redisLost)
		_ = send()
		return errLost
	}
	normaliseSchedule(cmds, h.Now())
	err := send()
	if journey.plan.rollbacks > 0 && journey.chance(0.4) {
		journey.takeSnapshot()
	}
	return err
}

// onlyOnce reports whether only the first journey in an environment sends these commands: an unknown
// script's hash. The journey is then repeated, so that seeds repeat anywhere.
func (h redisHook) onlyOnce(cmds []redis.Cmder) bool {
	for _, cmd := range cmds {
		args, known := cmd.Args(), true
		switch cmd.Name() {
		case "evalsha":
			_, known = h.scripts.Load(args[1])
		case "eval":
			_, known = h.scripts.LoadOrStore(redis.NewScript(fmt.Sprint(args[1])).Hash(), true)
		}
		if !known {
			h.learning.Store(true)
			return true
		}
	}
	return false
}

// normaliseSchedule removes the gateways' jitter from the list of open payments, so that a seed repeats. The script that lists a
// payment has two keys, then its id and when it is due.
func normaliseSchedule(cmds []redis.Cmder, now time.Time) {
	for _, cmd := range cmds {
		args := cmd.Args()
		if len(args) < 7 || !strings.HasPrefix(cmd.Name(), "eval") || args[2] != 2 || args[3] != openPayments {
			continue
		}
		if due, ok := args[6].(int64); ok && due > now.UnixMilli() {
			args[6] = now.Add(10 * time.Second).UnixMilli()
		}
	}
}

// The lanes.
const openPayments, unverifiedPayments = "fd:payments:open", "fd:{fd:payments:open}:unverified"

// sortedSets are the lists that Redis forgets together with the records: the lanes, and what operators see of them.
var sortedSets = []string{openPayments, unverifiedPayments, "fd:{" + openPayments + "}:states"}

func (f *journey) watchVersions(cmds []redis.Cmder) {
	for _, cmd := range cmds {
		if !strings.HasPrefix(cmd.Name(), "eval") {
			continue
		}
		for _, arg := range cmd.Args() {
			key, ok := arg.(string)
			if !ok || !strings.HasPrefix(key, "fd:{") {
				continue
			}
			body := f.redis.HGet(key, "body")
			if body == "" || body == f.bodies[key] {
				continue
			}
			f.bodies[key] = body
			f.versions[f.epoch(key)] = append(f.versions[f.epoch(key)], number(f.redis.HGet(key, "version")))
		}
	}
}

// snapshot restores, key by key, what Redis held at a moment.
type snapshot []func()

func (f *journey) takeSnapshot() {
	const maxSnapshots = 12 // a rollback can go back some way, not to every moment
	var snapshot snapshot
	for _, key := range f.redis.Keys() {
		switch {
		case slices.Contains(sortedSets, key):
			scores, _ := f.redis.SortedSet(key)
			snapshot = append(snapshot, func() {
				for member, score := range scores {
					_, _ = f.redis.ZAdd(key, score, member)
				}
			})
		case strings.HasPrefix(key, "fd:{"):
			fields := map[string]string{}
			names, _ := f.redis.HKeys(key)
			for _, name := range names {
				fields[name] = f.redis.HGet(key, name)
			}
			snapshot = append(snapshot, func() {
				for name, value := range fields {
					f.redis.HSet(key, name, value)
				}
				f.bodies[key] = fields["body"]
				f.versions[f.epoch(key)] = []int64{number(fields["version"])}
			})
		case strings.HasPrefix(key, "fd:once:"):
			value, _ := f.redis.Get(key)
			left := f.redis.TTL(key)
			snapshot = append(snapshot, func() {
				_ = f.redis.Set(key, value)
				f.redis.SetTTL(key, left)
			})
		}
	}
	f.snapshots = append(f.snapshots, snapshot)
	if len(f.snapshots) > maxSnapshots {
		f.snapshots = f.snapshots[1:]
	}
}

// rollBackTo makes Redis forget, as a failover or an old backup would: it restores a snapshot, and forgets
// the later ones.
func (f *journey) rollBackTo(n int) {
	f.fault(redisRollback)
	f.afterLoss()
	f.redis.FlushAll()
	for _, restore := range f.snapshots[n] {
		restore()
	}
	f.snapshots = f.snapshots[:n+1]
}

// overtake has Redis fall back as a gateway is about to write at the processor, and another gateway advance the payment while the
// write takes its time: the way to two owners of one claim of which neither sees the other in the journal.
func (t *task) overtake() {
	journey := t.journey
	if t.dead.Load() || journey.plan.mixed || !journey.chance(journey.plan.overtakes) { // mixed: see post
		return
	}
	journey.fault(cardsOvertaken)
	journey.rollBackTo(journey.rng.IntN(len(journey.snapshots)))
	if p := journey.latestPayment(); p != nil {
		journey.advancePayment(0, p.ID)
	}
	t.yield(journey.between(0, 4*time.Second)) // well within the life of a claim
}

// openLease is how long a payment that a gateway took is not due for the others.
const openLease = 30 * time.Second

// takeWoken has the gateways take the payments that were woken.
func (f *journey) takeWoken() {
	scores, err := f.redis.SortedSet(openPayments)
	if err != nil {
		return // the list exists only while it has payments
	}
	for _, id := range slices.Sorted(maps.Keys(scores)) {
		if scores[id] < 0 { // see the store's Wake
			_, _ = f.redis.ZAdd(openPayments, float64(f.Now().Add(openLease).UnixMilli()), id)
			f.work(flows.PaymentID(id))
		}
	}
}

// work has a gateway advance a payment that it took, unless it dies before it begins.
func (f *journey) work(id flows.PaymentID) {
	if f.plan.webhooks > 0 && f.chance(f.plan.webhooks/4) {
		f.fault(jobLost)
		return
	}
	f.advancePayment(f.between(20*time.Millisecond, 2*time.Second), id)
}

// The timing of the rebuilds, as in the gateways' watch over Redis.
const (
	rebuildWindow = 8 * 24 * time.Hour // of everything
	rebuildSoon   = 20 * time.Second   // a loss is noticed by the next sweep, or the one after it
	rebuildAgain  = time.Minute        // after one that failed
	rebuildEvery  = 4 * time.Minute    // whether a loss was noticed or not
)

// rebuild has a gateway restore what Redis lost, and repeats until it is done.
func (f *journey) rebuild(d time.Duration) {
	f.spawn(d, func(ctx context.Context, t *task) {
		if err := t.gateway.payments.Rebuild(ctx, rebuildWindow); err != nil || t.dead.Load() {
			f.tracef("%s: rebuild: %v", t.gateway.name, err)
			f.rebuild(rebuildAgain)
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

// scheduleFallBack has Redis fall back at any moment, in journeys whose plan says so; noteCaptures does it once money was taken.
func (f *journey) scheduleFallBack() {
	if f.plan.choosesAgain && !f.plan.fallsBackThen {
		f.after(f.between(time.Second, time.Minute), f.fallBack)
	}
}

// fallBack has Redis forget the payment, and the buyer choose a method again.
func (f *journey) fallBack() {
	f.rollBackTo(0)
	f.pay(f.between(0, rebuildSoon))
}

// noteReleases has Redis fall back as a claim is released, half the time, where it does so at all. Then a gateway meets
// the released claim and calls for staff, who may take the money first.
func (f *journey) noteReleases() {
	releases := 0
	for _, p := range f.sandbox.Payments() {
		for entry := range p.Metadata {
			if strings.HasPrefix(entry, "fd_release_") {
				releases++
			}
		}
	}
	grown := releases > f.releases
	f.releases = releases
	if !grown || f.plan.rollbacks == 0 || !f.chance(0.5) {
		return
	}
	f.after(0, func() { f.rollBackTo(f.rng.IntN(len(f.snapshots))) })
	if f.plan.desk {
		f.after(f.between(0, 45*time.Second), f.settleAtDesk)
	}
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
