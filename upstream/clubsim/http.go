package clubsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
)

// Limits of a request body. The largest documented body, a payment with cheques, stays
// below 10 KiB, so 1 MiB is generous. A snapshot grows with its world, by 100 KB with
// each paid registration: 256 MiB hold 2,600 of them.
const (
	maxBody     = 1 << 20
	maxSnapshot = 256 << 20
)

// slashes are what clients write that join paths without care; the club system reads one.
var slashes = regexp.MustCompile(`//+`)

type httpRequest struct {
	*http.Request
	path  []string // segments below the mount point
	query parameters
	body  []byte
}

// httpResponse is a response that is encoded before anything is written.
type httpResponse struct {
	status int
	header http.Header // may be nil
	body   []byte
}

// ServeHTTP implements http.Handler. Paths are relative to the mount point:
// /oauth/v2/token, /{client_token}/…, /{client_token}/_control/….
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	defer s.recoverPanic(rw, r)
	req, err := readRequest(rw, r)
	if err != nil {
		writeResponse(rw, errorResponse(err, *s.cfg.Settings))
		return
	}
	switch path := req.path; {
	case isTokenPath(path):
		s.serveToken(rw, req)
	case len(path) > 1 && path[1] == "_control":
		s.serveControl(rw, req)
	default:
		s.serveOperation(rw, req)
	}
}

// recoverPanic turns a panic into a 500 and a log line. http.ErrAbortHandler passes.
func (s *Server) recoverPanic(rw http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	s.cfg.Logger.ErrorContext(r.Context(), "clubsim: panic", "method", r.Method, "cause", cause, "stack", string(debug.Stack()))
	writeResponse(rw, failure(http.StatusInternalServerError, "", "Internal Server Error").render(*s.cfg.Settings))
}

// readRequest reads the whole request, so that no lock is held while a client is slow.
func readRequest(rw http.ResponseWriter, r *http.Request) (*httpRequest, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("", "The query string cannot be read.")
	}
	path := strings.Split(strings.TrimPrefix(slashes.ReplaceAllString(r.URL.Path, "/"), "/"), "/")
	limit := int64(maxBody)
	if len(path) == 3 && path[1] == "_control" && path[2] == "state" {
		limit = maxSnapshot
	}
	var body []byte
	if r.Body != http.NoBody {
		body, err = io.ReadAll(http.MaxBytesReader(rw, r.Body, limit))
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, failure(http.StatusRequestEntityTooLarge, "", fmt.Sprintf("The request body has more than %d MiB.", limit>>20))
	} else if err != nil {
		return nil, badRequest("", "The request body cannot be read.")
	}
	return &httpRequest{Request: r, path: path, query: parameters{query, map[string]bool{}}, body: body}, nil
}

// serveOperation handles a business request: faults that come before the operation, the
// operation under the world's lock, faults that come after it, the journal.
func (s *Server) serveOperation(rw http.ResponseWriter, req *httpRequest) {
	token, path := req.path[0], "/"+strings.Join(req.path[1:], "/")
	op, ids := match(req.Method, req.path[1:])
	fault := s.existingWorld(token).disturb(rw.Header(), req.Method, path)
	entry := Request{
		Method:        req.Method,
		Path:          path,
		Operation:     op.name,
		ClubID:        req.Header.Get(clubHeader),
		NetworkNodeID: req.Header.Get(nodeHeader),
		Fault:         fault.Kind,
		TraceID:       traceID(req.Header),
	}
	began := s.cfg.Now()
	effect := func() httpResponse { return s.runOperation(req, op, ids) }
	note := func(status int) { s.existingWorld(token).recordRequest(entry, began, status) }
	s.respond(rw, req, fault, effect, note)
}

// runOperation serves an authenticated request in its world, which is made at first use.
func (s *Server) runOperation(req *httpRequest, op *operation, ids []int) httpResponse {
	caller, err := s.authenticate(req.Request)
	if err != nil {
		return errorResponse(err, *s.cfg.Settings)
	}
	if !caller.mayEnter(req.path[0]) {
		return errorResponse(itemNotFound(), *s.cfg.Settings)
	}
	w := s.World(req.path[0])
	return w.run(&request{
		w:      w,
		op:     op,
		ids:    ids,
		req:    req,
		caller: caller,
	})
}

// run serves a request under the world's lock. The response is encoded under it as well,
// so that nothing reads the state later.
func (w *World) run(c *request) httpResponse {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.now = w.now()
	response, err := c.serve()
	encoded := response.encode()
	if err != nil {
		encoded = errorResponse(err, w.settings)
	}
	spelling := spelling{Settings: w.settings, plain: w.settings.PlainJSON && prefersJSON(c.req.Header.Get("Accept"))}
	if err == nil {
		spelling.members = w.settings.Members.of(c.op)
	}
	return spelling.spell(encoded)
}

// errorResponse renders an error. An error that is not an apiError is a bug and becomes
// a 500.
func errorResponse(err error, settings Settings) httpResponse {
	known, ok := errors.AsType[*apiError](err)
	if !ok {
		known = failure(http.StatusInternalServerError, "", "Internal Server Error")
	}
	return known.render(settings)
}

// jsonResponse is a response outside the business API, which is not JSON-LD.
func jsonResponse(status int, body any) httpResponse {
	return httpResponse{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: encode(body)}
}

// encode renders JSON; none of the types that it is called with can fail.
func encode(value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return body
}

// writeResponse sends a response. A Content-Length keeps long bodies in one piece.
func writeResponse(rw http.ResponseWriter, response httpResponse) {
	header := rw.Header()
	maps.Copy(header, response.header)
	header.Set("Cache-Control", "no-store")
	if len(response.body) > 0 {
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", ldJSON+"; charset=utf-8")
		}
		header.Set("Content-Length", strconv.Itoa(len(response.body)))
	}
	rw.WriteHeader(response.status)
	_, _ = rw.Write(response.body) // a client that is gone has no use for the error
}
