package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
)

// notLinearizable: calls at several gateways must look as if they came one after the other.
const notLinearizable = "no order of the calls explains the responses"

const (
	concurrentHistories            = 4                      // histories that are made at the same time
	historyCallers, callsPerCaller = 6, 4                   // small enough to search the orders of a history
	checkTimeout                   = 20 * time.Second       // of the search for an order
	maxFaultPause                  = 300 * time.Millisecond // between two faults
)

// Idempotency compares the responses to calls with idempotency keys, and to requests to pay for one
// sale, with those of one process without faults, while gateways and Redis are killed.
func Idempotency() campaign.Campaign {
	return campaign.Campaign{
		Name: "idempotency",
		Description: "Idempotency keys and the lock of a sale are linearizable: one order must explain each recorded history of " +
			"concurrent calls over three gateways, with gateways and Redis killed in between.",
		Faults:    []string{killedOne, redisKilledAlways},
		Mutations: []string{"key-any-body"},
		Short:     campaign.Options{Count: 24},
		Long:      campaign.Options{Count: 400},
		Drive:     onHarness(3, durableRedis, checkIdempotency),
	}
}

func checkIdempotency(run *run) {
	limited, cancel := run.options.Context(run.scope.Context())
	defer cancel()
	faults, stop := context.WithCancel(run.scope.Context())
	var injecting sync.WaitGroup
	injecting.Go(func() { run.killGatewaysAndRedis(faults) })
	defer injecting.Wait()
	defer stop()
	var histories errgroup.Group
	histories.SetLimit(concurrentHistories)
	for n := 1; n <= run.options.Count && limited.Err() == nil && (!run.options.StopAtViolation || run.record.ViolationCount() == 0); n++ {
		histories.Go(func() error {
			h := &history{run: run, random: rand.New(rand.NewPCG(run.options.Seed, uint64(n))), began: time.Now()}
			h.make(run.scope.Context(), n%3 == 0)
			h.check()
			return nil
		})
	}
	histories.Wait()
}

// killGatewaysAndRedis continues until the context ends.
func (r *run) killGatewaysAndRedis(ctx context.Context) {
	for ctx.Err() == nil {
		r.waitUpTo(ctx, maxFaultPause)
		r.killOne(ctx)
		r.waitUpTo(ctx, maxFaultPause)
		r.restartRedis(nil)(ctx)
		r.record.AddFault(redisKilledAlways)
	}
}

// history is what several callers did at the same time with a few keys, or with one sale.
type history struct {
	*run
	random *rand.Rand
	began  time.Time

	mu         sync.Mutex
	operations []porcupine.Operation
}

type callInput struct {
	key    string // what the history is split by
	body   string // that came with the key; for a sale, always the same
	read   bool   // only reads
	forget bool   // no call: the gateway may have freed the key of a call that failed
}

type callOutcome struct {
	id      string // of the created object
	running bool   // 409: the first call is in progress
	reused  bool   // 422: the key came with another body
	nothing bool   // a read found nothing
	unknown bool   // no response, or one that says nothing about what was done
}

func (h *history) make(ctx context.Context, ofSale bool) {
	keys := []string{uuid.NewString(), uuid.NewString()}
	var journey *harness.Journey
	if ofSale {
		journey = h.NewJourney(h.random.Uint64())
		if !journey.Register(ctx) {
			return
		}
	}
	var all sync.WaitGroup
	for i := range historyCallers {
		random := rand.New(rand.NewPCG(h.random.Uint64(), 0))
		all.Go(func() {
			for range callsPerCaller {
				g := h.RandomGateway(random)
				if ofSale {
					h.pay(ctx, i, journey, g, random.IntN(2) == 0)
				} else {
					h.register(ctx, i, g, keys[random.IntN(len(keys))], []string{"", "web"}[random.IntN(5)/4])
				}
				frontdesktest.Sleep(ctx, time.Duration(random.Int64N(int64(maxFaultPause/4))))
			}
		})
	}
	all.Wait()
}

func (h *history) register(ctx context.Context, caller int, gateway *harness.Gateway, key, channel string) {
	body := map[string]string{"clubId": h.Club}
	if channel != "" {
		body["channel"] = channel // the default, in another body
	}
	h.call(caller, callInput{key: key, body: channel}, func() (*frontdesktest.Response, error) {
		return (&frontdesktest.Buyer{HTTP: &h.HTTP}).Send(ctx, http.MethodPost, gateway.URL+"/v1/registrations", key, body)
	})
}

func (h *history) pay(ctx context.Context, caller int, journey *harness.Journey, gateway *harness.Gateway, read bool) {
	h.call(caller, callInput{key: journey.Registration(), read: read}, func() (*frontdesktest.Response, error) {
		if read {
			return journey.Ask(ctx, gateway, http.MethodGet, "", "", nil)
		}
		return journey.Ask(ctx, gateway, http.MethodPost, "/payment", uuid.NewString(), journey.ByCard())
	})
}

// call makes a call and records it. A call with an unknown outcome may take effect at any later time,
// and may then free its key again.
func (h *history) call(caller int, in callInput, send func() (*frontdesktest.Response, error)) {
	called := int64(time.Since(h.began))
	response, err := send()
	out := outcomeOf(in.read, response, err)
	returned := int64(time.Since(h.began))
	h.mu.Lock()
	defer h.mu.Unlock()
	if out.unknown {
		if in.read {
			return
		}
		returned = math.MaxInt64
		caller = historyCallers + len(h.operations)
		h.operations = append(h.operations, porcupine.Operation{
			ClientId: caller,
			Input:    callInput{key: in.key, body: in.body, forget: true},
			Output:   out,
			Call:     called,
			Return:   returned,
		})
		caller++
	}
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: caller,
		Input:    in,
		Output:   out,
		Call:     called,
		Return:   returned,
	})
}

func outcomeOf(read bool, response *frontdesktest.Response, err error) callOutcome {
	if err != nil || response.Status >= 500 {
		return callOutcome{unknown: true}
	}
	var made api.Registration
	switch code := response.Code(); {
	case code == string(api.KeyInUse):
		return callOutcome{running: true}
	case code == string(api.KeyReused):
		return callOutcome{reused: true}
	case response.Status == http.StatusNotFound:
		return callOutcome{nothing: true}
	case response.Status > 299 || json.Unmarshal(response.Body, &made) != nil || made.Id == "":
		return callOutcome{unknown: true} // such as a conflict: as far as a caller can know, it was not carried out
	case made.Payment != nil:
		return callOutcome{id: made.Payment.Id}
	case read:
		return callOutcome{nothing: true}
	default:
		return callOutcome{id: made.Id}
	}
}

// check searches for an order of the calls that explains all responses.
func (h *history) check() {
	switch porcupine.CheckOperationsTimeout(idempotencyModel, h.operations, checkTimeout) {
	case porcupine.Illegal:
		var trace []string
		for _, op := range h.operations {
			trace = append(trace, fmt.Sprintf("%d to %d: %+v → %+v", op.Call, op.Return, op.Input, op.Output))
		}
		h.record.AddViolations(campaign.Violation{
			Invariant: notLinearizable,
			Seed:      h.options.Seed,
			Detail:    fmt.Sprintf("%d calls", len(h.operations)),
			Trace:     trace,
		})
		h.record.AddJourney("not explained")
	case porcupine.Unknown:
		h.record.AddJourney("too long to be explained")
	default:
		h.record.AddJourney("explained")
	}
}

// keyState is what one process without faults would know about a key, or about a sale.
type keyState struct {
	taken bool
	body  string // that came first
	id    string // of the created object; empty while no response had it
}

// idempotencyModel defines the allowed responses. The first call takes a key by reserving it. The same
// body then gets the same response, or "still running" until there is one; another body is refused. A
// sale is a key that all callers use with the same body.
var idempotencyModel = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, op := range history {
			parts[op.Input.(callInput).key] = append(parts[op.Input.(callInput).key], op)
		}
		return slices.Collect(maps.Values(parts))
	},
	Init: func() []any { return []any{keyState{}} },
	Step: func(state, input, output any) []any {
		var next []any
		for _, s := range state.(keyState).after(input.(callInput), output.(callOutcome)) {
			next = append(next, s)
		}
		return next
	},
}).ToModel()

// after returns the states that a call with this response may lead to; none when the response is not possible here.
func (s keyState) after(in callInput, out callOutcome) []keyState {
	mine := s.taken && s.body == in.body
	switch {
	case in.forget && mine && s.id == "":
		return []keyState{s, {}}
	case in.forget:
		return []keyState{s}
	case out.unknown && !s.taken:
		return []keyState{s, {taken: true, body: in.body}}
	case out.unknown:
		return []keyState{s}
	case out.nothing:
		return stateIf(!s.taken || s.id == "", s) // reserved, but not yet created
	case out.running:
		return stateIf(mine, s)
	case out.reused:
		return stateIf(s.taken && !mine, s)
	case !s.taken:
		return stateIf(!in.read, keyState{taken: true, body: in.body, id: out.id})
	case mine && s.id == "":
		return []keyState{{taken: true, body: in.body, id: out.id}}
	default:
		return stateIf(mine && s.id == out.id, s)
	}
}

func stateIf(possible bool, s keyState) []keyState {
	if possible {
		return []keyState{s}
	}
	return nil
}
