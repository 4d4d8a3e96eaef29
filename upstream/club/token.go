package club

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
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
	// assumedLifetime applies when a token response does not say how long the token
	// lives. It is short: trusting a token for too long costs a 401 and a retry at
	// each call, and a fetch every five minutes costs nothing.
	assumedLifetime = 5 * time.Minute
	// longestLifetime limits what the response may claim, so that a rotated secret
	// shows within a day.
	longestLifetime = 24 * time.Hour
	// earlyRefresh is how long before its expiry a token is replaced. It exceeds the
	// length of any call, so that no token expires on the way. Short-lived tokens are
	// replaced after nine tenths of their life.
	earlyRefresh = time.Minute
	// provenFor is how long a token counts as good enough for a payment after it was
	// fetched, or accepted by the club system.
	provenFor = time.Minute
)

// tokens holds the access token that all requests share. The oauth2 library fetches
// it. The reuse is our own: the library's reuse reads the wall clock instead of
// Config.Now, makes callers wait while it replaces a token that is still good, and
// has no answer to a 401.
type tokens struct {
	fetch  func(context.Context) (token, error)
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	current token
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

// get returns the shared token. A token that is due is still returned while one
// request replaces it. Without a usable token, all callers wait for that request.
func (t *tokens) get(ctx context.Context) (string, error) {
	current, now := t.peek(), t.now()
	if current.AccessToken == "" || !now.Before(current.Expiry) {
		return t.renew(ctx, current.AccessToken)
	}
	if !now.Before(current.due()) {
		t.start(ctx, current.AccessToken)
	}
	return current.AccessToken, nil
}

// proven returns a token that was fetched or accepted less than provenFor ago.
func (t *tokens) proven(ctx context.Context) (string, error) {
	current, now := t.peek(), t.now()
	if current.AccessToken == "" || now.Sub(current.proved) >= provenFor || !now.Before(current.Expiry) {
		return t.renew(ctx, current.AccessToken)
	}
	return current.AccessToken, nil
}

// renew replaces a token and waits until that is done.
func (t *tokens) renew(ctx context.Context, old string) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-t.start(ctx, old):
		if got.Err != nil {
			return "", got.Err
		}
		return got.Val.(string), nil
	}
}

// start begins a fetch, or joins the one in progress. The fetch outlives the caller
// that began it, because others wait for it as well; fetchToken limits its time. A
// caller that looked at the old token just before it was replaced gets the new one,
// and no fetch of its own.
func (t *tokens) start(ctx context.Context, old string) <-chan singleflight.Result {
	return t.flight.DoChan("", func() (any, error) {
		if current := t.peek().AccessToken; current != "" && current != old {
			return current, nil
		}
		fetched, err := t.fetch(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.current = fetched
		return fetched.AccessToken, nil
	})
}

func (t *tokens) peek() token {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// report records how the club system responded to a token: a 401 drops the token, a
// 2xx proves it. Reports about a token that was replaced are ignored.
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

// RefreshToken fetches a new access token, whatever the age of the current one. It is
// for the caller of CreatePayment, which alone decides about a second try after a 401.
func (c *Client) RefreshToken(ctx context.Context) error {
	_, err := c.tokens.renew(ctx, c.tokens.peek().AccessToken)
	return err
}

// Authorise makes sure that there is an access token, and fetches one if there is
// none. It tells whether the club system accepts the credentials.
func (c *Client) Authorise(ctx context.Context) error {
	_, err := c.tokens.get(ctx)
	return err
}

// fetchToken requests a token with the client's credentials; club system API, section
// Token. The token's life counts from before the request.
func (c *core) fetchToken(ctx context.Context) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Limits.Read)
	defer cancel()
	ctx, span := startSpan(ctx, "Token")
	defer span.End()
	credentials := clientcredentials.Config{ClientID: c.cfg.ClientID, ClientSecret: c.cfg.ClientSecret,
		TokenURL: c.cfg.BaseURL + c.cfg.TokenPath, AuthStyle: oauth2.AuthStyleInParams}
	start := c.cfg.Now()
	source := credentials.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: tokenTransport{c}}))
	fetched, err := source.Token()
	if e, ours := errors.AsType[*Error](err); ours {
		return token{}, e // without the library's text, which holds the address
	}
	if err != nil {
		return token{}, notSent("Token", err)
	}
	seconds, _ := fetched.Extra("expires_in").(float64) // normalizeToken has seen to it
	fetched.Expiry = start.Add(time.Duration(seconds) * time.Second)
	return token{Token: *fetched, fetched: start, proved: start}, nil
}

// tokenTransport is the http.RoundTripper of token requests. It adds the gateway key,
// observes the request, and turns every failure into an *Error. The club system does
// not document its response: whatever can be read as RFC 6749 has it is handed to the
// library in exactly that form.
type tokenTransport struct{ *core }

// RoundTrip implements http.RoundTripper.
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
		e := &Error{Operation: "Token", Outcome: classify(sent.bytes(), 0, ""), Err: err, transient: true}
		t.observe(ctx, "Token", 0, e, t.cfg.Now().Sub(start))
		return nil, e
	}
	a := t.readResponse(resp)
	body, e := normalizeToken(a)
	t.observe(ctx, "Token", a.status, e, t.cfg.Now().Sub(start))
	if e != nil {
		return nil, e
	}
	resp.Header.Set("Content-Type", "application/json")
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// normalizeToken reads a token response and writes it as RFC 6749 has it. expires_in
// may be absent, fractional, or a number in a string; the result is a whole number.
func normalizeToken(a response) ([]byte, *Error) {
	if a.status < 200 || a.status > 299 {
		return nil, newError("Token", 1, a)
	}
	read, e := decode[struct {
		AccessToken string         `json:"access_token"`
		ExpiresIn   jsontext.Value `json:"expires_in"`
	}]("Token", a)
	if e != nil {
		return nil, e
	}
	if read.AccessToken == "" {
		return nil, &Error{Operation: "Token", Outcome: Unknown, Status: a.status,
			Err: &DecodeError{Field: "access_token", Want: "present"}, transient: true}
	}
	seconds, _ := strconv.ParseFloat(strings.Trim(string(read.ExpiresIn), `"`), 64) // 0 if it is not a number
	if !(seconds > 0) {
		seconds = assumedLifetime.Seconds()
	}
	normal, err := json.Marshal(map[string]any{"access_token": read.AccessToken,
		"expires_in": int64(math.Ceil(min(seconds, longestLifetime.Seconds())))})
	if err != nil {
		return nil, &Error{Operation: "Token", Outcome: Unknown, Status: a.status, Err: err}
	}
	return normal, nil
}
