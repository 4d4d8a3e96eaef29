package sandbox

import (
	"fmt"
	"net/http"
)

// The types of errors. A client branches on the type; the code is for a person.
const (
	typeInvalid        = "invalid_request"      // the request will never be accepted
	typeAuthentication = "authentication_error" // the secret key is missing or wrong
	typeIdempotency    = "idempotency_error"    // the key was used with another request (400), or is in use (409)
	typeState          = "state_error"          // the payment's state does not allow it
	typeNotFound       = "not_found"            // there is no such payment
	typeUnavailable    = "unavailable"          // the sandbox is full
)

// apiError is an error as it is sent, and its HTTP status.
type apiError struct {
	Type        string `json:"type"`
	Code        string `json:"code"`
	Message     string `json:"message"`
	DeclineCode string `json:"declineCode,omitempty"`

	status int
}

// errorBody is the body of an error.
type errorBody struct {
	Error *apiError `json:"error"`
}

// Error returns the status, the code and the message.
func (e *apiError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.status, e.Code, e.Message)
}

func errInvalid(code, message string) error {
	return &apiError{Type: typeInvalid, Code: code, Message: message, status: http.StatusBadRequest}
}

func errState(p Payment, v action) error {
	return &apiError{
		Type: typeState, Code: "unexpected_state", DeclineCode: p.DeclineCode, status: http.StatusConflict,
		Message: fmt.Sprintf("This payment is %s and cannot be %s.", p.State, v),
	}
}

func errNoPayment() error {
	return &apiError{Type: typeNotFound, Code: "payment_not_found", Message: "There is no such payment.", status: http.StatusNotFound}
}

func errFull(what string) error {
	return &apiError{
		Type: typeUnavailable, Code: "sandbox_full", status: http.StatusServiceUnavailable,
		Message: "The sandbox holds as many " + what + " as it can. POST /reset clears it.",
	}
}
