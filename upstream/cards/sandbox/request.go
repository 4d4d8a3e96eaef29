package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxBody is far above what any call of the API needs.
const maxBody = 512 << 10

// request is a call as an endpoint sees it.
type request struct {
	method, path string
	header       http.Header
	form         url.Values
	canonical    string // the form, encoded and sorted by name
	id           string // of the path

	endpoint    endpoint
	requestID   string
	key         string // Idempotency-Key
	account     *account
	lacks       []string // permissions of the key
	publishable bool     // authenticated with the publishable key, as a buyer's browser does
	fromPage    bool     // by the library for browsers, with any publishable key
	expansion   expansion
	intent      *intent // the payment intent of the path, of a refund, or the one that was made
	broken      bool    // a fault breaks the connection
}

// endpoint is one operation of the API. Run holds the lock of the Server and checks its
// parameters before it changes anything.
type endpoint struct {
	run    func(*Server, *request) (any, error)
	right  string // that a restricted key needs
	expand string // where a charge can be expanded; empty: nowhere
	params string // that it knows, in one text; a list ends in []
}

const (
	readIntents  = "rak_payment_intent_read"
	writeIntents = "rak_payment_intent_write"
	readCharges  = "rak_charge_read"
)

// endpoints are Stripe's, and the page of a buyer's bank. The last three are also for a buyer's browser.
var endpoints = map[string]endpoint{
	"GET /v1/account":           {(*Server).getAccount, "rak_accounts_kyc_basic_read", "", ""},
	"GET /v1/webhook_endpoints": {(*Server).listEndpoints, "rak_webhook_read", "", "limit"},
	"GET /v1/charges":           {(*Server).listCharges, readCharges, "", "payment_intent limit"},
	"POST /v1/refunds":          {(*Server).createRefund, "rak_charge_write", "", "payment_intent amount reason"},
	"GET /v1/payment_intents":   {(*Server).listIntents, readIntents, "data.latest_charge", "created[gte] limit starting_after"},
	"POST /v1/payment_intents": {(*Server).createIntent, writeIntents, "latest_charge",
		"amount currency capture_method automatic_payment_methods[enabled] payment_method_types[] description metadata"},
	"POST /v1/payment_intents/{id}":         {(*Server).updateIntent, writeIntents, "latest_charge", "metadata"},
	"POST /v1/payment_intents/{id}/capture": {(*Server).captureIntent, writeIntents, "latest_charge", "amount_to_capture"},
	"POST /v1/payment_intents/{id}/cancel":  {(*Server).cancelIntent, writeIntents, "latest_charge", "cancellation_reason"},
	"GET /v1/payment_intents/{id}":          {(*Server).getIntent, readIntents, "latest_charge", "client_secret"},
	"POST /v1/payment_intents/{id}/confirm": {(*Server).confirmIntent, writeIntents, "latest_charge",
		"client_secret payment_method payment_method_data return_url use_stripe_sdk"},
	"POST /v3/challenge/{id}": {(*Server).answerChallenge, writeIntents, "", "client_secret approve"},
}

// knows reports whether a parameter is one of the endpoint.
func (e endpoint) knows(param string) bool {
	top, below, _ := strings.Cut(param, "[")
	known := strings.Fields(e.params)
	return slices.Contains(known, param) || slices.Contains(known, top+"[]") && strings.Trim(below, "0123456789]") == "" ||
		(top == "metadata" || top == "payment_method_data") && slices.Contains(known, top)
}

// RoundTrip carries out a call of the API as the server at the double's address does, but in this process and without a
// connection. When the call's context ends, RoundTrip stops waiting, and the call continues.
func (s *Server) RoundTrip(r *http.Request) (out *http.Response, err error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), s.mount)
	done := make(chan *http.Response, 1)
	go func() { done <- s.call(r, path) }() // a fault may hold it
	select {
	case out = <-done:
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
	if out == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return out, nil
}

// call carries out a call of the API. path is r's escaped path without the mount point of the double; r itself is not changed.
// The response is nil if a fault breaks the connection.
func (s *Server) call(r *http.Request, path string) *http.Response {
	rq := &request{method: r.Method, header: r.Header, key: r.Header.Get("Idempotency-Key"), requestID: s.newID("req")}
	out, replayed := response{}, false
	if err := rq.read(r, path); err != nil {
		out, _ = errorResponse(err)
	} else {
		out, replayed = s.respond(rq)
		if rq.method != http.MethodGet {
			s.cfg.Changed(rq.world())
		}
	}
	s.record(rq)
	if rq.broken {
		return nil
	}
	header := http.Header{
		"Content-Type":   {"application/json"},
		"Request-Id":     {rq.requestID},
		"Stripe-Version": {APIVersion},
		"Cache-Control":  {"no-store"},
	}
	if rq.key != "" {
		header.Set("Idempotency-Key", rq.key)
	}
	if replayed {
		header.Set("Idempotent-Replayed", "true")
	}
	if rq.fromPage {
		header.Set("Access-Control-Allow-Origin", "*") // the page with the card fields is of another origin
	}
	body, err := json.Marshal(out.body)
	if err != nil {
		panic(err) // of a value without JSON: see Distort
	}
	return &http.Response{
		Status:        http.StatusText(out.status),
		StatusCode:    out.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}
}

// read reads path and parameters, and finds the endpoint.
func (rq *request) read(r *http.Request, path string) error {
	parts := strings.SplitN(path, "/", 5) // "", v1, payment_intents, an id, a verb
	if len(parts) > 3 && parts[3] != "" { // without an id it is not a path of the API
		rq.id, _ = url.PathUnescape(parts[3])
		parts[3] = "{id}"
	}
	pattern, known := strings.Join(parts, "/"), false
	rq.path = strings.Replace(pattern, "{id}", rq.id, 1)
	if rq.endpoint, known = endpoints[rq.method+" "+pattern]; !known {
		rq.endpoint.run = (*Server).noSuchPath
	}
	form := http.Request{Method: r.Method, URL: r.URL, Header: r.Header}
	if r.Body != nil {
		form.Body = http.MaxBytesReader(nil, r.Body, maxBody)
	}
	if err := form.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "", "The request body cannot be read as a form.")
	}
	rq.form = form.Form
	rq.canonical = rq.form.Encode()
	rq.fromPage = strings.HasPrefix(rq.form.Get("key"), "pk_")
	return nil
}

// respond carries out a call in the order of the real API: credentials first, then the
// idempotency key, then the call itself. The fault that matches the call strikes at its
// stage.
func (s *Server) respond(rq *request) (out response, replayed bool) {
	fault := s.matchFault(rq)
	if out, done := s.strike(fault, Before, rq); done {
		return out, false
	}
	if err := s.admit(rq); err != nil {
		out, _ = errorResponse(err)
		return out, false
	}
	out, replayed = s.idempotent(rq, func() (response, bool) { return s.carryOut(rq, fault) })
	if injected, done := s.strike(fault, After, rq); done && !rq.broken {
		return injected, false
	}
	return out, replayed
}

// admit checks credentials, permissions and limits. Nothing that it refuses is stored.
func (s *Server) admit(rq *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.authenticate(rq); err != nil {
		return err
	}
	if version := rq.header.Get("Stripe-Version"); version != "" && version != APIVersion {
		return refused(http.StatusBadRequest, "", "Invalid Stripe API version: this double renders "+APIVersion+" alone.")
	}
	if slices.Contains(rq.lacks, rq.endpoint.right) {
		return forbidden(rq.endpoint.right)
	}
	return s.limit(rq)
}

// carryOut runs the endpoint, and reports whether its response is stored under the key. A write that a fault holds locks its payment.
// Stripe locks it for every write and refuses a second one after a while (https://docs.stripe.com/rate-limits#object-lock-timeouts);
// the double refuses it at once.
func (s *Server) carryOut(rq *request, fault *Injected) (out response, stored bool) {
	if in := rq.intent; in != nil && rq.method == http.MethodPost {
		holds := fault != nil && fault.fault.Stage == During
		if in.busy.Load() || holds && !in.busy.CompareAndSwap(false, true) {
			return errorResponse(&apiError{
				Type:      typeInvalid,
				Code:      "lock_timeout",
				status:    http.StatusTooManyRequests,
				notStored: true,
				Message:   "This object cannot be accessed right now because another API request or Stripe process is currently accessing it.",
			})
		}
		if holds {
			defer in.busy.Store(false)
		}
	}
	if out, done := s.strike(fault, During, rq); done {
		return out, !rq.broken
	}
	var body any
	var err error
	s.step(func() { body, err = s.run(rq) })
	if err != nil {
		return errorResponse(err)
	}
	return response{http.StatusOK, body}, true
}

// run checks what all endpoints check alike, and runs one, unless the world's settings say that writes fail.
func (s *Server) run(rq *request) (any, error) {
	if err := rq.checkParams(); err != nil {
		return nil, err
	}
	if rq.id != "" {
		if _, err := s.find(rq.account, rq.id, "intent"); err != nil {
			return nil, err
		}
	}
	mode := ""
	if rq.method == http.MethodPost && !rq.publishable {
		mode = s.store.of(rq.world()).Errors
	}
	failed := &apiError{Type: typeAPI, Message: "The sandbox failed, as its settings say.", status: http.StatusInternalServerError}
	if mode == "before" {
		return nil, failed
	}
	body, err := rq.endpoint.run(s, rq)
	switch {
	case err != nil:
	case rq.expansion&withCharge != 0 && slices.Contains(rq.lacks, readCharges):
		// Stripe does not document when it refuses this. Here the call is carried out first, and its refusal is stored.
		err = forbidden(readCharges)
	case mode == "after":
		err = failed
	}
	return body, err
}

// world returns the demo world that a call is about.
func (rq *request) world() string {
	if rq.intent != nil {
		return rq.intent.world
	}
	return worldOf(rq.form.Get("metadata[fd_sale]"))
}

// limit counts the calls of an endpoint in a second. Stripe limits live accounts to 100 in all and 25 of an endpoint.
func (s *Server) limit(rq *request) error {
	name := rq.world()
	most := s.store.of(name).RateLimit
	if most == 0 {
		return nil
	}
	if now := s.cfg.Now().Unix(); s.calls == nil || s.callsAt != now {
		s.callsAt, s.calls = now, map[string]int{}
	}
	pattern := name + " " + rq.method + " " + strings.Replace(rq.path, rq.id, "{id}", min(len(rq.id), 1))
	s.calls[pattern]++
	if s.calls[pattern] > most {
		return &apiError{
			Type:      typeInvalid,
			Code:      "rate_limit",
			status:    http.StatusTooManyRequests,
			notStored: true,
			Message:   "Request rate limit exceeded.",
		}
	}
	return nil
}

// checkParams refuses parameters that an endpoint does not know, and reads what is to be expanded.
func (rq *request) checkParams() error {
	if kind := mediaType(rq.header); kind != formType && kind != "" && rq.method == http.MethodPost {
		return refused(http.StatusBadRequest, "", "Invalid request (check that your POST content type is "+formType+").")
	}
	if rq.publishable {
		rq.expansion = withoutMetadata
	}
	for param, values := range rq.form {
		switch where := rq.endpoint.expand; {
		case rq.endpoint.knows(param):
		case !strings.HasPrefix(param, "expand["):
			return invalidRequest("parameter_unknown", param, "Received unknown parameter: "+param)
		case where == "" || rq.publishable || values[0] != where && values[0] != where+".refunds":
			return invalidRequest("", "expand", "This property cannot be expanded ("+values[0]+").")
		case values[0] == where:
			rq.expansion |= withCharge
		default:
			rq.expansion |= withCharge | withRefunds
		}
	}
	return nil
}

// list returns the values of a list, one of each parameter, such as payment_method_types[0] and [1], or [].
func (rq *request) list(name string) (values []string) {
	for _, param := range slices.Sorted(maps.Keys(rq.form)) {
		if strings.HasPrefix(param, name+"[") {
			values = append(values, intern(rq.form[param][0]))
		}
	}
	return values
}

// intParam reads an integer from 1 to most. A missing parameter is zero.
func (rq *request) intParam(name string, most int64) (int64, error) {
	if !rq.form.Has(name) {
		return 0, nil
	}
	n, err := strconv.ParseInt(rq.form.Get(name), 10, 64)
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

func (s *Server) noSuchPath(rq *request) (any, error) {
	return nil, refused(http.StatusNotFound, "", "Unrecognized request URL ("+rq.method+": "+rq.path+").")
}
