package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/store"
)

// requestTimeout bounds a request that goes on after its client has left.
const requestTimeout = 60 * time.Second

// replayedHeaders are the headers of an answer that a replay repeats.
var replayedHeaders = []string{"Content-Type", "Location", "Set-Cookie"}

// idempotent carries a request with an Idempotency-Key out once, and gives its
// definitive answer to every repetition (IETF draft: The Idempotency-Key HTTP
// Header Field). The request goes on when its client leaves: the client will
// come back for the answer.
func (s *Server) idempotent(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, ok := s.operationOf(c)
		if !ok || !op.needsKey {
			return next(c)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), requestTimeout)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))

		body, err := readAll(c.Request().Body)
		if err != nil {
			return err
		}
		c.Request().Body = rereadableBody{c.Request().Body, bytes.NewReader(body)}
		who := callerOf(ctx)
		key := c.Request().Header.Get("Idempotency-Key")
		scope := who.scope() + "\n" + strconv.FormatBool(who.staff) + "\n" + c.Request().Method + " " + c.Request().URL.Path
		owner := uuid.NewString()
		begun, answer, err := s.cfg.Store.BeginRequest(ctx, scope, key, requestText(c.Request(), body), owner)
		switch {
		case err != nil:
			return err
		case begun == store.InProgress:
			return &flows.Error{Code: flows.KeyInUse}
		case begun == store.KeyReused:
			return &flows.Error{Code: flows.KeyReused}
		case begun == store.Completed:
			return s.replay(c, op, answer)
		}
		answer, definitive := s.execute(c, next)
		if definitive {
			err = s.cfg.Store.SaveResponse(ctx, scope, key, owner, answer)
		} else {
			err = s.cfg.Store.AbandonRequest(ctx, scope, key, owner)
		}
		if err != nil {
			s.cfg.Log.WarnContext(c.Request().Context(), "answer not kept for a repetition", "error", err)
		}
		return s.write(c, answer)
	}
}

// minKeyVariety is how many different characters a key needs that keeps strangers
// apart: a UUID with fewer is one in a trillion, a row of one digit is not.
const minKeyVariety = 6

// guessableKey tells that a key can be somebody else's by chance. Where anyone may
// call, nothing but the key tells two callers apart: with a key such as "1" and an
// equal body, the second one would get the first one's answer, token included.
func guessableKey(c echo.Context, op operation) []flows.FieldProblem {
	key := c.Request().Header.Get("Idempotency-Key")
	if !op.needsKey || routes[op.Method+" "+c.Path()].access&anyone == 0 || key == "" {
		return nil
	}
	different := map[rune]bool{}
	for _, r := range key {
		different[r] = true
	}
	if len(different) >= minKeyVariety {
		return nil
	}
	return []flows.FieldProblem{{Pointer: "header/Idempotency-Key", Message: "could be another caller's as well: take a fresh random value, such as a UUID"}}
}

// rereadableBody lets a body be read again without hiding what validation left on it.
type rereadableBody struct {
	io.ReadCloser
	again io.Reader
}

func (b rereadableBody) Read(p []byte) (int, error) { return b.again.Read(p) }

// ValidatedValue passes on the value that was validated; see openapi3filter.
func (b rereadableBody) ValidatedValue() any {
	if validated, ok := b.ReadCloser.(interface{ ValidatedValue() any }); ok {
		return validated.ValidatedValue()
	}
	return nil
}

// requestText tells a repetition from another request. How the session is asked
// for is part of it. The store keeps no more than a keyed hash of it.
func requestText(r *http.Request, body []byte) string {
	return r.Header.Get("X-Frontdesk-Session") + "\n" + string(body)
}

// execute lets the request be answered into memory. The answer is definitive
// unless its problem document invites the caller to send the same again.
func (s *Server) execute(c echo.Context, next echo.HandlerFunc) (answer store.Response, definitive bool) {
	real := c.Response()
	kept := &responseRecorder{header: real.Header()}
	c.SetResponse(echo.NewResponse(kept, s.router))
	definitive = true
	if err := next(c); err != nil {
		problem, _ := ProblemOf(err, "")
		definitive = problem.Retry == api.ProblemRetryNever
		s.writeProblem(err, c)
	}
	c.SetResponse(real)
	answer = store.Response{Status: kept.status, Header: map[string]string{}, Body: kept.body.Bytes()}
	for _, name := range replayedHeaders {
		if value := real.Header().Get(name); value != "" {
			answer.Header[name] = value
		}
	}
	return answer, definitive
}

// responseRecorder takes an answer down instead of sending it.
type responseRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *responseRecorder) Header() http.Header         { return w.header }
func (w *responseRecorder) Write(p []byte) (int, error) { return w.body.Write(p) }
func (w *responseRecorder) WriteHeader(status int)      { w.status = status }

// replay answers a repetition. A payment is shown as it stands now: an old
// answer that sends the buyer to pay must not outlive the payment.
func (s *Server) replay(c echo.Context, op operation, answer store.Response) error {
	c.Response().Header().Set("Idempotent-Replayed", "true")
	exchangeOf(c.Request().Context()).Replayed = true
	if op.Operation.OperationID != "startPayment" || answer.Status >= http.StatusBadRequest {
		return s.write(c, answer)
	}
	var first api.Payment
	if err := json.Unmarshal(answer.Body, &first); err != nil {
		return err
	}
	ctx := c.Request().Context()
	payment, err := s.cfg.Registrations.PaymentByID(ctx, c.Param("id"), callerOf(ctx).token, flows.PaymentID(first.Id))
	if err != nil {
		return err
	}
	return s.paymentStarted(payment).VisitStartPaymentResponse(c.Response())
}

func (s *Server) write(c echo.Context, answer store.Response) error {
	for name, value := range answer.Header {
		c.Response().Header().Set(name, value)
	}
	c.Response().WriteHeader(answer.Status)
	_, err := c.Response().Write(answer.Body)
	return err
}
