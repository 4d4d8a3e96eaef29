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

// ByRule marks a transition that a calibrated rule decided.
const ByRule = "rule"

// MaxHistory holds the longest life, ten claims and a few decisions included,
// with room to spare; of a longer one the beginning goes.
const MaxHistory = 60

// DecisionOperator is who led the payment to where it stands; empty for the machine.
func (p *Payment) DecisionOperator() string {
	if len(p.History) == 0 {
		return ""
	}
	return p.History[len(p.History)-1].Operator
}

// HasBeen tells whether the payment was ever in a state.
func (p *Payment) HasBeen(state PaymentState) bool {
	return slices.ContainsFunc(p.History, func(each Transition) bool { return each.State == state })
}
