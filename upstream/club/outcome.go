package club

import "errors"

// Outcome is what the club system did with a request, as far as that can be known.
type Outcome string

// The outcomes. Only NotSent and Refused are certain to have changed nothing; only Accepted
// is certain to have changed something.
const (
	// Accepted: the club system responded 2xx.
	Accepted Outcome = "accepted"
	// NotSent: no byte of the request was sent, so it may be sent again.
	NotSent Outcome = "not_sent"
	// Refused: turned away before the application, because of the way it was sent (the
	// token, the grant of the endpoint, the protocol).
	Refused Outcome = "refused"
	// Rejected: the application refused the request, and would refuse it again.
	Rejected Outcome = "rejected"
	// Unknown: a byte was sent, and no response shows the result.
	Unknown Outcome = "unknown"
)

// OutcomeOf returns the outcome of the call that ended with err: Accepted for nil, and
// Unknown for an error of another package.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Accepted
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return Unknown
}

// classify is the only place that decides an outcome. It uses the bytes handed to the
// connection, the response's status (0 for none) and the club system's error code. It never
// uses the text of an error, which differs between platforms and versions of Go.
func classify(sent int64, status int, code string) Outcome {
	switch {
	case sent == 0:
		return NotSent
	case status >= 200 && status <= 299:
		return Accepted
	case status == 403 && code == CodeUnauthorizedEndpoint:
		return Refused
	}
	switch status {
	case 401, 421, 425, 426, 428, 431:
		return Refused
	case 400, 403, 404, 405, 406, 410, 413, 415, 422:
		return Rejected
	}
	return Unknown
}
