package model

import (
	"math/bits"
	"slices"
)

// Result is what a search found.
type Result struct {
	States       int           // different worlds
	Depth        int           // steps to the farthest of them
	Complete     bool          // every world within the budgets was seen
	Violation    *Violation    // the first one, nil for none
	StateChanges []StateChange // the transitions of payments that were committed
}

// StateChange is a transition of a payment, in the names of flows.PaymentState.
type StateChange struct{ From, To string }

// Check explores every world that can be reached, breadth first, and stops at
// the first that breaks an invariant: its trace is one of the shortest. The same
// configuration gives the same result every time.
func Check(cfg Config) Result {
	s := &search{machine: machine{cfg: cfg.withDefaults()}}
	s.add(s.machine.cfg.start(), none)
	for at := uint32(0); int(at) < s.worlds.len() && s.violation == nil; at++ {
		if s.worlds.len() > s.machine.cfg.Limit {
			return s.result(false)
		}
		s.expand(at)
	}
	if s.violation == nil {
		s.checkLiveness()
	}
	return s.result(s.violation == nil)
}

// none stands for no world.
const none = ^uint32(0)

// search is a breadth-first search. Worlds are numbered as they are found, and
// what belongs to one is kept under its number.
type search struct {
	machine   machine
	worlds    arena[key]
	parents   arena[uint32]
	next      arena[uint32] // where a good day leads, none for a world at rest
	index     []uint32      // hash table: a world's number plus one, 0 for a free place
	violation *Violation
}

// expand takes every step from a world.
func (s *search) expand(at uint32) {
	w := unpack(s.worlds.at(at))
	onwards, resting := none, true
	for n, step := range s.machine.successors(&w) {
		number, isNew := s.add(step.to, at)
		if step.broken == "" && isNew {
			step.broken = s.machine.violated(&step.to)
		}
		if s.breaks(step.broken) {
			s.violation = s.explain(step.broken, at, n)
			return
		}
		resting = resting && step.kind != normal
		if step.kind != fault && onwards == none {
			onwards = number
		}
	}
	if resting && w.forgotten() && s.breaks(ChargedAndForgotten) {
		s.violation = s.explain(ChargedAndForgotten, at, -1)
	}
	*s.next.at(at) = onwards
}

func (s *search) breaks(invariant string) bool {
	return invariant != "" && !slices.Contains(s.machine.cfg.Except, invariant)
}

// add numbers a world, unless it has a number already.
func (s *search) add(w world, parent uint32) (number uint32, isNew bool) {
	if s.worlds.len()*2 >= len(s.index) {
		s.grow()
	}
	k := pack(&w)
	place := s.place(&k)
	if s.index[place] > 0 {
		return s.index[place] - 1, false
	}
	number = s.worlds.add(k)
	s.parents.add(parent)
	s.next.add(none)
	s.index[place] = number + 1
	return number, true
}

// place is where the table has a key, or would have it.
func (s *search) place(k *key) uint64 {
	mask := uint64(len(s.index) - 1)
	at := k.hash() & mask
	for s.index[at] > 0 && *s.worlds.at(s.index[at] - 1) != *k {
		at = (at + 1) & mask
	}
	return at
}

// grow doubles the table.
func (s *search) grow() {
	s.index = make([]uint32, max(1<<12, 2*len(s.index)))
	for n := range uint32(s.worlds.len()) {
		s.index[s.place(s.worlds.at(n))] = n + 1
	}
}

// hash mixes the words by multiplication, as wyhash does.
func (k *key) hash() uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range k {
		hi, lo := bits.Mul64(h^v, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	return h
}

// checkLiveness follows every world on a good day: no faults, and what is under
// way arrives after everything else. A way that never ends is a payment that
// never settles. Ends were looked at when they were expanded.
func (s *search) checkLiveness() {
	const unseen, onTheWay, ends = 0, 1, 2
	marks := make([]uint8, s.worlds.len())
	for start := range uint32(len(marks)) {
		at := start
		for at != none && marks[at] == unseen {
			marks[at] = onTheWay
			at = *s.next.at(at)
		}
		if at != none && marks[at] == onTheWay {
			if w := unpack(s.worlds.at(at)); w.charged() && s.breaks(NeverSettles) {
				s.violation = s.explain(NeverSettles, at, -1)
				return
			}
		}
		for at = start; at != none && marks[at] == onTheWay; at = *s.next.at(at) {
			marks[at] = ends
		}
	}
}

func (s *search) result(complete bool) Result {
	r := Result{States: s.worlds.len(), Complete: complete, Violation: s.violation}
	for at := uint32(s.worlds.len() - 1); at != 0; at = *s.parents.at(at) {
		r.Depth++
	}
	for from := range states {
		for to := range states {
			if s.machine.stateChanges[from][to] {
				r.StateChanges = append(r.StateChanges, StateChange{from.String(), to.String()})
			}
		}
	}
	return r
}

// arena is a list that grows without being copied.
type arena[T any] struct {
	chunks [][]T
	n      int
}

// chunk: small enough that a short search stays small, large enough that a long one has few of them.
const chunk = 1 << 14

func (a *arena[T]) len() int { return a.n }

func (a *arena[T]) at(i uint32) *T { return &a.chunks[i/chunk][i%chunk] }

func (a *arena[T]) add(v T) uint32 {
	if a.n%chunk == 0 {
		a.chunks = append(a.chunks, make([]T, chunk))
	}
	at := uint32(a.n)
	a.n++
	*a.at(at) = v
	return at
}
