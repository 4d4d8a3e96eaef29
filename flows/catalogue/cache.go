package catalogue

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"
)

// How old what was read of the club system may be, at the moment in which it is shown.
// Prices are always read again before money moves.
const (
	// readingFresh: as long as somebody looks at a catalogue; nothing is asked meanwhile.
	readingFresh = 60 * time.Second
	// readingUsable: until then it is still shown at once, while one reading goes on
	// behind: twice as old as a fresh one at most, and nobody waits where visitors come
	// once a minute. Beyond it, in a quiet hour, a visitor waits for today's prices.
	readingUsable = 2 * readingFresh
	// readingKept: until then it is shown when the club system fails: a restart there
	// is over by then, and a price list of ten minutes ago better than none.
	readingKept = 10 * time.Minute
)

// The figures of reading.
const (
	// readingTimeout bounds one reading of a whole catalogue, which goes on when the
	// visitor who caused it has left, for others wait for it too.
	readingTimeout = 30 * time.Second
	// readingPatience: who has an older one at hand waits so long for a newer one; a
	// visitor looks at a page that does nothing for twice as long.
	readingPatience = 4 * time.Second
	// readingPause: after a reading that failed nobody tries again for so long, where
	// there is an older one to show; a club system in trouble is spared.
	readingPause = 5 * time.Second
	// readingEntries bounds the memory: a club's catalogue is about 100 KB.
	readingEntries = 500
)

// The figures of reading together with the other gateways.
const (
	// leaseTime: a gateway that dies while it reads is replaced after so long. A
	// visitor waits for that, so it is short; whoever lives renews it.
	leaseTime = 3 * time.Second
	// leaseRenewal: three times within a lease, so that one answer of Redis may get lost.
	leaseRenewal = leaseTime / 3
	// firstCheck and maxCheck: how soon it is looked whether another gateway has read:
	// soon, for most lists are one call, and then at half the pace each time.
	firstCheck = 20 * time.Millisecond
	maxCheck   = 320 * time.Millisecond
	// sharedWait: who has waited for so long reads by itself; longer than a whole
	// catalogue takes from a slow club system, and half of what a reading may take.
	sharedWait = readingTimeout / 2
	// sharedTimeout bounds each call of Redis: without it a gateway reads by itself.
	sharedTimeout = 500 * time.Millisecond
)

// CacheStore is what the gateways remember together, in Redis. It is an interface for the
// same reason as Store. When it fails, each gateway remembers by itself.
type CacheStore interface {
	// Acquire reads what is kept under a name. Where that was read before an instant, or
	// is not there, one holder among all gets the lease to read it anew.
	Acquire(ctx context.Context, name, holder string, notBefore time.Time, lease time.Duration) (SharedEntry, error)
	// RenewLease renews a lease, if the holder has it.
	RenewLease(ctx context.Context, name, holder string, lease time.Duration) error
	// Publish keeps what a holder has read, unless there is something newer, and ends its lease.
	Publish(ctx context.Context, name, holder string, text []byte, at time.Time, life time.Duration) error
	// ReleaseLease ends a lease, if the holder has it.
	ReleaseLease(ctx context.Context, name, holder string) error
}

// SharedEntry is what Shared has under a name.
type SharedEntry struct {
	Text   []byte    // nil when there is nothing
	At     time.Time // when it was read
	Leader bool      // the caller got the lease, and is to read it anew
}

// Version is when something was read of the club system. What was read at once has one
// Snapshot, so that whoever makes something of it can tell that it is the same.
type Version struct {
	At          time.Time
	lastFailure atomic.Int64 // Unix milliseconds of the latest attempt in vain to read it anew
}

// Fresh tells whether it may be shown without a thought of reading it anew.
func (s *Version) Fresh(now time.Time) bool { return now.Sub(s.At) < readingFresh }

// inBackoff tells whether it was tried in vain a moment ago to read it anew.
func (s *Version) inBackoff(now time.Time) bool {
	return now.Sub(time.UnixMilli(s.lastFailure.Load())) < readingPause
}

// entry is a value with its snapshot.
type entry[V any] struct {
	Version
	value V
}

// sharedCache remembers values that were read of the club system, in this process and with
// the other gateways. Whoever asks for the same at the same time causes one reading.
type sharedCache[K comparable, V any] struct {
	kind   string // of what is remembered, in names
	cfg    *Config
	local  localCache[K, *entry[V]]
	flight singleflight.Group
}

func newSharedCache[K comparable, V any](kind string, cfg *Config) *sharedCache[K, V] {
	return &sharedCache[K, V]{kind: kind, cfg: cfg, local: newLocalCache[K, *entry[V]](readingEntries, readingKept, cfg.Now)}
}

// get gives the value of a key. Everything that may change it has to be in the key.
func (m *sharedCache[K, V]) get(ctx context.Context, key K, load func(context.Context) (V, error)) (*entry[V], error) {
	cached, ok := m.local.lookup(key)
	now := m.cfg.Now()
	switch {
	case !ok || now.Sub(cached.At) >= readingKept:
		return await[V](m.start(ctx, key, load), nil)
	case cached.Fresh(now) || cached.inBackoff(now):
		return cached, nil
	case now.Sub(cached.At) < readingUsable:
		m.start(ctx, key, load)
		return cached, nil
	}
	if newer, err := await[V](m.start(ctx, key, load), m.cfg.After(readingPatience)); err == nil {
		return newer, nil
	}
	return cached, nil
}

// errSlow says that a reading takes longer than somebody waits who has an older one.
var errSlow = errors.New("flows: the reading goes on")

// await waits for a reading, which ends by itself, or until patience does; nil has no end.
func await[V any](reading <-chan singleflight.Result, patience <-chan time.Time) (*entry[V], error) {
	select {
	case <-patience:
		return nil, errSlow
	case got := <-reading:
		if got.Err != nil {
			return nil, got.Err
		}
		return got.Val.(*entry[V]), nil
	}
}

// start begins to read a value, or joins the reading that is under way. It outlives the
// caller that happened to begin it; readingTimeout bounds it.
func (m *sharedCache[K, V]) start(ctx context.Context, key K, load func(context.Context) (V, error)) <-chan singleflight.Result {
	name := fmt.Sprintf("%s %#v", m.kind, key)
	return m.flight.DoChan(name, func() (any, error) {
		cached, ok := m.local.lookup(key)
		if ok && cached.Fresh(m.cfg.Now()) {
			return cached, nil // another reading ended since the caller looked
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readingTimeout)
		defer cancel()
		got, err := m.loadShared(ctx, name, ok, load)
		if err == nil {
			m.local.set(key, got)
			return got, nil
		}
		if ok {
			cached.lastFailure.Store(m.cfg.Now().UnixMilli())
			m.cfg.Log.WarnContext(ctx, "catalogue not refreshed; serving the cached copy", "kind", m.kind, "error", err)
		}
		return nil, err
	})
}

// loadShared reads a value, unless another gateway has read it or is reading it. Without
// Redis this gateway reads by itself. A gateway that remembers nothing takes what is still usable.
func (m *sharedCache[K, V]) loadShared(ctx context.Context, name string, remembers bool, load func(context.Context) (V, error)) (*entry[V], error) {
	if m.cfg.Shared == nil {
		return m.loadLocal(ctx, load)
	}
	age := readingUsable
	if remembers {
		age = readingFresh
	}
	holder, begun := uuid.NewString(), m.cfg.Now()
	for wait := firstCheck; ; wait = min(2*wait, maxCheck) {
		now := m.cfg.Now()
		recalled, err := m.acquire(ctx, name, holder, now.Add(-age))
		got := m.decode(ctx, recalled)
		switch {
		case err != nil || now.Sub(begun) > sharedWait:
			return m.loadLocal(ctx, load)
		case recalled.Leader:
			return m.loadAsLeader(ctx, name, holder, got, load)
		case got != nil && now.Sub(got.At) < age:
			return got, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-m.cfg.After(wait):
		}
	}
}

func (m *sharedCache[K, V]) acquire(ctx context.Context, name, holder string, notBefore time.Time) (SharedEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedTimeout)
	defer cancel()
	return m.cfg.Shared.Acquire(ctx, name, holder, notBefore, leaseTime)
}

// loadLocal reads a value for this gateway.
func (m *sharedCache[K, V]) loadLocal(ctx context.Context, load func(context.Context) (V, error)) (*entry[V], error) {
	got := &entry[V]{Version: Version{At: m.cfg.Now()}}
	var err error
	got.value, err = load(ctx)
	return got, err
}

// loadAsLeader reads a value for all gateways, under a lease that it renews. When the club
// system fails, what was read before is taken, if there is any.
func (m *sharedCache[K, V]) loadAsLeader(ctx context.Context, name, holder string, before *entry[V], load func(context.Context) (V, error)) (*entry[V], error) {
	reading, ended := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		for m.renewLease(reading, name, holder) {
		}
	}()
	got, err := m.loadLocal(ctx, load)
	ended()
	<-renewed
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedTimeout)
	defer cancel()
	if err != nil {
		m.logUnshared(ctx, m.cfg.Shared.ReleaseLease(keeping, name, holder))
		if before != nil && m.cfg.Now().Sub(before.At) < readingKept {
			m.cfg.Log.WarnContext(ctx, "catalogue not refreshed; serving the shared copy", "kind", m.kind, "error", err)
			before.lastFailure.Store(m.cfg.Now().UnixMilli())
			return before, nil
		}
		return nil, err
	}
	text, err := compress(got.value)
	if err == nil {
		err = m.cfg.Shared.Publish(keeping, name, holder, text, got.At, readingKept-m.cfg.Now().Sub(got.At))
	}
	m.logUnshared(ctx, err)
	return got, nil
}

// renewLease waits, renews the lease and tells whether to go on.
func (m *sharedCache[K, V]) renewLease(ctx context.Context, name, holder string) bool {
	select {
	case <-ctx.Done():
		return false
	case <-m.cfg.After(leaseRenewal):
	}
	m.logUnshared(ctx, m.cfg.Shared.RenewLease(ctx, name, holder, leaseTime))
	return ctx.Err() == nil
}

// logUnshared logs that the other gateways do not learn of a reading; nobody waits for that.
func (m *sharedCache[K, V]) logUnshared(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		m.cfg.Log.DebugContext(ctx, "catalogue reading not shared", "kind", m.kind, "error", err)
	}
}

// decode reads what was recalled; nil when there is nothing that can be read, such as
// what a gateway of another version has kept.
func (m *sharedCache[K, V]) decode(ctx context.Context, recalled SharedEntry) *entry[V] {
	if recalled.Text == nil {
		return nil
	}
	got := &entry[V]{Version: Version{At: recalled.At}}
	if err := decompress(recalled.Text, &got.value); err != nil {
		m.logUnshared(ctx, err)
		return nil
	}
	return got
}

// compress is a value as it is kept: a catalogue of ninety products is 4 KB then.
func compress(value any) ([]byte, error) {
	var text bytes.Buffer
	packer := gzip.NewWriter(&text)
	if err := json.NewEncoder(packer).Encode(value); err != nil {
		return nil, err
	}
	err := packer.Close()
	return text.Bytes(), err
}

func decompress(text []byte, value any) error {
	unpacker, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	plain, err := io.ReadAll(unpacker)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, value)
}
