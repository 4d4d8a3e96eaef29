package frontdesktest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
)

// The sandbox's test cards.
const (
	ApprovedCard = "4242424242424242"
	DeclinedCard = "4000000000000002"
)

// Buyer completes a card journey over HTTP, for campaigns and benchmarks. Its requests may fail,
// whereas a Client fails its test.
type Buyer struct {
	Gateway   string // address; a buyer may continue at another one
	Upstreams string // address of the processor's, where Confirm enters cards
	HTTP      *http.Client
	Header    http.Header // of every request
	ID        string      // of the registration
	Token     string      // of the registration
	Cart      string      // revision of the cart that the buyer saw
}

// StatusError is a response other than 2xx.
type StatusError struct {
	*Response
	Request string // method and path
}

// Error names the request and its response.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: status %d: %s", e.Request, e.Status, e.Body)
}

// Path is the path of the registration.
func (b *Buyer) Path() string { return "/v1/registrations/" + b.ID }

// Register starts a registration, which the buyer holds from then on.
func (b *Buyer) Register(ctx context.Context, start api.StartRegistration) (registration api.Registration, err error) {
	if err = b.Do(ctx, http.MethodPost, b.Gateway+"/v1/registrations", start, &registration); err == nil {
		b.ID, b.Token, b.Cart = registration.Id, *registration.Token, registration.Cart.Revision
	}
	return registration, err
}

// ByCard is the body of a payment by card.
func (b *Buyer) ByCard() map[string]string {
	return map[string]string{"method": "card", "cart": b.Cart}
}

// Read reads the registration.
func (b *Buyer) Read(ctx context.Context) (registration api.Registration, err error) {
	return registration, b.Do(ctx, http.MethodGet, b.Gateway+b.Path(), nil, &registration)
}

// Do sends a request, and decodes its response, unless into is nil. A response other than 2xx is
// a StatusError. Each POST has a fresh idempotency key.
func (b *Buyer) Do(ctx context.Context, method, url string, body, into any) error {
	key := ""
	if method == http.MethodPost {
		key = uuid.NewString()
	}
	response, err := b.Send(ctx, method, url, key, body)
	switch {
	case err != nil:
		return err
	case response.Status > 299:
		return &StatusError{response, method + " " + url}
	case into == nil:
		return nil
	}
	return json.Unmarshal(response.Body, into)
}

// Send sends a request with an idempotency key, or with none. An error means that no whole response arrived.
func (b *Buyer) Send(ctx context.Context, method, url, key string, body any) (*Response, error) {
	request, err := newRequest(ctx, method, url, b.Token, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, b.Header)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
		request.GetBody = nil // otherwise Go's client repeats the request when a gateway dies
	}
	return roundTrip(b.HTTP, request)
}

func roundTrip(client *http.Client, request *http.Request) (*Response, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return &Response{Status: response.StatusCode, Header: response.Header, Body: body}, err
}

// newRequest makes a request with the token of a registration, unless that is empty. The body is sent
// as its JSON; a string is sent as it is.
func newRequest(ctx context.Context, method, url, token string, body any) (*http.Request, error) {
	text, ready := body.(string)
	if body != nil && !ready {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = string(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, nil
}

// RetryAfter is when the request may be sent again; zero without the header.
func (r *Response) RetryAfter() time.Duration {
	seconds, _ := strconv.Atoi(r.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second
}

// Code is the code of a problem; empty for a success.
func (r *Response) Code() string {
	var problem struct{ Code string }
	if r.Status < 300 || json.Unmarshal(r.Body, &problem) != nil {
		return ""
	}
	return problem.Code
}
