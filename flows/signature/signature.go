// Package signature has codes sent by SMS and checked, for a mandate or for the move to
// another club. CodeSender reserves each code against limits per person, phone and
// address, and against the budget of the club that pays for it. The state of a signature
// is flows.Signature.
package signature

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/upstream/club"
)

// CodeSender has codes sent by SMS, and checked.
type CodeSender struct {
	cfg CodeSenderConfig
}

// Store is what codes by SMS need of Redis.
type Store interface {
	// ReserveSMS counts an SMS code for a subject, unless a limit is used up. It answers
	// with the instant from which the next one is allowed. A repeated id counts once.
	ReserveSMS(ctx context.Context, subject, id string, now time.Time, limits []flows.SMSLimit) (allowed bool, next time.Time, err error)
	// ReleaseSMS takes a counted code back.
	ReleaseSMS(ctx context.Context, subject, id string) error
	// CountSMS counts a subject's codes from one instant to another, both included.
	CountSMS(ctx context.Context, subject string, from, to time.Time) (int, error)
	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
}

// CodeSenderConfig is what a sender of codes needs; every field is required unless said.
type CodeSenderConfig struct {
	Store  Store
	Club   *club.Client
	Keys   *keyring.Keyring
	Budget *SMSBudget // bounds what the codes cost the clubs; nil: nothing does
	Now    func() time.Time
	Log    *slog.Logger
}

// NewCodeSender returns a sender of codes.
func NewCodeSender(cfg CodeSenderConfig) *CodeSender { return &CodeSender{cfg: cfg} }

// Send has the code sent that was begun. The error is about the request itself,
// which no repetition mends; any other failure is in the signature's state.
func (c *CodeSender) Send(ctx context.Context, s *flows.Signature, a Reservation, request func(context.Context) (club.SignatureRequest, error)) error {
	made, err := request(ctx)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		s.State, s.Request = flows.SignatureAwaiting, made.IRI
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
	if failure := flows.MigrationFailed(err); failure != nil {
		return failure
	}
	var upstream *club.Error
	if errors.As(err, &upstream) && (upstream.Status == 400 || upstream.Status == 422) {
		return &flows.Error{Code: flows.MobileUnreachable, Detail: "The club system sends no code to this mobile number. Please correct it.", Err: err}
	}
	return flows.ClubFailed(err, "The code could not be sent.")
}

// Cancel has the club system forget a code. It may fail: nobody but Frontdesk can
// use the code, and Frontdesk does not once it has left the state behind.
func (c *CodeSender) Cancel(ctx context.Context, scope club.Scope, s flows.Signature) {
	if !s.AcceptsCode() {
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
func (c *CodeSender) Enter(s *flows.Signature, code string) error {
	return s.Enter(c.cfg.Keys.Pseudonyms("code", string(s.Request)+" "+code))
}

// Check has a code checked that was entered and stored before. It moves the
// signature on, and its error is what the person is told. signed looks at the
// club system whether what was to be signed is signed.
func (c *CodeSender) Check(ctx context.Context, scope club.Scope, s *flows.Signature, code string, signed func(context.Context) (bool, error)) error {
	err := c.cfg.Club.ValidateSignatureRequest(ctx, scope, s.Request, code)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		s.State = flows.SignatureSigned
		return nil
	case club.Unknown:
		return c.resolveUnknown(ctx, s, err, signed)
	case club.NotSent, club.Refused:
		return flows.ClubFailed(err, "The code could not be checked.") // it stays open: entered again, it is no further attempt
	}
	return c.rejected(ctx, scope, s, err, signed)
}

// rejected reads the answer to a code that did not sign.
func (c *CodeSender) rejected(ctx context.Context, scope club.Scope, s *flows.Signature, err error, signed func(context.Context) (bool, error)) error {
	var upstream *club.Error
	errors.As(err, &upstream)
	if failure := flows.MigrationFailed(err); failure != nil {
		return failure
	}
	switch {
	case upstream.Code == codeTooLate:
		s.State = flows.SignatureExpired
		return &flows.Error{Code: flows.CodeExpired, Detail: "The code is too old. Please ask for a new one.", Err: err}
	case upstream.Code == codeNotPending, errors.Is(err, club.ErrNotFound):
		// Not ended by us: an answer was lost that said "signed", or somebody else ended it.
		if done, lookErr := signed(ctx); lookErr == nil && done {
			s.State = flows.SignatureSigned
			return nil
		}
		s.State = flows.SignatureExpired
		return &flows.Error{Code: flows.CodeExpired, Detail: "The code cannot be used any more. Please ask for a new one.", Err: err}
	case upstream.Status != 400 && upstream.Status != 422:
		return flows.ClubFailed(err, "The code could not be checked.")
	case upstream.Code == codeTooMany, s.Attempts >= flows.MaxAttempts:
		if upstream.Code != codeTooMany {
			c.Cancel(ctx, scope, *s)
		}
		s.State = flows.SignatureBlocked
		return &flows.Error{Code: flows.CodeBlocked, Detail: "The code was wrong too often, so it signs nothing any more. Please ask for a new one.", Err: err}
	}
	s.PendingCode = ""
	return &flows.Error{Code: flows.CodeWrong, Detail: fmt.Sprintf("The code is wrong. Attempts left: %d.", s.AttemptsLeft()),
		Fields: []flows.FieldProblem{{Pointer: "/code", Message: "This is not the code that was sent."}}, Err: err}
}

// resolveUnknown finds out what became of a code whose answer was lost.
func (c *CodeSender) resolveUnknown(ctx context.Context, s *flows.Signature, err error, signed func(context.Context) (bool, error)) error {
	done, lookErr := signed(ctx)
	switch {
	case lookErr != nil:
		s.State = flows.SignatureUnconfirmed
		c.cfg.Log.WarnContext(ctx, "whether a code signed is not known", "error", err, "look", lookErr)
		return nil
	case done:
		s.State = flows.SignatureSigned
		return nil
	}
	s.State = flows.SignatureAwaiting
	return flows.ClubFailed(err, "The code could not be checked.")
}
