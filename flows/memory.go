package flows

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
	// readingTime bounds one reading of a whole catalogue, which goes on when the
	// visitor who caused it has left, for others wait for it too.
	readingTime = 30 * time.Second
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
	// firstLook and latestLook: how soon it is looked whether another gateway has read:
	// soon, for most lists are one call, and then at half the pace each time.
	firstLook  = 20 * time.Millisecond
	latestLook = 320 * time.Millisecond
	// togetherTime: who has waited for so long reads by itself; longer than a whole
	// catalogue takes from a slow club system, and half of what a reading may take.
	togetherTime = readingTime / 2
	// sharedTime bounds each call of Redis: without it a gateway reads by itself.
	sharedTime = 500 * time.Millisecond
)

// Shared is what the gateways remember together, in Redis. It is an interface for the
// same reason as Store. When it fails, each gateway remembers by itself.
type Shared interface {
	// Recall reads what is kept under a name. Where that was read before an instant, or
	// is not there, one holder among all gets the lease to read it anew.
	Recall(ctx context.Context, name, holder string, notBefore time.Time, lease time.Duration) (Recalled, error)
	// Hold renews a lease, if the holder has it.
	Hold(ctx context.Context, name, holder string, lease time.Duration) error
	// Keep keeps what a holder has read, unless there is something newer, and ends its lease.
	Keep(ctx context.Context, name, holder string, text []byte, at time.Time, life time.Duration) error
	// LetGo ends a lease, if the holder has it.
	LetGo(ctx context.Context, name, holder string) error
}

// Recalled is what Shared has under a name.
type Recalled struct {
	Text  []byte    // nil when there is nothing
	At    time.Time // when it was read
	Yours bool      // the caller got the lease, and is to read it anew
}

// Snapshot is when something was read of the club system. What was read at once has one
// Snapshot, so that whoever makes something of it can tell that it is the same.
type Snapshot struct {
	At     time.Time
	failed atomic.Int64 // Unix milliseconds of the latest attempt in vain to read it anew
}

// Fresh tells whether it may be shown without a thought of reading it anew.
func (s *Snapshot) Fresh(now time.Time) bool { return now.Sub(s.At) < readingFresh }

// spared tells whether it was tried in vain a moment ago to read it anew.
func (s *Snapshot) spared(now time.Time) bool {
	return now.Sub(time.UnixMilli(s.failed.Load())) < readingPause
}

// remembered is a value with its snapshot.
type remembered[V any] struct {
	Snapshot
	value V
}

// memory remembers values that were read of the club system, in this process and with
// the other gateways. Whoever asks for the same at the same time causes one reading.
type memory[K comparable, V any] struct {
	kind   string // of what is remembered, in names
	cfg    *CatalogueConfig
	held   cache[K, *remembered[V]]
	flight singleflight.Group
}

func newMemory[K comparable, V any](kind string, cfg *CatalogueConfig) *memory[K, V] {
	return &memory[K, V]{kind: kind, cfg: cfg, held: newCache[K, *remembered[V]](readingEntries, readingKept, cfg.Now)}
}

// get gives the value of a key. Everything that may change it has to be in the key.
func (m *memory[K, V]) get(ctx context.Context, key K, load func(context.Context) (V, error)) (*remembered[V], error) {
	held, ok := m.held.present(key)
	now := m.cfg.Now()
	switch {
	case !ok || now.Sub(held.At) >= readingKept:
		return await[V](m.start(ctx, key, load), nil)
	case held.Fresh(now) || held.spared(now):
		return held, nil
	case now.Sub(held.At) < readingUsable:
		m.start(ctx, key, load)
		return held, nil
	}
	if newer, err := await[V](m.start(ctx, key, load), m.cfg.After(readingPatience)); err == nil {
		return newer, nil
	}
	return held, nil
}

// errSlow says that a reading takes longer than somebody waits who has an older one.
var errSlow = errors.New("flows: the reading goes on")

// await waits for a reading, which ends by itself, or until patience does; nil has no end.
func await[V any](reading <-chan singleflight.Result, patience <-chan time.Time) (*remembered[V], error) {
	select {
	case <-patience:
		return nil, errSlow
	case got := <-reading:
		if got.Err != nil {
			return nil, got.Err
		}
		return got.Val.(*remembered[V]), nil
	}
}

// start begins to read a value, or joins the reading that is under way. It outlives the
// caller that happened to begin it; readingTime bounds it.
func (m *memory[K, V]) start(ctx context.Context, key K, load func(context.Context) (V, error)) <-chan singleflight.Result {
	name := fmt.Sprintf("%s %#v", m.kind, key)
	return m.flight.DoChan(name, func() (any, error) {
		held, ok := m.held.present(key)
		if ok && held.Fresh(m.cfg.Now()) {
			return held, nil // another reading ended since the caller looked
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readingTime)
		defer cancel()
		got, err := m.together(ctx, name, ok, load)
		if err == nil {
			m.held.set(key, got)
			return got, nil
		}
		if ok {
			held.failed.Store(m.cfg.Now().UnixMilli())
			m.cfg.Log.WarnContext(ctx, "the catalogue could not be read anew, and what was read before is shown", "kind", m.kind, "error", err)
		}
		return nil, err
	})
}

// together reads a value, unless another gateway has read it or is reading it. Without
// Redis this gateway reads by itself. A gateway that remembers nothing takes what is still usable.
func (m *memory[K, V]) together(ctx context.Context, name string, remembers bool, load func(context.Context) (V, error)) (*remembered[V], error) {
	if m.cfg.Shared == nil {
		return m.alone(ctx, load)
	}
	age := readingUsable
	if remembers {
		age = readingFresh
	}
	holder, begun := uuid.NewString(), m.cfg.Now()
	for wait := firstLook; ; wait = min(2*wait, latestLook) {
		now := m.cfg.Now()
		recalled, err := m.recall(ctx, name, holder, now.Add(-age))
		got := m.opened(ctx, recalled)
		switch {
		case err != nil || now.Sub(begun) > togetherTime:
			return m.alone(ctx, load)
		case recalled.Yours:
			return m.leading(ctx, name, holder, got, load)
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

func (m *memory[K, V]) recall(ctx context.Context, name, holder string, notBefore time.Time) (Recalled, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedTime)
	defer cancel()
	return m.cfg.Shared.Recall(ctx, name, holder, notBefore, leaseTime)
}

// alone reads a value for this gateway.
func (m *memory[K, V]) alone(ctx context.Context, load func(context.Context) (V, error)) (*remembered[V], error) {
	got := &remembered[V]{Snapshot: Snapshot{At: m.cfg.Now()}}
	var err error
	got.value, err = load(ctx)
	return got, err
}

// leading reads a value for all gateways, under a lease that it renews. When the club
// system fails, what was read before is taken, if there is any.
func (m *memory[K, V]) leading(ctx context.Context, name, holder string, before *remembered[V], load func(context.Context) (V, error)) (*remembered[V], error) {
	reading, ended := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		for m.renew(reading, name, holder) {
		}
	}()
	got, err := m.alone(ctx, load)
	ended()
	<-renewed
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedTime)
	defer cancel()
	if err != nil {
		m.tell(ctx, m.cfg.Shared.LetGo(keeping, name, holder))
		if before != nil && m.cfg.Now().Sub(before.At) < readingKept {
			m.cfg.Log.WarnContext(ctx, "the catalogue could not be read, and what another gateway has read before is shown", "kind", m.kind, "error", err)
			before.failed.Store(m.cfg.Now().UnixMilli())
			return before, nil
		}
		return nil, err
	}
	text, err := folded(got.value)
	if err == nil {
		err = m.cfg.Shared.Keep(keeping, name, holder, text, got.At, readingKept-m.cfg.Now().Sub(got.At))
	}
	m.tell(ctx, err)
	return got, nil
}

// renew waits, renews the lease and tells whether to go on.
func (m *memory[K, V]) renew(ctx context.Context, name, holder string) bool {
	select {
	case <-ctx.Done():
		return false
	case <-m.cfg.After(leaseRenewal):
	}
	m.tell(ctx, m.cfg.Shared.Hold(ctx, name, holder, leaseTime))
	return ctx.Err() == nil
}

// tell logs that the other gateways do not learn of a reading; nobody waits for that.
func (m *memory[K, V]) tell(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		m.cfg.Log.DebugContext(ctx, "a reading of the catalogue is not shared", "kind", m.kind, "error", err)
	}
}

// opened reads what was recalled; nil when there is nothing that can be read, such as
// what a gateway of another version has kept.
func (m *memory[K, V]) opened(ctx context.Context, recalled Recalled) *remembered[V] {
	if recalled.Text == nil {
		return nil
	}
	got := &remembered[V]{Snapshot: Snapshot{At: recalled.At}}
	if err := unfold(recalled.Text, &got.value); err != nil {
		m.tell(ctx, err)
		return nil
	}
	return got
}

// folded is a value as it is kept: a catalogue of ninety products is 4 KB then.
func folded(value any) ([]byte, error) {
	var text bytes.Buffer
	packer := gzip.NewWriter(&text)
	if err := json.NewEncoder(packer).Encode(value); err != nil {
		return nil, err
	}
	err := packer.Close()
	return text.Bytes(), err
}

func unfold(text []byte, value any) error {
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
