package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Response is what a gateway said to a buyer.
type Response struct {
	Status   int
	Replayed bool
	Body     []byte
}

// decode reads a success.
func (a Response) decode(v any) error {
	if a.Status > 299 {
		return fmt.Errorf("status %d: %s", a.Status, a.Body)
	}
	return json.Unmarshal(a.Body, v)
}

// Code is the problem's code; empty for none.
func (a Response) Code() string {
	var problem struct{ Code string }
	if a.Status < 300 || json.Unmarshal(a.Body, &problem) != nil {
		return ""
	}
	return problem.Code
}

// Registration is what a buyer sees of theirs.
type Registration struct {
	ID    string
	Token string
	State string
	Cart  struct{ DueNow struct{ Amount int64 } }
	// Payment is the latest; nil before the first.
	Payment *Payment
}

// Payment is what a buyer sees of theirs.
type Payment struct {
	ID    string
	State string
	Retry string
	Card  struct{ RedirectURL string }
}

// Call sends a request of a buyer to a gateway. An error means that no answer came.
func (r *Harness) Call(ctx context.Context, g *Gateway, method, path, token, key string, body any) (Response, error) {
	return r.call(ctx, g, method, path, token, key, body)
}

func (r *Harness) call(ctx context.Context, g *Gateway, method, path, token, key string, body any) (Response, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return Response{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, g.URL+path, bytes.NewReader(text))
	if err != nil {
		return Response{}, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if key != "" {
		request.Header["Idempotency-Key"] = []string{key}
		request.GetBody = nil // or else Go's client repeats the request by itself, on any gateway's death
	}
	answer, err := r.http.Do(request)
	if err != nil {
		return Response{}, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return Response{}, err
	}
	return Response{answer.StatusCode, answer.Header.Get("Idempotent-Replayed") == "true", said}, nil
}
