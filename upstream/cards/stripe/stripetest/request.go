package stripetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
	id          string     // of the path
	form        url.Values // the parameters of body or query
	publishable bool       // made by a buyer's browser, with the publishable key
	requestID   string
	key         string
}

// endpoint carries out a call. It runs under the lock of the Server, checks its
// parameters before it changes anything, and answers with an object or an error.
type endpoint func(rq request) (object, *apiError)

// response is what goes over the wire.
type response struct {
	status   int
	body     []byte
	replayed bool
}

// serve puts an endpoint behind what all calls pass, in the order of the real
// API: credentials first, then the idempotency key, then the call itself.
func (s *Server) serve(run endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := r.ParseForm(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rq := request{id: r.PathValue("id"), form: r.Form, requestID: newID("req"), key: r.Header.Get("Idempotency-Key")}
		a := s.respond(r, &rq, run)
		s.record(r, rq, a.status, a.replayed)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", rq.requestID)
		w.Header().Set("Stripe-Version", APIVersion)
		if rq.key != "" {
			w.Header().Set("Idempotency-Key", rq.key)
		}
		if a.replayed {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		w.WriteHeader(a.status)
		w.Write(a.body)
	})
}

// respond passes a call through the faults that wait for it.
func (s *Server) respond(r *http.Request, rq *request, run endpoint) response {
	fault := s.faults.match(r)
	if broken, ok := s.applyFault(r, *rq, fault, Before); ok {
		return broken
	}
	if e := s.authenticate(r, rq); e != nil {
		return e.response()
	}
	a := s.idempotent(r, *rq, func() (response, bool) {
		if broken, ok := s.applyFault(r, *rq, fault, During); ok {
			return broken, true
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		result, e := run(*rq)
		if e != nil {
			return e.response(), !e.notStored
		}
		return jsonResponse(http.StatusOK, result), true
	})
	if broken, ok := s.applyFault(r, *rq, fault, After); ok {
		return broken
	}
	return a
}

// authenticate takes the secret key, and the publishable one for what a buyer's
// browser may do: read and confirm a payment whose client secret it knows.
func (s *Server) authenticate(r *http.Request, rq *request) *apiError {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		key, _, ok = r.BasicAuth()
	}
	if !ok && r.Form.Has("key") {
		key, ok = r.Form.Get("key"), true
		r.Form.Del("key")
	}
	switch {
	case !ok || key == "":
		return &apiError{status: http.StatusUnauthorized, kind: typeInvalid, message: "You did not provide an API key."}
	case key == s.SecretKey:
		return nil
	case key != s.PublishableKey:
		return &apiError{status: http.StatusUnauthorized, kind: typeInvalid, message: "Invalid API Key provided."}
	}
	rq.publishable = true
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.byID[rq.id]
	reads, confirms := r.Method == http.MethodGet, strings.HasSuffix(r.URL.Path, "/confirm") || strings.HasPrefix(r.URL.Path, "/double/")
	if in == nil || in.secret != r.Form.Get("client_secret") || !reads && !confirms {
		return &apiError{
			status: http.StatusForbidden, kind: typeInvalid, code: "secret_key_required",
			message: "This API call cannot be made with a publishable API key.",
		}
	}
	return nil
}

// record keeps a call for Requests.
func (s *Server) record(r *http.Request, rq request, status int, replayed bool) {
	form := make(url.Values)
	for name, values := range rq.form {
		if strings.Contains(name, "card]") {
			values = []string{"hidden"}
		}
		form[name] = values
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, Request{
		Method: r.Method, Path: r.URL.Path, Key: rq.key, Form: form.Encode(),
		Version: r.Header.Get("Stripe-Version"), Status: status, Replayed: replayed,
	})
}

func (s *Server) noSuchPath(request) (object, *apiError) {
	return nil, &apiError{status: http.StatusNotFound, kind: typeInvalid, message: "Unrecognized request URL.", notStored: true}
}

// getAccount is GET /v1/account.
func (s *Server) getAccount(request) (object, *apiError) {
	return object{
		"id": "acct_double", "object": "account", "country": "FR", "default_currency": "eur", "type": "standard",
		"charges_enabled": !s.cfg.ChargesDisabled, "details_submitted": !s.cfg.ChargesDisabled, "payouts_enabled": !s.cfg.ChargesDisabled,
	}, nil
}

func jsonResponse(status int, body object) response {
	encoded, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		panic(err) // the objects are made here, of nothing but strings and numbers
	}
	return response{status: status, body: encoded}
}

// rejectUnknown refuses parameters that the endpoint does not know.
func rejectUnknown(form url.Values, names ...string) *apiError {
	for param := range form {
		top, _, _ := strings.Cut(param, "[")
		found := top == "expand"
		for _, name := range names {
			found = found || top == name
		}
		if !found {
			return invalidRequest("parameter_unknown", param, "Received unknown parameter: "+param)
		}
	}
	return nil
}

// parseAmount reads an amount above zero; missing is zero.
func parseAmount(form url.Values, name string, required bool) (int64, *apiError) {
	if !form.Has(name) {
		if required {
			return 0, invalidRequest("parameter_missing", name, "Missing required param: "+name+".")
		}
		return 0, nil
	}
	amount, err := strconv.ParseInt(form.Get(name), 10, 64)
	if err != nil || amount < 1 {
		return 0, invalidRequest("parameter_invalid_integer", name, "This value must be greater than or equal to 1.")
	}
	return amount, nil
}

// expands tells whether a call asks for the charge instead of its id.
func expands(form url.Values, what string) bool {
	for name, values := range form {
		if strings.HasPrefix(name, "expand") && values[0] == what {
			return true
		}
	}
	return false
}

// newID makes an id in the company's form.
func newID(kind string) string {
	return fmt.Sprintf("%s_%s", kind, strings.ReplaceAll(uuid.NewString(), "-", ""))
}
