package model

import (
	"fmt"
	"slices"
	"strings"
)

// Violation is an invariant that was broken, and a shortest way there.
type Violation struct {
	Invariant string
	Steps     []string // what happens, and in brackets what came of it
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

// explain walks the way to a world again, and then its n-th step, unless n is
// below zero. Keys do not tell replicas apart, so the walk goes by worlds, and
// picks each time a step to a world that nobody can tell from the next one.
func (s *search) explain(invariant string, to uint32, n int) *Violation {
	var way []world
	if n >= 0 {
		w := unpack(s.worlds.at(to))
		way = append(way, s.machine.successors(&w)[n].to)
	}
	for at := to; at != 0; at = *s.parents.at(at) {
		way = append(way, unpack(s.worlds.at(at)))
	}
	v := &Violation{Invariant: invariant}
	w := s.machine.cfg.start()
	for _, next := range slices.Backward(way) {
		want := canonicalKey(next)
		steps := s.machine.successors(&w)
		taken := steps[slices.IndexFunc(steps, func(st step) bool { return canonicalKey(st.to) == want })]
		v.Steps = append(v.Steps, taken.String())
		w = taken.to
	}
	return v
}

// canonicalKey is a key that is surely the same for worlds that nobody can tell
// apart: the least for any order of the replicas and of the backups. pack, which
// has to be fast, may give several to worlds in which two replicas do the same
// under different post ids.
func canonicalKey(w world) key {
	least := key{^uint64(0)}
	for _, p := range orders {
		for _, b := range orders {
			other := w
			for i := range orders[0] {
				other.process[i], other.backups[i] = w.process[p[i]], w.backups[b[i]]
			}
			if k := pack(&other); slices.Compare(k[:], least[:]) < 0 {
				least = k
			}
		}
	}
	return least
}

// orders are those of three things, which is how many replicas and backups there are at most.
var orders = [...][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}

// String tells who does what, and what came of it.
func (st step) String() string {
	who := ""
	if st.replica != noReplica {
		who = fmt.Sprintf("Replica %d ", st.replica+1)
	}
	return who + st.what + ".  [" + st.to.String() + "]"
}

// String sums a world up.
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

// String names a post id by a letter, that of a refund by a capital one.
func (p attemptID) String() string {
	if p.refund() {
		return string(rune('A' + p - forRefund - 1))
	}
	return string(rune('a' + p - 1))
}
