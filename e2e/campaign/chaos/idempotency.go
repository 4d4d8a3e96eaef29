package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/rig"
)

// notLinearizable: calls at several gateways look as if they had come one after the other.
const notLinearizable = "no order of the calls explains the answers"

const (
	// historiesShort and historiesLong are the histories of the short form and of the run for the record.
	historiesShort, historiesLong = 24, 400
	// concurrentHistories is how many histories are made side by side.
	concurrentHistories = 4
	// historyCallers and callsPerCaller are those of a history: few enough to be ordered by search.
	historyCallers, callsPerCaller = 6, 4
	// checkTime is how long an order may be looked for.
	checkTime = 20 * time.Second
	// maxFaultPause is the longest time between two faults.
	maxFaultPause = 300 * time.Millisecond
)

// Idempotency holds the answers to calls with idempotency keys, and to wishes to pay for one
// sale, against what one process without faults would answer, while gateways and
// Redis are killed.
func Idempotency() campaign.Campaign {
	return campaign.Campaign{
		Name: "key",
		Description: "Idempotency keys and the lock of a sale are held to be linearizable: recorded histories of concurrent calls over three gateways, " +
			"with gateways and Redis killed in between, have to be explained by one order.",
		Faults:    []string{killedOne, redisKilledAlways},
		Mutations: []string{"key-any-body"},
		Long:      campaign.Options{Count: historiesLong}, Run: runIdempotency,
	}
}

func runIdempotency(ctx context.Context, o campaign.Options) (*campaign.Report, error) {
	if o.Count == 0 {
		o.Count = historiesShort
	}
	r, storage, end, err := newDurableHarness(ctx, o, rig.Config{})
	if err != nil {
		return nil, err
	}
	defer end()
	record := campaign.NewRecorder("key", o)
	trouble, calm := context.WithCancel(ctx)
	var troubled error
	var group sync.WaitGroup
	group.Go(func() { troubled = injectFaults(trouble, r, storage, record, o.Seed) })
	limited, cancel := o.Context(ctx)
	defer cancel()
	var rounds atomic.Int64
	var lanes sync.WaitGroup
	for range concurrentHistories {
		lanes.Go(func() {
			for limited.Err() == nil && (!o.StopAtViolation || record.ViolationCount() == 0) {
				n := rounds.Add(1)
				if n > int64(o.Count) {
					return
				}
				h := &history{rig: r, record: record, random: rand.New(rand.NewPCG(o.Seed, uint64(n))), began: time.Now()}
				h.run(ctx, n%3 == 0)
				h.check(o.Seed)
			}
		})
	}
	lanes.Wait()
	calm()
	group.Wait()
	if troubled != nil && !ended(troubled) {
		return nil, troubled
	}
	return record.Report(), nil
}

// injectFaults kills gateways and Redis until it is told to stop.
func injectFaults(ctx context.Context, r *rig.Harness, redis *rig.Redis, record *campaign.Recorder, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 5))
	k := &killer{rig: r, record: record, random: random}
	for ctx.Err() == nil {
		wait(ctx, time.Duration(random.Int64N(int64(maxFaultPause))))
		if err := k.killOne(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		wait(ctx, time.Duration(random.Int64N(int64(maxFaultPause))))
		if err := restart(context.WithoutCancel(ctx), redis, random, nil); err != nil {
			return err
		}
		record.AddFault(redisKilledAlways)
	}
	return ctx.Err()
}

// history is what some callers did at the same time to a few keys, or to one sale.
type history struct {
	rig    *rig.Harness
	record *campaign.Recorder
	random *rand.Rand
	began  time.Time

	mu         sync.Mutex
	operations []porcupine.Operation
}

// callInput is a call.
type callInput struct {
	key    string // what the history is split by
	body   string // that came with the key; for a sale, always the same
	read   bool   // only looks
	forget bool   // no call: the gateway may have freed the key of a call that failed
}

// callOutcome is its answer.
type callOutcome struct {
	id      string // of what was made
	running bool   // 409: the first call has no answer yet
	reused  bool   // 422: the key came with another body
	nothing bool   // a look found nothing
	unknown bool   // no answer, or one that says nothing about what was done
}

// run makes a history.
func (h *history) run(ctx context.Context, ofSale bool) {
	keys := []string{uuid.NewString(), uuid.NewString()}
	var j *rig.Journey
	if ofSale {
		if j = h.rig.NewJourney(h.random.Uint64()); !j.Register(ctx) {
			return
		}
	}
	var all sync.WaitGroup
	for i := range historyCallers {
		random := rand.New(rand.NewPCG(h.random.Uint64(), 0))
		all.Go(func() {
			for range callsPerCaller {
				g := h.rig.Gateways[random.IntN(len(h.rig.Gateways))]
				if ofSale {
					h.pay(ctx, i, j, g, random.IntN(2) == 0)
				} else {
					h.register(ctx, i, g, keys[random.IntN(len(keys))], []string{"", "web"}[random.IntN(5)/4])
				}
				wait(ctx, time.Duration(random.Int64N(int64(maxFaultPause/4))))
			}
		})
	}
	all.Wait()
}

// register starts a registration under a key.
func (h *history) register(ctx context.Context, caller int, g *rig.Gateway, key, channel string) {
	call, body := h.now(), map[string]string{"clubId": h.rig.Club()}
	if channel != "" {
		body["channel"] = channel // which is what it is without, in another body
	}
	reply, err := h.rig.Call(ctx, g, http.MethodPost, "/v1/registrations", "", key, body)
	h.add(caller, call, callInput{key: key, body: channel}, outcomeOf(reply, err))
}

// pay asks for the payment of a sale, or looks for it.
func (h *history) pay(ctx context.Context, caller int, j *rig.Journey, g *rig.Gateway, look bool) {
	call := h.now()
	if look {
		reply, err := j.Ask(ctx, g, http.MethodGet, "/payment", "", nil)
		h.add(caller, call, callInput{key: j.Registration, read: true}, outcomeOf(reply, err))
		return
	}
	reply, err := j.Ask(ctx, g, http.MethodPost, "/payment", uuid.NewString(), map[string]string{"method": "card"})
	h.add(caller, call, callInput{key: j.Registration}, outcomeOf(reply, err))
}

// outcomeOf says what an answer means.
func outcomeOf(reply rig.Response, err error) callOutcome {
	var made struct{ ID string }
	switch code := reply.Code(); {
	case err != nil || reply.Status >= 500:
		return callOutcome{unknown: true}
	case code == "key_in_use":
		return callOutcome{running: true}
	case code == "key_reused":
		return callOutcome{reused: true}
	case reply.Status == http.StatusNotFound:
		return callOutcome{nothing: true}
	case reply.Status < 300 && json.Unmarshal(reply.Body, &made) == nil && made.ID != "":
		return callOutcome{id: made.ID}
	default:
		return callOutcome{unknown: true} // a conflict, say: it was not carried out, as far as one can know
	}
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

// add keeps a call. One whose answer is not known may take effect at any time after it
// was made, and may then free its key again.
func (h *history) add(caller int, call int64, in callInput, out callOutcome) {
	back := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if out.unknown && in.read {
		return
	}
	if out.unknown {
		back = math.MaxInt64
		h.operations = append(h.operations, porcupine.Operation{ClientId: historyCallers + len(h.operations), Input: callInput{key: in.key, body: in.body, forget: true},
			Output: out, Call: call, Return: back})
		caller = historyCallers + len(h.operations)
	}
	h.operations = append(h.operations, porcupine.Operation{ClientId: caller, Input: in, Output: out, Call: call, Return: back})
}

// check looks for an order of the calls that explains all answers.
func (h *history) check(seed uint64) {
	switch porcupine.CheckOperationsTimeout(idempotencyModel, h.operations, checkTime) {
	case porcupine.Illegal:
		var trace []string
		for _, op := range h.operations {
			trace = append(trace, fmt.Sprintf("%d to %d: %+v → %+v", op.Call, op.Return, op.Input, op.Output))
		}
		h.record.AddViolations(campaign.Violation{Invariant: notLinearizable, Seed: seed, Detail: fmt.Sprintf("%d calls", len(h.operations)), Trace: trace})
		h.record.AddJourney("not explained")
	case porcupine.Unknown:
		h.record.AddJourney("too long to be explained")
	default:
		h.record.AddJourney("explained")
	}
}
