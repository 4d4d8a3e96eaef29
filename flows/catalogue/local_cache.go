package catalogue

import (
	"context"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"
)

// localCache keeps values in this process. All of them share one instance of the library's
// generic type, because each further one adds a quarter of a megabyte to the program.
type localCache[K comparable, V any] struct {
	values *otter.Cache[any, any]
}

// newLocalCache returns a cache of at most maximum values, each kept for life after it was set.
func newLocalCache[K comparable, V any](maximum int, life time.Duration, now func() time.Time) localCache[K, V] {
	return localCache[K, V]{otter.Must(&otter.Options[any, any]{
		MaximumSize: maximum, ExpiryCalculator: otter.ExpiryWriting[any, any](life), StatsRecorder: stats.NewCounter(), Clock: clock{now},
	})}
}

func (c localCache[K, V]) lookup(key K) (value V, ok bool) {
	found, ok := c.values.GetIfPresent(key)
	if ok {
		value = found.(V)
	}
	return value, ok
}

func (c localCache[K, V]) set(key K, value V) { c.values.Set(key, value) }

// get returns a value, loaded once for all callers that wait for it.
func (c localCache[K, V]) get(ctx context.Context, key K, load func(context.Context) (V, error)) (value V, err error) {
	found, err := c.values.Get(ctx, key, otter.LoaderFunc[any, any](func(ctx context.Context, _ any) (any, error) { return load(ctx) }))
	if err == nil {
		value = found.(V)
	}
	return value, err
}

// CacheCount counts the lookups of one kind of value since the start.
type CacheCount struct {
	Hits   uint64 // found in this process
	Misses uint64 // read from Redis or the club system
}

func (c localCache[K, V]) count() CacheCount {
	seen := c.values.Stats()
	return CacheCount{Hits: seen.Hits, Misses: seen.Misses}
}

// clock gives otter the time.
type clock struct{ now func() time.Time }

// NowNano implements otter.Clock.
func (c clock) NowNano() int64 { return c.now().UnixNano() }

// Tick implements otter.Clock. It never fires: expired values go when their space is needed.
func (clock) Tick(time.Duration) <-chan time.Time { return nil }
