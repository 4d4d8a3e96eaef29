package flows

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// MaxReasonLength bounds an operator's text to a paragraph, in bytes.
const MaxReasonLength = 500

// Decision says which operator decided, and why.
type Decision struct {
	Operator string // a login name, which is stored in plain
	Reason   string // may be empty
	Override bool   // of what the sale shows: something else settled it
}

// operatorName matches names for the audit stream and the processor.
var operatorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// OperatorProblems returns what is wrong with an operator's name.
func OperatorProblems(name string) []FieldProblem {
	if operatorName.MatchString(name) {
		return nil
	}
	return []FieldProblem{{Pointer: "/by", Message: "must be a login name of at most 40 letters, digits, dots, hyphens and underscores"}}
}

// Validate returns InvalidRequest with everything that is wrong with operator and reason.
func (d Decision) Validate() error {
	fields := OperatorProblems(d.Operator)
	if len(d.Reason) > MaxReasonLength || strings.ContainsFunc(d.Reason, unicode.IsControl) {
		fields = append(fields, FieldProblem{Pointer: "/why", Message: fmt.Sprintf("must be one line of at most %d bytes", MaxReasonLength)})
	}
	return Invalid(fields...)
}

// Note is an operator's note about a payment.
type Note struct {
	At       time.Time `json:"at"`
	Operator string    `json:"by"`
	Text     string    `json:"text"`
}

// AuditEntry is one line of the audit stream. It holds no personal data and no free text.
type AuditEntry struct {
	At       time.Time
	Operator string
	Action   string    // confirm-recorded, confirm-not-recorded (also with -override), refund, note, calibrate, invite, replay, replay-all, enable, erase
	Payment  PaymentID // of the first four; else empty
	From     PaymentState
	To       PaymentState
}
