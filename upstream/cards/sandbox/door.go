package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// action is what a buyer, their bank or the processor does to a payment: POST /payments/{id}/{name}, as JSON or by a form of the
// merchant's page.
type action struct {
	name string
	body string // an example; its only member is a text or a truth value, and {} has none
	run  func(id, value string) (Payment, error)
}

// addDoor registers the door, through which scripts act and developers look. It needs no credentials. Its errors and words are its own.
func (s *Server) addDoor() {
	ifTrue := func(run func(id string, yes bool) (Payment, error)) func(id, value string) (Payment, error) {
		return func(id, value string) (Payment, error) { return run(id, value == "true") }
	}
	for _, action := range []action{
		{"confirm", `{"card": "4242424242424242"}`, s.Confirm},
		{"challenge", `{"approve": true}`, ifTrue(s.answer)},
		{"settle-confirmation", `{"succeeded": true}`, ifTrue(s.settle)},
		{"settle-refund", `{"succeeded": true}`, ifTrue(func(id string, arrived bool) (Payment, error) {
			if arrived {
				return s.SettleRefund(id, succeeded)
			}
			return s.SettleRefund(id, "failed")
		})},
		{"dispute", `{}`, func(id, _ string) (Payment, error) { return s.Dispute(id) }},
		{"expire", `{}`, func(id, _ string) (Payment, error) { return s.Expire(id) }},
	} {
		s.mux.HandleFunc("POST /payments/{id}/"+action.name, s.serveAction(action))
	}
	s.mux.HandleFunc("GET /payments", s.listPayments)
	s.mux.HandleFunc("GET /payments/{id}", s.showPayment)
	s.mux.HandleFunc("GET /settings", s.getSettings)
	s.mux.HandleFunc("PUT /settings", s.putSettings)
	s.mux.HandleFunc("POST /settings", s.saveSettings)
	s.mux.HandleFunc("POST /reset", s.serveReset)
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { seeOther(w, "payments") })
}

// answer is the buyer's response to the bank's challenge. The same response again changes nothing.
func (s *Server) answer(id string, approved bool) (Payment, error) {
	return s.act(id, func(in *intent) error {
		c := in.charge()
		switch {
		case in.status == requiresAction && in.pending != nil:
			return s.approve(nil, in, approved)
		case approved && in.status == requiresCapture && c != nil && c.card.challenge:
			return nil
		case !approved && in.status == requiresPaymentMethod && in.lastError != nil && in.lastError.Code == failedAuthentication:
			return nil
		}
		return unexpectedState(in, "approved")
	})
}

// settle ends what is processing: a buyer's confirmation or a capture.
func (s *Server) settle(id string, succeeded bool) (Payment, error) {
	return s.act(id, func(in *intent) error {
		if in.status != processing {
			return unexpectedState(in, "settled")
		}
		return s.approve(nil, in, succeeded)
	})
}

// serveAction responds with the payment, which a decline does not make an error. A form gets a 303 to the merchant's page, so that
// going back or reloading never sends it again.
func (s *Server) serveAction(action action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, value := r.PathValue("id"), ""
		body, err := readBody(w, r)
		if err == nil {
			value, err = action.read(r, body)
		}
		if err != nil { // even of a form: the page's own are right, and curl sends JSON as a form unless an option says otherwise
			respond(w, nil, err)
			return
		}
		payment, err := action.run(id, value)
		if refused, ok := errors.AsType[*apiError](err); ok {
			payment, _ = s.Payment(id)
			err = refused.atDoor(payment, action)
		}
		s.cfg.Logger.DebugContext(r.Context(), "sandbox door", "action", action.name, "payment", id, "state", payment.State, "error", err)
		if mediaType(r.Header) == formType {
			seeOther(w, "../../payments?world="+url.QueryEscape(worldOf(payment.Metadata["fd_sale"])))
			return
		}
		respond(w, payment, err)
	}
}

// read returns the member of a body: a text, true or false. A body with anything else is refused.
func (a action) read(r *http.Request, body []byte) (value string, err error) {
	var want, in map[string]any
	_ = json.Unmarshal([]byte(a.body), &want) // it is JSON
	switch mediaType(r.Header) {
	case "application/json":
		err = json.Unmarshal(body, &in)
	case formType:
		var form url.Values
		form, err = url.ParseQuery(string(body))
		in = map[string]any{}
		for name := range form {
			in[name] = form.Get(name)
			if yes := form.Get(name); want[name] == true && (yes == "true" || yes == "false") {
				in[name] = yes == "true"
			}
		}
	default:
		return "", errMediaType()
	}
	right := err == nil && len(in) == len(want)
	for name, example := range want {
		value = fmt.Sprint(in[name])
		right = right && fmt.Sprintf("%T", in[name]) == fmt.Sprintf("%T", example)
	}
	if !right {
		return "", errInvalid("invalid_body", "The body must be JSON like "+a.body+", with no other members, sent as application/json.")
	}
	return value, nil
}

// atDoor translates an error about a payment.
func (e *apiError) atDoor(payment Payment, action action) error {
	switch {
	case e.status == http.StatusNotFound:
		return errNoPayment()
	case e.Param == "number", e.Param == "payment_method" && e.Code == "resource_missing":
		return errInvalid("invalid_number",
			"card is not a card number or a test payment method. Use a test card, such as 4242424242424242 or pm_card_visa.")
	case e.Code == "payment_intent_unexpected_state":
		state := string(payment.State)
		if more := standing(payment); more != "" {
			state += " (" + more + ")"
		}
		return &doorError{
			Type:        "state_error",
			Code:        "unexpected_state",
			Message:     "The state of this payment is " + state + ", which does not allow " + action.name + ".",
			DeclineCode: payment.DeclineCode,
			status:      http.StatusConflict,
		}
	}
	return errInvalid(e.Code, e.Message)
}

// listPayments lists the payments of the world that the request names, or else of all, newest first: as a page for a browser, as JSON for
// a program. GET /v1/payment_intents has pages.
func (s *Server) listPayments(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept, Cookie, "+worldHeader)
	name, err := requestedWorld(r)
	for param := range r.URL.Query() {
		if param != "world" && err == nil {
			err = errInvalid("invalid_parameter", param+" is not a parameter of this path, which has world alone.")
		}
	}
	all := s.Payments
	if name != "" {
		all = func() []Payment { return s.PaymentsIn(name) }
	}
	switch {
	case err != nil:
		respond(w, nil, err)
	case strings.Contains(r.Header.Get("Accept"), "text/html"): // only browsers accept it
		s.showOverview(w, cmp.Or(name, defaultWorld), "")
	default:
		respond(w, map[string][]Payment{"items": append([]Payment{}, all()...)}, nil) // [], not null
	}
}

func (s *Server) showPayment(w http.ResponseWriter, r *http.Request) {
	p, ok := s.Payment(r.PathValue("id"))
	if !ok {
		respond(w, nil, errNoPayment())
		return
	}
	respond(w, p, nil)
}
