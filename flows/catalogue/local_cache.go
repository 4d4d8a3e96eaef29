package catalogue

import (
	"context"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"
)

// localCache keeps values in this process. Behind all of them stands one type of the library,
// which would otherwise come into the program once more for each, a quarter of a megabyte every time.
type localCache[K comparable, V any] struct {
	values *otter.Cache[any, any]
}

// newLocalCache keeps at most so many values, each for a time after it was written.
func newLocalCache[K comparable, V any](most int, life time.Duration, now func() time.Time) localCache[K, V] {
	return localCache[K, V]{otter.Must(&otter.Options[any, any]{
		MaximumSize: most, ExpiryCalculator: otter.ExpiryWriting[any, any](life), StatsRecorder: stats.NewCounter(), Clock: clock{now},
	})}
}

// lookup gives a value, if it is there.
func (c localCache[K, V]) lookup(key K) (value V, ok bool) {
	found, ok := c.values.GetIfPresent(key)
	if ok {
		value = found.(V)
	}
	return value, ok
}

func (c localCache[K, V]) set(key K, value V) { c.values.Set(key, value) }

// get gives a value, or loads it once for all who wait.
func (c localCache[K, V]) get(ctx context.Context, key K, load func(context.Context) (V, error)) (value V, err error) {
	found, err := c.values.Get(ctx, key, otter.LoaderFunc[any, any](func(ctx context.Context, _ any) (any, error) { return load(ctx) }))
	if err == nil {
		value = found.(V)
	}
	return value, err
}

// counts tells how often it was asked, and how often in vain.
func (c localCache[K, V]) counts() CacheCount {
	seen := c.values.Stats()
	return CacheCount{Hits: seen.Hits, Misses: seen.Misses}
}

// clock tells a cache the time.
type clock struct{ now func() time.Time }

// NowNano implements otter.Clock.
func (c clock) NowNano() int64 { return c.now().UnixNano() }

// Tick implements otter.Clock: what is too old goes when its place is needed.
func (clock) Tick(time.Duration) <-chan time.Time { return nil }
