package store_test

import (
	"reflect"
	"sync"
	"testing"

	"frontdesk/flows/store"
)

// attempt is one request with an idempotency key.
type attempt struct{ fingerprint, owner string }

func (b *fixture) begin(a attempt) (store.RequestStatus, store.Response) {
	b.Helper()
	begun, answer, err := b.BeginRequest(b.Context(), "a holder and a route", "the key", a.fingerprint, a.owner)
	if err != nil {
		b.Fatal(err)
	}
	return begun, answer
}

// created is the response that starts a registration.
var created = store.Response{Status: 201, Header: map[string]string{"Location": "/v1/registrations/1"}, Body: []byte(`{"token":"secret"}`)}

func (b *fixture) keep(a attempt) {
	b.Helper()
	if err := b.SaveResponse(b.Context(), "a holder and a route", "the key", a.owner, created, store.KeepResponse); err != nil {
		b.Fatal(err)
	}
}

func (b *fixture) drop(a attempt) {
	b.Helper()
	if err := b.AbandonRequest(b.Context(), "a holder and a route", "the key", a.owner); err != nil {
		b.Fatal(err)
	}
}

// runOut makes Redis forget the reservation or the response.
func (b *fixture) runOut() {
	b.Helper()
	for _, key := range b.redis.Keys(b.Context(), "fd:response:*").Val() {
		b.expire(key)
	}
}

func TestIdempotency(t *testing.T) {
	first, again, other := attempt{"body", "first"}, attempt{"body", "again"}, attempt{"another body", "other"}
	for name, test := range map[string]struct {
		history func(*fixture)
		then    attempt
		want    store.RequestStatus
	}{
		"a new key":                 {func(*fixture) {}, first, store.NewRequest},
		"its own repetition":        {func(b *fixture) { b.begin(first) }, first, store.NewRequest},
		"while it runs":             {func(b *fixture) { b.begin(first) }, again, store.InProgress},
		"another request":           {func(b *fixture) { b.begin(first) }, other, store.KeyReused},
		"answered":                  {func(b *fixture) { b.begin(first); b.keep(first) }, again, store.Completed},
		"answered, another request": {func(b *fixture) { b.begin(first); b.keep(first) }, other, store.KeyReused},
		"dropped":                   {func(b *fixture) { b.begin(first); b.drop(first) }, again, store.NewRequest},
		"dropped, another request":  {func(b *fixture) { b.begin(first); b.drop(first) }, other, store.NewRequest},
		"its gateway died":          {func(b *fixture) { b.begin(first); b.runOut() }, again, store.NewRequest},
		"the answer is too old":     {func(b *fixture) { b.begin(first); b.keep(first); b.runOut() }, other, store.NewRequest},
		"answered by one who lost the key": {
			func(b *fixture) { b.begin(first); b.runOut(); b.begin(again); b.keep(first) },
			other, store.KeyReused,
		},
		"answered late": {
			func(b *fixture) { b.begin(first); b.runOut(); b.begin(again); b.keep(first) },
			attempt{"body", "third"}, store.InProgress,
		},
		"answered with none waiting": {func(b *fixture) { b.begin(first); b.runOut(); b.keep(first) }, again, store.NewRequest},
		"dropped by another attempt": {func(b *fixture) { b.begin(first); b.drop(again) }, again, store.InProgress},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(redis *fixture) {
				test.history(redis)
				begun, answer := redis.begin(test.then)
				if begun != test.want {
					redis.Errorf("%s, want %s", begun, test.want)
				}
				if begun == store.Completed && !reflect.DeepEqual(answer, created) {
					redis.Errorf("the answer is %+v", answer)
				}
			})
		})
	}
}

// TestIdempotencyScopes: the same key of another holder, or on another route, is a different key.
func TestIdempotencyScopes(t *testing.T) {
	onEach(t, func(b *fixture) {
		for _, at := range [][2]string{{"a", "b"}, {"ab", ""}, {"", "ab"}, {"a\n", "b"}, {"a", "\nb"}} {
			begun, _, err := b.BeginRequest(b.Context(), at[0], at[1], "body", "owner of "+at[0]+" and "+at[1])
			if err != nil || begun != store.NewRequest {
				b.Errorf("%q: %s (%v)", at, begun, err)
			}
		}
	})
}

// TestOneFirst: of many simultaneous requests, one is processed.
func TestOneFirst(t *testing.T) {
	onEach(t, func(redis *fixture) {
		counts := map[store.RequestStatus]int{}
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				begun, _, err := redis.BeginRequest(redis.Context(), "scope", "key", "body", string(rune('a'+i)))
				if err != nil {
					redis.Errorf("begin: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				counts[begun]++
			})
		}
		group.Wait()
		if counts[store.NewRequest] != 1 || counts[store.InProgress] != 15 {
			redis.Errorf("the requests are %v", counts)
		}
	})
}
