package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// maxBody is far above what any call of the API needs.
const maxBody = 1 << 20

// object is a JSON object of the API.
type object map[string]any

// request is a call as an endpoint sees it.
type request struct {
	*http.Request
	requestID   string
	key         string  // Idempotency-Key
	publishable bool    // authenticated with the publishable key, as a buyer's browser does
	intent      *intent // the payment intent of the path
}

// endpoint is one operation of the API. Run holds the lock of the Server and checks its
// parameters before it changes anything.
type endpoint struct {
	pattern string
	run     func(*request) (object, error)
	params  []string // the parameters that it knows; nil: any
}

// addRoutes serves Stripe's endpoints, and one of the double's own for the challenge
// page of a buyer's bank.
func (s *Server) addRoutes() {
	for _, e := range []endpoint{
		{"GET /v1/account", s.getAccount, nil},
		{"GET /v1/payment_intents", s.listIntents, []string{"created", "limit", "starting_after"}},
		{"POST /v1/payment_intents", s.createIntent, []string{"amount", "currency", "capture_method", "automatic_payment_methods", "payment_method_types", "description", "metadata"}},
		{"GET /v1/payment_intents/{id}", s.getIntent, []string{"client_secret"}},
		{"POST /v1/payment_intents/{id}", s.updateIntent, []string{"metadata"}},
		{"POST /v1/payment_intents/{id}/capture", s.captureIntent, []string{"amount_to_capture"}},
		{"POST /v1/payment_intents/{id}/cancel", s.cancelIntent, []string{"cancellation_reason"}},
		{"POST /v1/payment_intents/{id}/confirm", s.confirmIntent, []string{"payment_method", "payment_method_data", "return_url", "client_secret"}},
		{"GET /v1/charges", s.listCharges, []string{"payment_intent", "limit"}},
		{"POST /v1/refunds", s.createRefund, []string{"payment_intent", "amount", "reason", "metadata"}},
		{"GET /v1/webhook_endpoints", s.listWebhookEndpoints, []string{"limit", "starting_after"}},
		{"POST /double/challenge/{id}", s.answerChallenge, nil},
		{"/", s.noSuchPath, nil},
	} {
		s.mux.HandleFunc(e.pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, e) })
	}
}

// response is a response as it goes over the wire.
type response struct {
	status   int
	body     []byte
	replayed bool
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, e endpoint) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rq := &request{Request: r, requestID: newID("req"), key: r.Header.Get("Idempotency-Key")}
	out := s.respond(rq, e)
	s.record(rq)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", rq.requestID)
	w.Header().Set("Stripe-Version", APIVersion)
	if rq.key != "" {
		w.Header().Set("Idempotency-Key", rq.key)
	}
	if out.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(out.status)
	w.Write(out.body)
}

// respond carries out a call in the order of the real API: credentials first, then the
// idempotency key, then the call itself. The fault that matches the call strikes at its
// stage.
func (s *Server) respond(rq *request, e endpoint) response {
	fault := s.matchFault(rq)
	if out, done := s.applyFault(fault, Before, rq); done {
		return out
	}
	if err := s.authenticate(rq); err != nil {
		out, _ := errorResponse(err)
		return out
	}
	out := s.idempotent(rq, func() (_ response, stored bool) {
		if out, done := s.applyFault(fault, During, rq); done {
			return out, true
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		result, err := s.run(rq, e)
		if err != nil {
			return errorResponse(err)
		}
		return jsonResponse(http.StatusOK, result), true
	})
	if injected, done := s.applyFault(fault, After, rq); done {
		return injected
	}
	return out
}

// run checks what all endpoints check alike, and runs one.
func (s *Server) run(rq *request, e endpoint) (_ object, err error) {
	if err := rejectUnknown(rq.Form, e.params); err != nil {
		return nil, err
	}
	if id := rq.PathValue("id"); id != "" {
		if rq.intent, err = s.find(id, "intent"); err != nil {
			return nil, err
		}
	}
	result, err := e.run(rq)
	if err == nil && s.noCharges && rq.readsCharges() {
		return nil, &apiError{Type: typeInvalid, status: http.StatusForbidden,
			Message: "The provided key does not have the required permissions. Having the 'rak_charge_read' permission would allow this request to continue."}
	}
	return result, err
}

// ForbidCharges takes the permission to read charges and refunds from the secret key, as from a restricted one, or
// returns it. A call that expands them is then refused as a whole. Stripe does not document when: here the call is
// carried out first, and its refusal is stored.
func (s *Server) ForbidCharges(forbidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noCharges = forbidden
}

// readsCharges reports whether the response to a call shows charges or refunds.
func (rq *request) readsCharges() bool {
	return strings.HasPrefix(rq.URL.Path, "/v1/charges") || rq.expands("latest_charge.refunds") || rq.expands("data.latest_charge.refunds")
}

// authenticate accepts the secret key. It accepts the publishable key for what a buyer's
// browser may do: read and confirm a payment whose client secret it knows.
func (s *Server) authenticate(rq *request) error {
	key, ok := strings.CutPrefix(rq.Header.Get("Authorization"), "Bearer ")
	if !ok {
		key, _, _ = rq.BasicAuth()
	}
	if key == "" {
		key = rq.Form.Get("key")
		rq.Form.Del("key")
	}
	switch key {
	case "":
		return refused(http.StatusUnauthorized, "", "You did not provide an API key.")
	case s.SecretKey:
		return nil
	case s.PublishableKey:
		rq.publishable = true
	default:
		return refused(http.StatusUnauthorized, "", "Invalid API Key provided.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.byID[rq.PathValue("id")]
	allowed := rq.Method == http.MethodGet || strings.HasSuffix(rq.URL.Path, "/confirm") || strings.HasPrefix(rq.URL.Path, "/double/")
	if in == nil || in.ClientSecret != rq.Form.Get("client_secret") || !allowed {
		return refused(http.StatusForbidden, "secret_key_required", "This API call cannot be made with a publishable API key.")
	}
	return nil
}

// record keeps a call for Requests.
func (s *Server) record(rq *request) {
	form := make(url.Values)
	for name, values := range rq.Form {
		if strings.Contains(name, "card]") {
			values = []string{"hidden"}
		}
		form[name] = values
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, Request{Method: rq.Method, Key: rq.key, Form: form.Encode()})
}

func (s *Server) noSuchPath(*request) (object, error) {
	return nil, refused(http.StatusNotFound, "", "Unrecognized request URL.")
}

// getAccount is GET /v1/account.
func (s *Server) getAccount(*request) (object, error) {
	return object{
		"id": cmp.Or(s.cfg.Account, "acct_double"), "object": "account", "country": "FR", "default_currency": "eur", "type": "standard",
		"charges_enabled": true, "details_submitted": true, "payouts_enabled": true,
	}, nil
}

func jsonResponse(status int, body object) response {
	encoded, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		panic(err) // the objects hold nothing but strings and numbers
	}
	return response{status: status, body: encoded}
}

// list renders a page of a list.
func list(url string, data []object, more bool) object {
	return object{"object": "list", "url": url, "has_more": more, "data": data}
}

// rejectUnknown refuses parameters that an endpoint does not know.
func rejectUnknown(form url.Values, names []string) error {
	for param := range form {
		top, _, _ := strings.Cut(param, "[")
		if names != nil && top != "expand" && !slices.Contains(names, top) {
			return invalidRequest("parameter_unknown", param, "Received unknown parameter: "+param)
		}
	}
	return nil
}

// intParam reads an integer from 1 to most. A missing parameter is zero.
func (rq *request) intParam(name string, most int64) (int64, error) {
	if !rq.Form.Has(name) {
		return 0, nil
	}
	n, err := strconv.ParseInt(rq.Form.Get(name), 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, invalidRequest("parameter_invalid_integer", name, "This value must be an integer within the bounds.")
	}
	return n, nil
}

// pageSize reads the size of a page of a list.
func (rq *request) pageSize() (int, error) {
	const largest, standard = 100, 10
	n, err := rq.intParam("limit", largest)
	return int(cmp.Or(n, standard)), err
}

// expands reports whether a call asks for an object instead of its id.
func (rq *request) expands(what string) bool {
	for name, values := range rq.Form {
		if strings.HasPrefix(name, "expand") && values[0] == what {
			return true
		}
	}
	return false
}

// newID returns an id in Stripe's form.
func newID(kind string) string { return kind + "_" + strings.ReplaceAll(uuid.NewString(), "-", "") }
