package handlers

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
)

// problemKind is what a code means to a caller.
type problemKind struct {
	status int
	retry  api.ProblemRetry
	title  string
}

// problems is the one table from code to HTTP status and to what the caller can do next.
var problems = map[flows.Code]problemKind{
	flows.MalformedRequest:      {http.StatusBadRequest, api.ProblemRetryNever, "The request cannot be read"},
	flows.InvalidRequest:        {http.StatusUnprocessableEntity, api.ProblemRetryNever, "Some fields are wrong"},
	flows.CardNumberRefused:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, "No card numbers here"},
	flows.NotIdentified:         {http.StatusUnauthorized, api.ProblemRetryNever, "Who are you?"},
	flows.InvitationInvalid:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, "The invitation is not valid"},
	flows.ResumptionInvalid:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, "The link is not valid"},
	flows.ContactBanned:         {http.StatusForbidden, api.ProblemRetryNever, "The club does not sell to you"},
	flows.PersonKnown:           {http.StatusConflict, api.ProblemRetryNever, "The club knows the buyer"},
	flows.OtherClub:             {http.StatusConflict, api.ProblemRetryNever, "Another club's contact"},
	flows.NotFound:              {http.StatusNotFound, api.ProblemRetryNever, "Not found"},
	flows.MethodNotAllowed:      {http.StatusMethodNotAllowed, api.ProblemRetryNever, "Method not allowed"},
	flows.TooLarge:              {http.StatusRequestEntityTooLarge, api.ProblemRetryNever, "The body is too large"},
	flows.ForbiddenOrigin:       {http.StatusForbidden, api.ProblemRetryNever, "Not from this site"},
	flows.ChallengeRequired:     {http.StatusForbidden, api.ProblemRetrySameKey, "Are you a person?"},
	flows.RateLimited:           {http.StatusTooManyRequests, api.ProblemRetryAfter, "Too many requests"},
	flows.StaffKeyUnknown:       {http.StatusUnauthorized, api.ProblemRetryNever, "The staff key is not known"},
	flows.StaffOnly:             {http.StatusForbidden, api.ProblemRetryNever, "For staff only"},
	flows.KeyReused:             {http.StatusUnprocessableEntity, api.ProblemRetryNever, "The Idempotency-Key was used with another request"},
	flows.KeyInUse:              {http.StatusConflict, api.ProblemRetryAfter, "The first request with this Idempotency-Key is still running"},
	flows.Conflict:              {http.StatusConflict, api.ProblemRetrySameKey, "Changed at the same moment"},
	flows.CartFrozen:            {http.StatusConflict, api.ProblemRetryNever, "The cart is frozen"},
	flows.CartEmpty:             {http.StatusConflict, api.ProblemRetryNever, "The cart is empty"},
	flows.CartInvalid:           {http.StatusConflict, api.ProblemRetryNever, "The cart is not valid"},
	flows.CartChanged:           {http.StatusConflict, api.ProblemRetryNever, "The cart has changed"},
	flows.MandateRequired:       {http.StatusConflict, api.ProblemRetryNever, "A mandate is needed"},
	flows.NothingDue:            {http.StatusConflict, api.ProblemRetryNever, "Nothing is due"},
	flows.AmountDue:             {http.StatusConflict, api.ProblemRetryNever, "An amount is due"},
	flows.PaymentExists:         {http.StatusConflict, api.ProblemRetryNever, "Another payment exists"},
	flows.PersonRequired:        {http.StatusConflict, api.ProblemRetryNever, "The buyer's details are missing"},
	flows.RegistrationClosed:    {http.StatusConflict, api.ProblemRetryNever, "The registration is closed"},
	flows.PaymentUnderWay:       {http.StatusConflict, api.ProblemRetryNever, "A payment is under way"},
	flows.OfferNotAvailable:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, "The offer is not available"},
	flows.MandateNotNeeded:      {http.StatusConflict, api.ProblemRetryNever, "No mandate is needed"},
	flows.MandateSigned:         {http.StatusConflict, api.ProblemRetryNever, "The mandate is signed"},
	flows.NoCode:                {http.StatusConflict, api.ProblemRetryNever, "There is no code"},
	flows.CodeWrong:             {http.StatusUnprocessableEntity, api.ProblemRetryNever, "The code is wrong"},
	flows.CodeExpired:           {http.StatusConflict, api.ProblemRetryNever, "The code cannot be used any more"},
	flows.CodeBlocked:           {http.StatusConflict, api.ProblemRetryNever, "The code was wrong too often"},
	flows.SMSLimited:            {http.StatusTooManyRequests, api.ProblemRetryAfter, "Enough codes for now"},
	flows.SMSPaused:             {http.StatusServiceUnavailable, api.ProblemRetryAfter, "No codes are sent at the moment"},
	flows.MobileUnreachable:     {http.StatusConflict, api.ProblemRetryNever, "No code can be sent to this mobile number"},
	flows.AccessTokenRefused:    {http.StatusUnprocessableEntity, api.ProblemRetryNever, "The access to the account is not accepted"},
	flows.MigrationClub:         {http.StatusConflict, api.ProblemRetryNever, "The club cannot take the person over"},
	flows.MigrationContact:      {http.StatusConflict, api.ProblemRetryNever, "The person cannot be taken over"},
	flows.MigrationNotShared:    {http.StatusConflict, api.ProblemRetryNever, "The clubs do not share the person's details"},
	flows.WebhookUntrusted:      {http.StatusBadRequest, api.ProblemRetryNever, "The webhook is not trusted"},
	flows.ClubSystemFailed:      {http.StatusBadGateway, api.ProblemRetrySameKey, "The club system failed"},
	flows.ClubSystemUnavailable: {http.StatusServiceUnavailable, api.ProblemRetryAfter, "The club system is not available"},
	flows.IdentityUnavailable:   {http.StatusServiceUnavailable, api.ProblemRetryAfter, "The club's login is not available"},
	flows.ProcessorUnavailable:  {http.StatusServiceUnavailable, api.ProblemRetryAfter, "The card processor is not available"},
	flows.StorageUnavailable:    {http.StatusServiceUnavailable, api.ProblemRetryAfter, "Temporarily not available"},
	flows.Internal:              {http.StatusInternalServerError, api.ProblemRetrySameKey, "Something went wrong"},
}

// operatorProblems are the problems that only operators meet; openapi.yaml does not list them.
var operatorProblems = map[flows.Code]problemKind{
	flows.NotDecidable: {http.StatusConflict, api.ProblemRetryNever, "The decision is not possible"},
	flows.TooEarly:     {http.StatusConflict, api.ProblemRetryAfter, "The decision is not possible yet"},
}

// problemPath is the page of a code, to which the type of a problem document leads.
const problemPath = "/docs/problems#"

// StatusOf is the HTTP status of a code; 500 for one that nobody knows.
func StatusOf(code flows.Code) int {
	if m, ok := problems[code]; ok {
		return m.status
	}
	return http.StatusInternalServerError
}

// defaultRetryAfter applies where the retry is "after" and the error has no time.
const defaultRetryAfter = 2 // seconds

// maxRetryAfter is a day: no limit counts beyond it.
const maxRetryAfter = 24 * 60 * 60 // seconds

// maxFields are told of in one document: several times what any form has. A body of
// nothing but mistakes would otherwise be answered with many times its own length.
const maxFields = 100

// ProblemOf turns any error into a problem document. Only what a flows.Error
// says for people passes through; the text of anything else stays in the log.
func ProblemOf(err error, traceID string) (api.Problem, int) {
	failure := domainError(err)
	m, ok := problems[failure.Code]
	if !ok {
		m, ok = operatorProblems[failure.Code]
	}
	if !ok {
		failure, m = &flows.Error{Code: flows.Internal}, problems[flows.Internal]
	}
	problem := api.Problem{
		Type: problemPath + string(failure.Code), Title: m.title, Status: m.status,
		Code: api.ProblemCode(failure.Code), Retry: m.retry, TraceId: &traceID,
	}
	if failure.Detail != "" {
		problem.Detail = optional(singleLine(failure.Detail)) // which may name what the caller made up
	}
	if told := failure.Fields[:min(len(failure.Fields), maxFields)]; len(told) > 0 {
		fields := make([]api.FieldProblem, len(told))
		for i, field := range told {
			fields[i] = fieldProblem(field)
		}
		problem.Errors = &fields
	}
	retryAfter := 0
	if m.retry == api.ProblemRetryAfter {
		retryAfter = min(max(defaultRetryAfter, int(math.Ceil(failure.RetryAfter.Seconds()))), maxRetryAfter)
	}
	return problem, retryAfter
}

// domainError finds the error of flows, or translates the router's.
func domainError(err error) *flows.Error {
	var failure *flows.Error
	if errors.As(err, &failure) {
		return failure
	}
	var routed *echo.HTTPError
	if !errors.As(err, &routed) {
		return &flows.Error{Code: flows.Internal, Err: err}
	}
	switch routed.Code {
	case http.StatusNotFound:
		return &flows.Error{Code: flows.NotFound, Err: err}
	case http.StatusMethodNotAllowed:
		return &flows.Error{Code: flows.MethodNotAllowed, Err: err}
	case http.StatusRequestEntityTooLarge:
		return &flows.Error{Code: flows.TooLarge, Detail: "At most 64 KiB are taken.", Err: err}
	case http.StatusBadRequest, http.StatusUnsupportedMediaType:
		return &flows.Error{Code: flows.MalformedRequest, Err: err}
	default:
		return &flows.Error{Code: flows.Internal, Err: err}
	}
}

// dependencyCodes are the problems that a broken dependency of the gateway may cause.
var dependencyCodes = []api.ProblemCode{api.StorageUnavailable, api.ClubSystemFailed, api.ClubSystemUnavailable}

// writeProblem is the one place that writes a problem document.
func (s *Server) writeProblem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	problem, retryAfter := ProblemOf(err, traceOf(c))
	exchangeOf(c.Request().Context()).Code = string(problem.Code)
	if problem.Status >= http.StatusInternalServerError {
		s.cfg.Log.ErrorContext(c.Request().Context(), "request failed", "route", c.Path(), "code", problem.Code, "error", err)
	}
	if slices.Contains(dependencyCodes, problem.Code) {
		s.readiness.check(c.Request().Context(), s.cfg) // so that the log says what to do, whether or not anybody probes
	}
	if problem.Status == http.StatusNotFound && wantsPage(c.Request()) {
		if err := s.writeNotFoundPage(c); err != nil {
			s.cfg.Log.DebugContext(c.Request().Context(), "page not delivered", "error", err)
		}
		return
	}
	body, err := json.Marshal(problem)
	if err != nil {
		body = []byte(`{"title":"Something went wrong","status":500,"code":"internal","retry":"same_key"}`)
	}
	if retryAfter > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if problem.Status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", staffScheme) // RFC 9110 wants one with every 401
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Content-Type", "application/problem+json") // whatever an answer that came to nothing had put there
	if err := c.Blob(problem.Status, "application/problem+json", body); err != nil {
		s.cfg.Log.DebugContext(c.Request().Context(), "problem not delivered", "error", err)
	}
}
