// Package signature sends and checks SMS codes, for a mandate or the move to another club. CodeSender
// reserves each code against limits per person, phone and address, and against the budget of the club
// that pays for it. The state of a signature is flows.Signature.
package signature

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/upstream/club"
)

// CodeSender sends and checks SMS codes.
type CodeSender struct {
	cfg CodeSenderConfig
}

// Store is what codes by SMS need from Redis.
type Store interface {
	// ReserveSMS counts a code for a subject unless a limit is reached, and returns when the next
	// one is allowed. A repeated id counts once.
	ReserveSMS(ctx context.Context, subject, id string, now time.Time, limits []flows.SMSLimit) (allowed bool, next time.Time, err error)
	// ReleaseSMS takes a counted code back.
	ReleaseSMS(ctx context.Context, subject, id string) error
	// CountSMS counts a subject's codes between two instants, inclusive.
	CountSMS(ctx context.Context, subject string, from, to time.Time) (int, error)
	// Once reports whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
}

// CodeSenderConfig is what a sender of codes needs; every field is required unless noted.
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

// Send requests the code of a signature that has begun. An error is final; any other failure is in the
// signature's state.
func (c *CodeSender) Send(ctx context.Context, s *flows.Signature, a Reservation, request func(context.Context) (club.SignatureRequest, error)) error {
	made, err := request(ctx)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		s.State, s.Request = flows.SignatureAwaiting, made.IRI
		c.cfg.Budget.countSent()
		return nil
	case club.Unknown:
		c.cfg.Budget.countSent()
		// An SMS may arrive, with a code that cannot be used.
		c.cfg.Log.WarnContext(ctx, "sms code delivery unknown", "error", err)
		return nil
	}
	c.Release(ctx, a)
	s.ResendAfter = c.cfg.Now()
	c.cfg.Log.WarnContext(ctx, "sms code not sent", "error", err)
	if club.OutcomeOf(err) == club.Rejected {
		return notSendable(err)
	}
	return nil
}

// notSendable translates a refusal to send a code.
func notSendable(err error) error {
	if failure := flows.MigrationFailed(err); failure != nil {
		return failure
	}
	if upstream, ok := errors.AsType[*club.Error](err); ok && (upstream.Status == 400 || upstream.Status == 422) {
		return &flows.Error{Code: flows.MobileUnreachable, Detail: "The club system cannot send a code to this mobile number. Please correct it.", Err: err}
	}
	return flows.ClubFailed(err, "The code could not be sent.")
}

// Cancel cancels a code at the club system. It may fail: only Frontdesk can use the code, and does not after this.
func (c *CodeSender) Cancel(ctx context.Context, scope club.Scope, s flows.Signature) {
	if !s.AcceptsCode() {
		return
	}
	if err := c.cfg.Club.CancelSignatureRequest(ctx, scope, s.Request); err != nil {
		c.cfg.Log.WarnContext(ctx, "signature request not cancelled", "error", err)
	}
}

// The club system's errors for a code; they follow the pattern of its documented ones.
const (
	codeTooMany    = "api.error.signature-request.too-many-attempts"
	codeTooLate    = "api.error.signature-request.code-expired"
	codeNotPending = "api.error.signature-request.not-pending"
)

// Enter counts an attempt before the code is checked. NoCode when no code can be entered.
func (c *CodeSender) Enter(s *flows.Signature, code string) error {
	return s.Enter(c.cfg.Keys.Pseudonyms("code", string(s.Request)+" "+code))
}

// Check checks a code that was entered and stored. It updates the signature; its error is for the
// visitor. signed asks the club system whether the signature was made.
func (c *CodeSender) Check(ctx context.Context, scope club.Scope, s *flows.Signature, code string, signed func(context.Context) (bool, error)) error {
	err := c.cfg.Club.ValidateSignatureRequest(ctx, scope, s.Request, code)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		s.State = flows.SignatureSigned
		return nil
	case club.Unknown:
		return c.resolveUnknown(ctx, s, err, signed)
	case club.NotSent, club.Refused:
		return flows.ClubFailed(err, "The code could not be checked.") // it stays pending: entering it again does not count as an attempt
	}
	return c.rejected(ctx, scope, s, err, signed)
}

func (c *CodeSender) rejected(ctx context.Context, scope club.Scope, s *flows.Signature, err error, signed func(context.Context) (bool, error)) error {
	upstream, _ := errors.AsType[*club.Error](err)
	if failure := flows.MigrationFailed(err); failure != nil {
		return failure
	}
	switch {
	case upstream.Code == codeTooLate:
		s.State = flows.SignatureExpired
		return &flows.Error{Code: flows.CodeExpired, Detail: "The code is too old. Please ask for a new one.", Err: err}
	case upstream.Code == codeNotPending, errors.Is(err, club.ErrNotFound):
		// Either the response "signed" was lost, or the code ended at the club system.
		if c.resolveUnknown(ctx, s, err, signed) == nil {
			return nil
		}
		s.State = flows.SignatureExpired
		return &flows.Error{Code: flows.CodeExpired, Detail: "The code is no longer valid. Please ask for a new one.", Err: err}
	case upstream.Status != 400 && upstream.Status != 422:
		return flows.ClubFailed(err, "The code could not be checked.")
	case upstream.Code == codeTooMany, s.Attempts >= flows.MaxAttempts:
		if upstream.Code != codeTooMany {
			c.Cancel(ctx, scope, *s)
		}
		s.State = flows.SignatureBlocked
		return &flows.Error{Code: flows.CodeBlocked, Detail: "Too many wrong codes were entered. Please ask for a new code.", Err: err}
	}
	s.PendingCode = ""
	return &flows.Error{Code: flows.CodeWrong, Detail: "The code is wrong. Attempts left: {left}.", Params: map[string]string{"left": strconv.Itoa(s.AttemptsLeft())},
		Fields: []flows.FieldProblem{{Pointer: "/code", Code: flows.FieldCodeWrong}}, Err: err}
}

// resolveUnknown finds out the result of a code whose response was lost. Its error means that the code has not signed.
func (c *CodeSender) resolveUnknown(ctx context.Context, s *flows.Signature, err error, signed func(context.Context) (bool, error)) error {
	done, readErr := signed(ctx)
	switch {
	case readErr != nil:
		s.State = flows.SignatureUnconfirmed
		c.cfg.Log.WarnContext(ctx, "signature outcome unknown", "error", err, "readError", readErr)
		return nil
	case done:
		s.State = flows.SignatureSigned
		return nil
	}
	s.State = flows.SignatureAwaiting
	return flows.ClubFailed(err, "The code could not be checked.")
}
