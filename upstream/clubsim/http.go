package clubsim

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
)

// What is read of a request is bounded. The largest documented body, a payment
// with cheques, stays below 10 KiB, so that 1 MiB is generous; a snapshot grows
// with its world, and 64 MiB hold one that was used for weeks.
const (
	maxBody     = 1 << 20
	maxSnapshot = 64 << 20
)

// httpRequest is a request with everything read off the network.
type httpRequest struct {
	*http.Request
	path  []string // segments below the mount point
	query url.Values
	body  []byte
}

// httpResponse is what goes back: encoded before anything is written.
type httpResponse struct {
	status int
	header http.Header // may be nil
	body   []byte
}

// ServeHTTP answers one request. Paths are relative to the mount point:
// /oauth/v2/token, /{client_token}/…, /{client_token}/_control/….
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	defer s.recoverPanic(rw, r)
	req, problem := readRequest(rw, r)
	if problem != nil {
		writeResponse(rw, *problem)
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

// recoverPanic turns a panic into a 500 and a log line; a deliberate abort passes.
func (s *Server) recoverPanic(rw http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	s.cfg.Logger.ErrorContext(r.Context(), "clubsim: panic", "method", r.Method, "cause", cause, "stack", string(debug.Stack()))
	writeResponse(rw, failure(http.StatusInternalServerError, "", "Internal Server Error").render(DefaultSettings()))
}

// readRequest takes the whole request off the network, so that no lock is ever held while a client is slow.
func readRequest(rw http.ResponseWriter, r *http.Request) (*httpRequest, *httpResponse) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		a := failure(http.StatusBadRequest, "", "The query string cannot be read.").render(DefaultSettings())
		return nil, &a
	}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	limit := int64(maxBody)
	if len(path) == 3 && path[1] == "_control" && path[2] == "state" {
		limit = maxSnapshot
	}
	var body []byte
	if r.Body != http.NoBody {
		body, err = io.ReadAll(http.MaxBytesReader(rw, r.Body, limit))
	}
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		a := failure(http.StatusRequestEntityTooLarge, "", "The request body is too large.").render(DefaultSettings())
		return nil, &a
	} else if err != nil {
		a := failure(http.StatusBadRequest, "", "The request body cannot be read.").render(DefaultSettings())
		return nil, &a
	}
	return &httpRequest{Request: r, path: path, query: query, body: body}, nil
}

// serveOperation answers a business request: faults that come before, the
// operation under the world's lock, faults that come after, the journal.
func (s *Server) serveOperation(rw http.ResponseWriter, req *httpRequest) {
	token, rel := req.path[0], req.path[1:]
	op, ids, allowed := match(req.Method, rel)
	fault := s.existingWorld(token).takeFault(req.Method, "/"+strings.Join(rel, "/"))
	entry := Request{
		Method: req.Method, Path: "/" + strings.Join(rel, "/"), Operation: op.nameOrEmpty(),
		ClubID: req.Header.Get(clubHeader), NetworkNodeID: req.Header.Get(nodeHeader), Fault: fault.kind(),
		TraceID: traceID(req.Header),
	}
	began := s.cfg.Now()
	var world *World
	effect := func() httpResponse {
		var a httpResponse
		world, a = s.runOperation(req, op, ids, allowed)
		return a
	}
	note := func(status int) {
		if world == nil {
			world = s.existingWorld(token)
		}
		world.recordRequest(entry, began, status)
	}
	s.respond(rw, req, fault, effect, note)
}

// runOperation finds out who calls which world, and runs the operation there.
func (s *Server) runOperation(req *httpRequest, op *operation, ids []int, allowed []string) (*World, httpResponse) {
	caller, err := s.authenticate(req.Request)
	if err != nil {
		return nil, errorResponse(err, DefaultSettings())
	}
	if !caller.mayEnter(req.path[0]) {
		return nil, errorResponse(itemNotFound(), DefaultSettings())
	}
	w := s.World(req.path[0])
	return w, w.run(&request{w: w, op: op, ids: ids, allowed: allowed, req: req, caller: caller})
}

// run answers a call under the world's lock; the answer is encoded inside it,
// so that nothing of the state is read later.
func (w *World) run(c *request) httpResponse {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.now = w.now()
	reply, err := c.serve()
	if err != nil {
		return errorResponse(err, w.settings)
	}
	return reply.encode()
}

// errorResponse renders an error; one that is not an apiError is a bug and becomes a 500.
func errorResponse(err error, settings Settings) httpResponse {
	var known *apiError
	if !errors.As(err, &known) {
		known = failure(http.StatusInternalServerError, "", "Internal Server Error")
	}
	return known.render(settings)
}

// encode renders JSON; the types that get here cannot fail to encode.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}

// maxPooledBody bounds a body that is used again: several pages of any list. What is
// larger was asked for by itemsPerPage, and rarely.
const maxPooledBody = 64 << 10

// newBody gives an empty body to fill, that of an answer which was sent if there is one.
func (s *Server) newBody() []byte {
	if spare, ok := s.bodyPool.Get().(*[]byte); ok {
		return (*spare)[:0]
	}
	return nil
}

// recycleBody takes the body of an answer that was sent, and that nobody reads any more.
func (s *Server) recycleBody(body []byte) {
	if cap(body) <= maxPooledBody {
		s.bodyPool.Put(&body)
	}
}

// writeResponse sends an answer.
func writeResponse(rw http.ResponseWriter, a httpResponse) {
	header := rw.Header()
	for name, values := range a.header {
		header[name] = values
	}
	if len(a.body) > 0 && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/ld+json; charset=utf-8")
	}
	header.Set("Cache-Control", "no-store")
	if len(a.body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(a.body))) // or else what is long goes out in pieces
	}
	rw.WriteHeader(a.status)
	_, _ = rw.Write(a.body) // a client that is gone has no use for the error
}
