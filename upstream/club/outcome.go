package club

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Outcome is what the club system did with a request, as far as that can be known.
type Outcome string

// The outcomes. Only NotSent and Refused are certain to have changed nothing; only Accepted
// is certain to have changed something.
const (
	// Accepted: the club system responded 2xx. For a write without content, an empty 2xx is only a promise.
	Accepted Outcome = "accepted"
	// NotSent: no byte of the request was sent, so it may be sent again.
	NotSent Outcome = "not_sent"
	// Refused: turned away before the application, because of the way it was sent (the
	// token, the grant of the endpoint, the protocol) or because the API gateway's limit was reached.
	Refused Outcome = "refused"
	// Rejected: the application refused the request, and would refuse it again.
	Rejected Outcome = "rejected"
	// Unknown: a byte was sent, and no response of the club system shows the result.
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
// connection, the response's status (0 for none), the club system's error code and whether a limit of the
// API gateway was reached. It never uses the text of an error, which differs between platforms and versions
// of Go. Whether a 2xx can be believed is decided by own.
func classify(sent int64, status int, code string, limited bool) Outcome {
	switch {
	case sent == 0:
		return NotSent
	case status >= 200 && status <= 299:
		return Accepted
	case status == 403 && code == CodeUnauthorizedEndpoint, status == 429 && limited:
		return Refused
	case isEmailUsed(status, code):
		return Rejected
	}
	switch status {
	case 401, 421, 425, 426, 428, 431:
		return Refused
	case 400, 403, 404, 405, 406, 410, 413, 415, 422:
		return Rejected
	}
	return Unknown
}

var (
	// cutRecordPattern matches the beginning of a record that was cut.
	cutRecordPattern = regexp.MustCompile(`^\{\s*"@`)
	// noRecordPattern matches the types of what is not one record: an error, or the list behind a POST that
	// became a GET on its way.
	noRecordPattern = regexp.MustCompile(`Error|Violation|Collection`)
)

// own reports whether a 2xx can be the club system's own response to a request. Something in front of the club
// system, such as a firewall, may have sent a page or JSON of its own. A response whose content is needed is
// judged by decode as well.
//
// Without needed content, a read (the check of a sale) is answered by 204 alone. A write is answered by a
// record, even a cut one, or by an empty body unless it needs a record. An empty body may be another system's
// too, so that callers read back what they did.
func (r *request) own(response response) bool {
	body := bytes.TrimSpace(response.body)
	switch {
	case response.isPage():
		return false
	case r.needsContent:
		return true
	case r.isRead():
		return response.status == http.StatusNoContent
	case len(body) == 0:
		return !r.needsRecord
	}
	var record struct {
		ID   jsontext.Value `json:"@id"`
		Type jsontext.Value `json:"@type"`
	}
	if unmarshal(body, &record) != nil {
		return cutRecordPattern.Match(body)
	}
	return len(record.ID)+len(record.Type) > 0 && !noRecordPattern.Match(record.Type)
}

// isPage reports whether a response is HTML or XML, which the club system never sends.
func (a *response) isPage() bool {
	body := bytes.TrimSpace(a.body)
	return bytes.HasPrefix(body, []byte("<")) ||
		strings.HasPrefix(a.contentType, "text/html") && (len(body) > 0 || a.bodyErr != nil)
}
