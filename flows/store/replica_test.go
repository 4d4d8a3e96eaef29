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
	a := &acknowledging{
		fixture: newFixture(t, frontdesktest.NewDurableRedis(t, "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0")),
	}
	options, err := redis.ParseURL(frontdesktest.NewRedis(t))
	if err != nil {
		t.Fatal(err)
	}
	a.replica = redis.NewClient(options)
	t.Cleanup(func() { a.replica.Close() })
	a.waiting = store.New(store.Config{Redis: connect(t, a.url), Keys: keysOf(t, "one"), Replicas: 1})
	a.follow()
	return a
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
	a := newAcknowledging(t)
	_, p := a.started()
	p = a.move(a.waiting, to(p, flows.Intent))
	if state := a.replica.HGet(t.Context(), paymentKey(p), "state").Val(); state != string(flows.Intent) {
		t.Errorf("the replica has %q", state)
	}
	given := store.CheckOptions{Replicas: 1}
	var found []flows.Check
	frontdesktest.Eventually(t, "Redis is found well", func() bool {
		found = store.CheckRedis(t.Context(), a.redis, given, time.Now)
		return !slices.ContainsFunc(found, func(d flows.Check) bool { return d.Verdict != flows.OK })
	})
	expectChecks(t, found, nil, "replicas acknowledge each write")

	a.replica.ReplicaOf(t.Context(), "NO", "ONE")
	move := to(p, flows.Authorised)
	a.unchanged("a move that no replica would have", func() {
		var refused redis.Error
		if err := a.waiting.Commit(t.Context(), move); err == nil || errors.As(err, &refused) || errors.Is(err, flows.ErrConflict) {
			t.Errorf("without a replica: %v", err)
		}
	})
	if _, err := a.waiting.Payment(t.Context(), p.ID); err != nil {
		t.Errorf("nor can it be read: %v", err)
	}
	_, _, err := a.waiting.BeginRequest(t.Context(), "scope", "key", "body", "owner")
	if flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("a request begins with %v", err)
	}
	expectChecks(
		t, store.CheckRedis(t.Context(), a.redis, given, time.Now), map[string]flows.Verdict{"redis writes": flows.Failed},
		"start the replica",
	)

	a.follow()
	if p = a.move(a.waiting, move); p.Version != 3 {
		t.Errorf("it is at version %d", p.Version)
	}
}

// TestReplicasAndALostAnswer loses the response to each message of a change: the change is made once.
func TestReplicasAndALostAnswer(t *testing.T) {
	t.Parallel()
	a := newAcknowledging(t)
	far, err := url.Parse(a.url)
	if err != nil {
		t.Fatal(err)
	}
	broke := 0
	for message := range 5 {
		_, p := a.started()
		wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{Message: message + 1, DropResponse: true})
		behind := store.New(store.Config{Redis: connect(t, "redis://"+wire.Forward(far.Host)), Keys: keysOf(t, "one"), Replicas: 1})
		a.move(behind, to(p, flows.Intent))
		if read, err := a.Payment(t.Context(), p.ID); err != nil || read.State != flows.Intent || read.Version != p.Version+1 {
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
