package sandbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// SignatureHeader carries "t=<unix seconds>,v1=<hex HMAC-SHA256 of t, a dot and
// the body>".
const SignatureHeader = "Sandbox-Signature"

// WebhookMode is how webhooks are delivered.
type WebhookMode string

// The webhook modes. All but the first are what a merchant must cope with.
const (
	WebhooksNormal    WebhookMode = "normal"    // at once, and again when refused
	WebhooksDrop      WebhookMode = "drop"      // never sent
	WebhooksDuplicate WebhookMode = "duplicate" // sent twice at the same time, with the same id
	WebhooksLate      WebhookMode = "late"      // sent after LateDelay
	WebhooksReorder   WebhookMode = "reorder"   // every second one overtakes the one before it
)

const (
	// LateDelay is long enough that the buyer is back before the event, and short
	// enough to wait for in a test.
	LateDelay = 5 * time.Second

	// ReorderHold is the longest that an event waits for one to overtake it, so
	// that the last one of a test is not lost.
	ReorderHold = 10 * time.Second

	// deliveryTimeout is the time for one attempt. A receiver that stores the event and
	// responds needs far less.
	deliveryTimeout = 5 * time.Second

	// deliveryAttempts and retryDelay (1, 4, 16 s) outlast the restart of a receiver,
	// and end within half a minute.
	deliveryAttempts = 4

	// maxDeliveries keeps many events from opening as many connections.
	maxDeliveries = 16

	// maxPending limits memory while a receiver is down. Events beyond it are dropped
	// and logged: they are hints, and the gateway polls as well.
	maxPending = 10_000
)

func retryDelay(attempt int) time.Duration { return time.Second << (2 * (attempt - 1)) }

// Settings are what a test or a developer can change while the sandbox runs.
type Settings struct {
	Webhooks WebhookMode `json:"webhooks"` // zero: normal
	// WebhookURL receives all events instead of the payments' own addresses; empty: those.
	WebhookURL string `json:"webhookUrl"`
}

// event is a webhook's body.
type event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"createdAt"`
	Data      eventData `json:"data"`
}

type eventData struct {
	Payment Payment `json:"payment"`
}

// outgoingEvent is an event on its way to one address.
type outgoingEvent struct {
	delivery Delivery // its log entry, without the attempt
	body     []byte
}

// webhookSender delivers events. It owns a goroutine for each event in progress and waits
// for all of them when it closes.
type webhookSender struct {
	now    func() time.Time
	client *http.Client
	secret string
	log    *slog.Logger

	ctx      context.Context
	cancel   context.CancelFunc
	inFlight sync.WaitGroup
	slots    chan struct{}

	mu          sync.Mutex
	closed      bool
	pending     int
	settings    Settings
	held        *outgoingEvent
	deliveryLog []Delivery // oldest first
}

func newWebhookSender(cfg ServerConfig) *webhookSender {
	ctx, cancel := context.WithCancel(context.Background())
	return &webhookSender{
		now: cfg.Now, client: cfg.HTTPClient, secret: cfg.WebhookSecret, log: cfg.Logger,
		ctx: ctx, cancel: cancel, slots: make(chan struct{}, maxDeliveries),
		settings: Settings{Webhooks: WebhooksNormal},
	}
}

// close stops the deliveries in progress and waits for them.
func (c *webhookSender) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.inFlight.Wait()
}

// send makes an event of a payment and sends it as the settings say, without waiting.
func (c *webhookSender) send(p Payment, eventType string) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &outgoingEvent{delivery: Delivery{
		EventID: newID("evt"), Type: eventType, PaymentID: p.ID, URL: p.WebhookURL, Webhooks: c.settings.Webhooks,
	}}
	if c.settings.WebhookURL != "" {
		out.delivery.URL = c.settings.WebhookURL
	}
	if out.delivery.URL == "" {
		return
	}
	body, err := json.Marshal(event{ID: out.delivery.EventID, Type: eventType, CreatedAt: now.UTC(), Data: eventData{Payment: p}})
	if err != nil {
		c.drop(out, "the event cannot be encoded")
		return
	}
	out.body = body
	c.dispatch(out)
}

// dispatch starts the deliveries of the mode; c.mu is held.
func (c *webhookSender) dispatch(out *outgoingEvent) {
	switch c.settings.Webhooks {
	case WebhooksDrop:
		c.drop(out, "webhooks are set to drop")
	case WebhooksDuplicate:
		c.start(out, func() { c.deliver(out) })
		c.start(out, func() { c.deliver(out) })
	case WebhooksLate:
		c.start(out, func() {
			if c.sleep(LateDelay) {
				c.deliver(out)
			}
		})
	case WebhooksReorder:
		c.reorder(out)
	default:
		c.start(out, func() { c.deliver(out) })
	}
}

// reorder holds an event until the next one has overtaken it, or for ReorderHold; c.mu is
// held.
func (c *webhookSender) reorder(out *outgoingEvent) {
	if first := c.held; first != nil {
		c.held = nil
		c.start(out, func() { c.deliver(out); c.deliver(first) })
		return
	}
	c.held = out
	c.start(out, func() {
		if c.sleep(ReorderHold) && c.reclaim(out) {
			c.deliver(out)
		}
	})
}

// reclaim takes back an event that nothing has overtaken.
func (c *webhookSender) reclaim(out *outgoingEvent) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != out {
		return false
	}
	c.held = nil
	return true
}

// start runs the delivery of an event in its own goroutine; c.mu is held.
func (c *webhookSender) start(out *outgoingEvent, run func()) {
	if c.closed {
		return
	}
	if c.pending >= maxPending {
		c.drop(out, "too many events are waiting")
		return
	}
	c.pending++
	c.inFlight.Go(func() {
		run()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pending--
	})
}

// deliver sends an event until it is accepted or the attempts are used up.
func (c *webhookSender) deliver(out *outgoingEvent) {
	for attempt := 1; ; attempt++ {
		if c.attempt(out, attempt) || attempt == deliveryAttempts || !c.sleep(retryDelay(attempt)) {
			return
		}
	}
}

// attempt posts an event once, signed now, and reports whether it was accepted.
func (c *webhookSender) attempt(out *outgoingEvent, attempt int) bool {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.ctx.Done():
		return false
	}
	entry := out.delivery
	entry.Attempt, entry.Outcome = attempt, Failed
	status, err := c.post(out)
	entry.Status = status
	switch {
	case err != nil:
		entry.Error = err.Error()
	case status >= 200 && status <= 299:
		entry.Outcome = Delivered
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(entry)
	return entry.Outcome == Delivered
}

func (c *webhookSender) post(out *outgoingEvent) (status int, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, deliveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.delivery.URL, bytes.NewReader(out.body))
	if err != nil {
		return 0, err
	}
	at := c.now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Frontdesk-Sandbox/1")
	req.Header.Set(SignatureHeader, fmt.Sprintf("t=%d,v1=%x", at.Unix(), sign(c.secret, at, out.body)))
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	// Reading a little lets the connection be reused; the content does not matter.
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	return resp.StatusCode, nil
}

// sleep waits, and reports whether the sender is still open afterwards.
func (c *webhookSender) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// sign returns the signature of a body that is sent at a time.
func sign(secret string, at time.Time, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.", at.Unix())
	mac.Write(body)
	return mac.Sum(nil)
}
