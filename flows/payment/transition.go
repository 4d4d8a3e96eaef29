package payment

import (
	"slices"

	"frontdesk/flows"
)

// applyTransition assigns the state, and notes the passage in the record. A change that
// leaves state and reason alone, such as one more reading, is none.
func (m *Machine) applyTransition(next *flows.Payment, s step) {
	if next.State == s.to && next.Reason == s.reason {
		return
	}
	history := next.History
	if len(history) == 0 {
		history = []flows.Transition{{State: next.State, At: next.UpdatedAt, Reason: next.Reason}}
	}
	now := m.cfg.Now()
	history = append(slices.Clip(history), flows.Transition{State: s.to, At: now, Reason: s.reason, Operator: s.decision.Operator, OperatorReason: s.decision.Reason})
	next.History = history[max(0, len(history)-flows.MaxHistory):]
	if s.to == flows.InDoubt && next.State != flows.InDoubt {
		next.DoubtSince = now
	}
	next.State, next.Reason, next.UpdatedAt = s.to, s.reason, now
}
