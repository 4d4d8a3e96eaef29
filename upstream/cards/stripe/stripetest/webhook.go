package stripetest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
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
	Late      WebhookMode = "late"      // sent after Config.LateDelay
	Reorder   WebhookMode = "reorder"   // every second one overtakes the one before it
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

// Delivery is one attempt to deliver an event, or an event that was dropped.
type Delivery struct {
	EventID   string
	Type      string
	PaymentID string
	Attempt   int    // zero: dropped
	Status    int    // of the receiver's response; zero: none
	Error     string // why there was no response
}

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

// Deliveries returns the attempts that have ended, in that order.
func (s *Server) Deliveries() []Delivery {
	s.webhooks.mu.Lock()
	defer s.webhooks.mu.Unlock()
	return slices.Clone(s.webhooks.deliveries)
}

// emit sends an event about an object as it is now; rq is the call that caused it, nil
// for a step of a buyer. The lock of the Server is held.
func (s *Server) emit(rq *request, kind string, about object) {
	cause := object{"id": nil, "idempotency_key": nil}
	if rq != nil {
		cause = object{"id": rq.requestID, "idempotency_key": rq.key}
	}
	out := &event{Delivery: Delivery{EventID: newID("evt"), Type: kind}}
	out.body = jsonResponse(0, object{
		"id": out.EventID, "object": "event", "api_version": APIVersion, "created": s.cfg.Now().Unix(), "livemode": s.live(),
		"pending_webhooks": 1, "request": cause, "type": kind, "data": object{"object": about},
	}).body
	var ok bool
	if out.PaymentID, ok = about["payment_intent"].(string); !ok {
		out.PaymentID = fmt.Sprint(about["id"])
	}
	s.webhooks.send(out)
}

// event is an event on its way to the receiver.
type event struct {
	Delivery
	url  string
	body []byte
}

// webhookSender delivers events. It owns a goroutine for each one in progress, and waits
// for all of them when it closes.
type webhookSender struct {
	now       func() time.Time
	secret    string
	lateDelay time.Duration
	client    *http.Client
	ctx       context.Context
	cancel    context.CancelFunc
	inFlight  sync.WaitGroup

	mu         sync.Mutex
	mode       WebhookMode
	url        string
	held       chan struct{} // closed when the next event has overtaken the one that waits
	deliveries []Delivery
}

func newWebhookSender(now func() time.Time, secret string, lateDelay time.Duration) *webhookSender {
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Timeout: deliveryTimeout, Transport: &http.Transport{MaxConnsPerHost: maxConnections}}
	return &webhookSender{now: now, secret: secret, lateDelay: lateDelay, client: client, ctx: ctx, cancel: cancel}
}

func (w *webhookSender) close() {
	w.mu.Lock()
	w.cancel()
	w.mu.Unlock()
	w.inFlight.Wait()
	w.client.CloseIdleConnections()
}

// send starts what the mode asks for, and does not wait for it.
func (w *webhookSender) send(out *event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.url == "" || w.ctx.Err() != nil {
		return
	}
	out.url = w.url
	var delay time.Duration
	var overtaken chan struct{}
	switch w.mode {
	case Drop:
		w.deliveries = append(w.deliveries, out.Delivery)
		return
	case Duplicate:
		w.deliverAfter(0, nil, out)
	case Late:
		delay = w.lateDelay
	case Reorder:
		if first := w.held; first != nil {
			w.held = nil
			w.inFlight.Go(func() { w.deliver(out); close(first) })
			return
		}
		delay, overtaken = w.lateDelay, make(chan struct{})
		w.held = overtaken
	}
	w.deliverAfter(delay, overtaken, out)
}

// deliverAfter delivers an event after a delay, or once another has overtaken it.
func (w *webhookSender) deliverAfter(delay time.Duration, overtaken <-chan struct{}, out *event) {
	w.inFlight.Go(func() {
		if w.pause(delay, overtaken) {
			w.deliver(out)
		}
	})
}

// deliver sends an event until the receiver accepts it or the attempts are used up.
func (w *webhookSender) deliver(out *event) {
	pause := time.Second
	for attempt := 1; ; attempt++ {
		entry := out.Delivery
		entry.Attempt = attempt
		status, err := w.post(out)
		if entry.Status = status; err != nil {
			entry.Error = err.Error()
		}
		w.mu.Lock()
		w.deliveries = append(w.deliveries, entry)
		w.mu.Unlock()
		if status >= 200 && status <= 299 || attempt == attempts || !w.pause(pause, nil) {
			return
		}
		pause *= 4
	}
}

// post makes one attempt, signed now.
func (w *webhookSender) post(out *event) (status int, err error) {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, out.url, bytes.NewReader(out.body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	req.Header.Set("Stripe-Signature", sign(w.now(), out.body, w.secret))
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
	return resp.StatusCode, nil
}

// pause waits, until early is closed at most, and reports whether the sender is still
// open afterwards.
func (w *webhookSender) pause(d time.Duration, early <-chan struct{}) bool {
	select {
	case <-early:
	case <-time.After(d):
	case <-w.ctx.Done():
	}
	return w.ctx.Err() == nil
}

// sign returns the signature header. It does not use Stripe's library, so that the two
// can disagree.
func sign(at time.Time, body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s,v0=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)), "not-checked")
}
