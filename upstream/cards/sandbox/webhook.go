package sandbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// WebhookMode is how webhooks behave.
type WebhookMode string

// The ways in which webhooks behave. Stripe documents that receivers must cope with all
// of them.
const (
	Normal    WebhookMode = "normal"    // at once, and again when refused
	Drop      WebhookMode = "drop"      // never sent
	Duplicate WebhookMode = "duplicate" // sent twice at the same time, with the same id
)

const (
	// deliveryTimeout bounds one attempt: a receiver that stores the event and answers
	// needs far less.
	deliveryTimeout = 5 * time.Second

	// attempts, with pauses of 1, 4 and 16 s, outlast the restart of a receiver. Stripe
	// continues for days.
	attempts = 4

	// maxConnections keeps a burst of events from opening as many connections.
	maxConnections = 16
)

// SetWebhooks sends the events from now on to an address, in a mode. An empty address is
// an account without a webhook endpoint.
func (s *Server) SetWebhooks(mode WebhookMode, url string) {
	s.webhooks.mu.Lock()
	defer s.webhooks.mu.Unlock()
	s.webhooks.mode, s.webhooks.url = mode, url
}

// listWebhookEndpoints is GET /v1/webhook_endpoints: the address of SetWebhooks, if any.
func (s *Server) listWebhookEndpoints(*request) (object, error) {
	s.webhooks.mu.Lock()
	defer s.webhooks.mu.Unlock()
	data := []object{}
	if s.webhooks.url != "" {
		data = append(data, object{
			"id": "we_double", "object": "webhook_endpoint", "url": s.webhooks.url, "status": "enabled", "enabled_events": []string{"*"},
			"api_version": APIVersion, "livemode": s.live(), "created": s.cfg.Now().Unix(),
		})
	}
	return list("/v1/webhook_endpoints", data, false), nil
}

// emit sends an event about an object as it is now; rq is the call that caused it, nil
// for a step of a buyer. The lock of the Server is held.
func (s *Server) emit(rq *request, kind string, about object) {
	cause := object{"id": nil, "idempotency_key": nil}
	if rq != nil {
		cause = object{"id": rq.requestID, "idempotency_key": rq.key}
	}
	s.webhooks.send(jsonResponse(0, object{
		"id": newID("evt"), "object": "event", "api_version": APIVersion, "created": s.cfg.Now().Unix(), "livemode": s.live(),
		"pending_webhooks": 1, "request": cause, "type": kind, "data": object{"object": about},
	}).body)
}

// webhookSender delivers events. It owns a goroutine for each one in progress, and waits
// for all of them when it closes.
type webhookSender struct {
	now      func() time.Time
	secret   string
	client   *http.Client
	ctx      context.Context
	cancel   context.CancelFunc
	inFlight sync.WaitGroup

	mu   sync.Mutex
	mode WebhookMode
	url  string
}

func newWebhookSender(now func() time.Time, secret string) *webhookSender {
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Timeout: deliveryTimeout, Transport: &http.Transport{MaxConnsPerHost: maxConnections}}
	return &webhookSender{now: now, secret: secret, client: client, ctx: ctx, cancel: cancel}
}

func (w *webhookSender) close() {
	w.mu.Lock()
	w.cancel()
	w.mu.Unlock()
	w.inFlight.Wait()
	w.client.CloseIdleConnections()
}

// send starts what the mode asks for, and does not wait for it.
func (w *webhookSender) send(event []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.url == "" || w.mode == Drop || w.ctx.Err() != nil {
		return
	}
	url := w.url
	w.inFlight.Go(func() { w.deliver(url, event) })
	if w.mode == Duplicate {
		w.inFlight.Go(func() { w.deliver(url, event) })
	}
}

// deliver sends an event until the receiver accepts it or the attempts are used up.
func (w *webhookSender) deliver(url string, event []byte) {
	pause := time.Second
	for attempt := 1; !w.post(url, event) && attempt < attempts; attempt++ {
		select {
		case <-time.After(pause):
		case <-w.ctx.Done():
			return
		}
		pause *= 4
	}
}

// post makes one attempt, signed now, and reports whether the receiver accepted it.
func (w *webhookSender) post(url string, event []byte) bool {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, url, bytes.NewReader(event))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	req.Header.Set("Stripe-Signature", sign(w.now(), event, w.secret))
	resp, err := w.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
	return resp.StatusCode >= 200 && resp.StatusCode <= 299
}

// sign returns the signature header. It does not use Stripe's library, so that the two
// can disagree.
func sign(at time.Time, body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%x,v0=not-checked", at.Unix(), mac.Sum(nil))
}
