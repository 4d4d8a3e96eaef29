package flows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// maxAttempts is how many wrong codes end a signature request: enough for typing
// errors, and one in 200,000 for guessing six digits.
const maxAttempts = 5

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
	switch left := maxAttempts - s.Attempts; {
	case !s.acceptsCode():
		return 0
	case s.PendingCode != "":
		return max(1, left) // the open code is the last one, and can be entered until it is known
	default:
		return max(0, left)
	}
}

// enter counts a code before the club system is asked, so that no crash and no
// race makes room for guessing. The code of which nobody knows what became is
// not counted again: entered any number of times, it is one guess. names are the
// code's pseudonyms under each key, the current one first. NoCode when no code can
// be entered.
func (s *Signature) enter(names []string) error {
	switch {
	case !s.acceptsCode():
		return s.NoCodeError()
	case s.PendingCode != "" && slices.Contains(names, s.PendingCode):
		return nil
	case s.Attempts >= maxAttempts:
		return s.NoCodeError()
	}
	s.Attempts, s.PendingCode = s.Attempts+1, names[0]
	return nil
}

// acceptsCode tells whether a code can be entered.
func (s Signature) acceptsCode() bool {
	return s.Request != "" && (s.State == SignatureAwaiting || s.State == SignatureUnconfirmed)
}

// CodeSender has codes sent by SMS, and checked.
type CodeSender struct {
	cfg CodeSenderConfig
}

// CodeStore is what codes by SMS need of Redis.
type CodeStore interface {
	// ReserveSMS counts an SMS code for a subject, unless a limit is used up. It answers
	// with the instant from which the next one is allowed. A repeated id counts once.
	ReserveSMS(ctx context.Context, subject, id string, now time.Time, limits []SMSLimit) (allowed bool, next time.Time, err error)
	// ReleaseSMS takes a counted code back.
	ReleaseSMS(ctx context.Context, subject, id string) error
	// CountSMS counts a subject's codes from one instant to another, both included.
	CountSMS(ctx context.Context, subject string, from, to time.Time) (int, error)
	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
}

// CodeSenderConfig is what a sender of codes needs; every field is required unless said.
type CodeSenderConfig struct {
	Store  CodeStore
	Club   *club.Client
	Keys   *Keyring
	Budget *SMSBudget // bounds what the codes cost the clubs; nil: nothing does
	Now    func() time.Time
	Log    *slog.Logger
}

// NewCodeSender returns a sender of codes.
func NewCodeSender(cfg CodeSenderConfig) *CodeSender { return &CodeSender{cfg: cfg} }

// begin notes that a code is about to be requested, under a reservation.
func (s *Signature) begin(reservation string, resendAfter time.Time) {
	*s = Signature{State: SignatureNoCode, Sequence: s.Sequence + 1, SMS: reservation, ResendAfter: resendAfter}
}

// Send has the code sent that was begun. The error is about the request itself,
// which no repetition mends; any other failure is in the signature's state.
func (c *CodeSender) Send(ctx context.Context, s *Signature, a Reservation, request func(context.Context) (club.SignatureRequest, error)) error {
	made, err := request(ctx)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		s.State, s.Request = SignatureAwaiting, made.IRI
		c.cfg.Budget.countSent()
		return nil
	case club.Unknown:
		c.cfg.Budget.countSent()
		// An SMS may be on its way, with a code that nothing here can use.
		c.cfg.Log.WarnContext(ctx, "whether a code was sent is not known", "error", err)
		return nil
	}
	c.Release(ctx, a)
	s.ResendAfter = c.cfg.Now()
	c.cfg.Log.WarnContext(ctx, "no code was sent", "error", err)
	if club.OutcomeOf(err) == club.Rejected {
		return notSendable(err)
	}
	return nil
}

// notSendable says why the club system refuses to send a code.
func notSendable(err error) error {
	if failure := migrationFailed(err); failure != nil {
		return failure
	}
	var upstream *club.Error
	if errors.As(err, &upstream) && (upstream.Status == 400 || upstream.Status == 422) {
		return &Error{Code: MobileUnreachable, Detail: "The club system sends no code to this mobile number. Please correct it.", Err: err}
	}
	return clubFailed(err, "The code could not be sent.")
}

// Cancel has the club system forget a code. It may fail: nobody but Frontdesk can
// use the code, and Frontdesk does not once it has left the state behind.
func (c *CodeSender) Cancel(ctx context.Context, scope club.Scope, s Signature) {
	if !s.acceptsCode() {
		return
	}
	if err := c.cfg.Club.CancelSignatureRequest(ctx, scope, s.Request); err != nil {
		c.cfg.Log.WarnContext(ctx, "signature request not cancelled", "error", err)
	}
}

// The club system's answers to a code; they follow the pattern of its documented codes.
const (
	codeTooMany    = "api.error.signature-request.too-many-attempts"
	codeTooLate    = "api.error.signature-request.code-expired"
	codeNotPending = "api.error.signature-request.not-pending"
)

// Enter counts a code against the signature's attempts before it is checked. NoCode
// when no code can be entered.
func (c *CodeSender) Enter(s *Signature, code string) error {
	return s.enter(c.cfg.Keys.Pseudonyms("code", string(s.Request)+" "+code))
}

// Check has a code checked that was entered and stored before. It moves the
// signature on, and its error is what the person is told. signed looks at the
// club system whether what was to be signed is signed.
func (c *CodeSender) Check(ctx context.Context, scope club.Scope, s *Signature, code string, signed func(context.Context) (bool, error)) error {
	err := c.cfg.Club.ValidateSignatureRequest(ctx, scope, s.Request, code)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		s.State = SignatureSigned
		return nil
	case club.Unknown:
		return c.resolveUnknown(ctx, s, err, signed)
	case club.NotSent, club.Refused:
		return clubFailed(err, "The code could not be checked.") // it stays open: entered again, it is no further attempt
	}
	return c.rejected(ctx, scope, s, err, signed)
}

// rejected reads the answer to a code that did not sign.
func (c *CodeSender) rejected(ctx context.Context, scope club.Scope, s *Signature, err error, signed func(context.Context) (bool, error)) error {
	var upstream *club.Error
	errors.As(err, &upstream)
	if failure := migrationFailed(err); failure != nil {
		return failure
	}
	switch {
	case upstream.Code == codeTooLate:
		s.State = SignatureExpired
		return &Error{Code: CodeExpired, Detail: "The code is too old. Please ask for a new one.", Err: err}
	case upstream.Code == codeNotPending, errors.Is(err, club.ErrNotFound):
		// Not ended by us: an answer was lost that said "signed", or somebody else ended it.
		if done, lookErr := signed(ctx); lookErr == nil && done {
			s.State = SignatureSigned
			return nil
		}
		s.State = SignatureExpired
		return &Error{Code: CodeExpired, Detail: "The code cannot be used any more. Please ask for a new one.", Err: err}
	case upstream.Status != 400 && upstream.Status != 422:
		return clubFailed(err, "The code could not be checked.")
	case upstream.Code == codeTooMany, s.Attempts >= maxAttempts:
		if upstream.Code != codeTooMany {
			c.Cancel(ctx, scope, *s)
		}
		s.State = SignatureBlocked
		return &Error{Code: CodeBlocked, Detail: "The code was wrong too often, so it signs nothing any more. Please ask for a new one.", Err: err}
	}
	s.PendingCode = ""
	return &Error{Code: CodeWrong, Detail: fmt.Sprintf("The code is wrong. Attempts left: %d.", s.AttemptsLeft()),
		Fields: []FieldProblem{{"/code", "This is not the code that was sent."}}, Err: err}
}

// resolveUnknown finds out what became of a code whose answer was lost.
func (c *CodeSender) resolveUnknown(ctx context.Context, s *Signature, err error, signed func(context.Context) (bool, error)) error {
	done, lookErr := signed(ctx)
	switch {
	case lookErr != nil:
		s.State = SignatureUnconfirmed
		c.cfg.Log.WarnContext(ctx, "whether a code signed is not known", "error", err, "look", lookErr)
		return nil
	case done:
		s.State = SignatureSigned
		return nil
	}
	s.State = SignatureAwaiting
	return clubFailed(err, "The code could not be checked.")
}

// NoCodeError is the error for a code, or its end, where there is none.
func (s Signature) NoCodeError() error {
	return &Error{Code: NoCode, Detail: "There is no code that could be used. Please ask for a new one."}
}

// ended tells whether nothing can be signed with this code any more.
func (s Signature) ended() bool {
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
