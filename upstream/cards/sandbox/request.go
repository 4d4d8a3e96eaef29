package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxBody is far above what any call of the API needs.
	maxBody = 512 << 10
	// maxRequests is how many calls Requests keeps.
	maxRequests = 10_000
)

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
	run    func(*Server, *request) (rendering, error)
	right  string // that a restricted key needs
	public bool   // a buyer's browser may call it
	expand string // where a charge can be expanded; empty: nowhere
	params []string
}

// endpoints are Stripe's, and one of the double's own for the challenge
// page of a buyer's bank.
var endpoints = map[string]endpoint{
	"GET /v1/account": {run: (*Server).getAccount, right: "rak_accounts_kyc_basic_read"},
	"GET /v1/payment_intents": {run: (*Server).listIntents, right: "rak_payment_intent_read", expand: "data.latest_charge",
		params: []string{"created[gte]", "limit", "starting_after"}},
	"POST /v1/payment_intents": {run: (*Server).createIntent, right: "rak_payment_intent_write", expand: "latest_charge",
		params: []string{"amount", "currency", "capture_method", "automatic_payment_methods[enabled]", "payment_method_types[]", "description", "metadata"}},
	"GET /v1/payment_intents/{id}": {run: (*Server).getIntent, right: "rak_payment_intent_read", public: true, expand: "latest_charge",
		params: []string{"client_secret"}},
	"POST /v1/payment_intents/{id}": {run: (*Server).updateIntent, right: "rak_payment_intent_write", expand: "latest_charge",
		params: []string{"metadata"}},
	"POST /v1/payment_intents/{id}/capture": {run: (*Server).captureIntent, right: "rak_payment_intent_write", expand: "latest_charge",
		params: []string{"amount_to_capture"}},
	"POST /v1/payment_intents/{id}/cancel": {run: (*Server).cancelIntent, right: "rak_payment_intent_write", expand: "latest_charge",
		params: []string{"cancellation_reason"}},
	"POST /v1/payment_intents/{id}/confirm": {run: (*Server).confirmIntent, right: "rak_payment_intent_write", public: true, expand: "latest_charge",
		params: []string{"payment_method", "payment_method_data", "return_url", "use_stripe_sdk", "client_secret"}},
	"GET /v1/charges": {run: (*Server).listCharges, right: "rak_charge_read", params: []string{"payment_intent", "limit", "starting_after"}},
	"POST /v1/refunds": {run: (*Server).createRefund, right: "rak_charge_write",
		params: []string{"payment_intent", "amount", "reason"}},
	"GET /v1/webhook_endpoints": {run: (*Server).listEndpoints, right: "rak_webhook_read", params: []string{"limit", "starting_after"}},
	"POST /v3/challenge/{id}": {run: (*Server).answerChallenge, right: "rak_payment_intent_write", public: true,
		params: []string{"client_secret", "approve"}},
}

// response is a response as it goes over the wire.
type response struct {
	status int
	header http.Header
	body   []byte
	broken bool // the connection breaks instead
}

// call carries out a call of the API; path is the escaped one without that of the double's mount point. It leaves r as it is.
func (s *Server) call(r *http.Request, path string) response {
	rq := &request{method: r.Method, header: r.Header, key: r.Header.Get("Idempotency-Key"), requestID: s.newID("req")}
	out, replayed := answer{}, false
	if err := rq.read(r, path); err != nil {
		out, _ = errorAnswer(err)
	} else {
		out, replayed = s.respond(rq)
	}
	s.record(rq)
	if rq.broken {
		return response{broken: true}
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "Request-Id": {rq.requestID}, "Stripe-Version": {APIVersion}, "Cache-Control": {"no-store"},
	}
	if rq.key != "" {
		header["Idempotency-Key"] = []string{rq.key}
	}
	if replayed {
		header["Idempotent-Replayed"] = []string{"true"}
	}
	if rq.fromPage {
		header["Access-Control-Allow-Origin"] = []string{"*"} // the page with the card fields is of another origin
	}
	return response{status: out.status, header: header, body: out.body(make(encoder, 0, 2<<10))}
}

// read reads path and parameters, and finds the endpoint.
func (rq *request) read(r *http.Request, path string) error {
	parts := strings.SplitN(path, "/", 5) // "", v1, payment_intents, an id, a verb
	if len(parts) > 3 {
		rq.id, _ = url.PathUnescape(parts[3]) // no payment has an empty id
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

// RoundTrip carries out a call of the API in this process: as a server at the address of the double does, without its connections. Its
// context ends the wait for the response, and the call goes on.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), s.mount)
	out := make(chan response, 1)
	if s.mu.Lock(); len(s.faults) == 0 {
		s.mu.Unlock()
		out <- s.call(r, path)
	} else { // which may hold the call
		s.mu.Unlock()
		go func() { out <- s.call(r, path) }()
	}
	select {
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	case got := <-out:
		if got.broken {
			return nil, io.ErrUnexpectedEOF
		}
		return &http.Response{
			Status: http.StatusText(got.status), StatusCode: got.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: got.header,
			Body: io.NopCloser(bytes.NewReader(got.body)), ContentLength: int64(len(got.body)), Request: r,
		}, nil
	}
}

// respond carries out a call in the order of the real API: credentials first, then the
// idempotency key, then the call itself. The fault that matches the call strikes at its
// stage.
func (s *Server) respond(rq *request) (out answer, replayed bool) {
	fault := s.matchFault(rq)
	if out, done := s.strike(fault, Before, rq); done {
		return out, false
	}
	if err := s.admit(rq); err != nil {
		out, _ = errorAnswer(err)
		return out, false
	}
	out, replayed = s.idempotent(rq, func() (answer, bool) { return s.carryOut(rq, fault) })
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

func forbidden(right string) *apiError {
	return &apiError{Type: typeInvalid, status: http.StatusForbidden,
		Message: "The provided key does not have the required permissions. Having the '" + right + "' permission would allow this request to continue."}
}

// carryOut runs the endpoint, and reports whether its response is stored under the key.
func (s *Server) carryOut(rq *request, fault *Injected) (out answer, stored bool) {
	if unlock, err := s.lock(rq, fault); err != nil {
		return errorAnswer(err)
	} else if unlock != nil {
		defer unlock()
	}
	if out, done := s.strike(fault, During, rq); done {
		return out, !rq.broken
	}
	var body rendering
	var err error
	s.step(func() { body, err = s.run(rq) })
	if err != nil {
		return errorAnswer(err)
	}
	return answer{http.StatusOK, body}, true
}

// lock locks the payment of a write that a fault holds. Stripe locks it for every write and refuses a second one after a while
// (https://docs.stripe.com/rate-limits#object-lock-timeouts); the double refuses it at once.
func (s *Server) lock(rq *request, fault *Injected) (unlock func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := rq.intent
	switch {
	case in == nil || rq.method != http.MethodPost:
		return nil, nil
	case in.busy:
		return nil, &apiError{Type: typeInvalid, Code: "lock_timeout", status: http.StatusTooManyRequests, notStored: true,
			Message: "This object cannot be accessed right now because another API request or Stripe process is currently accessing it."}
	case fault == nil || fault.fault.Stage != During:
		return nil, nil
	}
	in.busy = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		in.busy = false
	}, nil
}

// run checks what all endpoints check alike, and runs one, unless the world's settings say that writes fail.
func (s *Server) run(rq *request) (rendering, error) {
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
	case rq.expansion&withCharge != 0 && slices.Contains(rq.lacks, "rak_charge_read"):
		// Stripe does not document when it refuses this. Here the call is carried out first, and its refusal is stored.
		err = forbidden("rak_charge_read")
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

// ForbidCharges takes the permission to read charges and refunds from the secret key, as from a restricted one, or
// returns it.
func (s *Server) ForbidCharges(forbidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[0].lacks[s.SecretKey] = map[bool][]string{true: {"rak_charge_read"}}[forbidden]
}

// authenticate accepts a secret key. It accepts the publishable key for what a buyer's
// browser may do: read and confirm a payment whose client secret it knows.
func (s *Server) authenticate(rq *request) error {
	key, ok := strings.CutPrefix(rq.header.Get("Authorization"), "Bearer ")
	if !ok {
		key, _, _ = (&http.Request{Header: rq.header}).BasicAuth()
	}
	if key == "" && rq.form.Has("key") {
		key = rq.form.Get("key")
		rq.form.Del("key")
		rq.canonical = rq.form.Encode()
	}
	if key == "" {
		return refused(http.StatusUnauthorized, "", "You did not provide an API key.")
	}
	for _, a := range s.accounts {
		if lacks, ok := a.lacks[key]; ok {
			rq.account, rq.lacks = a, lacks
			rq.intent = s.ofAccount(a, cmp.Or(rq.id, rq.form.Get("payment_intent")))
			return nil
		}
		if key != a.PublishableKey {
			continue
		}
		rq.account, rq.publishable, rq.expansion = a, true, withoutMetadata
		rq.intent = s.ofAccount(a, rq.id)
		if rq.intent == nil || rq.intent.clientSecret() != rq.form.Get("client_secret") || !rq.endpoint.public {
			return refused(http.StatusForbidden, "secret_key_required", "This API call cannot be made with a publishable API key.")
		}
		return nil
	}
	return refused(http.StatusUnauthorized, "", "Invalid API Key provided.")
}

// ofAccount returns a payment, or nil.
func (s *Server) ofAccount(a *account, id string) *intent {
	if in, ok := s.store.byID[id]; ok && in.account == a {
		return in
	}
	return nil
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
	if s.calls[pattern]++; s.calls[pattern] > most {
		return &apiError{Type: typeInvalid, Code: "rate_limit", status: http.StatusTooManyRequests, notStored: true,
			Message: "Request rate limit exceeded."}
	}
	return nil
}

// checkParams refuses parameters that an endpoint does not know, and reads what is to be expanded.
func (rq *request) checkParams() error {
	for param, values := range rq.form {
		top, rest, nested := strings.Cut(param, "[")
		switch {
		case top == "expand":
			x := map[string]expansion{rq.endpoint.expand: withCharge, rq.endpoint.expand + ".refunds": withCharge | withRefunds}
			if rq.publishable || rq.endpoint.expand == "" || x[values[0]] == 0 {
				return invalidRequest("", "expand", "This property cannot be expanded ("+values[0]+").")
			}
			rq.expansion |= x[values[0]]
		case slices.Contains(rq.endpoint.params, param), nested && (top == "metadata" || top == "payment_method_data") && slices.Contains(rq.endpoint.params, top):
		case nested && strings.Trim(rest, "0123456789]") == "" && slices.Contains(rq.endpoint.params, top+"[]"):
		default:
			return invalidRequest("parameter_unknown", param, "Received unknown parameter: "+param)
		}
	}
	return nil
}

// list returns the values of a list, such as payment_method_types[0] and [1], or [].
func (rq *request) list(name string) (values []string) {
	for _, param := range slices.Sorted(maps.Keys(rq.form)) {
		if strings.HasPrefix(param, name+"[") {
			values = append(values, rq.form[param]...)
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

// Request is one call that reached the double.
type Request struct {
	Method, Path string
	Key          string // Idempotency-Key
	Form         string // the parameters, encoded and sorted by name; card numbers never
	At           time.Time
}

// Requests returns the last 10,000 calls that were answered or broken, in that order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal[max(0, len(s.journal)-maxRequests):])
}

// record keeps a call for Requests.
func (s *Server) record(rq *request) {
	form := rq.canonical
	if strings.Contains(form, "card%5D") {
		hidden := maps.Clone(rq.form)
		for name := range hidden {
			if strings.Contains(name, "card]") {
				hidden[name] = []string{"hidden"}
			}
		}
		form = hidden.Encode()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.journal) >= 2*maxRequests {
		s.journal = slices.Clone(s.journal[maxRequests:])
	}
	s.journal = append(s.journal, Request{rq.method, rq.path, rq.key, form, s.cfg.Now()})
}

func (s *Server) noSuchPath(*request) (rendering, error) {
	return nil, refused(http.StatusNotFound, "", "Unrecognized request URL.")
}

// getAccount is GET /v1/account.
func (s *Server) getAccount(rq *request) (rendering, error) {
	id := rq.account.ID
	return func(b encoder) encoder {
		return b.open("account").text("id", id).text("country", "FR").text("default_currency", "eur").text("type", "standard").
			truth("charges_enabled", true).truth("details_submitted", true).truth("payouts_enabled", true).end()
	}, nil
}

// listEndpoints is GET /v1/webhook_endpoints: those of the account, with the address that is set or that the caller names.
func (s *Server) listEndpoints(rq *request) (rendering, error) {
	limit, err := rq.pageSize()
	if err != nil {
		return nil, err
	}
	all := s.endpoints(rq.account, s.store.of(defaultWorld), rq.header.Get(webhookURLHeader))
	older := all
	if after := rq.form.Get("starting_after"); after != "" {
		at := slices.IndexFunc(all, func(e Endpoint) bool { return e.ID == after })
		older = all[at+1:]
	}
	page, live, now := older[:min(limit, len(older))], rq.account.live, s.cfg.Now()
	return renderedList("/v1/webhook_endpoints", page, len(page) < len(older), func(b encoder, e Endpoint) encoder {
		status := map[bool]string{true: "disabled", false: "enabled"}[e.Disabled]
		return b.open("webhook_endpoint").text("id", e.ID).textOrNull("api_version", e.APIVersion).number("created", now.Unix()).
			texts("enabled_events", e.Events).truth("livemode", live).raw("metadata", "{}").text("status", status).text("url", e.URL).end()
	}), nil
}
