package flows

import (
	"slices"
	"time"
)

// Transition is one transition of a payment, as its record remembers it.
type Transition struct {
	State          PaymentState `json:"state"`
	At             time.Time    `json:"at"`
	Reason         string       `json:"reason"`
	Operator       string       `json:"by,omitempty"`  // the operator who decided it, or byRule; empty: the machine
	OperatorReason string       `json:"why,omitempty"` // the operator's words
}

// byRule marks a passage that a calibrated rule decided.
const byRule = "rule"

// maxHistory holds the longest life, ten claims and a few decisions included,
// with room to spare; of a longer one the beginning goes.
const maxHistory = 60

// applyTransition assigns the state, and notes the passage in the record. A change that
// leaves state and reason alone, such as one more reading, is none.
func (m *Machine) applyTransition(next *Payment, s step) {
	if next.State == s.to && next.Reason == s.reason {
		return
	}
	history := next.History
	if len(history) == 0 {
		history = []Transition{{State: next.State, At: next.UpdatedAt, Reason: next.Reason}}
	}
	now := m.cfg.Now()
	history = append(slices.Clip(history), Transition{State: s.to, At: now, Reason: s.reason, Operator: s.decision.Operator, OperatorReason: s.decision.Reason})
	next.History = history[max(0, len(history)-maxHistory):]
	if s.to == InDoubt && next.State != InDoubt {
		next.DoubtSince = now
	}
	next.State, next.Reason, next.UpdatedAt = s.to, s.reason, now
}

// decisionOperator is who led the payment to where it stands; empty for the machine.
func (p *Payment) decisionOperator() string {
	if len(p.History) == 0 {
		return ""
	}
	return p.History[len(p.History)-1].Operator
}

// hasBeen tells whether the payment was ever in a state.
func (p *Payment) hasBeen(state PaymentState) bool {
	return slices.ContainsFunc(p.History, func(passage Transition) bool { return passage.State == state })
}
