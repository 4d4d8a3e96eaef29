package sandbox

import (
	"cmp"
	"errors"
	"net/http"
)

// The types of errors on the wire.
const (
	typeAPI         = "api_error"
	typeCard        = "card_error"
	typeIdempotency = "idempotency_error"
	typeInvalid     = "invalid_request_error"
)

// apiError is an error in its wire format, with its HTTP status.
type apiError struct {
	Type          string `json:"type"`
	Code          string `json:"code,omitempty"`
	DeclineCode   string `json:"decline_code,omitempty"`
	Message       string `json:"message"`
	Param         string `json:"param,omitempty"`
	Charge        string `json:"charge,omitempty"`         // the charge that failed
	PaymentIntent object `json:"payment_intent,omitempty"` // the payment in question
	PaymentMethod object `json:"payment_method,omitempty"` // of the attempt that failed

	status int // zero: 400
	// notStored: the parameters are wrong, so nothing began and nothing is stored
	// under the idempotency key.
	notStored bool
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

// errorResponse renders an error of an endpoint, and reports whether it is stored under
// the idempotency key.
func errorResponse(err error) (_ response, stored bool) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		panic(err) // endpoints return no other errors
	}
	return jsonResponse(cmp.Or(e.status, http.StatusBadRequest), object{"error": e}), !e.notStored
}

func invalidRequest(code, param, message string) error {
	return &apiError{Type: typeInvalid, Code: code, Param: param, Message: message, notStored: true}
}

// refused is the error for a call that reaches no endpoint.
func refused(status int, code, message string) error {
	return &apiError{Type: typeInvalid, Code: code, Message: message, status: status, notStored: true}
}

// notFound is the error for a payment that does not exist. It is found while the call is
// carried out, so it is stored.
func notFound(param, id string) error {
	return &apiError{Type: typeInvalid, Code: "resource_missing", Param: param, Message: "No such payment_intent: '" + id + "'", status: http.StatusNotFound}
}

// unexpectedState is the error for a payment whose status does not allow the call.
func unexpectedState(in *intent, done string) error {
	return &apiError{
		Type: typeInvalid, Code: "payment_intent_unexpected_state", PaymentIntent: in.object(),
		Message: "This PaymentIntent could not be " + done + " because it has a status of " + in.Status + ".",
	}
}
