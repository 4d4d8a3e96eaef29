package e2e_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/campaign/rig"
	"frontdesk/e2e/frontdesktest"
)

const (
	// buyers is how many people are in a journey at any moment of a failover.
	buyers = 8
	// paidAround is how many of them have paid before, and again after it: a gateway that
	// never came back to Redis would bring nobody to the end.
	paidAround = buyers
	// underWay is how long one of them is waited for whose payment is just being sent.
	underWay = 30 * time.Second
	// watching is how long a buyer looks on before they come back later.
	watching = 20 * time.Second
)

// TestSentinelFailsOverUnderLoad kills the primary that Sentinels watch while a crowd pays.
func TestSentinelFailsOverUnderLoad(t *testing.T) {
	t.Parallel()
	watched, err := rig.NewWatched(t.Context(), t.TempDir())
	t.Cleanup(watched.Kill)
	if err != nil {
		t.Fatal(err)
	}
	failOverUnderLoad(t, watched, func(ctx context.Context, _ string) error { return watched.FailOver(ctx) })
}

// TestClusterFailsOverUnderLoad kills the primary of a cluster on whose slot a payment is, while
// a crowd pays. It stays dead: the replica that takes its place is at another address.
func TestClusterFailsOverUnderLoad(t *testing.T) {
	t.Parallel()
	cluster, err := rig.NewCluster(t.Context(), t.TempDir())
	t.Cleanup(cluster.Kill)
	if err != nil {
		t.Fatal(err)
	}
	failOverUnderLoad(t, cluster, func(ctx context.Context, registration string) error {
		return cluster.FailOver(ctx, "fd:{"+registration+"}:registration")
	})
}

// TestClusterAcknowledgesUnderLoad has a replica acknowledge what is written in a cluster, while a
// crowd pays and the slot of a payment moves.
func TestClusterAcknowledgesUnderLoad(t *testing.T) {
	t.Parallel()
	cluster, err := rig.NewCluster(t.Context(), t.TempDir())
	t.Cleanup(cluster.Kill)
	if err != nil {
		t.Fatal(err)
	}
	underLoad(t, rig.Config{Storage: cluster, Environment: []string{"FRONTDESK_REDIS_WAIT=1"}}, func(_ *rig.Rig, registration string) {
		if err := cluster.Migrate(t.Context(), "fd:{"+registration+"}:registration"); err != nil {
			t.Error(err)
		}
	})
}

// failOverUnderLoad has Redis fail over in the moment in which a payment of the crowd is sent to
// the club system. The one buyer's is recorded all the same.
func failOverUnderLoad(t *testing.T, storage rig.Storage, failOver func(ctx context.Context, registration string) error) {
	t.Helper()
	r, registration, told := underLoad(t, rig.Config{Storage: storage}, func(r *rig.Rig, registration string) {
		struck := r.Trap(t.Context(), rig.Posting, rig.While, underWay, func(*rig.Gateway) {
			if err := failOver(t.Context(), registration); err != nil {
				t.Error(err)
			}
		})
		if struck == nil {
			t.Fatal("nothing was sent to the club system")
		}
	})
	if told != "recorded" {
		t.Errorf("the payment is %q", told)
	}
	if booked, err := r.Booked(t.Context()); err != nil || !booked[registration] {
		t.Errorf("the payment is not in the club system's ledger (%v)", err)
	}
}

// underLoad has something befall Redis while a crowd pays at two gateways, and between one buyer's
// wish to pay and their card. In the end the crowd pays again, and every captured payment is
// recorded once or in doubt. It gives the one buyer's registration, and what they were told of their payment.
func underLoad(t *testing.T, of rig.Config, befall func(r *rig.Rig, registration string)) (r *rig.Rig, registration, told string) {
	t.Helper()
	of.Gateway, of.Replicas = frontdesktest.Binary(t), 2
	r, err := rig.New(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	one := r.NewJourney(0)
	if !one.Register(t.Context()) || !one.Pay(t.Context()) {
		t.Fatal("nobody can pay")
	}
	crowd := &shoppers{rig: r, done: make(chan struct{})}
	crowd.enter(t.Context())
	frontdesktest.Eventually(t, "a crowd pays", func() bool { return crowd.paid() >= paidAround })
	befall(r, one.Registration)
	begun := time.Now()
	one.Confirm(t.Context())
	one.Watch(t.Context(), underWay)
	told = one.State
	t.Logf("%s after %s", told, time.Since(begun).Round(time.Millisecond))
	after := crowd.paid() + paidAround
	frontdesktest.Eventually(t, "the crowd pays again", func() bool { return crowd.paid() >= after })
	crowd.leave()
	expectFair(t, r, append(crowd.journeys, one))
	return r, one.Registration, told
}

// expectFair holds everybody's books against each other, once all have come to their end.
func expectFair(t *testing.T, r *rig.Rig, journeys []*rig.Journey) {
	t.Helper()
	if err := r.Settle(t.Context(), journeys); err != nil {
		t.Fatal(err)
	}
	found, err := r.Judge(t.Context(), journeys)
	if err != nil {
		t.Error(err)
	}
	for _, v := range found {
		t.Errorf("%s: %s %s\n%s", v.Invariant, v.Flow, v.Detail, v.Trace)
	}
	t.Logf("%d journeys", len(journeys))
}

// shoppers are buyers who come one after the other, several at a time.
type shoppers struct {
	rig   *rig.Rig
	done  chan struct{}
	group sync.WaitGroup

	mu       sync.Mutex
	journeys []*rig.Journey
	over     []string // how those ended who have left
}

func (s *shoppers) enter(ctx context.Context) {
	for place := range buyers {
		s.group.Go(func() {
			for seed := uint64(place + 1); ; seed += buyers {
				select {
				case <-s.done:
					return
				default:
				}
				j := s.rig.NewJourney(seed)
				s.mu.Lock()
				s.journeys = append(s.journeys, j)
				s.mu.Unlock()
				j.Shop(ctx, watching)
				s.mu.Lock()
				s.over = append(s.over, j.State)
				s.mu.Unlock()
			}
		})
	}
}

// paid is how many were told that they are members.
func (s *shoppers) paid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.over), func(state string) bool { return state != "recorded" }))
}

// leave lets those who are there finish, and nobody else in.
func (s *shoppers) leave() {
	close(s.done)
	s.group.Wait()
}
