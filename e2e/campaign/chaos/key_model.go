package chaos

import "github.com/anishathalye/porcupine"

// slot is what one process without faults would know about a key, or about a sale.
type slot struct {
	taken bool
	body  string // that came first
	id    string // of what was made; empty while nobody has seen it
}

// model says what may be answered. A key is taken by the first call in the moment in
// which it is reserved, and everything that follows is answered from that: the same body
// with the same answer, or with "still running" until there is one; another body with a
// refusal. A sale is a key that everybody uses with the same body.
var model = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, op := range history {
			parts[op.Input.(asked).key] = append(parts[op.Input.(asked).key], op)
		}
		var all [][]porcupine.Operation
		for _, part := range parts {
			all = append(all, part)
		}
		return all
	},
	Init: func() []any { return []any{slot{}} },
	Step: func(state, input, output any) []any {
		var next []any
		for _, s := range state.(slot).after(input.(asked), output.(got)) {
			next = append(next, s)
		}
		return next
	},
}).ToModel()

// after gives the states that a call with this answer may lead to; none when the answer
// is not possible here.
func (s slot) after(in asked, out got) []slot {
	mine := s.taken && s.body == in.body
	switch {
	case in.forget && mine && s.id == "":
		return []slot{s, {}}
	case in.forget:
		return []slot{s}
	case out.unknown && !s.taken:
		return []slot{s, {taken: true, body: in.body}}
	case out.unknown:
		return []slot{s}
	case out.nothing:
		return only(!s.taken || s.id == "", s) // reserved is not yet made
	case out.running:
		return only(mine, s)
	case out.reused:
		return only(s.taken && !mine, s)
	case !s.taken:
		return only(!in.read, slot{taken: true, body: in.body, id: out.id})
	case mine && s.id == "":
		return []slot{{taken: true, body: in.body, id: out.id}}
	default:
		return only(mine && s.id == out.id, s)
	}
}

func only(possible bool, s slot) []slot {
	if possible {
		return []slot{s}
	}
	return nil
}
