package chaos

import "github.com/anishathalye/porcupine"

// keyState is what one process without faults would know about a key, or about a sale.
type keyState struct {
	taken bool
	body  string // that came first
	id    string // of the created object; empty while no response had it
}

// idempotencyModel defines the allowed responses. The first call takes a key by reserving it. The same
// body then gets the same response, or "still running" until there is one; another body is refused. A
// sale is a key that all callers use with the same body.
var idempotencyModel = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, op := range history {
			parts[op.Input.(callInput).key] = append(parts[op.Input.(callInput).key], op)
		}
		var all [][]porcupine.Operation
		for _, part := range parts {
			all = append(all, part)
		}
		return all
	},
	Init: func() []any { return []any{keyState{}} },
	Step: func(state, input, output any) []any {
		var next []any
		for _, s := range state.(keyState).after(input.(callInput), output.(callOutcome)) {
			next = append(next, s)
		}
		return next
	},
}).ToModel()

// after returns the states that a call with this response may lead to; none when the response
// is not possible here.
func (s keyState) after(in callInput, out callOutcome) []keyState {
	mine := s.taken && s.body == in.body
	switch {
	case in.forget && mine && s.id == "":
		return []keyState{s, {}}
	case in.forget:
		return []keyState{s}
	case out.unknown && !s.taken:
		return []keyState{s, {taken: true, body: in.body}}
	case out.unknown:
		return []keyState{s}
	case out.nothing:
		return stateIf(!s.taken || s.id == "", s) // reserved, but not yet created
	case out.running:
		return stateIf(mine, s)
	case out.reused:
		return stateIf(s.taken && !mine, s)
	case !s.taken:
		return stateIf(!in.read, keyState{taken: true, body: in.body, id: out.id})
	case mine && s.id == "":
		return []keyState{{taken: true, body: in.body, id: out.id}}
	default:
		return stateIf(mine && s.id == out.id, s)
	}
}

func stateIf(possible bool, s keyState) []keyState {
	if possible {
		return []keyState{s}
	}
	return nil
}
