package handlers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/store"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
)

// replayedHeaders are stored with a response.
var replayedHeaders = []string{"Content-Type", "Content-Language", "Location", "Set-Cookie"}

// storeTimeout is as long as the store tries at most. The client waits for it.
const storeTimeout = 3 * time.Second

// idempotent executes a request with an Idempotency-Key once, and replays its definitive response
// (IETF draft: The Idempotency-Key HTTP Header Field). The request continues after its client has disconnected,
// because the client will retry.
func (s *Server) idempotent(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := s.operationOf(c)
		key := c.Request().Header.Get(keyHeader)
		if !op.takesKey || key == "" {
			return next(c)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), s.keyedTimeout)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))

		who := callerOf(ctx)
		if id := c.Param("id"); id != "" { // before anything is stored: a stranger's requests must not fill Redis
			if err := s.cfg.Registrations.CheckHolder(ctx, id, who.token); err != nil {
				return err
			}
		}
		scope := who.scope() + "\n" + strconv.FormatBool(who.staff) + "\n" + c.Request().Method + " " + c.Request().URL.Path
		owner := uuid.NewString()
		digest := c.Request().Header.Get("X-Frontdesk-Session") + "\n" + string(exchangeOf(ctx).body) // the store keeps a keyed hash of it
		begun, response, err := s.cfg.Store.BeginRequest(ctx, scope, key, digest, owner)
		switch {
		case err != nil:
			return err
		case begun == store.InProgress:
			return &flows.Error{Code: flows.KeyInUse}
		case begun == store.KeyReused:
			return &flows.Error{Code: flows.KeyReused}
		case begun == store.Completed:
			return s.replay(c, response)
		}
		starts := op.Operation.OperationID == "startRegistration"
		if starts { // elsewhere, the registration itself keeps what a failed request has made
			attempt, err := s.cfg.Store.BeginAttempt(ctx, scope, key, digest, owner)
			if err == nil && attempt.Again {
				err = s.cfg.Registrations.CheckNotErased(ctx, attempt.ID)
			}
			if err != nil {
				return cmp.Or(s.cfg.Store.AbandonRequest(ctx, scope, key, owner), err)
			}
			exchangeOf(ctx).attempt = attempt
		}
		response, keep := s.execute(c, next)
		storing, stop := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout) // the request's own time may be over
		defer stop()
		if starts && keep < store.KeepResponse {
			err = s.cfg.Store.DropAttempt(storing, scope, key, exchangeOf(ctx).attempt)
		}
		if keep > 0 {
			err = errors.Join(err, s.cfg.Store.SaveResponse(storing, scope, key, owner, response, keep))
		} else {
			err = errors.Join(err, s.cfg.Store.AbandonRequest(storing, scope, key, owner))
		}
		if err != nil {
			s.cfg.Log.WarnContext(c.Request().Context(), "response not stored for its repetition", "error", err)
		}
		return writeStored(c, response)
	}
}

// minKeyVariety is how many different characters a key needs.
// One UUID in a trillion has fewer; "11111111" does.
const minKeyVariety = 6

// guessableKey refuses keys that two callers may choose by chance, such as sixteen zeros. Only the key distinguishes anonymous
// callers: the second one with the same key and body would get the first one's response, token included. The keys of a holder and
// of a contact are their own, so they may count.
func guessableKey(c echo.Context, op operation) []flows.FieldProblem {
	key := c.Request().Header.Get(keyHeader)
	if !op.takesKey || key == "" || c.Param("id") != "" || callerOf(c.Request().Context()).contact != nil {
		return nil
	}
	characters := slices.Sorted(slices.Values([]rune(key)))
	if len(slices.Compact(characters)) >= minKeyVariety {
		return nil
	}
	return fieldError(flows.InHeader+keyHeader, flows.FieldGuessable)
}

// execute records the response in memory, and returns how long to keep it. A refusal after which the same request may
// succeed is not kept: one that asks to send it again or to solve a captcha, and a conflict. "The cart has changed" is kept
// like a success: a repeated request would pay an amount that the buyer may not have seen.
func (s *Server) execute(c echo.Context, next echo.HandlerFunc) (response store.Response, keep time.Duration) {
	real := c.Response()
	recorder := &responseRecorder{header: real.Header()}
	c.SetResponse(echo.NewResponse(recorder, s.router))
	keep = store.KeepResponse
	if err := s.recover()(next)(c); err != nil { // a panic would leave the recorder in place, and the key in use
		switch problem, _ := ProblemOf(err, ""); {
		case problem.Then == api.SendAgain || problem.Then == api.Captcha || problem.Code == api.Conflict:
			keep = 0
		case problem.Code != api.CartChanged:
			keep = store.KeepRefusal
		}
		s.writeProblem(err, c)
	}
	c.SetResponse(real)
	response = store.Response{Status: recorder.status, Header: map[string]string{}, Body: recorder.body.Bytes()}
	for _, name := range replayedHeaders {
		if value := real.Header().Get(name); value != "" {
			response.Header[name] = value
		}
	}
	return response, keep
}

type responseRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *responseRecorder) Header() http.Header         { return w.header }
func (w *responseRecorder) Write(p []byte) (int, error) { return w.body.Write(p) }
func (w *responseRecorder) WriteHeader(status int)      { w.status = status }

// replay sends a stored response again, with the registration or the transfer in it as it is now. A registration of that time
// could ask the buyer for a payment that has since been made, or show a cart that has since changed.
func (s *Server) replay(c echo.Context, response store.Response) error {
	ctx := c.Request().Context()
	if s.operationOf(c).isStatement() {
		c.Response().Header().Set(replayedHeader, "true")
		exchangeOf(ctx).Replayed = true
		return writeStored(c, response)
	}
	var first api.Registration // empty if the response has none
	var problem api.Problem
	refused := response.Status >= http.StatusBadRequest
	if refused {
		_ = json.Unmarshal(response.Body, &problem)
		first = value(problem.Registration)
	} else {
		_ = json.Unmarshal(response.Body, &first)
	}
	view, err := s.present(c, first, sessionOf(response, first))
	if err != nil {
		return err
	}
	c.Response().Header().Set(replayedHeader, "true")
	exchangeOf(ctx).Replayed = true
	operation := s.operationOf(c).Operation.OperationID
	var body any
	switch {
	case operation == "startTransfer" && !refused:
		transfer, err := s.cfg.Registrations.Transfers.Get(ctx, *callerOf(ctx).contact)
		if err != nil {
			return err
		}
		if transfer == nil {
			return writeStored(c, response)
		}
		body = s.transferOf(ctx, transfer)
	case first.Cart.Revision == "" || view.Registration == nil:
		return writeStored(c, response)
	default:
		now := s.registrationOf(ctx, view)
		now.Token = first.Token
		if operation == "startPayment" && !refused {
			response.Status = paymentStatus(now)
		}
		body = now
		if refused {
			problem.Registration = &now
			body = problem
		}
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(body); err != nil {
		return err
	}
	response.Body = text.Bytes()
	if !refused {
		delete(response.Header, "Content-Language") // it is in the language of this request
	}
	return writeStored(c, response)
}

// sessionOf returns the token of the session that a response began; empty if it began none.
func sessionOf(response store.Response, began api.Registration) string {
	if cookie, err := http.ParseSetCookie(response.Header["Set-Cookie"]); err == nil {
		return cookie.Value
	}
	return value(began.Token)
}

// present returns the registration that a replayed response shows: that of the request's path, which the caller must still
// hold, or that of the session that the request began, which must not have ended. The zero View means that the response shows none.
func (s *Server) present(c echo.Context, first api.Registration, session string) (flows.View, error) {
	ctx := c.Request().Context()
	id, token := c.Param("id"), callerOf(ctx).token
	switch {
	case id == "" && first.Id == "", s.operationOf(c).Operation.OperationID == "endSession":
		return flows.View{}, nil
	case id == "":
		if err := s.cfg.Registrations.CheckNotErased(ctx, first.Id); err != nil {
			return flows.View{}, err
		}
		return s.cfg.Registrations.Get(ctx, first.Id, session)
	case first.Payment != nil: // if Redis has lost that payment, the registration would show an earlier one: refuse
		if _, err := s.cfg.Registrations.PaymentByID(ctx, id, token, flows.PaymentID(first.Payment.Id)); err != nil {
			return flows.View{}, err
		}
	}
	return s.cfg.Registrations.Get(ctx, id, token) // not for a device whose session has ended since
}

func writeStored(c echo.Context, response store.Response) error {
	for name, value := range response.Header {
		c.Response().Header().Set(name, value)
	}
	c.Response().WriteHeader(response.Status)
	_, err := c.Response().Write(response.Body)
	return err
}
