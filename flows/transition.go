package flows

import (
	"fmt"
	"slices"
	"time"
)

// transitions is the complete table. docs/explanation/exactly-once.md, "States", says when each of them happens. in_doubt never leads back
// to sending, and without an operator only to recorded or blocked. recorded has no way out: what contradicts it is a finding.
var transitions = map[PaymentState][]PaymentState{
	Priced:     {Intent, Sending, Cancelled, InDoubt, Blocked},
	Intent:     {Authorised, Cancelling, Blocked},
	Authorised: {Capturing, Cancelling, Blocked},
	Capturing:  {Captured, Cancelling, Blocked},
	Captured:   {Sending, RefundDue, InDoubt, Blocked},
	Sending:    {Recorded, Captured, Priced, Cancelled, RefundDue, InDoubt, Blocked},
	Cancelling: {Cancelled, Blocked},
	RefundDue:  {Refunding},
	Refunding:  {Refunded, Blocked},
	Refunded:   {Blocked},
	Cancelled:  {Blocked},
	Blocked:    {Intent, Authorised, Capturing, Captured, Cancelling, InDoubt, Refunding, Recorded, Cancelled, Refunded},
	InDoubt:    {Recorded, Captured, Priced, RefundDue, Cancelled, Blocked},
}

// CanBecome reports whether the table has the transition.
func (s PaymentState) CanBecome(to PaymentState) bool { return slices.Contains(transitions[s], to) }

// StateChange is a transition, or a change of the record in the same state.
type StateChange struct {
	From            PaymentState  // expected
	Version         int64         // expected
	Next            *Payment      // with the new state; Commit sets its version to Version+1
	Operation       string        // unique: a call repeated by the Redis client returns its first result
	Lease           time.Duration // how long the caller owns the payment afterwards; zero: not at all
	LeaseExpiredFor time.Duration // ErrOwned until the lease has been over for so long, by Redis' clock; zero: not checked
	Keep            time.Duration // how long a final payment is kept; zero for others
	Silent          bool          // the buyer's view is unchanged, so followers are not notified
}

// ErrOwned is the error for a payment that is leased to the process that sends it.
var ErrOwned = fmt.Errorf("%w: it is leased to another process", ErrConflict)

// Transition is one transition in a payment's history.
type Transition struct {
	State          PaymentState `json:"state"`
	At             time.Time    `json:"at"`
	Reason         string       `json:"reason"`
	Operator       string       `json:"by,omitempty"`  // or ByRule; empty: the machine
	OperatorReason string       `json:"why,omitempty"` // the operator's text
}

// ByRule is the operator of a transition that a calibrated rule decided.
const ByRule = "rule"

// MaxHistory exceeds the longest life, with ten claims and some decisions. The oldest
// transitions beyond it are dropped.
const MaxHistory = 60

// DecisionOperator returns the operator of the latest transition; empty for the machine.
func (p *Payment) DecisionOperator() string {
	if len(p.History) == 0 {
		return ""
	}
	return p.History[len(p.History)-1].Operator
}

// StateBefore returns the state that the latest stay in a state followed; empty if the history does not say.
func (p *Payment) StateBefore(state PaymentState) PaymentState {
	for _, t := range slices.Backward(p.History) {
		if t.State != state {
			return t.State
		}
	}
	return ""
}

// Since returns when the payment first entered a state; when it entered the present one, if the history does not say.
func (p *Payment) Since(state PaymentState) time.Time {
	for _, t := range p.History {
		if t.State == state {
			return t.At
		}
	}
	return p.UpdatedAt
}

// HasBeen reports whether the payment was ever in a state.
func (p *Payment) HasBeen(state PaymentState) bool {
	return slices.ContainsFunc(p.History, func(t Transition) bool { return t.State == state })
}
