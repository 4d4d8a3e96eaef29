package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
	search := &search{machine: machine{cfg: cfg.withDefaults(), answers: map[question]answer{}}, numbers: map[world]uint32{}}
	search.add(search.machine.cfg.start(), none)
	for at := 0; at < len(search.worlds) && search.violation == nil; at++ {
		if len(search.worlds) > search.machine.cfg.Limit {
			return search.result(false)
		}
		search.expand(uint32(at))
	}
	if search.violation == nil {
		search.checkLiveness()
	}
	return search.result(search.violation == nil)
}

const none = ^uint32(0)

// search is a breadth-first search. Worlds are numbered in the order in which they are found. Of those with the
// same canonical form, only the first one is kept.
type search struct {
	machine   machine
	numbers   map[world]uint32 // by canonical form
	worlds    []world
	parents   []uint32
	next      []uint32 // the successor in a fault-free run; none for a world at rest
	violation *Violation
}

func (s *search) expand(at uint32) {
	world := s.worlds[at]
	resting := true
	for n, step := range s.machine.successors(&world) {
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
	if !resting {
		return
	}
	for _, invariant := range world.brokenAtRest() {
		if s.violation == nil && s.breaks(invariant) {
			s.violation = s.explain(invariant, at, -1)
		}
	}
}

func (s *search) breaks(invariant string) bool {
	return invariant != "" && !slices.Contains(s.machine.cfg.Except, invariant)
}

// add numbers a world, unless it has a number already.
func (s *search) add(world world, parent uint32) (number uint32, isNew bool) {
	form := canonical(world)
	if number, found := s.numbers[form]; found {
		return number, false
	}
	number = uint32(len(s.worlds))
	s.numbers[form] = number
	s.worlds, s.parents, s.next = append(s.worlds, world), append(s.parents, parent), append(s.next, none)
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
	result := Result{States: len(s.worlds), Complete: complete, Violation: s.violation}
	for at := uint32(len(s.worlds) - 1); at != 0; at = s.parents[at] {
		result.Depth++
	}
	for from := range states {
		for to := range states {
			if s.machine.stateChanges[from][to] {
				result.StateChanges = append(result.StateChanges, StateChange{string(from.name()), string(to.name())})
			}
		}
	}
	return result
}

// Violation is an invariant that was broken, and a shortest trace that leads there.
type Violation struct {
	Invariant string
	Steps     []string // what happens, and in brackets the result
}

// String prints the trace, a line for each step.
func (v *Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, after %d steps:\n", v.Invariant, len(v.Steps))
	for i, s := range v.Steps {
		fmt.Fprintf(&text, "%3d. %s\n", i+1, s)
	}
	return text.String()
}

// explain repeats the steps to a world, and then its n-th step unless n is negative.
func (s *search) explain(invariant string, to uint32, n int) *Violation {
	var way []world
	if n >= 0 {
		way = append(way, s.machine.successors(&s.worlds[to])[n].to)
	}
	for at := to; at != 0; at = s.parents[at] {
		way = append(way, s.worlds[at])
	}
	violation := &Violation{Invariant: invariant}
	w := s.machine.cfg.start()
	for _, next := range slices.Backward(way) {
		steps := s.machine.successors(&w)
		taken := steps[slices.IndexFunc(steps, func(st step) bool { return st.to == next })]
		violation.Steps = append(violation.Steps, taken.String())
		w = taken.to
	}
	return violation
}

// String says which replica does what, and describes the resulting world.
func (st step) String() string {
	who := ""
	if st.replica != noReplica {
		who = fmt.Sprintf("Replica %d ", st.replica+1)
	}
	return who + st.what + ".  [" + st.to.String() + "]"
}

// String summarises a world.
func (w world) String() string {
	parts := []string{"Redis: " + w.redis.String()}
	for i := range w.slot {
		if s := &w.slot[i]; s.held != unknownThere {
			parts = append(parts, fmt.Sprintf("processor's payment %d: %s", i+1, s))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("club system: %d booked", w.applied())), "; ")
}

func (r record) String() string {
	switch {
	case !r.exists:
		return "empty"
	case r.state == noPayment:
		return "no payment"
	}
	text := fmt.Sprintf("payment %d %s", r.generation, r.state.name())
	if r.version > 0 {
		text += fmt.Sprintf(" v%d", r.version)
	}
	if r.claim > 0 {
		text += fmt.Sprintf(" claim %d by %s", r.claim, r.attempt)
	}
	if r.releasePending {
		text += ", its release owed"
	}
	return text
}

func (s *slot) String() string {
	text := heldNames[s.held]
	for n, entry := range s.journal {
		if entry.attempt != 0 {
			text += fmt.Sprintf(" post_%d=%s", n+1, entry.attempt)
		}
		if entry.release != 0 {
			text += fmt.Sprintf(" release_%d=%s", n+1, entry.release)
		}
		if entry.done {
			text += fmt.Sprintf(" done_%d", n+1)
		}
	}
	return text
}

// String names an attempt id by a letter, a refund's by a capital letter.
func (p attemptID) String() string {
	if p.refund() {
		return string(rune('A' + p - forRefund - 1))
	}
	return string(rune('a' + p - 1))
}

// canonical returns one form for worlds that differ only in the order of replicas and backups and in the
// names of attempt ids. Replicas that do the same under different ids keep their order.
func canonical(world world) world {
	slices.SortStableFunc(world.process[:], func(a, b process) int { return cmp.Compare(b.rank(), a.rank()) })
	slices.SortStableFunc(world.backups[:], func(a, b record) int { return cmp.Compare(b.rank(), a.rank()) })
	var names [2 * (maxAttemptIDs + 1)]attemptID
	used := [2]attemptID{forPost, forRefund}
	for _, id := range world.attemptIDs() {
		if *id == 0 {
			continue
		}
		if names[*id] == 0 {
			purpose := *id / forRefund
			used[purpose]++
			names[*id] = used[purpose]
		}
		*id = names[*id]
	}
	return world
}

// rank orders records by everything but their attempt id.
func (r record) rank() (rank uint64) {
	for _, flag := range []bool{
		r.exists, r.releasePending, r.declined, r.rebuilt, r.seen, r.refundFailed, r.missing, r.doubted, r.onHold,
		r.absent,
	} {
		rank <<= 1
		if flag {
			rank++
		}
	}
	for _, v := range []uint8{
		r.generation<<2 | uint8(r.method), uint8(r.state), r.version, r.slot<<4 | r.used<<2 | uint8(r.verdict),
		r.claim<<4 | r.failed,
	} {
		rank = rank<<8 | uint64(v)
	}
	return rank
}

// rank orders processes by everything but their attempt id.
func (p process) rank() uint64 {
	rank := p.rec.rank() | uint64(p.at)<<56
	if p.stale {
		rank |= 1 << 63
	}
	return rank
}
