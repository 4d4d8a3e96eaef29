package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Reply is what a gateway said to a buyer.
type Reply struct {
	Status   int
	Replayed bool
	Body     []byte
}

// into reads a success.
func (a Reply) into(v any) error {
	if a.Status > 299 {
		return fmt.Errorf("status %d: %s", a.Status, a.Body)
	}
	return json.Unmarshal(a.Body, v)
}

// Code is the problem's code; empty for none.
func (a Reply) Code() string {
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
func (r *Rig) Call(ctx context.Context, g *Gateway, method, path, token, key string, body any) (Reply, error) {
	return r.call(ctx, g, method, path, token, key, body)
}

func (r *Rig) call(ctx context.Context, g *Gateway, method, path, token, key string, body any) (Reply, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return Reply{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, g.URL+path, bytes.NewReader(text))
	if err != nil {
		return Reply{}, err
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
		return Reply{}, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return Reply{}, err
	}
	return Reply{answer.StatusCode, answer.Header.Get("Idempotent-Replayed") == "true", said}, nil
}
