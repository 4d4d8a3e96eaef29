package flows

import (
	"slices"
	"time"

	"frontdesk/upstream/club"
)

// SignatureState is where a signature by SMS code stands.
//
//	no_code ←─────────────────────────────────────┐ a new code was asked for, and none can be entered
//	   └─→ awaiting_code ─→ signed                │
//	          │   └─→ unconfirmed ─→ signed, awaiting_code
//	          ├─→ expired, blocked ───────────────┤
//	          └─→ cancelled                  new code
//
// The club system can neither be asked to send a code once only, nor for the
// request of a code whose answer was lost. So what is asked for is stored
// before each call, and a lost answer leads to no_code or unconfirmed, never to
// another SMS that nobody asked for.
type SignatureState string

// The states of a signature.
const (
	SignatureNoCode      SignatureState = "no_code"       // no code can be entered: none was sent, or whether one was sent is not known; a new one can be asked for
	SignatureAwaiting    SignatureState = "awaiting_code" // a code was sent
	SignatureUnconfirmed SignatureState = "unconfirmed"   // a code was entered, and whether it signed is not known; it is looked up
	SignatureSigned      SignatureState = "signed"        // final
	SignatureCancelled   SignatureState = "cancelled"     // given up; the code signs nothing
	SignatureExpired     SignatureState = "expired"       // the code came too late
	SignatureBlocked     SignatureState = "blocked"       // too many wrong codes
)

// SignatureStates lists every state.
var SignatureStates = []SignatureState{SignatureNoCode, SignatureAwaiting, SignatureUnconfirmed, SignatureSigned,
	SignatureCancelled, SignatureExpired, SignatureBlocked}

// MaxAttempts is how many wrong codes end a signature request: enough for typing
// errors, and one in 200,000 for guessing six digits.
const MaxAttempts = 5

// Signature is what a contact signs with an SMS code: a mandate, or a move to
// another club.
type Signature struct {
	State       SignatureState `json:"state"`
	Sequence    int            `json:"round"`             // counts the codes that were asked for, so that a late answer is known as such
	Request     club.IRI       `json:"request,omitempty"` // the club system's signature request; empty while none is known
	Attempts    int            `json:"checks"`            // codes that were entered for this request
	SMS         string         `json:"sms,omitempty"`     // the allowance of its code, by which that is counted as entered
	PendingCode string         `json:"open,omitempty"`    // a keyed name of the last of them, while what became of it is not known
	ResendAfter time.Time      `json:"resendAfter"`       // when a new code can be asked for
}

// AttemptsLeft is how many codes can still be entered.
func (s Signature) AttemptsLeft() int {
	switch left := MaxAttempts - s.Attempts; {
	case !s.AcceptsCode():
		return 0
	case s.PendingCode != "":
		return max(1, left) // the open code is the last one, and can be entered until it is known
	default:
		return max(0, left)
	}
}

// Enter counts a code before the club system is asked, so that no crash and no
// race makes room for guessing. The code of which nobody knows what became is
// not counted again: entered any number of times, it is one guess. names are the
// code's pseudonyms under each key, the current one first. NoCode when no code can
// be entered.
func (s *Signature) Enter(names []string) error {
	switch {
	case !s.AcceptsCode():
		return s.NoCodeError()
	case s.PendingCode != "" && slices.Contains(names, s.PendingCode):
		return nil
	case s.Attempts >= MaxAttempts:
		return s.NoCodeError()
	}
	s.Attempts, s.PendingCode = s.Attempts+1, names[0]
	return nil
}

// AcceptsCode tells whether a code can be entered.
func (s Signature) AcceptsCode() bool {
	return s.Request != "" && (s.State == SignatureAwaiting || s.State == SignatureUnconfirmed)
}

// Begin notes that a code is about to be requested, under a reservation.
func (s *Signature) Begin(reservation string, resendAfter time.Time) {
	*s = Signature{State: SignatureNoCode, Sequence: s.Sequence + 1, SMS: reservation, ResendAfter: resendAfter}
}

// NoCodeError is the error for a code, or its end, where there is none.
func (s Signature) NoCodeError() error {
	return &Error{Code: NoCode, Detail: "There is no code that could be used. Please ask for a new one."}
}

// Ended tells whether nothing can be signed with this code any more.
func (s Signature) Ended() bool {
	switch s.State {
	case SignatureSigned, SignatureCancelled, SignatureExpired, SignatureBlocked:
		return true
	}
	return false
}

// Resendable tells whether a new code can be asked for in this state.
func (s Signature) Resendable() bool {
	return s.State != SignatureSigned && s.State != SignatureCancelled
}

// Message tells the person how it stands, where the state alone does not say it.
func (s Signature) Message() string {
	switch s.State {
	case SignatureNoCode:
		return "There is no code that could be entered. If an SMS arrives all the same, its code cannot be used: please ask for a new one."
	case SignatureAwaiting:
		return "Please enter the code from the SMS."
	case SignatureUnconfirmed:
		return "Your code was sent on, and the club system has not confirmed it yet. If this takes long, enter the same code again."
	case SignatureExpired:
		return "The code cannot be used any more. Please ask for a new one."
	case SignatureBlocked:
		return "The code was wrong too often. Please ask for a new one."
	case SignatureCancelled:
		return "The signature was cancelled, and the code signs nothing any more."
	default:
		return ""
	}
}

// SMSLimit allows so many codes within a time.
type SMSLimit struct {
	Codes  int
	Period time.Duration
}
