package club

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The codes that the club system documents; club system API, section Errors.
const (
	// CodeUnauthorizedEndpoint: in production, the endpoint is not granted to the client.
	CodeUnauthorizedEndpoint = "api.error.scope.unauthorized-endpoint"
	// CodeMigrationClub: the destination club is not valid, typically the contact's own.
	CodeMigrationClub = "api.error.contact.migration.club-not-valid"
	// CodeMigrationContact: the contact is neither a prospect nor a former member.
	CodeMigrationContact = "api.error.contact.migration.contact-not-valid"
	// CodeEmailUsed: another contact of the organisation has the e-mail address.
	CodeEmailUsed = "api.error.contact.email-already-used"
)

// The documented meanings of an error, for errors.Is; club system API, section Errors.
const (
	// ErrUnauthorized: 401. The token, or the gateway key, was not accepted.
	ErrUnauthorized = cause("not authorised")
	// ErrEndpointNotGranted: 403 with CodeUnauthorizedEndpoint. The club system's provider
	// grants endpoints.
	ErrEndpointNotGranted = cause("endpoint not granted")
	// ErrNotFound: 404. The record does not exist, or is not visible in the call's scope.
	ErrNotFound = cause("not found")
	// ErrOutOfReach: 400 on a migration. The acting node has no right to the contact; act from
	// a node above those of both clubs.
	ErrOutOfReach = cause("contact out of reach of the acting node")
	// ErrMigrationClub: 400 with CodeMigrationClub.
	ErrMigrationClub = cause("destination club not valid")
	// ErrMigrationContact: 400 with CodeMigrationContact.
	ErrMigrationContact = cause("contact not valid for migration")
	// ErrEmailUsed: refused with CodeEmailUsed, as the code of the response or of one of its violations.
	ErrEmailUsed = cause("e-mail address of another contact")
)

// ErrForeign means that the response, of any status, is not the club system's own: a page, no JSON, or no record of the
// expected kind.
const ErrForeign = cause("response is not the club system's own")

// ErrNoContactToken is OwnContact's error for an access token that the club system accepts, but that is not the
// token of one contact. It is not an *Error, and has no outcome.
const ErrNoContactToken = cause("not the access token of a contact")

// ErrGrantRefused means that there is no token of that contact or club for this client: 400 with invalid_grant.
const ErrGrantRefused = cause("grant refused")

// The reasons for which a call is not even tried. Their outcome is NotSent.
const (
	// ErrBadIRI: an identifier is malformed, or of another organisation or kind of record.
	ErrBadIRI = cause("identifier does not fit the call")
	// ErrBadToken: a contact's access token is malformed.
	ErrBadToken = cause("not an access token")
	// ErrUnavailable: the breaker is open, because the club system failed too often.
	ErrUnavailable = cause("held back after repeated failures")
	// ErrBusy: too many calls are in progress.
	ErrBusy = cause("too many calls at once")
	// ErrGate: a payment's gate refused it; the gate's own error is in the chain as well.
	ErrGate = cause("held back by the gate")
)

// cause is an error whose text is safe to log: nothing in it came over the wire.
type cause string

func (c cause) Error() string { return "club: " + string(c) }

// Error is a call that failed. Its text holds operation, outcome, status and code, and may
// be logged: it never holds a body, a name, a token or an address.
type Error struct {
	// Operation is the name of the method, such as "CreateSale".
	Operation string
	// Outcome is never Accepted: a 2xx response that is not the club system's own, or whose content is needed
	// and cannot be read, is Unknown, with its Status.
	Outcome Outcome
	// Status is the HTTP status of the response; 0 without one.
	Status int
	// Code is the club system's error code, "api.error…"; empty when it gave none.
	Code string
	// Violations are the fields that the club system refuses.
	Violations []Violation
	// RetryAfter is how long the club system asks to wait, or until the API gateway's limit ends; 0 when
	// neither is known.
	RetryAfter time.Duration
	// Err is the cause: an Err value of this package, a decoding or transport failure, or
	// the error of a Gate. It may hold addresses: use errors.Is and errors.As, and do not
	// print it.
	Err error

	// transient: another attempt may succeed.
	transient bool
	// own: the response is the club system's, not that of something in front of it.
	own bool
}

// Ended reports whether the club system has finished with the request of an error: its own response shows it, or
// nothing was sent. A request without a response, or with a proxy's, may still take effect later.
func Ended(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.own || e.Outcome != Unknown)
}

// IsOwn reports whether an error is the club system's own response, not that of something in front of it.
func IsOwn(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.own
}

// Declines reports whether the club system itself declines what was asked, or the operation. A firewall's refusal does not say so.
func Declines(err error) bool {
	return IsOwn(err) && (OutcomeOf(err) == Rejected || errors.Is(err, ErrEndpointNotGranted))
}

func (e *Error) Error() string {
	return fmt.Sprintf("club: %s: %s%s", e.Operation, e.Outcome, e.Seen())
}

// Seen returns what the call saw, to be appended to a sentence: ", status 502" or " (timeout)". It holds what Error may hold.
func (e *Error) Seen() string {
	text := ""
	if e.Status != 0 {
		text = fmt.Sprintf(", status %d", e.Status)
	}
	if e.Code != "" {
		text += ", " + e.Code
	}
	if reason := reason(e.Err); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// LimitReached reports whether the API gateway's limits leave no call now: it refused this one, or would have refused it.
func (e *Error) LimitReached() bool {
	return errors.Is(e.Err, ErrBusy) || e.Outcome == Refused && e.Status == http.StatusTooManyRequests
}

// Violation is one violation. The club system's text of it is not read: it may quote personal data.
type Violation struct {
	// Field is the path of the field in the request, such as "clubCode"; empty when the
	// violation concerns the whole record.
	Field string
	// Code is the club system's code for it, "api.error…"; empty when it gave none.
	Code string
}

type violation struct {
	Field lenient[string] `json:"propertyPath"`
	Code  lenient[string] `json:"code"`
}

func violationsOf(read []lenient[violation]) (violations []Violation) {
	for _, one := range read {
		violations = append(violations, Violation{Field: one.value.Field.value, Code: one.value.Code.value})
	}
	return violations
}

// codePattern finds a code anywhere in the body. The longest documented code has 45
// characters.
var codePattern = regexp.MustCompile(`api\.error\.[a-z0-9._-]{0,80}[a-z0-9]`)

func newError(op string, sent int64, response response) *Error {
	var body lenient[struct { // its form is not documented, so every part is optional
		Type       jsontext.Value                `json:"@type"`
		Code       lenient[string]               `json:"code"`
		Violations lenient[[]lenient[violation]] `json:"violations"`
	}]
	_ = unmarshal(response.body, &body) // one that is cut has no part
	violations := violationsOf(body.value.Violations.value)
	code := body.value.Code.value
	switch {
	case bytes.Contains(response.body, []byte(CodeEmailUsed)): // perhaps that of one of its violations
		code = CodeEmailUsed
	case codePattern.FindString(code) != code || code == "":
		code = string(codePattern.Find(response.body))
	}
	own := len(body.value.Type) > 0 && body.value.Type.Kind() != 'n' || code != ""
	failure := &Error{
		Operation:  op,
		Outcome:    classify(sent, response.status, code, response.limited && !own), // its own was passed on to it
		Status:     response.status,
		Code:       code,
		Violations: violations,
		RetryAfter: response.retryAfter,
		Err:        documentedError(response, code),
		own:        own,
	}
	failure.transient = slices.Contains([]int{408, 429, 500, 502, 503, 504}, response.status)
	return failure
}

// foreign is the error of a 2xx that is not the club system's own.
func foreign(op string, response response) *Error {
	return &Error{
		Operation: op,
		Outcome:   Unknown,
		Status:    response.status,
		Err:       ErrForeign,
		transient: true,
	}
}

// isForeign reports whether the response was not the club system's own. A nil error is not.
func (e *Error) isForeign() bool { return e != nil && errors.Is(e.Err, ErrForeign) }

// outOfReachPattern matches the club system's text for a contact that is not visible from
// the acting node. It has no code, only a sentence with the contact's IRI.
var outOfReachPattern = regexp.MustCompile(`contacts\\?/[^"\s]*"?\s+does not exist`)

func documentedError(response response, code string) error {
	invalid := response.status == 400 || response.status == 422
	switch {
	case isEmailUsed(response.status, code):
		return ErrEmailUsed
	case response.status == 401:
		return ErrUnauthorized
	case response.isPage():
		return ErrForeign
	case response.status == 404:
		return ErrNotFound
	case response.status == 403 && code == CodeUnauthorizedEndpoint:
		return ErrEndpointNotGranted
	case invalid && code == CodeMigrationClub:
		return ErrMigrationClub
	case invalid && code == CodeMigrationContact:
		return ErrMigrationContact
	case invalid && outOfReachPattern.Match(response.body):
		return ErrOutOfReach
	}
	return nil
}

// restrictionPattern matches the codes of restrictions. They are not documented: these are those of the assumptions, and what others
// would contain.
var restrictionPattern = regexp.MustCompile(`^api\.error\.(sale\.)?(article|offer|debt|contact-banned)\b|restrict`)

// Restrictions returns why the club system does not sell to the buyer what a sale has or would have, if that is why the call failed. It
// checks restrictions when an article is added and at the first payment of a sale, before it does anything. So such a refusal is
// documented: the call did nothing, and the sale had no payment before.
func Restrictions(err error) []Violation {
	refusal, ok := errors.AsType[*Error](err)
	if !ok || !refusal.own || refusal.Status != http.StatusBadRequest && refusal.Status != http.StatusUnprocessableEntity {
		return nil
	}
	found := refusal.Violations
	if len(found) == 0 {
		found = []Violation{{Code: refusal.Code}}
	}
	restricts := func(v Violation) bool {
		return strings.HasPrefix(v.Field, "articles") || restrictionPattern.MatchString(v.Code)
	}
	if !slices.ContainsFunc(found, restricts) {
		return nil
	}
	return found
}

// isEmailUsed reports whether a response refuses an e-mail address. Its status is not documented.
func isEmailUsed(status int, code string) bool {
	return code == CodeEmailUsed && status >= 400 && status <= 499
}

// reason describes a cause in words that are safe to log. No decision depends on it.
func reason(err error) string {
	var (
		own         cause
		inner       *Error
		malformed   *DecodeError
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		timeout     net.Error
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &inner):
		return inner.Error()
	case errors.As(err, &malformed):
		return malformed.Error()
	case errors.As(err, &own):
		return string(own)
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &dns):
		return "name not resolved"
	case errors.As(err, &certificate):
		return "certificate not verified"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	}
	return "transport failure"
}
