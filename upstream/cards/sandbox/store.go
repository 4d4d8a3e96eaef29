package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// defaultWorld has the payments that name no other. Its settings are also those of worlds without their own.
	defaultWorld = "demo"
	// maxWorlds is how many worlds can have settings; then all but the default lose theirs.
	maxWorlds = 10_000
)

// worldPattern is the simulator's.
var worldPattern = regexp.MustCompile(`^demo(-[A-Za-z0-9._-]+)?$`)

// isWorld reports whether a name is one of a demo world.
func isWorld(name string) bool {
	return name == defaultWorld || len(name) <= 128 && worldPattern.MatchString(name)
}

// worldOf returns the demo world of a sale that the gateway names in the metadata fd_sale: its organisation.
func worldOf(sale string) string {
	organisation, _, _ := strings.Cut(strings.TrimPrefix(sale, "/"), "/")
	if !isWorld(organisation) {
		return defaultWorld
	}
	return organisation
}

// store holds the payments. The lock of the Server guards it.
type store struct {
	max    int
	byID   map[string]*intent
	worlds map[string]*world
	last   int64     // the sequence number of the newest payment
	newest time.Time // its creation, so that creation times never run backwards
}

// world is a demo world of the simulator: its payments and what is set for them.
type world struct {
	name     string
	settings *Settings // nil: those of the default world
	payments []*intent // oldest first
}

func (st *store) world(name string) *world {
	w, ok := st.worlds[name]
	if !ok {
		w = &world{name: name}
		st.worlds[name] = w
	}
	return w
}

// add stores a new payment. When the store is full, it drops old final ones.
func (st *store) add(in *intent) error {
	if len(st.byID) >= st.max {
		st.makeRoom(in.world)
	}
	if len(st.byID) >= st.max {
		return errFull("payments that are not final")
	}
	st.last++
	in.seq = st.last
	if in.created.Before(st.newest) {
		in.created = st.newest
	}
	st.newest = in.created
	st.byID[in.id] = in
	in.account.payments = append(in.account.payments, in)
	w := st.world(in.world)
	w.payments = append(w.payments, in)
	return nil
}

// makeRoom drops the oldest final payments, those of a world first. It drops a hundredth of the capacity at once, so that
// a full store is not searched for each new payment.
func (st *store) makeRoom(first string) {
	drop := max(1, st.max/100)
	old := func(of *world) {
		for _, in := range of.payments {
			if drop > 0 && !in.gone && in.final() {
				in.gone = true
				drop--
			}
		}
	}
	old(st.world(first))
	for _, name := range slices.Sorted(maps.Keys(st.worlds)) {
		old(st.worlds[name])
	}
	st.sweep()
}

// sweep removes the payments that are gone from all lists, whose order stays.
func (st *store) sweep() {
	gone := func(in *intent) bool { return in.gone }
	accounts := map[*account]bool{}
	for name, w := range st.worlds {
		for _, in := range w.payments {
			if in.gone {
				delete(st.byID, in.id)
				accounts[in.account] = true
			}
		}
		if w.payments = slices.DeleteFunc(w.payments, gone); len(w.payments) == 0 && w.settings == nil {
			delete(st.worlds, name)
		}
	}
	for a := range accounts {
		a.payments = slices.DeleteFunc(a.payments, gone)
	}
}

// settings returns what applies in a world.
func (st *store) settings(name string) Settings {
	for _, name := range []string{name, defaultWorld} {
		if w, ok := st.worlds[name]; ok && w.settings != nil {
			return *w.settings
		}
	}
	return Settings{Webhooks: Normal}
}

// before returns those of a series of payments that are older than one of it.
func before(series []*intent, than *intent) []*intent {
	at, _ := slices.BinarySearchFunc(series, than.seq, func(in *intent, seq int64) int { return cmp.Compare(in.seq, seq) })
	return series[:at]
}

// errFull is the error for a call that would exceed the memory. It is not Stripe's; a caller sees a processor that fails.
func errFull(what string) error {
	return &apiError{Type: typeAPI, Message: "The sandbox holds as many " + what + " as it can. POST /reset clears it.",
		status: http.StatusServiceUnavailable, notStored: true}
}

// Payments returns all payments, newest first. Their metadata is shared: do not change it.
func (s *Server) Payments() []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*intent, 0, len(s.store.byID))
	for _, a := range s.accounts {
		all = append(all, a.payments...)
	}
	if len(s.accounts) > 1 {
		slices.SortFunc(all, func(a, b *intent) int { return cmp.Compare(a.seq, b.seq) })
	}
	return shown(all)
}

// PaymentsIn returns the payments of a demo world, newest first, as Payments does.
func (s *Server) PaymentsIn(name string) []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.store.worlds[name]; ok {
		return shown(w.payments)
	}
	return nil
}

// Payment returns one payment; ok is false if it does not exist.
func (s *Server) Payment(id string) (p Payment, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.store.byID[id]
	if !ok {
		return Payment{}, false
	}
	return in.shown(), true
}

// Worlds returns the names of the demo worlds that have payments, in alphabetical order.
func (s *Server) Worlds() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, w := range s.store.worlds {
		if len(w.payments) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func shown(of []*intent) []Payment {
	out := make([]Payment, 0, len(of))
	for _, in := range slices.Backward(of) {
		out = append(out, in.shown())
	}
	return out
}

// Reset forgets the payments, idempotency keys, settings and undelivered events of a demo world; empty: of all. Calls in
// progress continue without their payment. No id is used again.
func (s *Server) Reset(name string) {
	s.mu.Lock()
	for each, w := range s.store.worlds {
		if name == "" || name == each {
			w.settings = nil
			for _, in := range w.payments {
				in.gone = true
			}
		}
	}
	s.store.sweep()
	s.keys.forget(name)
	s.mu.Unlock()
	s.webhooks.reset(name)
}
