package cards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/stripe/stripe-go/v85"
)

// toCardsError translates an error of the library; nil stays nil. The text has what the
// processor's dashboard finds the request by. It leaves out the processor's message and the
// library's texts, which may repeat what was sent.
func toCardsError(verb string, err error) error {
	var refusal *stripe.Error
	var transport *url.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		text := describe(refusal)
		if outcome := errorOf(refusal); outcome != nil {
			return fmt.Errorf("stripe: %s: %w: %s", verb, outcome, text)
		}
		return fmt.Errorf("stripe: %s: %s", verb, text)
	case errors.As(err, &transport): // it has the address without the path of Config.URL, and transport's error has both
		return fmt.Errorf("stripe: %s: %w", verb, transport.Err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("stripe: %s: %w", verb, err)
	default:
		return fmt.Errorf("stripe: %s: the response is not one of the processor's API", verb)
	}
}

// describe describes an error without anything that was sent.
func describe(failure *stripe.Error) string {
	text := fmt.Sprintf("status %d, %s", failure.HTTPStatusCode, failure.Type)
	for _, part := range []struct{ name, value string }{
		{"code", string(failure.Code)},
		{"decline code", string(failure.DeclineCode)},
		{"parameter", failure.Param},
		{"request", failure.RequestID},
	} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	return text
}

// errorOf returns the error of package cards. It is nil when the effect is unknown and the
// call may be retried with its key: the key's first request is still running (409) or the
// payment is locked (429) after all the time of the call, the account is too busy (429), or the processor failed just now.
// A replay of such an error is ErrKeyUsedUp.
func errorOf(failure *stripe.Error) error {
	switch failure.HTTPStatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
	default:
		if replayed(failure) {
			return ErrKeyUsedUp
		}
		return nil
	}
	switch {
	case failure.Type == stripe.ErrorTypeIdempotency:
		return ErrKeyReused
	case failure.Type == stripe.ErrorTypeCard, isStateCode(failure.Code):
		return ErrState
	case failure.Code == stripe.ErrorCodeResourceMissing:
		return ErrNotFound
	case failure.HTTPStatusCode == http.StatusNotFound: // an address that is not the API's
		return nil
	}
	return ErrRefused
}

// isConflict reports whether the call met another one that is in progress, with its key or on the same object.
func isConflict(err error) bool {
	refusal, ok := errors.AsType[*stripe.Error](err)
	return ok && !replayed(refusal) && (refusal.HTTPStatusCode == http.StatusConflict ||
		refusal.HTTPStatusCode == http.StatusTooManyRequests && refusal.Code == stripe.ErrorCodeLockTimeout)
}

// replayed reports whether an error is the key's stored response, which the processor keeps for a day. It stores what a call
// that began led to, and does not say whether a lock is found before.
func replayed(e *stripe.Error) bool { return e.LastResponse != nil && isReplay(e.LastResponse.Header) }

func isReplay(header http.Header) bool { return header.Get("Idempotent-Replayed") == "true" }

func isStateCode(code stripe.ErrorCode) bool {
	switch code {
	case stripe.ErrorCodePaymentIntentUnexpectedState, stripe.ErrorCodeIntentInvalidState,
		stripe.ErrorCodeChargeAlreadyCaptured, stripe.ErrorCodeChargeAlreadyRefunded, stripe.ErrorCodeChargeDisputed,
		stripe.ErrorCodeChargeExpiredForCapture, stripe.ErrorCodeCaptureChargeAuthorizationExpired,
		stripe.ErrorCodeCaptureUnauthorizedPayment, stripe.ErrorCodeChargeNotRefundable, stripe.ErrorCodeRefundDisputedPayment:
		return true
	}
	return false
}
