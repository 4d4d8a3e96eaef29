package registration

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// codeSender sends and checks the codes by SMS that sign a mandate or a move to another club. It reserves each code against limits per
// person, phone and address, and against the budget of the club that pays for it. The state of a signature is flows.Signature.
type codeSender struct {
	cfg Config
}

// Send requests the code of a signature that has begun. An error is final; any other failure is in the
// signature's state.
func (c *codeSender) Send(
	ctx context.Context, signature *flows.Signature, reserved reservation, request func(context.Context) (club.SignatureRequest, error),
) error {
	made, err := request(ctx)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		signature.State, signature.Request = flows.SignatureAwaiting, made.IRI
		c.cfg.SMSBudget.countSent()
		return nil
	case club.Unknown:
		c.cfg.SMSBudget.countSent()
		// An SMS may arrive, with a code that cannot be used.
		c.cfg.Log.WarnContext(ctx, "sms code delivery unknown", "error", err)
		return nil
	}
	c.Release(ctx, reserved)
	signature.ResendAfter = c.cfg.Now()
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
		return &flows.Error{
			Code:   flows.MobileUnreachable,
			Detail: flows.DetailMobileRefused,
			Err:    err,
		}
	}
	return flows.ClubFailed(err, flows.DetailCodeNotSent)
}

// isSigned asks the club system whether a signature was made: by the mandate's state, or by the club to which the
// contact belongs.
type isSigned func(context.Context) (bool, error)

// End cancels a code, so that another one can take its place. A code that is not being checked need not be cancelled
// at the club system: only Frontdesk can use it. One whose result is not known must be: it could still sign, so End
// then reads whether it has. Afterwards the signature is signed, or has no code. An error means that this is not known.
func (c *codeSender) End(ctx context.Context, scope club.Scope, signature *flows.Signature, signed isSigned) error {
	if !signature.AcceptsCode() {
		return nil
	}
	err := c.cfg.Club.CancelSignatureRequest(ctx, scope, signature.Request)
	if err != nil {
		c.cfg.Log.WarnContext(ctx, "signature request not cancelled", "error", err)
	}
	if signature.MaySign() {
		if !ended(err) {
			signature.State = flows.SignatureUnconfirmed
			return unknownSignature(err)
		}
		if err := c.Confirm(ctx, signature, signed); err != nil || signature.State == flows.SignatureSigned {
			return err
		}
	}
	signature.State, signature.Request, signature.PendingCode, signature.Overlapping = flows.SignatureNoCode, "", "", false
	return nil
}

// ended reports whether a code can no longer sign after an attempt to cancel it: the club system has cancelled it, or
// its request had ended before. A page is not the club system's.
func ended(err error) bool {
	upstream, _ := errors.AsType[*club.Error](err)
	rejected := club.OutcomeOf(err) == club.Rejected && !errors.Is(err, club.ErrForeign)
	return err == nil || rejected && slices.Contains([]int{400, 404, 410, 422}, upstream.Status)
}

// Confirm finds out whether a signature that may have been made was made. It does not prevent that a code in progress
// signs afterwards. An error means that it is not known.
func (c *codeSender) Confirm(ctx context.Context, signature *flows.Signature, signed isSigned) error {
	if !signature.MaySign() {
		return nil
	}
	switch done, err := signed(ctx); {
	case err != nil:
		signature.State = flows.SignatureUnconfirmed
		return unknownSignature(err)
	case done:
		signature.State = flows.SignatureSigned
	default:
		signature.State = flows.SignatureAwaiting
	}
	return nil
}

func unknownSignature(err error) error {
	return &flows.Error{Code: flows.ClubSystemUnavailable, Err: err,
		Detail: flows.DetailCodeUnconfirmed}
}

// The club system's errors for a code; they follow the pattern of its documented ones.
const (
	codeTooMany    = "api.error.signature-request.too-many-attempts"
	codeTooLate    = "api.error.signature-request.code-expired"
	codeNotPending = "api.error.signature-request.not-pending"
)

// Enter counts an attempt before the code is checked. NoCode when no code can be entered.
func (c *codeSender) Enter(signature *flows.Signature, code string) error {
	return signature.Enter(c.cfg.Keys.Pseudonyms("code", string(signature.Request)+" "+code))
}

// Check checks a code that was entered and stored. It updates the signature; its error is for the
// visitor. signed asks the club system whether the signature was made.
func (c *codeSender) Check(ctx context.Context, scope club.Scope, signature *flows.Signature, code string, signed isSigned) error {
	result, err := c.cfg.Club.ValidateSignatureRequest(ctx, scope, signature.Request, code)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		signature.State, signature.Moved = flows.SignatureSigned, result
		return nil
	case club.Unknown:
		return c.resolveUnknown(ctx, signature, err, signed)
	case club.NotSent:
		signature.NotSent()
		return flows.ClubFailed(err, flows.DetailCodeUnchecked)
	case club.Refused:
		signature.State = flows.SignatureAwaiting
		return flows.ClubFailed(err, flows.DetailCodeUnchecked) // it stays pending: entering it again does not count as an attempt
	}
	return c.rejected(ctx, scope, signature, err, signed)
}

func (c *codeSender) rejected(ctx context.Context, scope club.Scope, signature *flows.Signature, err error, signed isSigned) error {
	upstream, _ := errors.AsType[*club.Error](err)
	ended := upstream.Code == codeNotPending || errors.Is(err, club.ErrNotFound) // or it has signed, and the response was lost
	wrong := upstream.Status == 400 || upstream.Status == 422
	if failure := flows.MigrationFailed(err); failure != nil || !ended && !wrong {
		signature.State = flows.SignatureAwaiting
		return cmp.Or(failure, flows.ClubFailed(err, flows.DetailCodeUnchecked))
	}
	if !ended {
		signature.State, signature.PendingCode = flows.SignatureAwaiting, ""
	}
	state, failure := flows.SignatureExpired,
		&flows.Error{Code: flows.CodeExpired, Detail: flows.DetailCodeExpired, Err: err}
	switch {
	case ended:
	case upstream.Code == codeTooLate:
		failure.Detail = flows.DetailCodeTooOld
	case upstream.Code == codeTooMany, signature.Attempts >= flows.MaxAttempts:
		state = flows.SignatureBlocked
		failure.Code, failure.Detail = flows.CodeBlocked, flows.DetailCodeBlocked
	default:
		return &flows.Error{
			Code:   flows.CodeWrong,
			Detail: flows.DetailCodeWrong,
			Params: map[string]string{"left": strconv.Itoa(signature.AttemptsLeft())},
			Fields: []flows.FieldProblem{{Pointer: "/code", Code: flows.FieldCodeWrong}},
			Err:    err,
		}
	}
	if signature.MaySign() && c.End(ctx, scope, signature, signed) != nil || signature.State == flows.SignatureSigned {
		return nil // the state says it
	}
	signature.State = state
	return failure
}

// resolveUnknown finds out the result of a code whose response was lost, or did not show it. Its error means that the
// code has not signed yet.
func (c *codeSender) resolveUnknown(ctx context.Context, signature *flows.Signature, err error, signed isSigned) error {
	if unknown := c.Confirm(ctx, signature, signed); unknown != nil {
		c.cfg.Log.WarnContext(ctx, "signature outcome unknown", "error", err, "readError", unknown)
		return nil
	}
	if signature.State == flows.SignatureSigned {
		return nil
	}
	signature.State = flows.SignatureUnconfirmed // the request may still arrive
	return flows.ClubFailed(err, flows.DetailCodeUnchecked)
}
