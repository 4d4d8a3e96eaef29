package flows

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// MaxReasonLength bounds an operator's line of text, in bytes.
const MaxReasonLength = 500

// Decision says which operator decided, and why.
type Decision struct {
	Operator string // a login name, which is stored in plain
	Reason   string // may be empty
	Override bool   // decide although the sale is settled, because something else settled it
}

// operatorName matches login names. They are stored in plain text, so an e-mail address is not allowed.
var operatorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// OperatorNameRule says what operatorName matches.
const OperatorNameRule = "must be a login name of at most 40 letters, digits, dots, hyphens and underscores, " +
	"which begins with a letter or a digit"

// IsOperatorName reports whether a name can be an operator's.
func IsOperatorName(name string) bool { return operatorName.MatchString(name) }

// OperatorProblems returns what is wrong with an operator's name.
func OperatorProblems(name string) []FieldProblem {
	if IsOperatorName(name) {
		return nil
	}
	return []FieldProblem{{Pointer: "/by", Message: OperatorNameRule}}
}

// Validate returns InvalidRequest with everything that is wrong with operator and reason; nil if nothing is.
func (d Decision) Validate() error {
	fields := OperatorProblems(d.Operator)
	if !IsReason(d.Reason) {
		fields = append(fields, FieldProblem{Pointer: "/why", Message: fmt.Sprintf("must be one line of at most %d bytes", MaxReasonLength)})
	}
	return Invalid(fields...)
}

// IsReason reports whether an operator's text is one line of at most MaxReasonLength bytes.
func IsReason(text string) bool {
	return len(text) <= MaxReasonLength && !strings.ContainsFunc(text, unicode.IsControl)
}

// Note is an operator's note about a payment or a statement.
type Note struct {
	At       time.Time `json:"at"`
	Operator string    `json:"by"`
	Text     string    `json:"text"`
}

// AuditAction is what an operator did.
type AuditAction string

// The actions. AuditOverride follows AuditConfirmNotRecorded if the operator overrode the sale.
const (
	AuditConfirmRecorded    AuditAction = "confirm-recorded"
	AuditConfirmNotRecorded AuditAction = "confirm-not-recorded"
	AuditOverride           AuditAction = "-override"
	AuditRefund             AuditAction = "refund"
	AuditNote               AuditAction = "note"
	AuditCalibrate          AuditAction = "calibrate"
	AuditInvite             AuditAction = "invite"
	AuditReplay             AuditAction = "replay"
	AuditReplayAll          AuditAction = "replay-all"
	AuditReplayMail         AuditAction = "replay-mail"
	AuditEnable             AuditAction = "enable"
	AuditErase              AuditAction = "erase"
	AuditEnd                AuditAction = "end"   // of an unverifiable payment
	AuditAdopt              AuditAction = "adopt" // see Fingerprint
	AuditStatementDone      AuditAction = "statement-done"
	AuditCancelled          AuditAction = "cancelled"     // an online cancellation in doubt
	AuditNotCancelled       AuditAction = "not-cancelled" // likewise
	AuditSendConfirmation   AuditAction = "send-confirmation"
	AuditConfirmationDone   AuditAction = "confirmation-done"
)

// AuditEntry is one line of the audit stream. It holds no personal data and no free text.
type AuditEntry struct {
	At        time.Time
	Operator  string
	Action    AuditAction
	Payment   PaymentID // the payment that the action is about; empty: none
	From      PaymentState
	To        PaymentState
	Statement string // the id of the statement that the action is about; empty: none

	Registration string // whose confirmation the action is about; empty: none
}
