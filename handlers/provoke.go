package handlers

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// This file lets front-end developers provoke what the gateway answers on a bad day: with a fault of their world, or by the e-mail
// address that a buyer enters. Only mock mode has it.

// Fault is what a request suffers on purpose.
type Fault struct {
	Kind  string        // problem, delay, hang or drop_after; empty: nothing
	Code  string        // of a problem
	Delay time.Duration // of a delay
}

// Provoke returns what a request suffers in a world. path is the contract's.
type Provoke func(world, method, path, requestPath string) Fault

// Operation is an operation below /v1 at which a Fault can happen.
type Operation struct {
	Method, Path string   // as in the contract
	Codes        []string // of the problems that it can answer
}

// Operations lists the operations below /v1 of a contract.
func Operations(contract []byte) ([]Operation, error) {
	document, err := openapi3.NewLoader().LoadFromData(contract)
	if err != nil {
		return nil, err
	}
	all, err := operationsOf(document)
	if err != nil {
		return nil, err
	}
	var listed []Operation
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if op := all[name]; strings.HasPrefix(op.Path, "/v1/") {
			listed = append(listed, Operation{op.Method, op.Path, each(op.codes, func(code flows.Code) string { return string(code) })})
		}
	}
	return listed, nil
}

// provoke makes a request suffer the fault that its world or its buyer's e-mail address asks for. A problem comes before anything is
// done or stored, so that the same request with the same key is carried out later.
func (s *Server) provoke(next echo.HandlerFunc) echo.HandlerFunc {
	if s.cfg.Provoke == nil {
		return next
	}
	return func(c echo.Context) error {
		op, ctx := s.operationOf(c), c.Request().Context()
		if op.Operation == nil {
			return next(c)
		}
		fault := s.cfg.Provoke(callerOf(ctx).clientToken, op.Method, op.Path, c.Request().URL.Path)
		if fault.Kind == "" {
			code, err := s.provokedByAddress(c, op)
			if err != nil || code != "" {
				return cmp.Or(err, error(&flows.Error{Code: flows.Code(code)}))
			}
		}
		switch fault.Kind {
		case "problem":
			return &flows.Error{Code: flows.Code(fault.Code)}
		case "delay":
			select {
			case <-s.cfg.After(fault.Delay):
			case <-ctx.Done():
			case <-s.cfg.Stopping:
			}
		case "hang":
			select {
			case <-ctx.Done():
			case <-s.cfg.Stopping:
			}
			panic(http.ErrAbortHandler)
		case "drop_after":
			c.Response().Writer = discarded{http.Header{}}
			_ = next(c) // the response is lost, an error too
			panic(http.ErrAbortHandler)
		}
		return next(c)
	}
}

// discarded is a response that is not sent.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header         { return d.header }
func (d discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d discarded) WriteHeader(int)             {}

// provokingDomain ends an e-mail address that names what a buyer does and the problem that then comes, such as
// pay.processor_unavailable@fault.example.
const provokingDomain = "@fault.example"

// provokable are the requests that the first word of such an address names: the actions of the contract, the start of the
// registration, and reading it.
var provokable = map[string][]string{
	"start":            {"POST /v1/registrations"},
	"read":             {"GET /v1/registrations/:id"},
	"person":           {"PUT /v1/registrations/:id/person", "PATCH /v1/registrations/:id/person"},
	"guardian":         {"PUT /v1/registrations/:id/guardian"},
	"prospect":         {"POST /v1/registrations/:id/prospect"},
	"add_item":         {"POST /v1/registrations/:id/items"},
	"clear_items":      {"DELETE /v1/registrations/:id/items", "DELETE /v1/registrations/:id/items/:itemId"},
	"check":            {"POST /v1/registrations/:id/check"},
	"mandate":          {"POST /v1/registrations/:id/mandate"},
	"sign":             {"POST /v1/registrations/:id/mandate/signature"},
	"resend":           {"POST /v1/registrations/:id/mandate/signature/resend"},
	"cancel_signature": {"DELETE /v1/registrations/:id/mandate/signature"},
	"pay":              {"POST /v1/registrations/:id/payment"},
	"cancel_payment":   {"DELETE /v1/registrations/:id/payment"},
	"consents":         {"PATCH /v1/registrations/:id/consents"},
	"abandon":          {"DELETE /v1/registrations/:id"},
}

// provokedByAddress returns the code that the buyer's e-mail address provokes at an operation; empty for none. The address is that in
// the body, which is refused if it can provoke nothing, else the registration's.
func (s *Server) provokedByAddress(c echo.Context, op operation) (string, error) {
	var body struct {
		Email  string
		Person struct{ Email string }
	}
	_ = json.Unmarshal(exchangeOf(c.Request().Context()).body, &body) // a wrong body is refused later
	address, pointer := body.Email, "/email"
	if body.Person.Email != "" {
		address, pointer = body.Person.Email, "/person/email"
	}
	isNew := address != ""
	if id := c.Param("id"); !isNew && id != "" {
		view, _, err := s.cfg.Registrations.Load(c.Request().Context(), id, callerOf(c.Request().Context()).token)
		if err == nil && view.Contact != nil { // otherwise the handler refuses the caller, or no buyer is known yet
			address = view.Contact.Entered
		}
	}
	local, ok := strings.CutSuffix(strings.ToLower(address), provokingDomain)
	if !ok {
		return "", nil
	}
	action, code, _ := strings.Cut(local, ".")
	canAnswer := false
	for _, name := range provokable[action] {
		if at := s.operations[name]; slices.Contains(at.codes, flows.Code(code)) {
			canAnswer = true
			if at.Method == op.Method && at.Path == op.Path {
				return code, nil
			}
		}
	}
	if isNew && !canAnswer {
		message := "provokes nothing: it must be an action and a problem code of its operation, as pay.processor_unavailable" + provokingDomain
		return "", invalid([]flows.FieldProblem{{Pointer: pointer, Code: flows.FieldEmail, Message: message}})
	}
	return "", nil
}
