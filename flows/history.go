package flows

import (
	"slices"
	"time"
)

// Passage is one transition of a payment, as its record remembers it.
type Passage struct {
	State  PaymentState `json:"state"`
	At     time.Time    `json:"at"`
	Reason string       `json:"reason"`
	By     string       `json:"by,omitempty"`  // the operator who decided it, or byRule; empty: the machine
	Why    string       `json:"why,omitempty"` // the operator's words
}

// byRule marks a passage that a calibrated rule decided.
const byRule = "rule"

// maxHistory holds the longest life, ten claims and a few decisions included,
// with room to spare; of a longer one the beginning goes.
const maxHistory = 60

// remember assigns the state, and notes the passage in the record. A change that
// leaves state and reason alone, such as one more reading, is none.
func (m *Payments) remember(next *Payment, s step) {
	if next.State == s.to && next.Reason == s.reason {
		return
	}
	history := next.History
	if len(history) == 0 {
		history = []Passage{{State: next.State, At: next.UpdatedAt, Reason: next.Reason}}
	}
	now := m.cfg.Now()
	history = append(slices.Clip(history), Passage{State: s.to, At: now, Reason: s.reason, By: s.word.By, Why: s.word.Why})
	next.History = history[max(0, len(history)-maxHistory):]
	if s.to == InDoubt && next.State != InDoubt {
		next.DoubtSince = now
	}
	next.State, next.Reason, next.UpdatedAt = s.to, s.reason, now
}

// decidedBy is who led the payment to where it stands; empty for the machine.
func (p *Payment) decidedBy() string {
	if len(p.History) == 0 {
		return ""
	}
	return p.History[len(p.History)-1].By
}

// passed tells whether the payment was ever in a state.
func (p *Payment) passed(state PaymentState) bool {
	return slices.ContainsFunc(p.History, func(passage Passage) bool { return passage.State == state })
}
