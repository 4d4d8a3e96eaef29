package model

import (
	"fmt"
	"slices"
	"strings"
)

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

// explain repeats the steps to a world, and then its n-th step unless n is negative. Worlds are known
// in canonical form only, so explain follows steps to the same world in any order of the replicas.
func (s *search) explain(invariant string, to uint32, n int) *Violation {
	var way []world
	if n >= 0 {
		way = append(way, canonical(s.machine.successors(&s.worlds[to])[n].to))
	}
	for at := to; at != 0; at = s.parents[at] {
		way = append(way, s.worlds[at])
	}
	v := &Violation{Invariant: invariant}
	w := s.machine.cfg.start()
	for _, next := range slices.Backward(way) {
		steps := s.machine.successors(&w)
		taken := steps[slices.IndexFunc(steps, func(st step) bool { return st.to.sameAs(next) })]
		v.Steps = append(v.Steps, taken.String())
		w = taken.to
	}
	return v
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
	text := fmt.Sprintf("payment %d %s", r.generation, r.state)
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
	for n, e := range s.journal {
		if e.attempt != 0 {
			text += fmt.Sprintf(" post_%d=%s", n+1, e.attempt)
		}
		if e.release != 0 {
			text += fmt.Sprintf(" release_%d=%s", n+1, e.release)
		}
		if e.done {
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
