package sandbox

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// defaultWorld has the payments that name no other. Its settings are also those of worlds without their own.
const defaultWorld = "demo"

// worldPattern is the simulator's.
var worldPattern = regexp.MustCompile(`^demo(-[A-Za-z0-9._-]{1,123})?$`)

// worldOf returns the demo world of a sale that the gateway names in the metadata fd_sale: its organisation.
func worldOf(sale string) string {
	organisation, _, _ := strings.Cut(strings.TrimPrefix(sale, "/"), "/")
	if organisation == defaultWorld || !worldPattern.MatchString(organisation) {
		return defaultWorld
	}
	return organisation
}

// bytesPerPayment is at least twice what a gateway writes about a payment. The double holds so many bytes for each payment that it
// may hold, and as many for their keys; so a few payments may have all that Stripe allows, 100 kB of metadata.
const bytesPerPayment = 4 << 10

// store holds the payments of all accounts. The lock of the Server guards it.
type store struct {
	max      int
	bytes    int       // that callers wrote, at most max times bytesPerPayment
	all      []*intent // oldest first
	byID     map[string]*intent
	settings map[string]Settings  // by demo world
	last     map[string]time.Time // when the newest payment of each demo world was made
}

// add stores a new payment. When the store is full, it drops old final ones.
func (st *store) add(in *intent) error {
	if len(st.all) >= st.max {
		st.makeRoom(in)
	}
	if len(st.all) >= st.max {
		return errFull("payments that are not final")
	}
	if err := st.write(in, in.metadata); err != nil {
		return err
	}
	if n := len(st.all); n > 0 {
		in.seq = st.all[n-1].seq + 1
	}
	if last := st.last[in.world]; in.created.Before(last) { // lists rely on the order
		in.created = last
	}
	st.last[in.world] = in.created
	st.byID[in.id] = in
	st.all = append(st.all, in)
	return nil
}

// write reserves the bytes of a payment with its next metadata. When there are too many, it drops old final payments.
func (st *store) write(in *intent, next metadata) error {
	bytes := len(in.description) + len(in.webhookURL)
	for _, entry := range next {
		bytes += len(entry.key) + len(entry.value)
	}
	for grown := bytes - in.bytes; grown > 0 && st.bytes+grown > st.max*bytesPerPayment; {
		before := len(st.all)
		st.makeRoom(in)
		if len(st.all) == before {
			return errFull("bytes of payments that are not final")
		}
	}
	st.bytes += bytes - in.bytes
	in.bytes = bytes
	return nil
}

// makeRoom drops the oldest final payments, those of the needy one's world first, and never that one. It drops a hundredth of the
// capacity at once, so that a full store is not searched for each new payment.
func (st *store) makeRoom(needy *intent) {
	drop := max(1, st.max/100)
	for _, own := range []bool{true, false} {
		st.remove(func(in *intent) bool {
			if drop == 0 || in == needy || !in.final() || own && in.world != needy.world {
				return false
			}
			drop--
			return true
		})
	}
}

// remove removes payments.
func (st *store) remove(which func(*intent) bool) {
	st.all = slices.DeleteFunc(st.all, func(in *intent) bool {
		in.gone = which(in)
		if in.gone {
			delete(st.byID, in.id)
			st.bytes -= in.bytes
		}
		return in.gone
	})
}

// before returns the payments that are older than one of them.
func (st *store) before(than *intent) []*intent {
	at, _ := slices.BinarySearchFunc(st.all, than.seq, func(in *intent, seq int64) int { return cmp.Compare(in.seq, seq) })
	return st.all[:at]
}

// of returns the settings of a world.
func (st *store) of(world string) Settings {
	for _, name := range []string{world, defaultWorld} {
		if own, ok := st.settings[name]; ok {
			return own
		}
	}
	return Settings{Webhooks: Normal}
}

// errFull is the error for a call that would exceed the memory. It is not Stripe's; a caller sees a processor that fails.
func errFull(what string) error {
	return &apiError{Type: typeAPI, Message: "The sandbox holds as many " + what + " as it can. POST /reset clears it.",
		status: http.StatusServiceUnavailable, notStored: true}
}

// Payments returns all payments, newest first. Their metadata is shared: do not change it.
func (s *Server) Payments() []Payment { return s.shown(func(*intent) bool { return true }) }

// PaymentsIn returns the payments of a demo world, as Payments does.
func (s *Server) PaymentsIn(world string) []Payment {
	return s.shown(func(in *intent) bool { return in.world == world })
}

// WorldOf returns the demo world with a payment whose metadata name a registration; empty: there is none.
func (s *Server) WorldOf(registration string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range slices.Backward(s.store.all) {
		if slices.Contains(in.metadata, metadataEntry{"fd_registration", registration}) {
			return in.world
		}
	}
	return ""
}

func (s *Server) shown(which func(*intent) bool) (out []Payment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range slices.Backward(s.store.all) {
		if which(in) {
			out = append(out, in.shown())
		}
	}
	return out
}

func (s *Server) gone(in *intent) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return in.gone
}

// Payment returns one payment; ok is false if it does not exist.
func (s *Server) Payment(id string) (payment Payment, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.store.byID[id]
	if ok {
		payment = in.shown()
	}
	return payment, ok
}

// Reset forgets the payments, idempotency keys, settings and undelivered events of a demo world; empty: of all. A call in
// progress does not find its payment. No id is used again.
func (s *Server) Reset(world string) {
	defer s.cfg.Changed(world)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset(world)
}

func (s *Server) reset(world string) {
	s.store.remove(func(in *intent) bool { return world == "" || in.world == world })
	s.forgetKeys(func(use *keyUse) bool {
		return world == "" || use.of != nil && use.of.gone && use.of.world == world
	})
	delete(s.store.settings, world)
	delete(s.store.last, world)
	if world == "" {
		clear(s.store.settings)
		clear(s.store.last)
	}
}
