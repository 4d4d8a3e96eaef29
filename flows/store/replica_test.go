package store_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/store"
)

// acknowledging is a fixture on a primary whose replica must acknowledge writes.
type acknowledging struct {
	*fixture // whose own store waits for no replica
	waiting  *store.Store
	replica  *redis.Client
}

func newAcknowledging(t *testing.T) *acknowledging {
	t.Helper()
	proxy := &acknowledging{
		fixture: newFixture(t, frontdesktest.NewDurableRedis(t, "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0")),
	}
	options, err := redis.ParseURL(frontdesktest.NewRedis(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy.replica = redis.NewClient(options)
	t.Cleanup(func() { proxy.replica.Close() })
	proxy.waiting = store.New(store.Config{Redis: connect(t, proxy.url), Keys: keysOf(t, "one"), Replicas: 1})
	proxy.follow()
	return proxy
}

// follow makes the replica follow the primary, and waits until it does.
func (a *acknowledging) follow() {
	a.Helper()
	host, port, _ := strings.Cut(strings.TrimPrefix(a.url, "redis://"), ":")
	if err := a.replica.ReplicaOf(a.Context(), host, port).Err(); err != nil {
		a.Fatal(err)
	}
	frontdesktest.Eventually(a, "the replica follows", func() bool { return a.redis.Do(a.Context(), "WAIT", 1, 100).Val() == int64(1) })
}

// move retries a state change while the store says that it may not have been applied, as the gateway does: on
// a busy machine a replica is slow.
func (a *acknowledging) move(by *store.Store, move flows.StateChange) *flows.Payment {
	a.Helper()
	frontdesktest.Eventually(a, "a replica acknowledges", func() bool { return by.Commit(a.Context(), move) == nil })
	return move.Next
}

// TestReplicasAcknowledge: a write that the store confirms is on a replica; without a replica, no write is
// confirmed.
func TestReplicasAcknowledge(t *testing.T) {
	t.Parallel()
	proxy := newAcknowledging(t)
	_, payment := proxy.started()
	payment = proxy.move(proxy.waiting, to(payment, flows.Intent))
	if state := proxy.replica.HGet(t.Context(), paymentKey(payment), "state").Val(); state != string(flows.Intent) {
		t.Errorf("the replica has %q", state)
	}
	given := store.CheckOptions{Replicas: 1}
	var found []flows.Check
	frontdesktest.Eventually(t, "Redis is found well", func() bool {
		found = store.CheckRedis(t.Context(), proxy.redis, given, time.Now)
		return !slices.ContainsFunc(found, func(d flows.Check) bool { return d.Verdict != flows.OK })
	})
	expectChecks(t, found, nil, "replicas acknowledge each write")

	proxy.replica.ReplicaOf(t.Context(), "NO", "ONE")
	move := to(payment, flows.Authorised)
	proxy.unchanged("a move that no replica would have", func() {
		var refused redis.Error
		if err := proxy.waiting.Commit(t.Context(), move); err == nil || errors.As(err, &refused) || errors.Is(err, flows.ErrConflict) {
			t.Errorf("without a replica: %v", err)
		}
	})
	if _, err := proxy.waiting.Payment(t.Context(), payment.ID); err != nil {
		t.Errorf("nor can it be read: %v", err)
	}
	_, _, err := proxy.waiting.BeginRequest(t.Context(), "scope", "key", "body", "owner")
	if flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("a request begins with %v", err)
	}
	expectChecks(
		t, store.CheckRedis(t.Context(), proxy.redis, given, time.Now), map[string]flows.Verdict{"redis writes": flows.Failed},
		"start the replica",
	)

	proxy.follow()
	if payment = proxy.move(proxy.waiting, move); payment.Version <= move.Version {
		t.Errorf("it is at version %d after %d", payment.Version, move.Version)
	}
}

// TestReplicasAndALostAnswer loses the response to each message of a change: the change is made once.
func TestReplicasAndALostAnswer(t *testing.T) {
	t.Parallel()
	proxy := newAcknowledging(t)
	far, err := url.Parse(proxy.url)
	if err != nil {
		t.Fatal(err)
	}
	broke := 0
	for message := range 5 {
		_, p := proxy.started()
		wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{Message: message + 1, DropResponse: true})
		behind := store.New(store.Config{Redis: connect(t, "redis://"+wire.Forward(far.Host)), Keys: keysOf(t, "one"), Replicas: 1})
		moved := proxy.move(behind, to(p, flows.Intent))
		if read, err := proxy.Payment(t.Context(), p.ID); err != nil || read.State != flows.Intent || read.Version != moved.Version {
			t.Errorf("message %d: %+v (%v)", message+1, read, err)
		}
		if wire.Triggered() {
			broke++
		}
	}
	if broke < 3 {
		t.Errorf("only %d messages were hit", broke)
	}
}
