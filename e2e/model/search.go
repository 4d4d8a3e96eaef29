package model

import "slices"

// Result is what a search found.
type Result struct {
	States       int           // distinct worlds
	Depth        int           // steps to the farthest of them
	Complete     bool          // every world within the budgets was explored
	Violation    *Violation    // the first one, nil for none
	StateChanges []StateChange // the transitions of payments that were committed
}

// StateChange is a transition of a payment, as flows.PaymentState names the states.
type StateChange struct{ From, To string }

// Check explores every reachable world, breadth first, until one breaks an invariant, so that its trace is
// one of the shortest. The same configuration gives the same result.
func Check(cfg Config) Result {
	s := &search{machine: machine{cfg: cfg.withDefaults()}, numbers: map[world]uint32{}}
	s.add(s.machine.cfg.start(), none)
	for at := 0; at < len(s.worlds) && s.violation == nil; at++ {
		if len(s.worlds) > s.machine.cfg.Limit {
			return s.result(false)
		}
		s.expand(uint32(at))
	}
	if s.violation == nil {
		s.checkLiveness()
	}
	return s.result(s.violation == nil)
}

// none means no world.
const none = ^uint32(0)

// search is a breadth-first search. Worlds are numbered in the order in which they are found.
type search struct {
	machine   machine
	numbers   map[world]uint32 // by canonical form
	worlds    []world
	parents   []uint32
	next      []uint32 // the successor in a fault-free run; none for a world at rest
	violation *Violation
}

// expand takes every step from a world.
func (s *search) expand(at uint32) {
	w := s.worlds[at]
	resting := true
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
		if step.kind != fault && s.next[at] == none {
			s.next[at] = number
		}
	}
	if resting && w.keptForDesk() && s.breaks(KeptForDesk) {
		s.violation = s.explain(KeptForDesk, at, -1)
	}
	if resting && w.forgotten() && s.breaks(ChargedAndForgotten) {
		s.violation = s.explain(ChargedAndForgotten, at, -1)
	}
}

func (s *search) breaks(invariant string) bool {
	return invariant != "" && !slices.Contains(s.machine.cfg.Except, invariant)
}

// add numbers a world, unless it has a number already.
func (s *search) add(w world, parent uint32) (number uint32, isNew bool) {
	form := canonical(w)
	if number, found := s.numbers[form]; found {
		return number, false
	}
	number = uint32(len(s.worlds))
	s.numbers[form] = number
	s.worlds, s.parents, s.next = append(s.worlds, form), append(s.parents, parent), append(s.next, none)
	return number, true
}

// checkLiveness follows the fault-free run from every world, in which delayed requests arrive last. An
// endless run is a payment that never settles. Ends were checked when they were expanded.
func (s *search) checkLiveness() {
	const unseen, running, ends = 0, 1, 2
	marks := make([]uint8, len(s.worlds))
	for start := range uint32(len(marks)) {
		at := start
		for at != none && marks[at] == unseen {
			marks[at] = running
			at = s.next[at]
		}
		if at != none && marks[at] == running && s.worlds[at].charged() && s.breaks(NeverSettles) {
			s.violation = s.explain(NeverSettles, at, -1)
			return
		}
		for at = start; at != none && marks[at] == running; at = s.next[at] {
			marks[at] = ends
		}
	}
}

func (s *search) result(complete bool) Result {
	r := Result{States: len(s.worlds), Complete: complete, Violation: s.violation}
	for at := uint32(len(s.worlds) - 1); at != 0; at = s.parents[at] {
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
