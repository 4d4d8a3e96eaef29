package oldsandbox

import (
	"errors"
	"fmt"
	"net/http"
)

// The types of errors. A client branches on the type, and on the code only for a key in use; other codes are for people.
const (
	typeInvalid        = "invalid_request"      // the request will never be accepted
	typeAuthentication = "authentication_error" // the secret key is missing or wrong
	typeIdempotency    = "idempotency_error"    // the key was used with another request (400), or is in use (409)
	typeState          = "state_error"          // the payment's state does not allow it
	typeNotFound       = "not_found"            // unknown payment
	typeUnavailable    = "unavailable"          // the sandbox is full, or fails as its settings say
)

type apiError struct {
	Type        string `json:"type"`
	Code        string `json:"code"`
	Message     string `json:"message"`
	DeclineCode string `json:"declineCode,omitempty"`

	status   int
	replayed bool // as the response to an earlier request with the same key; only at a client
}

type errorBody struct {
	Error *apiError `json:"error"`
}

func (e *apiError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.status, e.Code, e.Message)
}

func newError(status int, kind, code, message string) *apiError {
	return &apiError{Type: kind, Code: code, Message: message, status: status}
}

func errInvalid(code, message string) error {
	return newError(http.StatusBadRequest, typeInvalid, code, message)
}

func errState(p Payment, done string) error {
	message := fmt.Sprintf("This payment is %s and cannot be %s.", p.State, done)
	return &apiError{Type: typeState, Code: "unexpected_state", Message: message, DeclineCode: p.DeclineCode, status: http.StatusConflict}
}

func errNoPayment() error {
	return newError(http.StatusNotFound, typeNotFound, "payment_not_found", "There is no such payment.")
}

func errFull(what string) error {
	return newError(http.StatusServiceUnavailable, typeUnavailable, "sandbox_full", "The sandbox holds as many "+what+" as it can. POST /reset clears it.")
}

func errFailed() error {
	return newError(http.StatusInternalServerError, typeUnavailable, "failed_by_setting", "The sandbox failed, as its settings say.")
}

func writeError(w http.ResponseWriter, err error) {
	known, ok := errors.AsType[*apiError](err)
	if !ok {
		known = newError(http.StatusInternalServerError, typeUnavailable, "internal", "The sandbox failed.")
	}
	if known.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, known.status, errorBody{Error: known})
}
