// Package relay passes the club system's events on to subscribers: signed as Standard
// Webhooks, at least once, with retries and a list of dead deliveries for operators.
package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/jobs"
	"frontdesk/flows/keyring"
	"frontdesk/flows/tracing"
)

// Subscriber is who is told of the club system's events, which knows one address only.
type Subscriber struct {
	Name   string   `json:"name"`             // names it towards operators: small letters, digits, hyphens
	URL    string   `json:"url"`              // where deliveries go
	Secret string   `json:"secret"`           // signs them (Standard Webhooks): whsec_ and base64; while it is changed two, the new one first, with a comma between them
	Events []string `json:"events,omitempty"` // patterns such as contact.*; empty: every event
}

// wants tells whether the subscriber asked for an event.
func (s Subscriber) wants(event string) bool {
	for _, pattern := range s.Events {
		if match, _ := path.Match(pattern, event); match {
			return true
		}
	}
	return len(s.Events) == 0
}

// queue is the subscriber's own: whoever is slow, or away, holds up nobody else.
func (s Subscriber) queue() string { return "relay-" + s.Name }

// The figures of the relay.
const (
	// deliveryTimeout bounds one delivery: who needs longer is to answer first and work then.
	deliveryTimeout = 15 * time.Second
	// deliveryConcurrency to one subscriber: more than one, so that one that hangs is
	// not all; few, since it did not ask for a load test.
	deliveryConcurrency = 4
	// pollRelay: how long a delivery may lie; nobody waits before a page for it.
	pollRelay = 500 * time.Millisecond
	// relayDrainTimeout: a delivery under way when the gateway stops; what does not end by then is repeated.
	relayDrainTimeout = 5 * time.Second
	// keepDelivered: how long a delivery that was taken can be looked up, and is not made twice.
	keepDelivered = time.Hour
	// maxResponse bounds what is read of a subscriber's answer, which says nothing but its status.
	maxResponse = 4 << 10
)

// RetryAfterFailure is how long after its n-th failure (from 0) a delivery is tried
// again, the n growing with each; false after the last: it is dead then, until an
// operator replays it. Eleven tries in all, over 26 hours: the first within a
// restart, the last for who comes back to work the next day.
func RetryAfterFailure(n int) (pause time.Duration, more bool) {
	schedule := [...]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 10 * time.Hour}
	if n < 0 || n >= len(schedule) {
		return 0, false
	}
	return schedule[n], true
}

// retries is how often a delivery is tried again.
func retries() (n int) {
	for {
		if _, more := RetryAfterFailure(n); !more {
			return n
		}
		n++
	}
}

// deliverJob delivers one event to one subscriber.
const deliverJob = "webhook:deliver"

// Relay passes the club system's events on to subscribers: signed, at least once,
// in no order, and no more of them than names and identifiers.
type Relay struct {
	cfg       Config
	inspector *asynq.Inspector
	servers   []*asynq.Server
}

// Store is what the relay needs of Redis.
type Store interface {
	// ClubEventCounts tells how many came of each kind, and how many were "dropped".
	ClubEventCounts(ctx context.Context) (map[string]string, error)
	// ClubEventsWaiting tells how many events wait.
	ClubEventsWaiting(ctx context.Context) (int64, error)
	// Audit appends to the audit stream, which is bounded and in plain.
	Audit(ctx context.Context, entry flows.AuditEntry) error
}

// Config is what a relay needs; every field is required unless said.
type Config struct {
	Queue       *jobs.Queue
	Keys        *keyring.Keyring
	Store       Store        // for the audit stream
	Client      *http.Client // carries deliveries; see NewClient
	Subscribers []Subscriber // checked by CheckSubscribers; may be empty
	Now         func() time.Time
	Log         *slog.Logger
}

// New makes a relay that delivers nothing yet.
func New(cfg Config) *Relay {
	return &Relay{cfg: cfg, inspector: cfg.Queue.NewInspector()}
}

// Payload is what subscribers get (Standard Webhooks, payload structure). An identifier
// is in it as the public API has it, without the organisation.
type Payload struct {
	Type      string            `json:"type"`
	Timestamp time.Time         `json:"timestamp"` // when Frontdesk heard of it; the club system does not say when it happened
	Data      map[string]string `json:"data"`
}

// deliveryID names an event's delivery to a subscriber.
func deliveryID(event, subscriber string) string { return event + "@" + subscriber }

// Enqueue has events delivered to the subscribers that want them. Asked again it
// does nothing for what is on its way, and for what was delivered within the hour.
func (r *Relay) Enqueue(ctx context.Context, events []flows.Event) error {
	for _, s := range r.cfg.Subscribers {
		if r.gone(s) {
			continue
		}
		for _, n := range events {
			if !s.wants(n.Type) {
				continue
			}
			if err := r.enqueueOne(ctx, s, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Relay) enqueueOne(ctx context.Context, s Subscriber, n flows.Event) error {
	body := Payload{Type: n.Type, Timestamp: n.At, Data: map[string]string{}}
	for member, iri := range n.Object {
		body.Data[member] = iri.ID()
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	id := deliveryID(n.ID, s.Name)
	job := asynq.NewTaskWithHeaders(deliverJob, r.cfg.Keys.Seal(id, text), map[string]string{"event": n.ID, "type": n.Type, tracing.TraceHeader: n.Trace})
	err = r.cfg.Queue.Enqueue(ctx, job, asynq.Queue(s.queue()), asynq.TaskID(id), asynq.MaxRetry(retries()),
		asynq.Timeout(deliveryTimeout), asynq.Retention(keepDelivered))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// Start begins the deliveries, each subscriber's by workers of its own.
func (r *Relay) Start(kept trace.TracerProvider) error {
	for _, s := range r.cfg.Subscribers {
		server := r.cfg.Queue.NewServer(asynq.Config{
			Concurrency: deliveryConcurrency, Queues: map[string]int{s.queue(): 1}, TaskCheckInterval: pollRelay, ShutdownTimeout: relayDrainTimeout,
			RetryDelayFunc: pauseAfter,
			Logger:         jobs.AsynqLogger{Log: r.cfg.Log}, LogLevel: asynq.ErrorLevel,
		})
		mux := asynq.NewServeMux()
		mux.Use(jobs.TraceJobs(kept))
		mux.HandleFunc(deliverJob, func(ctx context.Context, job *asynq.Task) error { return r.deliver(ctx, s, job) })
		if err := server.Start(mux); err != nil {
			return fmt.Errorf("deliveries to %s cannot start: %w", s.Name, err)
		}
		r.servers = append(r.servers, server)
	}
	return nil
}

// Stop ends the deliveries; those that are not over in time are repeated elsewhere.
func (r *Relay) Stop() {
	var all sync.WaitGroup
	for _, server := range r.servers {
		all.Go(server.Shutdown)
	}
	all.Wait()
}

// deliver makes one try. Its error is kept for operators in plain, so that it names
// neither the address, which may hold a password, nor what was sent.
func (r *Relay) deliver(ctx context.Context, s Subscriber, job *asynq.Task) error {
	event := job.Headers()["event"]
	tried, _ := asynq.GetRetryCount(ctx)
	trace.SpanFromContext(ctx).SetAttributes(attribute.String("subscriber", s.Name), attribute.Int("attempt", tried+1))
	text, err := r.cfg.Keys.Open(deliveryID(event, s.Name), job.Payload())
	if err != nil {
		return fmt.Errorf("sealed by a key that is gone: %w", asynq.SkipRetry)
	}
	answer, err := r.post(ctx, s, event, text)
	trace.SpanFromContext(ctx).SetAttributes(attribute.Int("status", answer.status))
	switch {
	case err != nil:
		return err
	case answer.status == http.StatusGone: // the subscriber wants no more (Standard Webhooks, section Retries)
		r.cfg.Log.WarnContext(ctx, "subscriber gone; deliveries paused until an operator enables it", "subscriber", s.Name)
		if err := r.inspector.PauseQueue(s.queue()); err != nil {
			r.cfg.Log.DebugContext(ctx, "deliveries already paused", "subscriber", s.Name, "error", err)
		}
		return fmt.Errorf("status 410, so that nothing more is sent: %w", asynq.SkipRetry)
	case answer.status < 200 || answer.status > 299:
		return answer
	}
	return nil
}

// post sends a signed delivery and gives its answer. What the network
// says of a failure names addresses, so that it goes to the log alone.
func (r *Relay) post(ctx context.Context, s Subscriber, event string, text []byte) (deliveryResponse, error) {
	now := r.cfg.Now()
	signature, err := s.sign(event, now, text)
	if err != nil {
		return deliveryResponse{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(text))
	if err != nil {
		return deliveryResponse{}, errors.New("the address is not one")
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Frontdesk",
		standardwebhooks.HeaderWebhookID:        event,
		standardwebhooks.HeaderWebhookTimestamp: strconv.FormatInt(now.Unix(), 10),
		standardwebhooks.HeaderWebhookSignature: signature,
	} {
		request.Header.Set(name, value)
	}
	response, err := r.cfg.Client.Do(request)
	switch {
	case errors.Is(err, ErrDestination):
		return deliveryResponse{}, ErrDestination
	case err != nil && ctx.Err() != nil:
		return deliveryResponse{}, errors.New("no answer in time")
	case err != nil:
		r.cfg.Log.DebugContext(ctx, "delivery failed", "subscriber", s.Name, "error", err)
		return deliveryResponse{}, errors.New("it could not be reached, or gave no answer")
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // so that the connection can be used again
	return readResponse(response, r.cfg.Now), nil
}

// gone tells whether a subscriber has said that it wants no more.
func (r *Relay) gone(s Subscriber) bool {
	info, err := r.info(s)
	return err == nil && info.Paused // what cannot be asked now cannot be enqueued either
}

// info tells how a subscriber's queue stands. One to which nothing was ever
// enqueued does not exist, which the library takes for a failure.
func (r *Relay) info(s Subscriber) (*asynq.QueueInfo, error) {
	queues, err := r.inspector.Queues()
	if err != nil || !slices.Contains(queues, s.queue()) {
		return &asynq.QueueInfo{}, err
	}
	return r.inspector.GetQueueInfo(s.queue())
}
