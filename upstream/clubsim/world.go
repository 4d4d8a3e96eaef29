package clubsim

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// World is one organisation's club system: the state of one client token. Worlds share only
// catalogues. All methods are safe for concurrent use.
type World struct {
	server      *Server
	clientToken string

	mu           sync.Mutex
	catalogue    *Catalogue
	state        *state
	settings     Settings
	clockOffset  atomic.Int64 // the world's clock minus the real one, in nanoseconds; read without the lock
	faults       []*Fault
	faultDraws   int // number of draws for faults' probabilities
	journal      []Request
	requestCount int // number of requests, including those that left the journal
	outbox       outbox
	mailbox      mailbox
	calls        callWindows
}

// state is everything that a snapshot of a world holds.
type state struct {
	Contacts    table[*contact]          `json:"contacts"`
	Sales       table[*sale]             `json:"sales"`
	Articles    table[*article]          `json:"articles"`
	Payments    table[*payment]          `json:"payments"`
	Dues        table[*due]              `json:"dues"`
	Entries     table[*entry]            `json:"entries"`
	Benefits    table[*benefit]          `json:"benefits"`
	Tags        table[*contactTag]       `json:"tags"`
	Mandates    table[*mandate]          `json:"mandates"`
	Signatures  table[*signatureRequest] `json:"signatureRequests"`
	SMS         table[*sms]              `json:"sms"`
	Attendees   table[*attendee]         `json:"attendees"`
	ClassEvents table[*classEvent]       `json:"classEvents"`
	Events      table[*eventRecord]      `json:"events"`
	Sources     []string                 `json:"sources,omitempty"` // in addition to those of every world
	Payables    []payableObject          `json:"payableObjects,omitempty"`

	tagsOf      func(contactID int) []*contactTag
	mandatesOf  func(contactID int) []*mandate
	paymentsFor func(saleID int) []*payment
	paymentsOf  func(payerID int) []*payment
	duesFor     func(saleID int) []*due
	duesOf      func(contactID int) []*due
}

// index makes the indexes: at first, and again when the numbers that they go by have changed.
func (st *state) index() {
	st.tagsOf = indexed(&st.Tags, func(t *contactTag) int { return t.ContactID })
	st.mandatesOf = indexed(&st.Mandates, func(m *mandate) int { return m.ContactID })
	st.paymentsFor = indexed(&st.Payments, func(p *payment) int { return p.SaleID })
	st.paymentsOf = indexed(&st.Payments, func(p *payment) int { return p.ContactID })
	st.duesFor = indexed(&st.Dues, func(d *due) int { return d.SaleID })
	st.duesOf = indexed(&st.Dues, func(d *due) int { return d.ContactID })
}

// table holds records with consecutive numbers. Reading one is an index, listing is in
// order, and no number is ever used twice.
type table[T row] struct {
	First int `json:"first"`
	Rows  []T `json:"rows"`
}

// row is a pointer to a record.
type row interface {
	comparable
	number() *int
}

// numbered is the part that all records have: the number that their table gives them.
type numbered struct {
	ID int `json:"id"`
}

func (n *numbered) number() *int { return &n.ID }

// add gives a record the next number and returns it.
func (t *table[T]) add(r T) T {
	*r.number() = t.First + len(t.Rows)
	t.Rows = append(t.Rows, r)
	return r
}

// get returns the record with a number, or nil.
func (t *table[T]) get(id int) (found T) {
	if id >= t.First && id < t.First+len(t.Rows) {
		found = t.Rows[id-t.First]
	}
	return found
}

// indexed returns a function that finds the records of a table by a number that they hold, such as a contact's, in
// order. Without it, a request would take the longer, the more people have signed up before.
func indexed[T row](t *table[T], held func(T) int) func(number int) []T {
	rows, read := map[int][]T{}, 0
	return func(number int) []T {
		for ; read < len(t.Rows); read++ {
			r := t.Rows[read]
			rows[held(r)] = append(rows[held(r)], r)
		}
		return rows[number]
	}
}

// filter returns the records that match, in order.
func filter[T any](rows []T, matches func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(rows), func(r T) bool { return !matches(r) })
}

// ClientToken is the world's name, the first segment of its paths.
func (w *World) ClientToken() string { return w.clientToken }

// Reset restores the seed: catalogue, data, settings, faults, clock and journal.
func (w *World) Reset() {
	w.resetTo(w.server.catalogue.Load())
}

// SetCatalogue restores the seed with another catalogue, until the next Reset.
func (w *World) SetCatalogue(catalogue *Catalogue) { w.resetTo(catalogue) }

func (w *World) resetTo(catalogue *Catalogue) {
	w.server.cfg.Rest.Reset(w.clientToken, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reset(catalogue)
	})
}

// Catalogue is what the world sells, and where.
func (w *World) Catalogue() *Catalogue {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.catalogue
}

// replace gives a world that has the old catalogue a new one. It keeps its data if they fit: if it has the same persons, and the clubs
// that the data name. Otherwise it is reset. It returns false if the world has another catalogue.
func (w *World) replace(old, catalogue *Catalogue) bool {
	w.mu.Lock()
	affected, samePersons := w.catalogue == old, reflect.DeepEqual(old.Persons, catalogue.Persons)
	fits := affected && samePersons && w.state.verify(catalogue) == nil && w.settings.verify(catalogue) == nil
	if fits {
		w.catalogue = catalogue
	}
	w.mu.Unlock()
	if affected && !fits {
		w.resetTo(catalogue)
	}
	return affected
}

func (w *World) reset(catalogue *Catalogue) {
	w.settings = w.server.cfg.Settings.clone()
	w.settings.WebhookURL = cmp.Or(w.server.cfg.WebhookURL, w.settings.WebhookURL)
	w.faults, w.faultDraws, w.journal, w.calls = nil, 0, nil, callWindows{}
	w.clockOffset.Store(0)
	w.mailbox = mailbox{}
	w.outbox.clear()
	w.catalogue = catalogue
	w.state = w.seed(w.now())
}

// now is the world's clock, in UTC: the club system's dates carry no zone.
func (w *World) now() time.Time {
	return w.server.cfg.Now().Add(time.Duration(w.clockOffset.Load())).UTC()
}

// Now is what the world's clock shows.
func (w *World) Now() time.Time { return w.now() }

// callersNow is the time of those who call the club system: the real one, unless they follow the world's clock.
func (w *World) callersNow() time.Time {
	if w.server.cfg.Rest.Follows {
		return w.now()
	}
	return w.server.cfg.Now()
}

// Advance moves the world's clock.
func (w *World) Advance(d time.Duration) { w.moveTo(time.Duration(w.clockOffset.Load()) + d) }

func (w *World) moveTo(offset time.Duration) {
	w.server.cfg.Rest.Move(w.clientToken, func() { w.clockOffset.Store(int64(offset)) })
}

// draw is the world's randomness: a number derived from the seed, the world, a purpose and
// a count.
func (w *World) draw(purpose string, n int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d|%s|%s|%d", w.server.cfg.Seed, w.clientToken, purpose, n))
	return binary.BigEndian.Uint64(sum[:8])
}

// snapshot is a world as JSON.
type snapshot struct {
	Version  int           `json:"version"`
	World    string        `json:"world"`
	Offset   time.Duration `json:"clockOffset"`
	Settings Settings      `json:"settings"`
	State    *state        `json:"state"`
	Mails    []storedMail  `json:"mails,omitempty"`
	// Catalogue is the file of the world's catalogue; empty: it is the demo's.
	Catalogue string          `json:"catalogue,omitempty"`
	Rest      json.RawMessage `json:"rest,omitempty"` // see Rest
}

// maxOffset keeps a world's clock within a hundred years from today, where dates can be
// written and durations counted in nanoseconds.
const maxOffset = 100 * 365 * 24 * time.Hour

// snapshotVersion changes with the shape of the state, so that an old snapshot is refused.
const snapshotVersion = 5

var errSnapshot = errors.New("clubsim: not a snapshot of a world")

// Snapshot returns the world as JSON, without faults and journal: catalogue, data, mails, settings, clock and the Rest.
func (w *World) Snapshot() []byte {
	return w.server.cfg.Rest.Snapshot(w.clientToken, func(rest func() json.RawMessage) []byte {
		w.mu.Lock()
		defer w.mu.Unlock()
		taken := snapshot{
			Version:  snapshotVersion,
			World:    w.clientToken,
			Offset:   time.Duration(w.clockOffset.Load()),
			Settings: w.settings,
			State:    w.state,
			Mails:    w.mailbox.stored(),
			Rest:     rest(),
		}
		if taken.Settings.WebhookURL == w.server.cfg.WebhookURL {
			taken.Settings.WebhookURL = "" // the process that restores it has an address of its own
		}
		if w.catalogue != Demo() {
			taken.Catalogue = string(w.catalogue.source)
		}
		return encode(taken)
	})
}

// Restore restores a Snapshot of this world, or of another one, of which it does not take the Rest: that names its world. An error
// has changed nothing.
func (w *World) Restore(body []byte) error {
	restored := snapshot{Settings: DefaultSettings()}
	if err := json.Unmarshal(body, &restored); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	switch {
	case restored.Version != snapshotVersion && restored.Version > 0:
		return fmt.Errorf("%w of this version: it has the version %d, and version %d is read", errSnapshot, restored.Version, snapshotVersion)
	case restored.Version == 0 || restored.State == nil || restored.Offset.Abs() > maxOffset:
		return errSnapshot
	}
	catalogue, err := Demo(), error(nil)
	if restored.Catalogue != "" {
		catalogue, err = ParseCatalogue([]byte(restored.Catalogue))
	}
	if err == nil {
		err = cmp.Or(restored.State.verify(catalogue), restored.Settings.verify(catalogue))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	if restored.World != w.clientToken {
		restored.Rest = nil
	}
	restored.State.index()
	restored.Settings.WebhookURL = cmp.Or(restored.Settings.WebhookURL, w.server.cfg.WebhookURL)
	err = w.server.cfg.Rest.Restore(w.clientToken, restored.Rest, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.catalogue, w.state, w.settings = catalogue, restored.State, restored.Settings
		w.clockOffset.Store(int64(restored.Offset))
		w.mailbox = mailboxOf(restored.Mails)
		w.outbox.clear()
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	return nil
}

// verify refuses a state in which a record refers to one that does not exist.
func (st *state) verify(catalogue *Catalogue) error {
	hasClub := func(id int) bool { return catalogue.club(id) != nil }
	hasBoth := func(contactID, clubID int) bool { return st.Contacts.get(contactID) != nil && hasClub(clubID) }
	if st.Contacts.First != firstContact || len(st.Contacts.Rows) < len(catalogue.Persons) {
		return errors.New("contacts: the personas are missing")
	}
	return errors.Join(
		verifyRows("contacts", st.Contacts, func(k *contact) bool { return hasClub(k.ClubID) && st.mergesEnd(k) }),
		verifyRows("sales", st.Sales, func(s *sale) bool { return hasBoth(s.ContactID, s.ClubID) && st.hasArticles(s) }),
		verifyRows("articles", st.Articles, func(a *article) bool { return st.Sales.get(a.SaleID) != nil }),
		verifyRows("payments", st.Payments, func(p *payment) bool {
			return hasBoth(p.ContactID, p.ClubID) && st.Sales.get(p.SaleID) != nil
		}),
		verifyRows("dues", st.Dues, func(d *due) bool {
			return hasBoth(d.ContactID, d.ClubID) && st.Sales.get(d.SaleID) != nil
		}),
		verifyRows("entries", st.Entries, func(*entry) bool { return true }),
		verifyRows("benefits", st.Benefits, func(b *benefit) bool { return hasBoth(b.ContactID, b.ClubID) }),
		verifyRows("tags", st.Tags, func(t *contactTag) bool { return st.Contacts.get(t.ContactID) != nil }),
		verifyRows("mandates", st.Mandates, func(m *mandate) bool { return hasBoth(m.ContactID, m.ClubID) }),
		verifyRows("signatureRequests", st.Signatures, func(q *signatureRequest) bool {
			return hasBoth(q.ContactID, q.ClubID) && (q.MandateID == 0 || st.Mandates.get(q.MandateID) != nil)
		}),
		verifyRows("sms", st.SMS, func(m *sms) bool { return st.Contacts.get(m.ContactID) != nil }),
		verifyRows("attendees", st.Attendees, func(a *attendee) bool { return hasBoth(a.ContactID, a.ClubID) }),
		verifyRows("classEvents", st.ClassEvents, func(e *classEvent) bool { return hasClub(e.ClubID) }),
		verifyRows("events", st.Events, func(*eventRecord) bool { return true }),
	)
}

func (st *state) hasArticles(sale *sale) bool {
	return !slices.ContainsFunc(sale.Articles, func(id int) bool { return st.Articles.get(id) == nil })
}

func (st *state) mergesEnd(contact *contact) bool {
	for range st.Contacts.Rows {
		if contact.MergedInto == 0 {
			return true
		}
		if contact = st.Contacts.get(contact.MergedInto); contact == nil {
			return false
		}
	}
	return false
}

// maxFirst limits the first number of a table, so that numbers never overflow.
const maxFirst = 1_000_000

// verifyRows checks the numbers of a table, and that each record is sound.
func verifyRows[T row](name string, t table[T], sound func(T) bool) error {
	var none T
	if t.First < 1 || t.First > maxFirst {
		return fmt.Errorf("%s: first is out of bounds", name)
	}
	for i, r := range t.Rows {
		if r == none || *r.number() != t.First+i || !sound(r) {
			return fmt.Errorf("%s: record %d is not sound", name, t.First+i)
		}
	}
	return nil
}
