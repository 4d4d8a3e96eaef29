package flows

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

const (
	// MaxReasonLength bounds what an operator writes at once: a paragraph.
	MaxReasonLength = 500
)

// Decision is what an operator says with a decision.
type Decision struct {
	Operator string // who: a login name, since it is kept in plain
	Reason   string // may be empty
}

// operatorName is what a name in the audit stream and at the processor may look like.
var operatorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// Validate returns InvalidRequest with everything that is wrong with operator and reason.
func (w Decision) Validate() error {
	var fields []FieldProblem
	if !operatorName.MatchString(w.Operator) {
		fields = append(fields, FieldProblem{"/by", "Say who you are: a login name of at most 40 letters, digits, dots, hyphens and underscores."})
	}
	if len(w.Reason) > MaxReasonLength || strings.ContainsFunc(w.Reason, unicode.IsControl) {
		fields = append(fields, FieldProblem{"/why", fmt.Sprintf("One line of at most %d bytes.", MaxReasonLength)})
	}
	if len(fields) > 0 {
		return &Error{Code: InvalidRequest, Fields: fields}
	}
	return nil
}

// Note is what operators tell each other about a payment.
type Note struct {
	At       time.Time `json:"at"`
	Operator string    `json:"by"`
	Text     string    `json:"text"`
}

// AuditEntry is one line of the audit stream. It holds no personal data, and
// nothing that an operator wrote.
type AuditEntry struct {
	At       time.Time
	Operator string
	Action   string    // confirm-recorded, confirm-not-recorded, note, calibrate, invite, replay, replay-all, enable, erase
	Payment  PaymentID // of the first three
	From     PaymentState
	To       PaymentState
}

// InDoubtSince tells when the present doubt began, which is after its claim.
func (p *Payment) InDoubtSince() time.Time {
	if p.DoubtSince.IsZero() {
		return p.UpdatedAt
	}
	return p.DoubtSince
}
