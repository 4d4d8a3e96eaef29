package store_test

import (
	"reflect"
	"sync"
	"testing"

	"frontdesk/flows/store"
)

// attempt is one request with an idempotency key.
type attempt struct{ fingerprint, owner string }

func (b *bench) begin(a attempt) (store.Begun, store.Answer) {
	b.Helper()
	begun, answer, err := b.BeginAnswer(b.Context(), "a holder and a route", "the key", a.fingerprint, a.owner)
	if err != nil {
		b.Fatal(err)
	}
	return begun, answer
}

// created is the answer that starts a registration.
var created = store.Answer{Status: 201, Header: map[string]string{"Location": "/v1/registrations/1"}, Body: []byte(`{"token":"secret"}`)}

func (b *bench) keep(a attempt) {
	b.Helper()
	if err := b.KeepAnswer(b.Context(), "a holder and a route", "the key", a.owner, created); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) drop(a attempt) {
	b.Helper()
	if err := b.DropAnswer(b.Context(), "a holder and a route", "the key", a.owner); err != nil {
		b.Fatal(err)
	}
}

// runOut lets the reservation, or the answer, be forgotten.
func (b *bench) runOut() {
	b.Helper()
	for _, key := range b.redis.Keys(b.Context(), "fd:answer:*").Val() {
		b.expire(key)
	}
}

func TestAnswers(t *testing.T) {
	first, again, other := attempt{"body", "first"}, attempt{"body", "again"}, attempt{"another body", "other"}
	for name, test := range map[string]struct {
		history func(*bench)
		then    attempt
		want    store.Begun
	}{
		"a new key":                        {func(*bench) {}, first, store.First},
		"its own repetition":               {func(b *bench) { b.begin(first) }, first, store.First},
		"while it runs":                    {func(b *bench) { b.begin(first) }, again, store.Running},
		"another request":                  {func(b *bench) { b.begin(first) }, other, store.Reused},
		"answered":                         {func(b *bench) { b.begin(first); b.keep(first) }, again, store.Done},
		"answered, another request":        {func(b *bench) { b.begin(first); b.keep(first) }, other, store.Reused},
		"dropped":                          {func(b *bench) { b.begin(first); b.drop(first) }, again, store.First},
		"dropped, another request":         {func(b *bench) { b.begin(first); b.drop(first) }, other, store.First},
		"its gateway died":                 {func(b *bench) { b.begin(first); b.runOut() }, again, store.First},
		"the answer is too old":            {func(b *bench) { b.begin(first); b.keep(first); b.runOut() }, other, store.First},
		"answered by one who lost the key": {func(b *bench) { b.begin(first); b.runOut(); b.begin(again); b.keep(first) }, other, store.Reused},
		"answered late":                    {func(b *bench) { b.begin(first); b.runOut(); b.begin(again); b.keep(first) }, attempt{"body", "third"}, store.Running},
		"answered when nobody waits":       {func(b *bench) { b.begin(first); b.runOut(); b.keep(first) }, again, store.First},
		"dropped by somebody else":         {func(b *bench) { b.begin(first); b.drop(again) }, again, store.Running},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(b *bench) {
				test.history(b)
				begun, answer := b.begin(test.then)
				if begun != test.want {
					b.Errorf("%s, want %s", begun, test.want)
				}
				if begun == store.Done && !reflect.DeepEqual(answer, created) {
					b.Errorf("the answer is %+v", answer)
				}
			})
		})
	}
}

// TestAnswersAreApart: the same key of another holder, or on another route, is another key.
func TestAnswersAreApart(t *testing.T) {
	onEach(t, func(b *bench) {
		for _, at := range [][2]string{{"a", "b"}, {"ab", ""}, {"", "ab"}, {"a\n", "b"}, {"a", "\nb"}} {
			begun, _, err := b.BeginAnswer(b.Context(), at[0], at[1], "body", "owner of "+at[0]+" and "+at[1])
			if err != nil || begun != store.First {
				b.Errorf("%q: %s (%v)", at, begun, err)
			}
		}
	})
}

// TestOneFirst: of many requests that come at once, one is carried out.
func TestOneFirst(t *testing.T) {
	onEach(t, func(b *bench) {
		counts := map[store.Begun]int{}
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				begun, _, err := b.BeginAnswer(b.Context(), "scope", "key", "body", string(rune('a'+i)))
				if err != nil {
					b.Errorf("begin: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				counts[begun]++
			})
		}
		group.Wait()
		if counts[store.First] != 1 || counts[store.Running] != 15 {
			b.Errorf("the requests are %v", counts)
		}
	})
}
