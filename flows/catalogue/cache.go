package catalogue

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"frontdesk/flows"
)

// How old a value from the club system may be when it is shown. Prices are always read again before money moves.
const (
	// freshFor is about as long as a visitor views a catalogue. Nothing is read meanwhile.
	freshFor = 60 * time.Second
	// currentFor: an older value is called stale.
	currentFor = 2 * freshFor
	// keptFor: a value that is not fresh is shown, and a newer one is read in the background. Visitors never wait for a
	// club system that hangs. A restart there takes less, and a price list of ten minutes ago is better than none.
	keptFor = 10 * time.Minute
)

const (
	// readTimeout bounds the reading of a whole catalogue.
	readTimeout = 30 * time.Second
	// backoff follows a failed reading if there is an older value, to spare a club system in trouble.
	backoff = 5 * time.Second
	// maxEntries bounds the memory: a club's catalogue is about 100 KB.
	maxEntries = 500
	// sharedTimeout bounds reading a copy from Redis, and publishTimeout writing one: that follows
	// a reading of the club system, which took longer and which other gateways are spared.
	sharedTimeout  = 500 * time.Millisecond
	publishTimeout = 5 * time.Second
)

// Version identifies one reading of the club system. Values with the same Version pointer
// are the same, so that a response made of one can be kept with it.
type Version struct {
	At          time.Time
	lastFailure atomic.Int64 // Unix milliseconds of the latest failed attempt to read a newer value
}

// Fresh reports whether the value may be shown without reading a newer one.
func (v *Version) Fresh(now time.Time) bool { return now.Sub(v.At) < freshFor }

// Stale reports whether a newer value should have been read, and was not: the club system fails or is
// slow, there is more to do than the gateway can do, or no visitor came meanwhile.
func (v *Version) Stale(now time.Time) bool {
	return now.Sub(v.At) >= currentFor || !v.Fresh(now) && v.lastFailure.Load() != 0
}

type cachedOnlyKey struct{}

// CachedOnly returns a context in which no caller waits for the club system: a cached value is shown, and
// refreshed once for all callers. What no gateway has cached is refused with this error.
func CachedOnly(ctx context.Context, refusal error) context.Context {
	return context.WithValue(ctx, cachedOnlyKey{}, refusal)
}

type asCachedKey struct{}

// AsCached returns a context in which a cached value is used as it is, and no newer one is read behind it. What no gateway has cached is
// read as usual.
func AsCached(ctx context.Context) context.Context {
	return context.WithValue(ctx, asCachedKey{}, true)
}

// inBackoff reports whether reading a newer value failed a moment ago.
func (v *Version) inBackoff(now time.Time) bool {
	return now.Sub(time.UnixMilli(v.lastFailure.Load())) < backoff
}

// entry is a value with its version.
type entry[V any] struct {
	Version
	value V
}

// cache keeps values of the club system in this process, and a copy in Redis for the other
// gateways. Callers of the same value at the same time share one reading.
type cache[K comparable, V any] struct {
	kind   string // of the values: part of their names in Redis
	cfg    *Config
	local  localCache[K, *entry[V]]
	flight singleflight.Group
}

func newCache[K comparable, V any](kind string, cfg *Config) *cache[K, V] {
	return &cache[K, V]{kind: kind, cfg: cfg, local: newLocalCache[K, *entry[V]](maxEntries, keptFor, cfg.Now)}
}

// get returns the value of a key, which has everything that the value depends on.
func (c *cache[K, V]) get(ctx context.Context, key K, read func(context.Context) (V, error)) (value V, version *Version, err error) {
	found, err := c.entry(ctx, key, read)
	if err != nil {
		return value, nil, err
	}
	return found.value, &found.Version, nil
}

// entry returns what is remembered, and refreshes it behind the caller unless it is fresh. Only a caller of what no
// gateway remembers waits for the club system.
func (c *cache[K, V]) entry(ctx context.Context, key K, read func(context.Context) (V, error)) (*entry[V], error) {
	if cached, ok := c.local.lookup(key); ok && c.cfg.Now().Sub(cached.At) < keptFor {
		c.refreshBehind(ctx, key, cached, read)
		return cached, nil
	}
	if refusal, only := ctx.Value(cachedOnlyKey{}).(error); only {
		return c.copied(ctx, key, refusal)
	}
	select {
	case <-ctx.Done(): // the caller has left, or its time is over; the reading continues for others
		return nil, &flows.Error{Code: flows.ClubSystemUnavailable, Detail: flows.DetailCatalogueLate, Err: ctx.Err()}
	case got := <-c.refresh(ctx, key, read):
		if got.Err != nil {
			return nil, got.Err
		}
		found := got.Val.(*entry[V])
		c.refreshBehind(ctx, key, found, read) // it may be the old copy of another gateway
		return found, nil
	}
}

// refreshBehind begins to load a newer value, unless that is too early.
func (c *cache[K, V]) refreshBehind(ctx context.Context, key K, cached *entry[V], read func(context.Context) (V, error)) {
	if now := c.cfg.Now(); ctx.Value(asCachedKey{}) == nil && !cached.Fresh(now) && !cached.inBackoff(now) {
		c.refresh(ctx, key, read)
	}
}

// copied returns the copy in Redis of a value that this process does not have, or else the refusal.
func (c *cache[K, V]) copied(ctx context.Context, key K, refusal error) (*entry[V], error) {
	name := c.name(key)
	found, err, _ := c.flight.Do("copy of "+name, func() (any, error) {
		shared, err := c.readCopy(context.WithoutCancel(ctx), name)
		if shared == nil || c.cfg.Now().Sub(shared.At) >= keptFor {
			return nil, errors.Join(refusal, err)
		}
		if newer, ok := c.local.lookup(key); ok && newer.At.After(shared.At) {
			return newer, nil
		}
		c.local.set(key, shared)
		return shared, nil
	})
	if err != nil {
		return nil, refusal
	}
	return found.(*entry[V]), nil
}

// name names a value in the flight group and in Redis.
func (c *cache[K, V]) name(key K) string { return fmt.Sprintf("%s %#v", c.kind, key) }

// refresh begins to load a newer value, or joins the load in progress. A load outlives the
// caller that began it, because others wait for it too.
func (c *cache[K, V]) refresh(ctx context.Context, key K, read func(context.Context) (V, error)) <-chan singleflight.Result {
	name := c.name(key)
	return c.flight.DoChan(name, func() (any, error) {
		cached, ok := c.local.lookup(key)
		if ok && cached.Fresh(c.cfg.Now()) {
			return cached, nil // another load has just ended
		}
		ctx = context.WithValue(context.WithoutCancel(ctx), cachedOnlyKey{}, nil) // others wait for it too
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		loaded, err := c.load(ctx, name, cached, read)
		if err != nil {
			return nil, err
		}
		c.local.set(key, loaded)
		return loaded, nil
	})
}

// load takes the shared copy when it is fresh, or where this gateway has no value. Otherwise it reads the club
// system and publishes a copy. While the club system fails it returns the newest older value.
func (c *cache[K, V]) load(ctx context.Context, name string, cached *entry[V], read func(context.Context) (V, error)) (*entry[V], error) {
	shared, sharedErr := c.readCopy(ctx, name)
	begun := c.cfg.Now()
	if shared != nil && (shared.Fresh(begun) || cached == nil && begun.Sub(shared.At) < keptFor) {
		return shared, nil
	}
	loaded := &entry[V]{Version: Version{At: begun}}
	var err error
	if loaded.value, err = read(ctx); err == nil {
		if sharedErr == nil {
			c.publishCopy(ctx, name, loaded)
		}
		return loaded, nil
	}
	newest := cached
	if shared != nil && (cached == nil || shared.At.After(cached.At)) {
		newest = shared
	}
	now := c.cfg.Now()
	if newest == nil || now.Sub(newest.At) >= keptFor {
		return nil, err
	}
	newest.lastFailure.Store(now.UnixMilli())
	c.cfg.Log.WarnContext(ctx, "catalogue not refreshed; serving the cached copy", "kind", c.kind, "error", err)
	return newest, nil
}

var errNotShared = errors.New("catalogue: sharing between gateways is off")

// readCopy returns the copy in Redis; nil without a copy that this version can decode.
func (c *cache[K, V]) readCopy(ctx context.Context, name string) (*entry[V], error) {
	if c.cfg.Shared == nil {
		return nil, errNotShared
	}
	ctx, cancel := context.WithTimeout(ctx, sharedTimeout)
	defer cancel()
	text, at, err := c.cfg.Shared.ReadCopy(ctx, name)
	if text == nil || err != nil {
		return nil, err
	}
	found := &entry[V]{Version: Version{At: at}}
	if err := decompress(text, &found.value); err != nil {
		c.cfg.Log.DebugContext(ctx, "catalogue copy not decoded", "kind", c.kind, "error", err)
		return nil, nil
	}
	return found, nil
}

// publishCopy gives other gateways what this one has read. A failure costs them a reading.
func (c *cache[K, V]) publishCopy(ctx context.Context, name string, loaded *entry[V]) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	text, err := compress(loaded.value)
	if err == nil {
		err = c.cfg.Shared.PublishCopy(ctx, name, text, loaded.At, keptFor-c.cfg.Now().Sub(loaded.At))
	}
	if err != nil {
		c.cfg.Log.DebugContext(ctx, "catalogue copy not published", "kind", c.kind, "error", err)
	}
}

// compress encodes a value as JSON in gzip: 4 KB for a catalogue of ninety products.
func compress(value any) ([]byte, error) {
	var text bytes.Buffer
	packer := gzip.NewWriter(&text)
	err := errors.Join(json.NewEncoder(packer).Encode(value), packer.Close())
	return text.Bytes(), err
}

func decompress(text []byte, value any) error {
	unpacker, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return json.NewDecoder(unpacker).Decode(value)
}
