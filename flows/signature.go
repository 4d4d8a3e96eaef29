package flows

import (
	"slices"
	"time"

	"frontdesk/upstream/club"
)

// SignatureState is the state of a signature by SMS code.
//
//	no_code ←─────────────────────────────────────┐ a new code was requested, and none is active
//	   └─→ awaiting_code ─→ signed                │
//	          │   └─→ unconfirmed ─→ signed, awaiting_code
//	          ├─→ expired, blocked ───────────────┤
//	          └─→ cancelled                  new code
//
// The club system cannot be asked to send a code only once, nor about a request whose
// response was lost. So each request is stored before its call. A lost response leads to
// no_code or unconfirmed, never to another SMS. A code that is being checked is unconfirmed:
// it may have signed, whatever happens to the gateway that checks it.
type SignatureState string

// The states of a signature.
const (
	SignatureNoCode      SignatureState = "no_code"       // none was sent, or that is not known; a new one can be requested
	SignatureAwaiting    SignatureState = "awaiting_code" // a code was sent
	SignatureUnconfirmed SignatureState = "unconfirmed"   // a code is being checked, or its result is not known yet
	SignatureSigned      SignatureState = "signed"        // final
	SignatureCancelled   SignatureState = "cancelled"     // the code signs nothing
	SignatureExpired     SignatureState = "expired"       // the code was entered too late
	SignatureBlocked     SignatureState = "blocked"       // too many wrong codes
)

// ClientNetwork is whose requests count together: an IPv4 address, or a network of IPv6.
type ClientNetwork struct {
	Name  string
	Share int // how many times the limit of one address it gets
}

// MaxAttempts is the number of codes per request: enough for typing errors, and a chance of
// 1 in 200,000 to guess six digits.
const MaxAttempts = 5

// Signature is a contact's signature with an SMS code, of a mandate or a transfer.
type Signature struct {
	State       SignatureState `json:"state"`
	Sequence    int            `json:"round"`                 // counts the requested codes, to recognise late responses
	Request     club.IRI       `json:"request,omitempty"`     // at the club system; empty while none is known
	Attempts    int            `json:"checks"`                // codes entered for this request
	SMS         string         `json:"sms,omitempty"`         // the reservation of its SMS
	PendingCode string         `json:"open,omitempty"`        // pseudonym of the last code, while its result is not known
	Overlapping bool           `json:"overlapping,omitempty"` // a code was entered while the result of an earlier entry was not known
	ResendAfter time.Time      `json:"resendAfter"`           // when a new code can be requested
	Moved       club.IRI       `json:"moved,omitempty"`       // the contact after a signed move, if the club system tells it
}

// AttemptsLeft returns how many codes can still be entered.
func (s Signature) AttemptsLeft() int {
	switch left := MaxAttempts - s.Attempts; {
	case !s.AcceptsCode():
		return 0
	case s.PendingCode != "":
		return max(1, left) // a pending code can be entered again
	default:
		return max(0, left)
	}
}

// Enter counts a code before the club system checks it, so that crashes and races allow no
// further guesses. A pending code is one guess, however often it is entered. From then on the
// signature is unconfirmed. names are the code's pseudonyms under each key, the current one
// first. NoCode if none can be entered.
func (s *Signature) Enter(names []string) error {
	again := s.PendingCode != "" && slices.Contains(names, s.PendingCode)
	if !s.AcceptsCode() || !again && s.Attempts >= MaxAttempts {
		return NoCodeError()
	}
	s.Overlapping = s.MaySign()
	if !again {
		s.Attempts, s.PendingCode = s.Attempts+1, names[0]
	}
	s.State = SignatureUnconfirmed
	return nil
}

// NotSent takes back an entry that certainly did not reach the club system.
func (s *Signature) NotSent() {
	s.State = SignatureAwaiting
	if !s.Overlapping {
		s.Attempts, s.PendingCode = s.Attempts-1, ""
	}
}

// MaySign reports whether a code may have signed, or may still, without being entered again: the
// result of a check is not known.
func (s Signature) MaySign() bool {
	return s.AcceptsCode() && (s.State == SignatureUnconfirmed || s.PendingCode != "" || s.Overlapping)
}

// Merge adds to an unsigned signature what concurrent requests have stored for the same code.
func (s *Signature) Merge(stored Signature) {
	s.Attempts = max(s.Attempts, stored.Attempts)
	if stored.Overlapping {
		s.Overlapping, s.PendingCode = true, stored.PendingCode
	}
}

// AcceptsCode reports whether a code can be entered.
func (s Signature) AcceptsCode() bool {
	return s.Request != "" && (s.State == SignatureAwaiting || s.State == SignatureUnconfirmed)
}

// Begin starts the request of a code under a reservation.
func (s *Signature) Begin(reservation string, resendAfter time.Time) {
	*s = Signature{State: SignatureNoCode, Sequence: s.Sequence + 1, SMS: reservation, ResendAfter: resendAfter}
}

// NoCodeError is the error for an action on a code that is not active.
func NoCodeError() error {
	return &Error{Code: NoCode, Detail: DetailNoCode}
}

// Ended reports whether the code can no longer sign.
func (s Signature) Ended() bool {
	return !s.Resendable() || s.State == SignatureExpired || s.State == SignatureBlocked
}

// Resendable reports whether a new code can be requested.
func (s Signature) Resendable() bool {
	return s.State != SignatureSigned && s.State != SignatureCancelled
}

// Message describes the state to the person.
func (s Signature) Message() MessageCode { return signatureMessages[s.State] }

var signatureMessages = map[SignatureState]MessageCode{
	SignatureNoCode:      MessageSignatureNoCode,
	SignatureAwaiting:    MessageSignatureAwaiting,
	SignatureUnconfirmed: MessageSignatureUnconfirmed,
	SignatureExpired:     MessageSignatureExpired,
	SignatureBlocked:     MessageSignatureBlocked,
	SignatureCancelled:   MessageSignatureCancelled,
}

// SMSLimit allows a number of codes within a period.
type SMSLimit struct {
	Codes  int
	Period time.Duration
}

// Transfer is the move of an identified contact to another club of the chain.
type Transfer struct {
	Signature
	Version int64  `json:"-"` // counted by the store
	ClubID  string `json:"clubId"`
}
