package oldsandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// SignatureHeader carries "t=<unix seconds>,v1=<hex HMAC-SHA256 of t, a dot and the body>".
const SignatureHeader = "Sandbox-Signature"

const (
	// deliveryTimeout is the time for one attempt. A receiver that stores the event and
	// responds needs far less.
	deliveryTimeout = 5 * time.Second

	// deliveryAttempts, with pauses of 1, 4 and 16 s, outlast the restart of a receiver, and end
	// within half a minute.
	deliveryAttempts = 4

	// maxDeliveries keeps many events from opening as many connections.
	maxDeliveries = 16

	// maxPending limits memory while a receiver is down. Events beyond it are dropped and
	// logged: they are hints, and the gateway polls as well.
	maxPending = 10_000
)

// event is a webhook's body.
type event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"createdAt"`
	Data      struct {
		Payment Payment `json:"payment"`
	} `json:"data"`
}

type outgoingEvent struct {
	id, kind, payment, url, world string
	body                          []byte
}

// webhookSender delivers events. It owns a goroutine for each event in progress and waits
// for all of them when it closes.
type webhookSender struct {
	cfg      ServerConfig
	ctx      context.Context
	cancel   context.CancelFunc
	inFlight errgroup.Group // limited to maxPending
	slots    chan struct{}

	mu       sync.Mutex                // held while an event starts, so that close waits for its deliveries
	settings map[string]Settings       // by demo world; those of defaultWorld are for worlds without their own
	held     map[string]*outgoingEvent // by demo world; waits to be overtaken (WebhooksReorder)
}

func newWebhookSender(cfg ServerConfig) *webhookSender {
	ctx, cancel := context.WithCancel(context.Background())
	c := &webhookSender{
		cfg: cfg, ctx: ctx, cancel: cancel, slots: make(chan struct{}, maxDeliveries),
		settings: map[string]Settings{defaultWorld: {Webhooks: WebhooksNormal}}, held: map[string]*outgoingEvent{},
	}
	c.inFlight.SetLimit(maxPending)
	return c
}

// settingsOf returns the settings of a demo world, or without its own those of the default world.
func (c *webhookSender) settingsOf(world string) Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	if own, ok := c.settings[world]; ok {
		return own
	}
	return c.settings[defaultWorld]
}

// configure replaces a demo world's settings.
func (c *webhookSender) configure(world string, settings Settings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.settings) > maxWorlds {
		c.settings = map[string]Settings{defaultWorld: c.settings[defaultWorld]}
	}
	c.settings[world] = settings
}

// close stops the deliveries in progress and waits for them.
func (c *webhookSender) close() {
	c.mu.Lock()
	c.cancel() // start adds no delivery after this
	c.mu.Unlock()
	_ = c.inFlight.Wait() // no delivery returns an error
}

// send makes an event of a payment and sends it as the settings say, without waiting.
func (c *webhookSender) send(p Payment, eventType string) {
	world := worldOf(p)
	settings := c.settingsOf(world)
	address := cmp.Or(settings.WebhookURL, p.WebhookURL)
	if address == "" {
		return
	}
	e := event{ID: newID("evt"), Type: eventType, CreatedAt: c.cfg.Now().UTC()}
	e.Data.Payment = p
	body, _ := json.Marshal(e) // a payment can always be encoded
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dispatch(&outgoingEvent{id: e.ID, kind: eventType, payment: p.ID, url: address, world: world, body: body}, settings.Webhooks)
}

// dispatch starts the deliveries of a mode; c.mu is held.
func (c *webhookSender) dispatch(out *outgoingEvent, mode WebhookMode) {
	switch mode {
	case WebhooksDrop:
		c.log(out, 0, 0, "dropped", nil)
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
	if first := c.held[out.world]; first != nil {
		delete(c.held, out.world)
		c.start(out, func() { c.deliver(out); c.deliver(first) })
		return
	}
	c.held[out.world] = out
	c.start(out, func() {
		if c.sleep(ReorderHold) && c.release(out) {
			c.deliver(out)
		}
	})
}

// release takes an event back that nothing has overtaken, and reports whether it was still held.
func (c *webhookSender) release(out *outgoingEvent) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[out.world] != out {
		return false
	}
	delete(c.held, out.world)
	return true
}

// start runs the delivery of an event in its own goroutine; c.mu is held.
func (c *webhookSender) start(out *outgoingEvent, run func()) {
	if c.ctx.Err() == nil && !c.inFlight.TryGo(func() error { run(); return nil }) {
		c.log(out, 0, 0, "dropped", errors.New("too many events are waiting"))
	}
}

func (c *webhookSender) deliver(out *outgoingEvent) {
	pause := time.Second
	for attempt := 1; !c.attempt(out, attempt) && attempt < deliveryAttempts && c.sleep(pause); attempt++ {
		pause *= 4
	}
}

// attempt posts an event once, and reports whether it was accepted.
func (c *webhookSender) attempt(out *outgoingEvent, attempt int) bool {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.ctx.Done():
		return false
	}
	status, err := c.post(out)
	if err == nil && status >= 200 && status <= 299 {
		c.log(out, attempt, status, "delivered", nil)
		return true
	}
	c.log(out, attempt, status, "failed", err)
	return false
}

func (c *webhookSender) log(out *outgoingEvent, attempt, status int, outcome string, err error) {
	c.cfg.Logger.Debug("sandbox webhook", "event", out.id, "type", out.kind, "payment", out.payment,
		"attempt", attempt, "status", status, "outcome", outcome, "error", err)
}

func (c *webhookSender) post(out *outgoingEvent) (status int, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, deliveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.url, bytes.NewReader(out.body))
	if err != nil {
		return 0, err
	}
	at := c.cfg.Now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Frontdesk-Sandbox/1")
	req.Header.Set(worldHeader, out.world) // so that developer tools know whose event it is
	req.Header.Set(SignatureHeader, fmt.Sprintf("t=%d,v1=%x", at.Unix(), sign(at, out.body)))
	resp, err := c.cfg.HTTPClient.Do(req)
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
	select {
	case <-time.After(d):
		return true
	case <-c.ctx.Done():
		return false
	}
}

func sign(at time.Time, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(DemoWebhookSecret))
	fmt.Fprintf(mac, "%d.", at.Unix())
	mac.Write(body)
	return mac.Sum(nil)
}
