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
	"sync"
	"time"
)

// WebhookMode is how webhooks behave.
type WebhookMode string

// The ways in which webhooks behave. All but the first are what the company
// says that a receiver has to live with.
const (
	Normal    WebhookMode = "normal"    // at once, and again when refused
	Drop      WebhookMode = "drop"      // never sent
	Duplicate WebhookMode = "duplicate" // sent twice at the same time, with the same id
	Late      WebhookMode = "late"      // sent after Config.LateDelay
	Reorder   WebhookMode = "reorder"   // every second one overtakes the one before it
)

const (
	// deliveryTimeout is what one attempt may take: a receiver that stores the
	// event and answers needs far less.
	deliveryTimeout = 5 * time.Second

	// attempts, with pauses of 1, 4 and 16 s, outlast the restart of a receiver.
	// The company goes on for days.
	attempts = 4

	// deliveryConcurrency keeps a crowd of events from being a crowd of connections.
	deliveriesAtOnce = 16
)

// Delivery is one attempt to deliver an event, or an event that was dropped.
type Delivery struct {
	EventID   string
	Type      string
	PaymentID string
	Attempt   int    // zero: dropped
	Status    int    // the receiver's answer; zero: none
	Error     string // why there was no answer
}

// SetWebhooks sends the events from now on to an address, in a mode. An empty
// address is an account without a webhook endpoint.
func (s *Server) SetWebhooks(mode WebhookMode, url string) {
	s.webhooks.mu.Lock()
	defer s.webhooks.mu.Unlock()
	s.webhooks.mode, s.webhooks.url = mode, url
}

// listWebhookEndpoints is GET /v1/webhook_endpoints: the one address that
// SetWebhooks named, if any.
func (s *Server) listWebhookEndpoints(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "limit", "starting_after"); e != nil {
		return nil, e
	}
	s.webhooks.mu.Lock()
	defer s.webhooks.mu.Unlock()
	data := []object{}
	if s.webhooks.url != "" {
		data = append(data, object{
			"id": "we_double", "object": "webhook_endpoint", "url": s.webhooks.url, "status": "enabled", "enabled_events": []string{"*"},
			"api_version": APIVersion, "livemode": s.live(), "created": s.cfg.Now().Unix(),
		})
	}
	return object{"object": "list", "url": "/v1/webhook_endpoints", "has_more": false, "data": data}, nil
}

// Deliveries returns the attempts that are over, in that order.
func (s *Server) Deliveries() []Delivery {
	s.webhooks.mu.Lock()
	defer s.webhooks.mu.Unlock()
	return append([]Delivery(nil), s.webhooks.deliveries...)
}

// emit makes an event of an object as it is now. The lock of the Server is held.
func (s *Server) emit(rq request, kind string, about object) {
	id := newID("evt")
	by := object{"id": nil, "idempotency_key": nil}
	if rq.requestID != "" {
		by = object{"id": rq.requestID, "idempotency_key": rq.key}
	}
	body := jsonResponse(0, object{
		"id": id, "object": "event", "api_version": APIVersion, "created": s.cfg.Now().Unix(), "livemode": s.live(),
		"pending_webhooks": 1, "request": by, "type": kind, "data": object{"object": about},
	}).body
	payment, ok := about["payment_intent"].(string)
	if !ok {
		payment = fmt.Sprint(about["id"])
	}
	s.webhooks.send(&outgoingEvent{delivery: Delivery{EventID: id, Type: kind, PaymentID: payment}, body: body})
}

// outgoingEvent is an event on its way.
type outgoingEvent struct {
	delivery Delivery
	url      string
	body     []byte
}

// webhookSender delivers events. It owns a goroutine for each that is under way, and
// waits for all of them when it closes.
type webhookSender struct {
	now       func() time.Time
	secret    string
	lateDelay time.Duration
	client    *http.Client
	ctx       context.Context
	cancel    context.CancelFunc
	inFlight  sync.WaitGroup
	slots     chan struct{}

	mu         sync.Mutex
	mode       WebhookMode
	url        string
	held       *outgoingEvent
	deliveries []Delivery
}

func newWebhookSender(now func() time.Time, secret string, lateBy time.Duration) *webhookSender {
	ctx, cancel := context.WithCancel(context.Background())
	return &webhookSender{
		now: now, secret: secret, lateDelay: lateBy, client: &http.Client{Timeout: deliveryTimeout},
		ctx: ctx, cancel: cancel, slots: make(chan struct{}, deliveriesAtOnce),
	}
}

func (c *webhookSender) close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.inFlight.Wait()
	c.client.CloseIdleConnections()
}

// send starts what the mode asks for, and does not wait for it.
func (c *webhookSender) send(out *outgoingEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.url == "" || c.ctx.Err() != nil {
		return
	}
	out.url = c.url
	switch c.mode {
	case Drop:
		c.deliveries = append(c.deliveries, out.delivery)
	case Duplicate:
		c.inFlight.Go(func() { c.deliver(out) })
		c.inFlight.Go(func() { c.deliver(out) })
	case Late:
		c.inFlight.Go(func() {
			if c.pause(c.lateDelay) {
				c.deliver(out)
			}
		})
	case Reorder:
		c.reorder(out)
	default:
		c.inFlight.Go(func() { c.deliver(out) })
	}
}

// reorder holds an event until the next one has overtaken it, or as long as a
// late one waits. The lock is held.
func (c *webhookSender) reorder(out *outgoingEvent) {
	if first := c.held; first != nil {
		c.held = nil
		c.inFlight.Go(func() { c.deliver(out); c.deliver(first) })
		return
	}
	c.held = out
	c.inFlight.Go(func() {
		if c.pause(c.lateDelay) && c.reclaim(out) {
			c.deliver(out)
		}
	})
}

// reclaim takes an event back that nothing has overtaken.
func (c *webhookSender) reclaim(out *outgoingEvent) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != out {
		return false
	}
	c.held = nil
	return true
}

// deliver sends an event until it is taken or the attempts are used up.
func (c *webhookSender) deliver(out *outgoingEvent) {
	pause := time.Second
	for attempt := 1; ; attempt++ {
		entry := out.delivery
		entry.Attempt = attempt
		status, err := c.post(out)
		if entry.Status = status; err != nil {
			entry.Error = err.Error()
		}
		c.mu.Lock()
		c.deliveries = append(c.deliveries, entry)
		c.mu.Unlock()
		if status >= 200 && status <= 299 || attempt == attempts || !c.pause(pause) {
			return
		}
		pause *= 4
	}
}

// post makes one attempt, signed now.
func (c *webhookSender) post(out *outgoingEvent) (status int, err error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.ctx.Done():
		return 0, c.ctx.Err()
	}
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, out.url, bytes.NewReader(out.body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	req.Header.Set("Stripe-Signature", sign(c.now(), out.body, c.secret))
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
	return resp.StatusCode, nil
}

// pause waits, and tells whether the courier is still open then.
func (c *webhookSender) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// sign makes the signature header. It is written out here, and not taken from
// the company's library, so that the two can disagree.
func sign(at time.Time, body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s,v0=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)), "not-checked")
}
