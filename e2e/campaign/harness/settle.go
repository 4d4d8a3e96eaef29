package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

const openPayments = "fd:payments:open" // see the package flows/store, as for other keys

// settleTime is how long one payment may take to end once the faults are over. It is far below the ten
// minutes of the invariants, because no lease has to expire first. settleEach is added for each
// journey: thousands of buyers take turns coming back.
const (
	settleTime = 3 * time.Minute
	settleEach = 100 * time.Millisecond
)

// Settle ends all faults: it restarts every gateway, expires the leases of dead processes, and has all
// buyers come back until they see an end. Journeys that have not ended by then are judged as they are.
// The tests of the payment machine cover the duration of a lease, which is too long for a campaign.
func (h *Harness) Settle(ctx context.Context, journeys []*Journey) {
	ctx, cancel := context.WithTimeout(ctx, settleTime+time.Duration(len(journeys))*settleEach)
	defer cancel()
	for _, g := range h.Gateways {
		g.Kill()
	}
	for err := h.expireLeases(ctx); err != nil; err = h.expireLeases(ctx) {
		if !redis.IsReadOnlyError(err) || !frontdesktest.Sleep(ctx, 100*time.Millisecond) { // of a primary that has just become a replica
			h.Fatal(err)
		}
	}
	for _, g := range h.Gateways {
		g.Start()
	}
	var back errgroup.Group
	back.SetLimit(32)
	for _, j := range journeys {
		if j.Done || j.Registration() == "" {
			continue
		}
		back.Go(func() error { j.Watch(ctx, settleTime); return nil })
	}
	back.Wait()
	// Some payments are advanced only by the sweeper: their buyers saw an end before Redis forgot it, or their
	// registration is gone. Those that are not settled in time are judged as they are.
	for h.unsettled() && frontdesktest.Sleep(ctx, 500*time.Millisecond) {
	}
}

// expireLeases ends all leases, and makes every open payment due for the sweeper. Every owner must be dead.
func (h *Harness) expireLeases(ctx context.Context) error {
	client := h.Storage.Client()
	defer client.Close()
	keys, err := paymentKeys(ctx, client)
	if err != nil {
		return err
	}
	pipe := client.Pipeline()
	for _, key := range keys {
		pipe.HSet(ctx, key, "lease", 0)
	}
	for _, id := range client.ZRange(ctx, openPayments, 0, -1).Val() {
		pipe.ZAddXX(ctx, openPayments, redis.Z{Score: 0, Member: id})
	}
	_, err = pipe.Exec(ctx)
	return err
}

// unsettled reports whether a gateway must still advance a payment, such as one that waits for a buyer who has
// already paid.
func (h *Harness) unsettled() bool {
	states := h.paymentStates()
	return slices.ContainsFunc(h.Upstreams.Cards.Payments(), func(p sandbox.Payment) bool {
		switch states[paymentName(p.Metadata["fd_registration"], p.Metadata["fd_generation"])] {
		case "recorded", "in_doubt", "refunded", "cancelled", "blocked":
			return false
		case "": // lost, until the next rebuild
			return p.Captured > p.Refunded && p.Metadata["fd_environment"] == "test"
		case "intent", "priced":
			return p.State == cards.Authorised || p.State == cards.Captured
		default:
			return true
		}
	})
}

func (h *Harness) paymentStates() map[string]string {
	ctx, client := h.Context(), h.Storage.Client()
	defer client.Close()
	keys, err := paymentKeys(ctx, client)
	frontdesktest.Must(h, err)
	pipe := client.Pipeline()
	replies := map[string]*redis.StringCmd{}
	for _, key := range keys {
		registration, generation, _ := strings.Cut(strings.TrimPrefix(key, "fd:{"), "}:payment:")
		replies[paymentName(registration, generation)] = pipe.HGet(ctx, key, "state")
	}
	_, err = pipe.Exec(ctx)
	frontdesktest.Must(h, err)
	states := map[string]string{}
	for key, reply := range replies {
		states[key] = reply.Val()
	}
	return states
}

func paymentName(registration, generation string) string { return registration + "-g" + generation }

func paymentKeys(ctx context.Context, client redis.UniversalClient) (keys []string, err error) {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		var mu sync.Mutex
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			its, err := paymentKeys(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, its...)
			return err
		})
		return keys, err
	}
	const batch = 1000 // keeps Redis responsive to other clients
	all := client.Scan(ctx, 0, "fd:{*}:payment:*", batch).Iterator()
	for all.Next(ctx) {
		keys = append(keys, all.Val())
	}
	if err := all.Err(); err != nil {
		return nil, fmt.Errorf("the payments in Redis: %w", err)
	}
	return keys, nil
}
