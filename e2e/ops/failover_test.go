package ops_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
)

const (
	// buyers is how many people are in a journey at any moment of a failover.
	buyers = 8
	// minPaid is how many of them have paid before it, and again after it: a gateway that never returned
	// to Redis would complete nothing.
	minPaid = buyers
	// watchTimeout is how long a buyer waits before coming back later.
	watchTimeout = 20 * time.Second
)

// TestSentinelFailsOverUnderLoad kills the primary that Sentinels watch while a crowd pays.
func TestSentinelFailsOverUnderLoad(t *testing.T) {
	t.Parallel()
	watched := harness.NewSentinelRedis(t)
	failOverUnderLoad(t, watched, func(string) { watched.FailOver() })
}

// TestClusterFailsOverUnderLoad kills the primary of a payment's slot in a cluster while a crowd pays.
// It stays dead: the replica that takes its place has another address.
func TestClusterFailsOverUnderLoad(t *testing.T) {
	t.Parallel()
	cluster := newRedisCluster(t)
	failOverUnderLoad(t, cluster, func(registration string) {
		if err := cluster.FailOver(t.Context(), "fd:{"+registration+"}:registration"); err != nil {
			t.Error(err)
		}
	})
}

// TestClusterAcknowledgesUnderLoad requires a replica's acknowledgement of writes in a cluster, while a
// crowd pays and the slot of a payment moves.
func TestClusterAcknowledgesUnderLoad(t *testing.T) {
	t.Parallel()
	cluster := newRedisCluster(t)
	config := harness.Config{Storage: cluster, Environment: []string{"FRONTDESK_REDIS_WAIT=1"}}
	failUnderLoad(t, config, func(_ *harness.Harness, registration string) {
		if err := cluster.Migrate(t.Context(), "fd:{"+registration+"}:registration"); err != nil {
			t.Error(err)
		}
	})
}

// failOverUnderLoad makes Redis fail over at the moment when one buyer's payment is sent to the club
// system. That payment is recorded nevertheless.
func failOverUnderLoad(t *testing.T, storage harness.Storage, failOver func(registration string)) {
	t.Helper()
	bench, registration, state := failUnderLoad(t, harness.Config{Storage: storage}, func(r *harness.Harness, registration string) {
		struck := r.BreakAt(
			t.Context(), frontdesktest.PostPayment, frontdesktest.DuringRequest, frontdesktest.Patience,
			func(*harness.Gateway) { failOver(registration) },
		)
		if struck == nil {
			t.Fatal("nothing was sent to the club system")
		}
	})
	if state != "recorded" {
		t.Errorf("the payment is %q", state)
	}
	if !bench.Booked(bench.Sale(registration)) {
		t.Error("the payment is not in the club system's ledger")
	}
}

// failUnderLoad calls befall, which disturbs Redis, while a crowd pays at two gateways, between one
// buyer's request to pay and their card. In the end the crowd pays again, and every captured payment is
// recorded once or in doubt. It returns the one buyer's registration, and the payment's state as that
// buyer saw it.
func failUnderLoad(
	t *testing.T, of harness.Config, befall func(r *harness.Harness, registration string),
) (bench *harness.Harness, registration, state string) {
	t.Helper()
	of.Gateway, of.Replicas = frontdesktest.Binary(t), 2
	bench = harness.New(t, of)
	one := bench.NewJourney(0)
	if !one.Register(t.Context()) || !one.Pay(t.Context()) {
		t.Fatal("no payment succeeds")
	}
	crowd := &paymentLoad{harness: bench, done: make(chan struct{})}
	crowd.start(t.Context())
	frontdesktest.Eventually(t, "a crowd pays", func() bool { return crowd.paid() >= minPaid })
	befall(bench, one.Registration())
	begun := time.Now()
	one.Confirm(t.Context())
	one.Watch(t.Context(), frontdesktest.Patience)
	state = one.State
	t.Logf("%s after %s", state, time.Since(begun).Round(time.Millisecond))
	after := crowd.paid() + minPaid
	frontdesktest.Eventually(t, "the crowd pays again", func() bool { return crowd.paid() >= after })
	crowd.stop()
	expectConsistentLedgers(t, bench, append(crowd.journeys, one))
	return bench, one.Registration(), state
}

// expectConsistentLedgers compares all ledgers with each other, once all journeys have ended.
func expectConsistentLedgers(t *testing.T, r *harness.Harness, journeys []*harness.Journey) {
	t.Helper()
	r.Settle(t.Context(), journeys)
	for _, v := range r.Check(journeys) {
		t.Errorf("%s: %s %s\n%s", v.Invariant, v.Registration, v.Detail, v.Trace)
	}
	t.Logf("%d journeys", len(journeys))
}

// paymentLoad sends buyers one after another, several at a time.
type paymentLoad struct {
	harness *harness.Harness
	done    chan struct{}
	group   sync.WaitGroup

	mu        sync.Mutex
	journeys  []*harness.Journey
	endStates []string // how the finished journeys ended
}

func (s *paymentLoad) start(ctx context.Context) {
	for place := range buyers {
		s.group.Go(func() {
			for seed := uint64(place + 1); ; seed += buyers {
				select {
				case <-s.done:
					return
				default:
				}
				journey := s.harness.NewJourney(seed)
				s.mu.Lock()
				s.journeys = append(s.journeys, journey)
				s.mu.Unlock()
				journey.Run(ctx, watchTimeout)
				s.mu.Lock()
				s.endStates = append(s.endStates, journey.State)
				s.mu.Unlock()
			}
		})
	}
}

// paid returns how many journeys ended with a recorded payment.
func (s *paymentLoad) paid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.endStates), func(state string) bool { return state != "recorded" }))
}

// stop finishes the journeys in progress and starts no more.
func (s *paymentLoad) stop() {
	close(s.done)
	s.group.Wait()
}
