package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// countingUpstreams counts the gateway's calls of the upstreams, and delays them. Buyers
// enter their cards at the embedded ones, where nothing is counted or delayed.
type countingUpstreams struct {
	*frontdesktest.Upstreams
	url   string       // for the gateway
	delay atomic.Int64 // of each call, in nanoseconds

	mu        sync.Mutex
	club      int                      // calls
	processor int                      // calls
	ended     map[string]chan struct{} // by payment at the processor: closed when nothing is left to do for it
}

func (h *harness) countingUpstreams() *countingUpstreams {
	u := &countingUpstreams{Upstreams: frontdesktest.NewUpstreams(h), ended: map[string]chan struct{}{}}
	mux := http.NewServeMux()
	mux.Handle("/sim/", http.StripPrefix("/sim", u.counted(u.Club, &u.club)))
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", u.counted(u.Cards, &u.processor)))
	u.url = h.serveHTTP(mux)
	return u
}

func (u *countingUpstreams) counted(next http.Handler, calls *int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payment := journaledPayment(r)
		<-time.After(time.Duration(u.delay.Load()))
		next.ServeHTTP(w, r)
		u.mu.Lock()
		defer u.mu.Unlock()
		*calls++
		if payment != "" {
			close(u.end(payment))
		}
	})
}

// journaledPayment returns the payment for which a call is the last one: the call that
// writes to the processor's journal that the club system has accepted the payment.
func journaledPayment(r *http.Request) string {
	id, found := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/payments/"), "/metadata")
	if !found {
		return ""
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var entries struct{ Metadata map[string]string }
	if err != nil || json.Unmarshal(body, &entries) != nil {
		return ""
	}
	for key := range entries.Metadata {
		if strings.HasPrefix(key, "fd_done_") {
			return id
		}
	}
	return ""
}

// end needs the lock.
func (u *countingUpstreams) end(payment string) chan struct{} {
	if u.ended[payment] == nil {
		u.ended[payment] = make(chan struct{})
	}
	return u.ended[payment]
}

// done returns a channel that is closed when nothing is left to do for a payment.
func (u *countingUpstreams) done(payment string) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.end(payment)
}

// take returns the calls since the last call of take.
func (u *countingUpstreams) take() (club, processor int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	club, processor = u.club, u.processor
	u.club, u.processor = 0, 0
	return club, processor
}
