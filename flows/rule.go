package flows

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Signal is something of the evidence by which a recorded payment can be told
// from one that is not.
type Signal string

// The observables.
const (
	SignalSaleState     Signal = "sale_state"
	SignalCheck         Signal = "check"          // valid, invalid
	SignalTotal         Signal = "total"          // see amountText
	SignalContactStatus Signal = "contact_status" // as the club system calls it
	SignalDebt          Signal = "debt"           // its difference to the snapshot; see amountText
)

// SaleSignals are the observables that no other purchase of the same person changes.
var SaleSignals = []Signal{SignalSaleState, SignalCheck, SignalTotal}

// ContactSignals are those that another purchase may change as well.
var ContactSignals = []Signal{SignalContactStatus, SignalDebt}

// Condition is one thing that changes when a payment is recorded.
type Condition struct {
	Signal Signal `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Rule tells from evidence that a payment was recorded. It never tells that one
// was not: that is a person's decision.
type Rule struct {
	Conditions   []Condition `json:"conditions"` // all of them have to hold; none: the rule tells nothing
	CalibratedAt time.Time   `json:"calibratedAt,omitzero"`
	Recorded     int         `json:"recorded"` // how many known payments it was found on
	Unpaid       int         `json:"unpaid"`
}

// Matches tells whether the payment was as the rule's "before" when its snapshot was
// taken, and is now as only recorded ones are.
func (r *Rule) Matches(p *Payment, now Evidence) bool {
	if r == nil || len(r.Conditions) == 0 || p.Snapshot == nil {
		return false
	}
	for _, c := range r.Conditions {
		before, after := SignalValue(c.Signal, p, p.Snapshot), SignalValue(c.Signal, p, &now)
		if before == "" || before != c.Before || after != c.After {
			return false
		}
	}
	return true
}

// String puts the rule into words.
func (r *Rule) String() string {
	parts := make([]string, len(r.Conditions))
	for i, c := range r.Conditions {
		parts[i] = fmt.Sprintf("%s went from %s to %s", c.Signal, c.Before, c.After)
	}
	return strings.Join(parts, ", ")
}

// SignalValue is an observable as text; empty when it is not known.
func SignalValue(what Signal, p *Payment, seen *Evidence) string {
	switch {
	case seen == nil:
	case what == SignalSaleState && seen.SaleState != nil:
		return *seen.SaleState
	case what == SignalContactStatus && seen.ContactStatus != nil:
		return *seen.ContactStatus
	case what == SignalCheck && seen.Valid != nil:
		if *seen.Valid {
			return "valid"
		}
		return "invalid"
	case what == SignalTotal && seen.Total != nil:
		return amountText(*seen.Total, p.Amount)
	case what == SignalDebt && seen.Debt != nil && p.Snapshot != nil && p.Snapshot.Debt != nil:
		return amountText(*seen.Debt-*p.Snapshot.Debt, p.Amount)
	}
	return ""
}

// amountText tells an amount relative to that of the payment, so that payments of
// different amounts look alike.
func amountText(amount, of int64) string {
	switch amount {
	case 0:
		return "nothing"
	case of:
		return "the amount"
	case -of:
		return "minus the amount"
	default:
		return strconv.FormatInt(amount, 10)
	}
}
