package sandbox

import (
	"cmp"
	"errors"
	"net/http"
)

// The types of errors on the wire (https://docs.stripe.com/api/errors).
const (
	typeAPI         = "api_error"
	typeCard        = "card_error"
	typeIdempotency = "idempotency_error"
	typeInvalid     = "invalid_request_error"
)

// apiError is an error in its wire format, with its HTTP status. It is not changed once it is returned.
type apiError struct {
	Type          string    `json:"type"`
	Code          string    `json:"code,omitempty"`
	DeclineCode   string    `json:"decline_code,omitempty"`
	Message       string    `json:"message"`
	Param         string    `json:"param,omitempty"`
	Charge        string    `json:"charge,omitempty"`         // that failed
	PaymentIntent rendering `json:"payment_intent,omitzero"`  // in question
	PaymentMethod object    `json:"payment_method,omitempty"` // of the attempt that failed

	status int // zero: 400
	// notStored: the parameters are wrong, or the call met another one, so nothing began and nothing is stored
	// under the idempotency key.
	notStored bool
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

// reason is why a card was declined, the bank's reason before Stripe's own.
func (e *apiError) reason() string { return cmp.Or(e.DeclineCode, e.Code) }

// errorResponse is the response for an error of an endpoint; stored reports whether the idempotency key keeps it.
func errorResponse(err error) (_ response, stored bool) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		panic(err) // endpoints return no other errors
	}
	return response{cmp.Or(e.status, http.StatusBadRequest), object{"error": e}}, !e.notStored
}

func invalidRequest(code, param, message string) error {
	return &apiError{
		Type:      typeInvalid,
		Code:      code,
		Param:     param,
		Message:   message,
		notStored: true,
	}
}

// refused is the error for a call that reaches no endpoint.
func refused(status int, code, message string) error {
	return &apiError{
		Type:      typeInvalid,
		Code:      code,
		Message:   message,
		status:    status,
		notStored: true,
	}
}

// unexpectedState is the error for a payment whose status does not allow the call.
func unexpectedState(in *intent, done string) error {
	return &apiError{
		Type: typeInvalid, Code: "payment_intent_unexpected_state", PaymentIntent: in.rendered(0),
		Message: "This PaymentIntent could not be " + done + " because it has a status of " + in.status + ".",
	}
}
