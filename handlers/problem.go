package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/text"
	"frontdesk/flows/tracing"
)

// problemKind is the meaning of a code for a caller.
type problemKind struct {
	status int
	retry  api.ProblemRetry
	then   api.ProblemThen
}

// problems maps each code to its HTTP status and to what the caller can do next.
var problems = map[flows.Code]problemKind{
	flows.MalformedRequest:      {http.StatusBadRequest, api.ProblemRetryNever, api.FixRequest},
	flows.InvalidRequest:        {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.CorrectInput},
	flows.CardNumberRefused:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.CorrectInput},
	flows.NotIdentified:         {http.StatusUnauthorized, api.ProblemRetryNever, api.LogIn},
	flows.InvitationInvalid:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.CorrectInput},
	flows.ResumptionInvalid:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.CorrectInput},
	flows.ContactBanned:         {http.StatusForbidden, api.ProblemRetryNever, api.CorrectInput},
	flows.PersonKnown:           {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.OtherClub:             {http.StatusConflict, api.ProblemRetryNever, api.CorrectInput},
	flows.TokenRequired:         {http.StatusUnauthorized, api.ProblemRetryNever, api.LogIn},
	flows.RegistrationNotFound:  {http.StatusNotFound, api.ProblemRetryNever, api.StartAgain},
	flows.ClubNotFound:          {http.StatusNotFound, api.ProblemRetryNever, api.ReadAgain},
	flows.OfferNotFound:         {http.StatusNotFound, api.ProblemRetryNever, api.ReadAgain},
	flows.NotFound:              {http.StatusNotFound, api.ProblemRetryNever, api.FixRequest},
	flows.MethodNotAllowed:      {http.StatusMethodNotAllowed, api.ProblemRetryNever, api.FixRequest},
	flows.TooLarge:              {http.StatusRequestEntityTooLarge, api.ProblemRetryNever, api.FixRequest},
	flows.UnsupportedMediaType:  {http.StatusUnsupportedMediaType, api.ProblemRetryNever, api.FixRequest},
	flows.ForbiddenOrigin:       {http.StatusForbidden, api.ProblemRetryNever, api.FixRequest},
	flows.ChallengeRequired:     {http.StatusForbidden, api.ProblemRetryNever, api.Captcha},
	flows.RateLimited:           {http.StatusTooManyRequests, api.ProblemRetryAfter, api.SendAgain},
	flows.StaffKeyUnknown:       {http.StatusUnauthorized, api.ProblemRetryNever, api.LogIn},
	flows.StaffOnly:             {http.StatusForbidden, api.ProblemRetryNever, api.FixRequest},
	flows.KeyReused:             {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.FixRequest},
	flows.KeyInUse:              {http.StatusConflict, api.ProblemRetryAfter, api.SendAgain},
	flows.Conflict:              {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.NoConfirmation:        {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.CartFrozen:            {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.CartEmpty:             {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.CartInvalid:           {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.ItemRequired:          {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.CartChanged:           {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.AgreementMissing:      {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.CorrectInput},
	flows.GuardianRequired:      {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.MandateRequired:       {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.NothingDue:            {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.AmountDue:             {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.MethodNotOffered:      {http.StatusForbidden, api.ProblemRetryNever, api.ReadAgain},
	flows.PaymentExists:         {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.DuplicatePurchase:     {http.StatusConflict, api.ProblemRetryNever, api.CorrectInput},
	flows.PersonRequired:        {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.RegistrationClosed:    {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.PaymentUnderWay:       {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.OfferNotAvailable:     {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.CorrectInput},
	flows.MandateNotNeeded:      {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.MandateSigned:         {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.NoCode:                {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.CodeWrong:             {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.CorrectInput},
	flows.CodeExpired:           {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.CodeBlocked:           {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.SMSLimited:            {http.StatusTooManyRequests, api.ProblemRetryAfter, api.SendAgain},
	flows.SMSPaused:             {http.StatusServiceUnavailable, api.ProblemRetryAfter, api.SendAgain},
	flows.MobileUnreachable:     {http.StatusConflict, api.ProblemRetryNever, api.CorrectInput},
	flows.AccessTokenRefused:    {http.StatusUnprocessableEntity, api.ProblemRetryNever, api.LogIn},
	flows.MigrationClub:         {http.StatusConflict, api.ProblemRetryNever, api.CorrectInput},
	flows.MigrationContact:      {http.StatusConflict, api.ProblemRetryNever, api.CorrectInput},
	flows.MigrationNotShared:    {http.StatusConflict, api.ProblemRetryNever, api.CorrectInput},
	flows.WebhookUntrusted:      {http.StatusBadRequest, api.ProblemRetryNever, api.FixRequest},
	flows.ClubSystemFailed:      {http.StatusBadGateway, api.ProblemRetrySameKey, api.SendAgain},
	flows.ClubSystemUnavailable: {http.StatusServiceUnavailable, api.ProblemRetryAfter, api.SendAgain},
	flows.IdentityUnavailable:   {http.StatusServiceUnavailable, api.ProblemRetryAfter, api.SendAgain},
	flows.ProcessorUnavailable:  {http.StatusServiceUnavailable, api.ProblemRetryAfter, api.SendAgain},
	flows.StorageUnavailable:    {http.StatusServiceUnavailable, api.ProblemRetryAfter, api.SendAgain},
	flows.Overloaded:            {http.StatusServiceUnavailable, api.ProblemRetryAfter, api.SendAgain},
	flows.Internal:              {http.StatusInternalServerError, api.ProblemRetrySameKey, api.SendAgain},
}

// operatorProblems occur only in operators' requests, and are not in openapi.yaml.
var operatorProblems = map[flows.Code]problemKind{
	flows.NotDecidable: {http.StatusConflict, api.ProblemRetryNever, api.ReadAgain},
	flows.TooEarly:     {http.StatusConflict, api.ProblemRetryAfter, api.SendAgain},
}

// StatusOf returns the HTTP status of a code; 500 for an unknown one.
func StatusOf(code flows.Code) int {
	return cmp.Or(problems[code].status, http.StatusInternalServerError)
}

const (
	defaultRetryAfter = 2 // seconds, and up to retryAfterSpread more; where the error has none
	retryAfterSpread  = 3
	maxRetryAfter     = 24 * 60 * 60 // seconds; no limit counts for longer
	// maxFields is several times what any form has. Without it, the response to a body of nothing but
	// mistakes would be many times its length.
	maxFields = 100
)

// ProblemOf turns any error into a problem document in English, and returns Retry-After in seconds.
func ProblemOf(err error, traceID string) (api.Problem, int) {
	return texts{text.Languages[0]}.problemOf(err, traceID)
}

// problemOf turns any error into a problem document, and returns Retry-After in seconds. Only the
// public texts of a flows.Error pass through.
func (l texts) problemOf(err error, traceID string) (api.Problem, int) {
	failure := domainError(err)
	kind := cmp.Or(problems[failure.Code], operatorProblems[failure.Code])
	if kind.status == 0 {
		failure, kind = flows.Error{Code: flows.Internal}, problems[flows.Internal]
	}
	problem := api.Problem{
		Type:    "/docs/problems#" + string(failure.Code),
		Title:   l.Titles[failure.Code],
		Status:  kind.status,
		Code:    api.ProblemCode(failure.Code),
		Retry:   kind.retry,
		Then:    kind.then,
		TraceId: &traceID,
	}
	if failure.Detail != "" {
		detail := l.Fill(l.Details[failure.Detail], failure.Params)
		if failure.Item > 0 {
			detail = l.Fill(l.Details[flows.DetailItem], map[string]string{"item": strconv.Itoa(failure.Item), "detail": detail})
		}
		problem.Detail, problem.Params = new(singleLine(detail)), paramsOf(failure.Params)
	}
	if len(failure.Fields) > 0 {
		problem.Errors = new(each(failure.Fields[:min(len(failure.Fields), maxFields)], l.fieldProblem))
		if detail := l.outsideBody(*problem.Errors); problem.Detail == nil && detail != "" {
			problem.Detail = &detail
		}
	}
	retryAfter := 0
	if kind.then == api.SendAgain {
		retryAfter = min(max(defaultRetryAfter, int(math.Ceil(failure.RetryAfter.Seconds()))), maxRetryAfter)
		if failure.RetryAfter == 0 {
			retryAfter = defaultRetryAfter + rand.N(retryAfterSpread+1) // #nosec G404 -- so that callers do not return together
		}
		problem.RetryAfter = new(retryAfter)
	}
	return problem, retryAfter
}

// outsideBody describes a wrong header, else a wrong parameter, which no form shows; empty without one.
func (l texts) outsideBody(all []api.FieldProblem) string {
	i := slices.IndexFunc(all, func(p api.FieldProblem) bool { return p.Header != nil })
	if i < 0 {
		i = slices.IndexFunc(all, func(p api.FieldProblem) bool { return p.Parameter != nil })
	}
	if i < 0 {
		return ""
	}
	one := cmp.Or(value(all[i].Header), value(all[i].Parameter)) + ": " + all[i].Text
	if len(all) == 1 {
		return singleLine(one)
	}
	return singleLine(l.Fill(l.Details[flows.DetailSeveralFields], map[string]string{"count": strconv.Itoa(len(all)), "one": one}))
}

// fieldProblem names a place in the body, a header or a parameter, each in a member of its own: only the body has JSON
// pointers.
func (l texts) fieldProblem(of flows.FieldProblem) api.FieldProblem {
	problem := api.FieldProblem{
		Code:   api.FieldCode(cmp.Or(of.Code, flows.FieldInvalid)),
		Text:   singleLine(cmp.Or(of.Message, l.Fill(l.Fields[of.Code], of.Params))),
		Params: paramsOf(of.Params),
	}
	at := singleLine(of.Pointer)
	if name, ok := strings.CutPrefix(at, flows.InHeader); ok {
		problem.Header = &name
	} else if name, ok := strings.CutPrefix(at, flows.InQuery); ok {
		problem.Parameter = &name
	} else {
		problem.Pointer = &at
	}
	return problem
}

// paramsOf returns the parameters of a text; nil without any.
func paramsOf(params map[string]string) *api.TextParams {
	if len(params) == 0 {
		return nil
	}
	return new(api.TextParams(params))
}

// routerErrors translate the errors of Echo.
var routerErrors = map[int]flows.Error{
	http.StatusNotFound: {
		Code:   flows.NotFound,
		Detail: flows.DetailNothingHere,
	},
	http.StatusMethodNotAllowed:      {Code: flows.MethodNotAllowed},
	http.StatusRequestEntityTooLarge: *flows.BodyTooLarge(maxBody),
	http.StatusBadRequest:            {Code: flows.MalformedRequest},
	http.StatusUnsupportedMediaType:  {Code: flows.UnsupportedMediaType},
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

// explain adds to the router's errors what the caller can do at this address.
func explain(err error, c echo.Context) error {
	routed, ok := errors.AsType[*echo.HTTPError](err)
	switch {
	case ok && routed.Code == http.StatusNotFound && strings.HasPrefix(c.Request().URL.Path, "/v1/"):
		return &flows.Error{Code: flows.NotFound, Detail: flows.DetailNoOperation}
	case ok && routed.Code == http.StatusMethodNotAllowed:
		return &flows.Error{
			Code:   flows.MethodNotAllowed,
			Detail: flows.DetailMethodsAccepted,
			Params: map[string]string{"methods": c.Response().Header().Get(echo.HeaderAllow)},
		}
	}
	return err
}

// FailureLevel returns the level at which a failed request is logged. While another system is away, every request fails
// alike, and warnings are summed. An error is Frontdesk's own.
func FailureLevel(code api.ProblemCode) slog.Level {
	if code == api.Internal {
		return slog.LevelError
	}
	return slog.LevelWarn
}

// writeProblem is the one place that responds with a problem: with a document, or with a page for a browser that requests one.
func (s *Server) writeProblem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	texts := languageOf(c.Request())
	problem, retryAfter := texts.problemOf(explain(err, c), tracing.TraceID(c.Request().Context()))
	exchangeOf(c.Request().Context()).Code = string(problem.Code)
	if problem.Status >= http.StatusInternalServerError &&
		problem.Code != api.Overloaded { // those are counted, because a crowd would fill the log
		s.cfg.Log.Log(c.Request().Context(), FailureLevel(problem.Code), "request failed", "route", c.Path(), "code", problem.Code, "error", err)
	}
	switch problem.Code {
	case api.StorageUnavailable, api.ClubSystemFailed, api.ClubSystemUnavailable: // a dependency may be broken
		s.readiness.check(c.Request().Context(), s.cfg) // which logs how to fix it, even without probes
	}
	if retryAfter > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if problem.Status == http.StatusUnauthorized { // RFC 9110: every 401 names the schemes
		access := routes[c.Request().Method+" "+c.Path()].access
		c.Response().Header().Set("WWW-Authenticate", schemes(problem.Code, access))
	}
	written, err := s.writeProblemPage(c, texts, problem)
	if !written {
		err = s.writeProblemDocument(c, texts, problem)
	}
	if err != nil {
		s.cfg.Log.DebugContext(c.Request().Context(), "problem not delivered", "error", err)
	}
}

// refusedOn returns the registration that a refused request is about, as it is now; nil: the caller holds none.
func (s *Server) refusedOn(c echo.Context) *api.Registration {
	id := c.Param("id")
	if id == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(c.Request().Context()), storeTimeout) // the request's own time has ended
	defer stop()
	view, _, err := s.cfg.Registrations.Load(ctx, id, callerOf(ctx).token)
	if err != nil {
		return nil
	}
	return new(s.registrationOf(ctx, view))
}

func (s *Server) writeProblemDocument(c echo.Context, texts texts, problem api.Problem) error {
	if problem.Code == api.ChallengeRequired {
		problem.Challenge = challengeOf(s.cfg.Captcha.Widget())
	}
	if problem.Status == http.StatusConflict {
		problem.Registration = s.refusedOn(c)
	}
	body, _ := json.Marshal(problem) // its types can all be encoded
	texts.announce(c.Response().Header())
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set("Content-Type", "application/problem+json") // c.Blob keeps the one of a failed response
	return c.Blob(problem.Status, "application/problem+json", body)
}
