package club

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// request is one call of an operation.
type request struct {
	op     string // the method's name
	method string
	scope  Scope
	path   string // from the client token on; empty: an identifier did not fit
	record IRI    // in the path; empty: none
	query  url.Values
	body   any     // sent as JSON; nil sends no body
	token  *string // a contact's access token; nil: the client's own
	accept string  // another media type than accepted

	needsContent bool // of the response
	needsRecord  bool // as the response to a write; its content does not matter
}

func get(op string, scope Scope, path string, record IRI) request {
	return request{
		op:     op,
		method: http.MethodGet,
		scope:  scope,
		path:   scope.path(path, record),
		record: record,
	}
}

func post(op string, scope Scope, path string, record IRI, body any) request {
	return request{
		op:     op,
		method: http.MethodPost,
		scope:  scope,
		path:   scope.path(path, record),
		record: record,
		body:   body,
	}
}

func put(op string, scope Scope, path string, record IRI, body any) request {
	return request{
		op:     op,
		method: http.MethodPut,
		scope:  scope,
		path:   scope.path(path, record),
		record: record,
		body:   body,
	}
}

func (r request) withToken(token string) request {
	r.token = &token
	return r
}

func (r request) withQuery(query url.Values) request {
	r.query = query
	return r
}

// withRecord makes an empty response to a write Unknown, because its caller finds out in time what it did.
func (r request) withRecord() request {
	r.needsRecord = true
	return r
}

// isRead reports whether the request changes nothing, so that it may be retried.
func (r *request) isRead() bool { return r.method == http.MethodGet }

// response is a response that was read completely.
type response struct {
	status      int
	contentType string
	body        []byte
	bodyErr     error // the body could not be read to its end
	retryAfter  time.Duration
	limited     bool // with the headers of a limit of the API gateway that was reached
	limits      CallLimits
}

func (r *response) ok() bool { return r.status >= 200 && r.status <= 299 }

// Read reads a path below the client token, such as "class_events", and returns the response's body. It is for what no
// other operation reads.
func (c *Client) Read(ctx context.Context, scope Scope, path string, query url.Values) ([]byte, error) {
	return do[jsontext.Value](ctx, c, get("Read", scope, path, "").withQuery(query))
}

// noContent is the result of an operation whose response is not needed.
type noContent struct{}

// do makes every request to the club system except those of single_attempt.go: it retries and decodes
// the response into a T.
func do[T any](ctx context.Context, client *Client, request request) (T, error) {
	var result T
	_, empty := any(result).(noContent)
	request.needsContent = !empty
	b := client.bulkhead(ctx, request.scope.ClientToken)
	failure := client.retry(ctx, b, &request, func(ctx context.Context) *Error {
		a, e := client.authorised(ctx, b, &request)
		if e == nil {
			result, e = decode[T](&request, a, client.zoneOf(request.scope))
		}
		return e
	})
	if failure != nil {
		var zero T
		return zero, failure
	}
	client.countUnreadable(ctx, request.op, &result)
	return result, nil
}

// zoneOf returns the time zone of a club, or of the acting one if that is not known.
func (c *Client) zoneOf(scope Scope) func(IRI) *time.Location {
	return func(club IRI) *time.Location { return c.cfg.Zone(cmp.Or(club, scope.Club)) }
}

// write makes a request whose response is not needed.
func (c *Client) write(ctx context.Context, request request) error {
	_, err := do[noContent](ctx, c, request)
	return err
}

// authorised sends a request with an access token, and again with a new one after a 401.
// That is safe for a write as well: a 401 means that nothing was done.
func (c *Client) authorised(ctx context.Context, bulkhead *bulkhead, request *request) (response, *Error) {
	for first := true; ; first = false {
		token, err := c.bearer(ctx, request)
		if err != nil {
			return response{}, notSent(request.op, err)
		}
		a, e := c.send(ctx, bulkhead, request, token)
		if e == nil || e.Status != http.StatusUnauthorized || request.token != nil || !first {
			return a, e
		}
	}
}

// accessTokenPattern is the form of a token (RFC 6750, section 2.1). A visitor's token may
// have any form, and must be checked before it becomes a header.
var accessTokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

func (c *Client) bearer(ctx context.Context, request *request) (string, error) {
	if request.token == nil {
		return c.tokens.get(ctx, request.scope.ClientToken)
	}
	if !accessTokenPattern.MatchString(*request.token) {
		return "", ErrBadToken
	}
	return *request.token, nil
}

// send sends a request once, with a permit of the bulkhead.
func (c *Client) send(ctx context.Context, bulkhead *bulkhead, request *request, token string) (response, *Error) {
	ctx, span := startSpan(ctx, request.op)
	defer span.End()
	opened, err := bulkhead.acquire(ctx)
	if err != nil {
		held := notSent(request.op, err)
		if ctx.Err() == nil { // otherwise the caller has left
			c.observe(ctx, request.op, 0, held, 0)
		}
		return response{}, held
	}
	if !request.isRead() { // a write that was begun is finished, because its outcome would be unknown
		if gate, ok := ctx.Value(gateContextKey{}).(Gate); ok {
			if err := gate(); err != nil {
				bulkhead.release(ctx, opened, nil)
				return response{}, notSent(request.op, fmt.Errorf("%w: %w", ErrGate, err))
			}
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), c.cfg.Limits.WriteTimeout)
		defer cancel()
	}
	start := c.cfg.Now()
	response, failure := c.exchange(ctx, request, token)
	bulkhead.release(ctx, opened, failure)
	c.observe(ctx, request.op, response.status, failure, c.cfg.Now().Sub(start))
	if request.token == nil && !failure.isForeign() {
		c.tokens.report(token, response.status)
	}
	return response, failure
}

type gateContextKey struct{}

// WithGate returns a context whose writes are sent only if the gate returns no error, immediately before. Without an
// own connection, the time until the first byte is short, but not zero. The calls of Gate's own operations ignore it.
func WithGate(ctx context.Context, gate Gate) context.Context {
	return context.WithValue(ctx, gateContextKey{}, gate)
}

// exchange sends a request over the pooled transport and reads the response.
func (c *Client) exchange(ctx context.Context, request *request, token string) (response, *Error) {
	var sent sentTrace
	req, err := c.newRequest(httptrace.WithClientTrace(ctx, sent.hooks()), request, token)
	if err != nil {
		return response{}, notSent(request.op, err)
	}
	resp, err := c.cfg.Transport.RoundTrip(req)
	if err != nil {
		return response{}, &Error{Operation: request.op, Outcome: classify(sent.bytes(), 0, "", false), Err: err, transient: true}
	}
	response := c.readResponse(resp)
	c.quota(request.scope.ClientToken).see(response.limits)
	switch {
	case !response.ok():
		return response, newError(request.op, 1, response)
	case !request.own(response):
		return response, foreign(request.op, response)
	}
	return response, nil
}

// accepted prefers JSON-LD: in some installations, plain JSON lacks the identifiers of records.
const accepted = "application/ld+json, application/json;q=0.5"

// newRequest builds the HTTP request. Its headers are a fixed list without Idempotency-Key:
// the club system does not support it, and Go's transport would repeat a POST because of
// it. GetBody is removed for the same reason.
func (c *Client) newRequest(ctx context.Context, request *request, token string) (*http.Request, error) {
	if request.path == "" || !request.scope.valid() {
		return nil, ErrBadIRI
	}
	var content io.Reader
	if request.body != nil {
		encoded, err := json.Marshal(request.body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, request.method, c.cfg.BaseURL+c.cfg.PathPrefix+request.path, content)
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery, req.GetBody = request.query.Encode(), nil
	set := func(name, value string) {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	set("Accept", cmp.Or(request.accept, accepted))
	set("User-Agent", userAgent)
	set(c.cfg.GatewayKeyHeader, c.cfg.GatewayKey)
	set("Authorization", "Bearer "+token)
	set("X-User-Club-Id", string(request.scope.Club))
	set("X-User-Network-Node-Id", string(request.scope.Node))
	if request.body != nil {
		set("Content-Type", c.cfg.ContentType)
	}
	set("Traceparent", c.cfg.Traceparent(ctx))
	return req, nil
}

func (c *Client) readResponse(resp *http.Response) response {
	defer resp.Body.Close()
	response := response{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), retryAfter: RetryAfter(resp.Header, c.cfg.Now)}
	response.limits = readCallLimits(resp.Header, c.cfg.Now())
	if end, reached := limitEnd(resp.Header, c.cfg.Now()); reached && response.status == http.StatusTooManyRequests {
		response.retryAfter = max(response.retryAfter, end.Sub(c.cfg.Now()))
		response.limited = c.cfg.LimitHeaders
	}
	response.body, response.bodyErr = io.ReadAll(io.LimitReader(resp.Body, c.cfg.Limits.MaxBody+1))
	if int64(len(response.body)) > c.cfg.Limits.MaxBody {
		response.bodyErr = errTooLong
	}
	response.body = normalize(response.body)
	return response
}

// RetryAfter reads the header of that name: seconds, or a date; 0 when it is missing or
// unreadable.
func RetryAfter(h http.Header, now func() time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now()))
	}
	return 0
}

// limitEnd returns when the limit ends that the API gateway in front of the club system names in a 429. That
// gateway answers instead of passing the call on. Where its headers are on every response, a limit that was
// not reached has something remaining; a spike arrest never has.
func limitEnd(h http.Header, now time.Time) (end time.Time, reached bool) {
	for _, limit := range []string{"X-Rate-Limit", "X-Quota", "X-Spike-Arrest"} {
		reset, ok := readReset(h, limit, now)
		remaining := h.Get(limit + "-Remaining")
		if !ok || remaining != "" && remaining != "0" {
			continue
		}
		reached = true
		if reset.After(end) {
			end = reset
		}
	}
	return end, reached
}

// notSent is the error of a call that failed before the connection. A call that failed for
// want of a token is transient if the token request is.
func notSent(op string, err error) *Error {
	failure := &Error{Operation: op, Outcome: NotSent, Err: err}
	if token, ok := errors.AsType[*Error](err); ok {
		failure.transient, failure.RetryAfter = token.transient, token.RetryAfter
	}
	return failure
}

// sentTrace observes whether a request may have been sent. A pooled connection does not
// tell how many bytes of a request it took, so obtaining a connection counts as sending. So
// does a transport that reports nothing.
type sentTrace struct {
	connRequested, connObtained atomic.Bool
}

func (s *sentTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { s.connRequested.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { s.connObtained.Store(true) },
	}
}

// bytes is 0 when nothing was sent, and 1 otherwise.
func (s *sentTrace) bytes() int64 {
	if s.connRequested.Load() && !s.connObtained.Load() {
		return 0
	}
	return 1
}
