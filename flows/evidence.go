package flows

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Evidence is what the club system shows of a payment's sale and contact at one moment,
// without personal data. A nil field is not known.
type Evidence struct {
	At            time.Time `json:"at"`
	SaleState     *string   `json:"saleState,omitempty"`
	Total         *int64    `json:"total,omitempty"`    // minor units
	Valid         *bool     `json:"valid,omitempty"`    // the sale's check
	Invoiced      *bool     `json:"invoiced,omitempty"` // the sale has an invoice
	ContactStatus *string   `json:"contactStatus,omitempty"`
	Debt          *int64    `json:"debt,omitempty"` // of the contact, minor units
}

// Reading is evidence of a payment in doubt.
type Reading struct {
	Evidence
	Failures int `json:"failures,omitempty"` // consecutive failed readings up to At; 0: a successful one
}

// ReadSince reports whether evidence was read or tried, or the payment changed its state, within a time.
func (p *Payment) ReadSince(now time.Time, span time.Duration) bool {
	last := p.UpdatedAt
	for _, reading := range p.Readings {
		if reading.At.After(last) {
			last = reading.At
		}
	}
	return now.Sub(last) < span
}

// StateSince returns when the payment entered its state.
func (p *Payment) StateSince() time.Time {
	if p.State == InDoubt {
		return p.InDoubtSince()
	}
	return p.UpdatedAt
}

// InDoubtSince returns when the present doubt began, which is after its claim.
func (p *Payment) InDoubtSince() time.Time {
	if p.DoubtSince.IsZero() {
		return p.UpdatedAt
	}
	return p.DoubtSince
}

// Signal is a part of the evidence that may separate recorded payments from others.
type Signal string

// The signals.
const (
	SignalSaleState     Signal = "sale_state"
	SignalCheck         Signal = "check"          // valid, invalid
	SignalInvoice       Signal = "invoice"        // none, made
	SignalTotal         Signal = "total"          // see amountText
	SignalContactStatus Signal = "contact_status" // as the club system calls it
	SignalDebt          Signal = "debt"           // the difference to the snapshot; see amountText
)

// SaleSignals are signals that no other purchase of the contact changes.
var SaleSignals = []Signal{SignalSaleState, SignalInvoice, SignalCheck, SignalTotal}

// ContactSignals are signals that another purchase may change as well.
var ContactSignals = []Signal{SignalContactStatus, SignalDebt}

// Condition is a change that a recorded payment causes.
type Condition struct {
	Signal Signal `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Rule decides from evidence that a payment was recorded. Only an operator decides that one was not.
type Rule struct {
	Conditions   []Condition `json:"conditions"` // all must hold; without any, the rule never matches
	CalibratedAt time.Time   `json:"calibratedAt,omitzero"`
	Recorded     int         `json:"recorded"` // the number of samples
	Unpaid       int         `json:"unpaid"`
}

// Matches reports whether the payment's snapshot has the conditions' values before, and the evidence those after.
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

// After returns a signal's value after a payment was recorded; empty if the rule lacks the signal.
func (r *Rule) After(signal Signal) string {
	if r != nil {
		for _, c := range r.Conditions {
			if c.Signal == signal {
				return c.After
			}
		}
	}
	return ""
}

// String describes the rule.
func (r *Rule) String() string {
	parts := make([]string, len(r.Conditions))
	for i, c := range r.Conditions {
		parts[i] = fmt.Sprintf("%s went from %s to %s", c.Signal, c.Before, c.After)
	}
	return strings.Join(parts, ", ")
}

// SignalValue returns a signal as text; empty if it is not known.
func SignalValue(signal Signal, payment *Payment, seen *Evidence) string {
	switch {
	case seen == nil:
	case signal == SignalSaleState && seen.SaleState != nil:
		return *seen.SaleState
	case signal == SignalContactStatus && seen.ContactStatus != nil:
		return *seen.ContactStatus
	case signal == SignalCheck && seen.Valid != nil:
		if *seen.Valid {
			return "valid"
		}
		return "invalid"
	case signal == SignalInvoice && seen.Invoiced != nil:
		if *seen.Invoiced {
			return "made"
		}
		return "none"
	case signal == SignalTotal && seen.Total != nil:
		return amountText(*seen.Total, payment.Amount)
	case signal == SignalDebt && seen.Debt != nil && payment.Snapshot != nil && payment.Snapshot.Debt != nil:
		return amountText(*seen.Debt-*payment.Snapshot.Debt, payment.Amount)
	}
	return ""
}

// amountText describes an amount relative to the payment's, so that samples are comparable.
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
