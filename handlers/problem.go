package handlers

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// problemKind is the meaning of a code for a caller.
type problemKind struct {
	status int
	retry  api.ProblemRetry
	title  string
}

// problems maps each code to its HTTP status and to what the caller can do next.
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
	flows.MethodNotOffered:      {http.StatusForbidden, api.ProblemRetryNever, "This way to pay is not offered"},
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

// operatorProblems occur only in operators' requests, and are not in openapi.yaml.
var operatorProblems = map[flows.Code]problemKind{
	flows.NotDecidable: {http.StatusConflict, api.ProblemRetryNever, "The decision is not possible"},
	flows.TooEarly:     {http.StatusConflict, api.ProblemRetryAfter, "The decision is not possible yet"},
}

// problemPath is the page of a code, which is the type of its problem documents.
const problemPath = "/docs/problems#"

// StatusOf returns the HTTP status of a code; 500 for an unknown one.
func StatusOf(code flows.Code) int {
	if m, ok := problems[code]; ok {
		return m.status
	}
	return http.StatusInternalServerError
}

const (
	defaultRetryAfter = 2            // seconds; where the error has none
	maxRetryAfter     = 24 * 60 * 60 // seconds; no limit counts for longer
	// maxFields is several times what any form has. Without it, the response to a body of nothing but
	// mistakes would be many times its length.
	maxFields = 100
)

// ProblemOf turns any error into a problem document, and returns Retry-After in seconds. Only the
// public texts of a flows.Error pass through.
func ProblemOf(err error, traceID string) (api.Problem, int) {
	failure := domainError(err)
	m, ok := problems[failure.Code]
	if !ok {
		m, ok = operatorProblems[failure.Code]
	}
	if !ok {
		failure, m = flows.Error{Code: flows.Internal}, problems[flows.Internal]
	}
	problem := api.Problem{
		Type: problemPath + string(failure.Code), Title: m.title, Status: m.status,
		Code: api.ProblemCode(failure.Code), Retry: m.retry, TraceId: &traceID,
	}
	if failure.Detail != "" {
		problem.Detail = new(singleLine(failure.Detail)) // which may repeat the caller's text
	}
	if len(failure.Fields) > 0 {
		problem.Errors = new(each(firstN(failure.Fields, maxFields), fieldProblem))
	}
	retryAfter := 0
	if m.retry == api.ProblemRetryAfter {
		retryAfter = min(max(defaultRetryAfter, int(math.Ceil(failure.RetryAfter.Seconds()))), maxRetryAfter)
		problem.RetryAfter = new(retryAfter)
	}
	return problem, retryAfter
}

// fieldProblem names a header or a parameter in a member of its own, since neither has a JSON
// pointer.
func fieldProblem(of flows.FieldProblem) api.FieldProblem {
	problem := api.FieldProblem{Pointer: singleLine(of.Pointer), Message: singleLine(of.Message)}
	switch in, name, _ := strings.Cut(problem.Pointer, "/"); in {
	case "header":
		problem.Header = &name
	case "query":
		problem.Parameter = &name
	}
	return problem
}

// routerErrors translate the errors of Echo.
var routerErrors = map[int]flows.Error{
	http.StatusNotFound:              {Code: flows.NotFound},
	http.StatusMethodNotAllowed:      {Code: flows.MethodNotAllowed},
	http.StatusRequestEntityTooLarge: {Code: flows.TooLarge, Detail: "At most 64 KiB are taken."},
	http.StatusBadRequest:            {Code: flows.MalformedRequest},
	http.StatusUnsupportedMediaType:  {Code: flows.MalformedRequest},
}

// domainError finds the error of flows, or translates the router's.
func domainError(err error) flows.Error {
	if failure, ok := errors.AsType[*flows.Error](err); ok {
		return *failure
	}
	if routed, ok := errors.AsType[*echo.HTTPError](err); ok {
		return routerErrors[routed.Code]
	}
	return flows.Error{}
}

// dependencyCodes are the problems that a broken dependency of the gateway may cause.
var dependencyCodes = []api.ProblemCode{api.StorageUnavailable, api.ClubSystemFailed, api.ClubSystemUnavailable}

// writeProblem is the one place that writes a problem document.
func (s *Server) writeProblem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	problem, retryAfter := ProblemOf(err, tracing.TraceID(c.Request().Context()))
	exchangeOf(c.Request().Context()).Code = string(problem.Code)
	if problem.Status >= http.StatusInternalServerError {
		s.cfg.Log.ErrorContext(c.Request().Context(), "request failed", "route", c.Path(), "code", problem.Code, "error", err)
	}
	if slices.Contains(dependencyCodes, problem.Code) {
		s.readiness.check(c.Request().Context(), s.cfg) // which logs how to fix it, even without probes
	}
	if problem.Status == http.StatusNotFound && wantsPage(c.Request()) {
		if err := s.writeNotFoundPage(c); err != nil {
			s.cfg.Log.DebugContext(c.Request().Context(), "page not delivered", "error", err)
		}
		return
	}
	if problem.Code == api.ChallengeRequired {
		problem.Challenge = challengeOf(s.cfg.Captcha.Widget())
	}
	body, err := json.Marshal(problem)
	if err != nil {
		body = []byte(`{"title":"Something went wrong","status":500,"code":"internal","retry":"same_key"}`)
	}
	if retryAfter > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if problem.Status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", schemes(problem.Code, routes[c.Request().Method+" "+c.Path()].access)) // every 401 must have one (RFC 9110)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Content-Type", "application/problem+json") // c.Blob keeps the one of a failed response
	if err := c.Blob(problem.Status, "application/problem+json", body); err != nil {
		s.cfg.Log.DebugContext(c.Request().Context(), "problem not delivered", "error", err)
	}
}
