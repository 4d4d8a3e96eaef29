package clubsim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// World is one organisation's club system: the state behind one client token.
// Worlds share nothing but the catalogue, which never changes. All methods are
// safe for concurrent use.
type World struct {
	server      *Server
	clientToken string
	catalogue   *catalogue

	mu           sync.Mutex
	state        *state
	settings     Settings
	clockOffset  time.Duration // the world's clock minus the real one
	faults       []*Fault
	faultDraws   int // how often a fault's probability was drawn
	journal      []Request
	requestCount int // how many calls the journal has had
	outbox       outbox
	productCache []encoded // see shelved
}

// state is everything in a world that a snapshot holds and a restore brings back.
type state struct {
	Contacts    table[contact]          `json:"contacts"`
	Sales       table[sale]             `json:"sales"`
	Articles    table[article]          `json:"articles"`
	Payments    table[payment]          `json:"payments"`
	Dues        table[due]              `json:"dues"`
	Entries     table[entry]            `json:"entries"`
	Benefits    table[benefit]          `json:"benefits"`
	Tags        table[contactTag]       `json:"tags"`
	Mandates    table[mandate]          `json:"mandates"`
	Signatures  table[signatureRequest] `json:"signatureRequests"`
	SMS         table[sms]              `json:"sms"`
	Attendees   table[attendee]         `json:"attendees"`
	ClassEvents table[classEvent]       `json:"classEvents"`
	Events      table[eventRecord]      `json:"events"`
}

// table holds records whose numbers follow each other, so that reading one is
// an index, listing is in order and a new number is never one that was used.
type table[T any] struct {
	First int  `json:"first"`
	Rows  []*T `json:"rows"`
}

// add makes the next record; the number is given to make.
func (t *table[T]) add(make func(id int) T) *T {
	row := make(t.First + len(t.Rows))
	t.Rows = append(t.Rows, &row)
	return &row
}

// get returns a record, nil when there is none of that number.
func (t *table[T]) get(id int) *T {
	if id < t.First || id >= t.First+len(t.Rows) {
		return nil
	}
	return t.Rows[id-t.First]
}

func newWorld(s *Server, token string) *World {
	w := &World{server: s, clientToken: token, catalogue: s.catalogue}
	w.reset()
	return w
}

// ClientToken is the world's name, the first segment of its paths.
func (w *World) ClientToken() string { return w.clientToken }

// Reset brings the world back to its seed: data, settings, faults, clock and journal.
func (w *World) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reset()
}

func (w *World) reset() {
	w.settings = DefaultSettings()
	if w.server.cfg.WebhookURL != nil {
		w.settings.WebhookURL = w.server.cfg.WebhookURL(w.clientToken)
	}
	w.clockOffset, w.faults, w.faultDraws, w.journal = 0, nil, 0, nil
	w.outbox.clear()
	w.state = w.seed(w.now())
}

// now is the world's clock. UTC throughout: the club system's dates carry no zone.
func (w *World) now() time.Time { return w.server.cfg.Now().Add(w.clockOffset).UTC() }

// Now is what the world's clock shows.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now()
}

// SetNow sets the world's clock, which goes on from there.
func (w *World) SetNow(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clockOffset = now.Sub(w.server.cfg.Now())
}

// Advance moves the world's clock.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clockOffset += d
}

// draw is the world's randomness: a number that follows from the seed, the
// world, a purpose and a count, and from nothing else.
func (w *World) draw(purpose string, n int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d|%s|%s|%d", w.server.cfg.Seed, w.clientToken, purpose, n))
	return binary.BigEndian.Uint64(sum[:8])
}

// snapshot is a world on paper.
type snapshot struct {
	Version  int           `json:"version"`
	World    string        `json:"world"`
	Offset   time.Duration `json:"clockOffset"`
	Settings Settings      `json:"settings"`
	State    *state        `json:"state"`
}

// maxOffset keeps a world's clock where dates can still be written and durations
// still be counted in nanoseconds: a hundred years from today.
const maxOffset = 100 * 365 * 24 * time.Hour

// snapshotVersion changes with the shape of the state, so that an old snapshot
// is refused and not half understood.
const snapshotVersion = 2

var errSnapshot = errors.New("clubsim: not a snapshot of this version")

// Snapshot returns the world as JSON: data, settings and clock, without faults and journal.
func (w *World) Snapshot() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return encode(snapshot{snapshotVersion, w.clientToken, w.clockOffset, w.settings, w.state})
}

// Restore brings back what Snapshot returned, of this world or of another one.
func (w *World) Restore(body []byte) error {
	restored := snapshot{Settings: DefaultSettings()}
	if err := json.Unmarshal(body, &restored); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	if restored.Version != snapshotVersion || restored.State == nil || restored.Offset.Abs() > maxOffset {
		return errSnapshot
	}
	if err := restored.State.verify(); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	if err := restored.Settings.verify(); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state, w.settings, w.clockOffset = restored.State, restored.Settings, restored.Offset
	w.outbox.clear()
	return nil
}
