package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	stripego "github.com/stripe/stripe-go/v85"

	"frontdesk/upstream/cards"
)

// toCardsError translates an error of the library. Its text has status, type, code and
// request id, by which the processor's dashboard shows the rest. The processor's own
// message is left out, because it may repeat what was sent, and the library's texts quote
// whole bodies.
func toCardsError(verb string, err error) error {
	var refusal *stripego.Error
	var transport *url.Error
	switch {
	case errors.As(err, &refusal):
		text := describe(refusal)
		if outcome := outcomeOf(verb, refusal); outcome != nil {
			return fmt.Errorf("stripe: %s: %w: %s", verb, outcome, text)
		}
		return fmt.Errorf("stripe: %s: %s", verb, text)
	case errors.As(err, &transport), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("stripe: %s: %w", verb, err)
	default:
		return fmt.Errorf("stripe: %s: the answer is not one of the processor's API", verb)
	}
}

// describe describes an error without anything that was sent.
func describe(e *stripego.Error) string {
	text := fmt.Sprintf("status %d, %s", e.HTTPStatusCode, e.Type)
	for _, part := range []struct{ name, value string }{
		{"code", string(e.Code)}, {"decline code", string(e.DeclineCode)}, {"parameter", e.Param}, {"request", e.RequestID},
	} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	return text
}

// outcomeOf returns the error of package cards for an error of the processor; nil when the
// effect is unknown and the call may be retried with its key: the key's first request is
// still running (409), the payment is locked or the account is too busy (429), or the
// processor failed.
func outcomeOf(verb string, e *stripego.Error) error {
	switch e.HTTPStatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
	default:
		if verb == "capture" && replayedFailure(e) {
			return cards.ErrState
		}
		return nil
	}
	switch {
	case e.Type == stripego.ErrorTypeIdempotency:
		return cards.ErrKeyReused
	case e.Type == stripego.ErrorTypeCard, isStateCode(e.Code):
		return cards.ErrState
	case e.Code == stripego.ErrorCodeResourceMissing:
		return cards.ErrNotFound
	case e.HTTPStatusCode == http.StatusNotFound: // an address that is not the API's
		return nil
	}
	return cards.ErrRefused
}

// replayedFailure reports whether a server error is the key's stored response: the
// processor keeps even those for a day. Most calls may be retried until the key expires,
// but a capture that succeeds then would take the money a day too late. So its stored
// failure counts as cards.ErrState: read the payment instead.
func replayedFailure(e *stripego.Error) bool {
	return e.HTTPStatusCode >= http.StatusInternalServerError && e.LastResponse != nil && isReplay(e.LastResponse.Header)
}

// isReplay reports whether a response is a stored one.
func isReplay(header http.Header) bool { return header.Get("Idempotent-Replayed") == "true" }

// isStateCode reports whether a code means that the payment's state has changed.
func isStateCode(code stripego.ErrorCode) bool {
	switch code {
	case stripego.ErrorCodePaymentIntentUnexpectedState, stripego.ErrorCodeIntentInvalidState,
		stripego.ErrorCodeChargeAlreadyCaptured, stripego.ErrorCodeChargeAlreadyRefunded, stripego.ErrorCodeChargeDisputed,
		stripego.ErrorCodeChargeExpiredForCapture, stripego.ErrorCodeCaptureChargeAuthorizationExpired,
		stripego.ErrorCodeCaptureUnauthorizedPayment, stripego.ErrorCodeChargeNotRefundable:
		return true
	}
	return false
}
