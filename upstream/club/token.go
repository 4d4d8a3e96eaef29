package club

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/singleflight"
)

const (
	// assumedLifetime is taken for a token whose answer does not say how long it
	// lives: short, because a token believed alive for too long costs a 401 and
	// a repetition at each of its calls, and a fetch every five minutes costs nothing.
	assumedLifetime = 5 * time.Minute
	// longestLifetime bounds what the answer may claim, so that a rotated secret
	// shows within a day.
	longestLifetime = 24 * time.Hour
	// earlyRefresh is how long before its end a token is replaced at the latest:
	// longer than any call, so that no token ends on the way. Short-lived tokens
	// are replaced after nine tenths of their life.
	earlyRefresh = time.Minute
	// provenFor is how long a token that was fetched, or accepted by the club
	// system, is believed good enough for a payment.
	provenFor = time.Minute
)

// tokens holds the access token that all requests share.
type tokens struct {
	fetch  func(context.Context) (token, error)
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	current token
}

// token is an access token and what is known of it.
type token struct {
	value   string
	lives   time.Duration
	fetched time.Time
	proved  time.Time // when it last was fetched or accepted
}

// ends is when the token is no longer used.
func (t token) ends() time.Time { return t.fetched.Add(t.lives) }

// due is when the token is to be replaced.
func (t token) due() time.Time { return t.ends().Add(-min(earlyRefresh, t.lives/10)) }

// get returns the shared token. A token near its end is still returned while a
// single request replaces it; without a usable one, everybody waits for that request.
func (t *tokens) get(ctx context.Context) (string, error) {
	current, now := t.peek(), t.now()
	if current.value == "" || !now.Before(current.ends()) {
		return t.renew(ctx, current.value)
	}
	if !now.Before(current.due()) {
		t.start(ctx, current.value)
	}
	return current.value, nil
}

// proven returns a token that was fetched or accepted less than provenFor ago.
func (t *tokens) proven(ctx context.Context) (string, error) {
	current, now := t.peek(), t.now()
	if current.value == "" || now.Sub(current.proved) >= provenFor || !now.Before(current.ends()) {
		return t.renew(ctx, current.value)
	}
	return current.value, nil
}

// renew replaces a token, together with everybody else who wants another one.
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

// start begins a fetch, or joins the one under way. It outlives the caller that
// happened to begin it, since others wait for it as well; fetchToken bounds it.
// A caller who looked at the old token just before it was replaced gets the new
// one, and no fetch of its own.
func (t *tokens) start(ctx context.Context, old string) <-chan singleflight.Result {
	return t.flight.DoChan("", func() (any, error) {
		if current := t.peek(); current.value != "" && current.value != old {
			return current.value, nil
		}
		fetched, err := t.fetch(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.current = fetched
		return fetched.value, nil
	})
}

func (t *tokens) peek() token {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// reject forgets a token that the club system did not accept.
func (t *tokens) reject(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current.value == value {
		t.current = token{}
	}
}

// prove notes that the club system accepted a token.
func (t *tokens) prove(value string) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current.value == value {
		t.current.proved = now
	}
}

// RefreshToken fetches a new access token, whatever the age of the present one.
// It is for the caller of CreatePayment, who alone decides about a second try
// after a 401.
func (c *Client) RefreshToken(ctx context.Context) error {
	_, err := c.tokens.renew(ctx, c.tokens.peek().value)
	return err
}

// Authorise makes sure that there is an access token, and fetches one where there
// is none: whether calls would be let in at all.
func (c *Client) Authorise(ctx context.Context) error {
	_, err := c.tokens.get(ctx)
	return err
}

// fetchToken asks for a token with the client's credentials; club system API,
// section Token. The answer is not documented: it is read as RFC 6749 has it.
func (c *core) fetchToken(ctx context.Context) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Limits.Read)
	defer cancel()
	ctx, span := startSpan(ctx, "Token")
	defer span.End()
	var sent sentTrace
	req, err := c.tokenRequest(httptrace.WithClientTrace(ctx, sent.hooks()))
	if err != nil {
		return token{}, notSent("Token", err)
	}
	start := c.cfg.Now()
	resp, err := c.cfg.Transport.RoundTrip(req)
	if err != nil {
		e := &Error{Operation: "Token", Outcome: classify(sent.bytes(), 0, ""), Err: err, transient: true}
		c.observe(ctx, "Token", 0, e, c.cfg.Now().Sub(start))
		return token{}, e
	}
	a := c.readResponse(resp)
	fetched, e := readToken(a, start)
	c.observe(ctx, "Token", a.status, e, c.cfg.Now().Sub(start))
	if e != nil {
		return token{}, e
	}
	return fetched, nil
}

func (c *core) tokenRequest(ctx context.Context) (*http.Request, error) {
	form := url.Values{"grant_type": {"client_credentials"},
		"client_id": {c.cfg.ClientID}, "client_secret": {c.cfg.ClientSecret}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.BaseURL+c.cfg.TokenPath, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set(c.cfg.GatewayKeyHeader, c.cfg.GatewayKey)
	if trace := c.cfg.Traceparent(ctx); trace != "" {
		req.Header.Set("Traceparent", trace)
	}
	return req, nil
}

// readToken reads the answer; the token's life counts from before it was asked for.
func readToken(a response, asked time.Time) (token, *Error) {
	if a.status < 200 || a.status > 299 {
		return token{}, newError("Token", 1, a)
	}
	body, e := decode[struct {
		AccessToken string         `json:"access_token"`
		ExpiresIn   jsontext.Value `json:"expires_in"` // a number, or one in a string
	}]("Token", a)
	if e != nil {
		return token{}, e
	}
	if body.AccessToken == "" {
		return token{}, &Error{Operation: "Token", Outcome: Unknown, Status: a.status,
			Err: &DecodeError{Field: "access_token", Want: "present"}, transient: true}
	}
	seconds, _ := strconv.ParseFloat(strings.Trim(string(body.ExpiresIn), `"`), 64) // absent, or no number: 0
	seconds = min(seconds, longestLifetime.Seconds())
	lives := cmp.Or(max(0, time.Duration(seconds*float64(time.Second))), assumedLifetime)
	return token{value: body.AccessToken, lives: lives, fetched: asked, proved: asked}, nil
}
