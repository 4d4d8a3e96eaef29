package stripetest

import "net/http"

// The types of errors on the wire.
const (
	typeAPI         = "api_error"
	typeCard        = "card_error"
	typeIdempotency = "idempotency_error"
	typeInvalid     = "invalid_request_error"
)

// apiError is an error as it stands on the wire, and its HTTP status.
type apiError struct {
	status      int
	kind        string // type
	code        string
	declineCode string
	message     string
	param       string
	charge      string // the charge that failed
	intent      object // the payment intent in question

	// notStored: the parameters are wrong, so that nothing began and nothing is kept
	// under the idempotency key.
	notStored bool
}

// Error returns the code and the message.
func (e *apiError) Error() string { return e.code + ": " + e.message }

func (e *apiError) response() response { return jsonResponse(e.status, object{"error": e.object()}) }

func (e *apiError) object() object {
	body := object{"type": e.kind, "message": e.message}
	for name, value := range map[string]string{
		"code": e.code, "decline_code": e.declineCode, "param": e.param, "charge": e.charge,
	} {
		if value != "" {
			body[name] = value
		}
	}
	if e.code != "" {
		body["doc_url"] = "https://stripe.com/docs/error-codes/" + e.code
	}
	if e.intent != nil {
		body["payment_intent"] = e.intent
	}
	return body
}

func invalidRequest(code, param, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: typeInvalid, code: code, param: param, message: message, notStored: true}
}

// notFound is for an object that does not exist: found out while the call is
// carried out, so the answer is kept.
func notFound(param, id string) *apiError {
	return &apiError{
		status: http.StatusNotFound, kind: typeInvalid, code: "resource_missing", param: param,
		message: "No such payment_intent: '" + id + "'",
	}
}

// unexpectedState is for a payment that the call comes too early or too late for.
func unexpectedState(in *intent, done string) *apiError {
	return &apiError{
		status: http.StatusBadRequest, kind: typeInvalid, code: "payment_intent_unexpected_state", intent: in.object(false),
		message: "This PaymentIntent could not be " + done + " because it has a status of " + in.status + ".",
	}
}
