package club

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"
)

const (
	// assumedLifetime applies when a token response does not give one. It is short: a token
	// used for too long costs a 401 and a retry at each call, and a fetch every five minutes
	// costs nothing.
	assumedLifetime = 5 * time.Minute
	// longestLifetime limits the response's lifetime, so that a rotated secret shows within a
	// day.
	longestLifetime = 24 * time.Hour
	// earlyRefresh is how long before its expiry a token is replaced: longer than any call,
	// so that none expires on the way. Short-lived tokens are replaced after nine tenths of
	// their life.
	earlyRefresh = time.Minute
	// provenFor is how long a token is good enough for a payment after it was fetched, or
	// accepted by the club system.
	provenFor = time.Minute
	// refusalFor is how long callers share a failure of the token endpoint. It spares the endpoint a request from each
	// visitor, and them a wait; corrected credentials work seconds later.
	refusalFor = 5 * time.Second
)

// tokens holds the access token that all requests share. The oauth2 library fetches it and
// does not keep it: its reuse reads the wall clock instead of Config.Now, makes callers wait
// while it replaces a token that is still good, and ignores a 401.
type tokens struct {
	fetch    func(ctx context.Context, organisation string) (token, error)
	now      func() time.Time
	attempts int // of a call
	flight   singleflight.Group

	mu       sync.Mutex
	current  token
	failure  error // of the latest request for a token; nil if it succeeded
	failed   time.Time
	failures int // in a row
}

// token is an access token, whose Expiry is by Config.Now.
type token struct {
	oauth2.Token
	fetched time.Time
	proved  time.Time // when it was last fetched or accepted
}

// due is when the token is replaced.
func (t token) due() time.Time {
	return t.Expiry.Add(-min(earlyRefresh, t.Expiry.Sub(t.fetched)/10))
}

// get returns the shared token for a call to an organisation's club system. A token that is due is still returned while one
// request replaces it. Without a usable token, all callers wait for that request.
func (t *tokens) get(ctx context.Context, organisation string) (string, error) {
	current, now, failure := t.peek(), t.now(), t.recentFailure()
	if current.AccessToken == "" || !now.Before(current.Expiry) {
		if failure != nil {
			return "", failure
		}
		return t.renew(ctx, organisation, current.AccessToken)
	}
	if !now.Before(current.due()) && failure == nil {
		t.start(ctx, organisation, current.AccessToken)
	}
	return current.AccessToken, nil
}

// recentFailure returns the failure of the latest request for a token while callers share it. One that another attempt
// may mend is shared after the attempts of a whole call.
func (t *tokens) recentFailure() error {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ours := errors.AsType[*Error](t.failure); ours && e.transient && t.failures < t.attempts || now.Sub(t.failed) >= refusalFor {
		return nil
	}
	return t.failure
}

// proven returns a token that was fetched or accepted less than provenFor ago. It is for payments, so it shares no
// earlier failure.
func (t *tokens) proven(ctx context.Context, organisation string) (string, error) {
	current, now := t.peek(), t.now()
	if current.AccessToken == "" || now.Sub(current.proved) >= provenFor || !now.Before(current.Expiry) {
		return t.renew(ctx, organisation, current.AccessToken)
	}
	return current.AccessToken, nil
}

// renew replaces a token and waits until that is done.
func (t *tokens) renew(ctx context.Context, organisation, old string) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-t.start(ctx, organisation, old):
		value, _ := got.Val.(string) // nil with an error
		return value, got.Err
	}
}

// start begins a fetch, or joins the one in progress. The fetch outlives the caller that
// began it, because others wait for it as well; fetchToken limits its time. Where the old
// token was just replaced, it returns the new one.
func (t *tokens) start(ctx context.Context, organisation, old string) <-chan singleflight.Result {
	return t.flight.DoChan("", func() (any, error) {
		if current := t.peek().AccessToken; current != "" && current != old {
			return current, nil
		}
		fetched, err := t.fetch(context.WithoutCancel(ctx), organisation)
		now := t.now()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.failure = err; err != nil {
			t.failed = now
			t.failures++
			return nil, err
		}
		t.current, t.failures = fetched, 0
		return fetched.AccessToken, nil
	})
}

func (t *tokens) peek() token {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// report records how the club system responded to a token: a 401 drops the token, a 2xx
// proves it. Reports about a replaced token are ignored.
func (t *tokens) report(value string, status int) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.current.AccessToken != value:
	case status == http.StatusUnauthorized:
		t.current = token{}
	case status >= 200 && status <= 299:
		t.current.proved = now
	}
}

// Authorise makes sure that there is an access token for the calls to an organisation's club system. Its error says whether
// the club system accepts the credentials.
func (c *Client) Authorise(ctx context.Context, organisation string) error {
	_, err := c.tokens.get(ctx, organisation)
	return err
}

// fetchToken requests a token with the client's credentials; club system API, section
// Token. Payments need it too, so that it is requested in their lane.
func (c *Client) fetchToken(ctx context.Context, organisation string) (token, error) {
	return c.requestToken(WithLane(ctx, Payers), "Token", organisation, c.cfg.TokenPath, nil)
}

// ContactToken requests the own access token of the contact that has an e-mail address. The club system asks for no proof, so the
// caller must have one that the address is the person's. ErrGrantRefused when the club system knows no such contact, or gives no token.
func (c *Client) ContactToken(ctx context.Context, organisation, email string) (string, error) {
	grant := url.Values{"grant_type": {"http://contactclientcredentials"}, "email": {email}}
	return c.ownToken(ctx, "ContactToken", organisation, grant)
}

// ClubToken requests the own access token of a club, with which calls act as that club and need no scope. ErrGrantRefused as for
// ContactToken.
func (c *Client) ClubToken(ctx context.Context, club IRI) (string, error) {
	grant := url.Values{"grant_type": {"http://clubclientcredentials"}, "clubId": {string(club)}}
	return c.ownToken(ctx, "ClubToken", club.ClientToken(), grant)
}

// ownToken requests a token of a contact or club of an organisation, below its client token, where installations have the token
// endpoint as well. A path that was configured stays as it is.
func (c *Client) ownToken(ctx context.Context, op, organisation string, grant url.Values) (string, error) {
	if !isSegment(organisation) {
		return "", notSent(op, ErrBadIRI)
	}
	path := c.cfg.TokenPath
	if path == defaultTokenPath {
		path = c.cfg.PathPrefix + "/" + url.PathEscape(organisation) + path
	}
	issued, err := c.requestToken(ctx, op, organisation, path, grant)
	return issued.AccessToken, err
}

// requestToken requests a token with the client's credentials and the parameters of a grant; without any, the client's own.
// The token's life counts from before the request.
func (c *Client) requestToken(ctx context.Context, op, organisation, path string, grant url.Values) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Limits.ReadTimeout)
	defer cancel()
	if held := c.await(ctx, op, organisation); held != nil {
		return token{}, held
	}
	ctx, span := startSpan(ctx, op)
	defer span.End()
	credentials := clientcredentials.Config{
		ClientID:       c.cfg.ClientID,
		ClientSecret:   c.cfg.ClientSecret,
		TokenURL:       c.cfg.BaseURL + path,
		EndpointParams: grant,
		AuthStyle:      oauth2.AuthStyleInParams,
	}
	start := c.cfg.Now()
	transport := tokenTransport{c, op, organisation}
	source := credentials.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: transport}))
	fetched, err := source.Token()
	if e, ours := errors.AsType[*Error](err); ours {
		return token{}, e // the library's text holds the address
	}
	if err != nil {
		return token{}, notSent(op, err)
	}
	seconds, _ := fetched.Extra("expires_in").(float64) // as normalizeToken wrote it
	fetched.Expiry = start.Add(time.Duration(seconds) * time.Second)
	return token{Token: *fetched, fetched: start, proved: start}, nil
}

// tokenTransport is the http.RoundTripper of token requests. It adds the gateway key,
// observes the request, and turns every failure into an *Error. The club system does not
// document its response, so that the library gets a normalized one.
type tokenTransport struct {
	*Client
	op, organisation string
}

func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent sentTrace
	ctx, start := r.Context(), t.cfg.Now()
	r = r.Clone(httptrace.WithClientTrace(ctx, sent.hooks()))
	r.GetBody = nil
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set(t.cfg.GatewayKeyHeader, t.cfg.GatewayKey)
	if trace := t.cfg.Traceparent(ctx); trace != "" {
		r.Header.Set("Traceparent", trace)
	}
	resp, err := t.cfg.Transport.RoundTrip(r)
	if err != nil {
		e := &Error{Operation: t.op, Outcome: classify(sent.bytes(), 0, "", false), Err: err, transient: true}
		t.observe(ctx, t.op, 0, e, t.cfg.Now().Sub(start))
		return nil, e
	}
	a := t.readResponse(resp)
	t.quota(t.organisation).see(a.limits)
	body, e := normalizeToken(t.op, a)
	t.observe(ctx, t.op, a.status, e, t.cfg.Now().Sub(start))
	if e != nil {
		return nil, e
	}
	resp.Header.Set("Content-Type", "application/json")
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

type tokenResponse struct {
	AccessToken string         `json:"access_token"`
	ExpiresIn   jsontext.Value `json:"expires_in"`
}

func (r tokenResponse) check() error { return require("access_token", r.AccessToken != "") }

// normalizeToken reads a token response and writes it in the form of RFC 6749. expires_in
// may be absent, fractional, or a number in a string; the result is a whole number.
func normalizeToken(op string, response response) ([]byte, *Error) {
	if !response.ok() {
		failure := newError(op, 1, response)
		if isGrantRefused(response) {
			failure.Err = ErrGrantRefused
		}
		return nil, failure
	}
	read, e := decode[tokenResponse](&request{op: op}, response, nil)
	if e != nil {
		return nil, e
	}
	seconds, _ := strconv.ParseFloat(strings.Trim(string(read.ExpiresIn), `"`), 64) // 0 if it is not a number
	if !(seconds > 0) {
		seconds = assumedLifetime.Seconds()
	}
	normal, err := json.Marshal(map[string]any{"access_token": read.AccessToken,
		"expires_in": int64(math.Ceil(min(seconds, longestLifetime.Seconds())))})
	if err != nil {
		return nil, &Error{Operation: op, Outcome: Unknown, Status: response.status, Err: err}
	}
	return normal, nil
}

// isGrantRefused reports whether a response refuses the subject of a grant, and not the client's credentials (RFC 6749, section 5.2).
func isGrantRefused(response response) bool {
	var body lenient[struct {
		Error lenient[string] `json:"error"`
	}]
	_ = unmarshal(response.body, &body)
	return response.status == http.StatusBadRequest && body.value.Error.value == "invalid_grant"
}
