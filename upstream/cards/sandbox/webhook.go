package sandbox

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
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/upstream/cards"
)

const (
	// deliveryTimeout bounds one attempt: a receiver that stores the event and answers
	// needs far less.
	deliveryTimeout = 5 * time.Second

	// deliveryAttempts, with pauses of 1, 4 and 16 s, outlast the restart of a receiver. Stripe
	// continues for days.
	deliveryAttempts = 4

	// maxConnections keeps a burst of events from opening as many connections.
	maxConnections = 16

	// maxPending limits memory while a receiver is down. Deliveries beyond it are dropped and
	// logged: they are hints, and the gateway polls as well.
	maxPending = 10_000

	// LateDelay is long enough that the buyer is back before the event, and short enough to
	// wait for in a test.
	LateDelay = 5 * time.Second

	// ReorderHold is the longest that an event waits to be overtaken, so that the last one of
	// a test is not lost.
	ReorderHold = 10 * time.Second

	// worldHeader names the demo world of a delivery, for developer tools.
	worldHeader = "X-Frontdesk-World"

	// refundEvents is the release from which every refund has refund.* events. Before it, there is charge.refund.updated
	// (https://docs.stripe.com/changelog/acacia/2024-10-28/refund-events).
	refundEvents = "2024-10-28"
)

// Endpoint is a webhook endpoint of an account.
type Endpoint struct {
	ID         string   // zero: its number
	URL        string   // required
	Secrets    []string // that sign; zero: those of the account
	Events     []string // that are sent, by type; zero: "*", all
	APIVersion string   // of the events; zero: APIVersion
	Disabled   bool
}

// SetEndpoints replaces the endpoints of the first account.
func (s *Server) SetEndpoints(all ...Endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[0].Endpoints = all
}

// endpoints returns where the events of an account go: to the address that is set, or else to its endpoints and to the address that a
// caller names, which gets the events that a gateway's endpoint must get.
func (s *Server) endpoints(of *account, set Settings, named string) (all []Endpoint) {
	switch {
	case set.WebhookURL != "":
		all = []Endpoint{{URL: set.WebhookURL}}
	case named != "":
		all = append(slices.Clip(of.Endpoints), Endpoint{URL: named, Events: cards.RequiredEvents})
	default:
		all = slices.Clone(of.Endpoints)
	}
	for i := range all {
		endpoint := &all[i]
		endpoint.ID, endpoint.APIVersion = cmp.Or(endpoint.ID, fmt.Sprint("we_", i+1)), cmp.Or(endpoint.APIVersion, APIVersion)
		if len(endpoint.Secrets) == 0 {
			endpoint.Secrets = of.WebhookSecrets
		}
		if len(endpoint.Events) == 0 {
			endpoint.Events = []string{"*"}
		}
		switch {
		case set.Secrets == 1:
			endpoint.Secrets = endpoint.Secrets[:1]
		case set.Secrets > len(endpoint.Secrets):
			endpoint.Secrets = []string{endpoint.Secrets[0], endpoint.Secrets[0] + "_next"}
		}
	}
	return all
}

// listEndpoints is GET /v1/webhook_endpoints: those of the account, with the address that is set or that the caller names. There are
// never more than a page.
func (s *Server) listEndpoints(rq *request) (any, error) {
	_, err := rq.pageSize()
	var page []rendering
	for _, endpoint := range s.endpoints(rq.account, s.store.of(defaultWorld), rq.header.Get(webhookURLHeader)) {
		status := "enabled"
		if endpoint.Disabled {
			status = "disabled"
		}
		page = append(page, func() object {
			return object{
				"object":         "webhook_endpoint",
				"id":             endpoint.ID,
				"api_version":    endpoint.APIVersion,
				"created":        s.cfg.Now().Unix(),
				"enabled_events": endpoint.Events,
				"livemode":       rq.account.live,
				"metadata":       object{},
				"url":            endpoint.URL,
				"status":         status,
			}
		})
	}
	return listOf("/v1/webhook_endpoints", page, false), err
}

// named returns the type of an event in the endpoint's release; empty: it is not sent there.
func (e Endpoint) named(kind string) string {
	if e.APIVersion < refundEvents && strings.HasPrefix(kind, "refund.") {
		if kind == "refund.created" {
			return ""
		}
		kind = "charge.refund.updated"
	}
	if e.Disabled || !slices.Contains(e.Events, "*") && !slices.Contains(e.Events, kind) {
		return ""
	}
	return kind
}

// Delivery is an event on its way to one endpoint.
type Delivery struct {
	ID, Type, URL  string
	Payment, World string // whose event it is
	Body           []byte
	Signature      string // of the header Stripe-Signature
}

// outgoing is an event for one endpoint.
type outgoing struct {
	Delivery
	secrets []string
	mode    WebhookMode
	of      *intent
	render  rendering // of the body
}

// emit makes an event about an object as it is now, for each endpoint that wants it; rq is the call that caused it, nil
// for a step of a buyer. The lock of the Server is held.
func (s *Server) emit(rq *request, in *intent, kind string, about rendering) {
	settings := s.store.of(in.world)
	to := s.endpoints(in.account, settings, in.webhookURL)
	id, now := "", s.cfg.WorldNow(in.world)
	for _, endpoint := range to {
		if kind := endpoint.named(kind); kind != "" {
			id = cmp.Or(id, s.newID("evt"))
			s.outbox = append(s.outbox, &outgoing{
				Delivery: Delivery{
					ID:      id,
					Type:    kind,
					URL:     endpoint.URL,
					Payment: in.id,
					World:   in.world,
				},
				secrets: endpoint.Secrets,
				mode:    settings.Webhooks,
				of:      in,
				render:  event(rq, id, kind, endpoint.APIVersion, now, in.account.live, about),
			})
		}
	}
}

// event renders an event (https://docs.stripe.com/api/events/object).
func event(rq *request, id, kind, version string, at time.Time, live bool, about rendering) rendering {
	cause := object{"id": nil, "idempotency_key": nil}
	if rq != nil {
		cause = object{"id": rq.requestID, "idempotency_key": orNull(rq.key)}
	}
	return func() object {
		return object{
			"object": "event", "id": id, "api_version": version, "created": at.Unix(), "data": object{"object": about()}, "livemode": live,
			"pending_webhooks": 1, "request": cause, "type": kind,
		}
	}
}

// Sign returns the header Stripe-Signature of an event (https://docs.stripe.com/webhooks#verify-manually). It does not use Stripe's
// library, so that the two can disagree.
func Sign(at time.Time, body []byte, secrets ...string) string {
	header := fmt.Sprintf("t=%d", at.Unix())
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		header += fmt.Sprintf(",v1=%x", mac.Sum(nil))
	}
	return header + ",v0=not-checked"
}

// webhookSender delivers events. It owns a goroutine for each delivery in progress. Server.Close waits for all of them.
type webhookSender struct {
	cfg      Config
	closed   context.Context
	inFlight errgroup.Group // limited to maxPending
	slots    chan struct{}
	gone     func(*intent) bool // whether the payment of an event was dropped

	mu   sync.Mutex           // held while a delivery starts, so that Server.Close waits for it
	held map[string]*outgoing // by world and address; waits to be overtaken (Reorder)
}

// send delivers an event as its mode says, and does not wait for it.
func (w *webhookSender) send(out *outgoing) {
	if out.mode == Drop {
		w.log(out, 0, 0, "dropped", nil)
		return
	}
	body, err := json.Marshal(out.render)
	if err != nil {
		panic(err) // of a value without JSON: see Distort
	}
	out.Body = body
	out.render = nil
	if w.cfg.Deliver != nil {
		out.Signature = Sign(w.cfg.WorldNow(out.World), out.Body, out.secrets...)
		w.cfg.Deliver(out.Delivery)
		if out.mode == Duplicate {
			w.cfg.Deliver(out.Delivery)
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	deliver := func() { w.deliver(out) }
	switch out.mode {
	case Late:
		w.start(out, func() {
			if w.sleep(LateDelay) {
				deliver()
			}
		})
	case Reorder:
		w.reorder(out)
	case Duplicate:
		w.start(out, deliver)
		fallthrough
	default:
		w.start(out, deliver)
	}
}

// reorder holds an event until the next one to its address has overtaken it, or for ReorderHold; w.mu is
// held.
func (w *webhookSender) reorder(out *outgoing) {
	line := out.World + " " + out.URL
	if first := w.held[line]; first != nil {
		delete(w.held, line)
		w.start(out, func() { w.deliver(out); w.deliver(first) })
		return
	}
	w.held[line] = out
	w.start(out, func() {
		slept := w.sleep(ReorderHold)
		w.mu.Lock()
		alone := w.held[line] == out
		if alone {
			delete(w.held, line)
		}
		w.mu.Unlock()
		if slept && alone {
			w.deliver(out)
		}
	})
}

// start runs a delivery in its own goroutine; w.mu is held.
func (w *webhookSender) start(out *outgoing, run func()) {
	if w.closed.Err() == nil && !w.inFlight.TryGo(func() error { run(); return nil }) {
		w.log(out, 0, 0, "dropped", errors.New("too many events are waiting"))
	}
}

// deliver posts an event until the receiver accepts it, the attempts are used up or its world is reset.
func (w *webhookSender) deliver(out *outgoing) {
	pause := time.Second
	for attempt := 1; !w.gone(out.of) && !w.attempt(out, attempt) && attempt < deliveryAttempts && w.sleep(pause); attempt++ {
		pause *= 4
	}
}

// attempt posts an event once, signed now, and reports whether the receiver accepted it.
func (w *webhookSender) attempt(out *outgoing, attempt int) (accepted bool) {
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-w.closed.Done():
		return false
	}
	status, err := w.post(out)
	accepted = err == nil && status >= 200 && status <= 299
	outcome := "failed"
	if accepted {
		outcome = "delivered"
	}
	w.log(out, attempt, status, outcome, err)
	return accepted
}

func (w *webhookSender) post(out *outgoing) (status int, err error) {
	ctx, cancel := context.WithTimeout(w.closed, deliveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.URL, bytes.NewReader(out.Body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	req.Header.Set(worldHeader, out.World)
	req.Header.Set("Stripe-Signature", Sign(w.cfg.WorldNow(out.World), out.Body, out.secrets...))
	resp, err := w.cfg.HTTPClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	// Reading a little lets the connection be reused; the content does not matter.
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	return resp.StatusCode, nil
}

func (w *webhookSender) log(out *outgoing, attempt, status int, outcome string, err error) {
	w.cfg.Logger.Debug("sandbox webhook", "event", out.ID, "type", out.Type, "payment", out.Payment,
		"attempt", attempt, "status", status, "outcome", outcome, "error", err)
}

// sleep waits, and reports whether the sender is still open afterwards.
func (w *webhookSender) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-w.closed.Done():
		return false
	}
}
