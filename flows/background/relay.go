package background

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// Subscriber receives the club system's events, and Frontdesk's own. The club system itself sends them to one address only.
type Subscriber struct {
	Name string `json:"name"` // for operators: lower-case letters, digits, hyphens
	URL  string `json:"url"`  // where deliveries go
	// Secret signs deliveries (Standard Webhooks): whsec_ and base64. During a change there are two, comma-separated, the new
	// one first.
	Secret string   `json:"secret"`
	Events []string `json:"events,omitempty"` // patterns such as contact.*; empty: every event
	// Confirms: the subscriber sends buyers the confirmation that it gets with registration.completed.
	Confirms bool `json:"confirms,omitempty"`
}

func (s Subscriber) matches(event string) bool {
	for _, pattern := range s.Events {
		if match, _ := path.Match(pattern, event); match {
			return true
		}
	}
	return len(s.Events) == 0
}

// Sends reports whether the subscriber gets an event, and sends its buyer the confirmation that comes with it.
func (s Subscriber) Sends(event string) bool { return s.Confirms && s.matches(event) }

// queue is the subscriber's own, so that a slow subscriber delays no other.
func (s Subscriber) queue() string { return "relay-" + s.Name }

const (
	// deliveryTimeout bounds one delivery. Subscribers respond first and work then.
	deliveryTimeout = 15 * time.Second
	// deliveryConcurrency is per subscriber: one request that hangs does not stop the others, and
	// the subscriber is not flooded.
	deliveryConcurrency = 4
	// pollRelay is how long a delivery waits for an idle worker; no page waits for it.
	pollRelay = 500 * time.Millisecond
	// relayDrainTimeout bounds a delivery in progress at shutdown; a longer one is repeated.
	relayDrainTimeout = 5 * time.Second
	// keepDelivered is how long a delivery can be looked up, and is not made twice.
	keepDelivered = time.Hour
	// maxWaiting deliveries of a subscriber wait at most, a night's events of a large chain. Further ones are dead at
	// once, of which at most as many are kept.
	maxWaiting = 10_000
	// maxResponse bounds what is read of a response, of which only the status counts.
	maxResponse = 4 << 10
)

// Relay passes the club system's events on to subscribers, only their names and identifiers, and publishes Frontdesk's own: signed
// as Standard Webhooks, at least once, in no order. What fails is retried; what fails for good is kept for operators.
type Relay struct {
	cfg       Config
	inspector *asynq.Inspector
	streaks   map[string]*streak // by subscriber
}

func newRelay(cfg Config) *Relay {
	r := &Relay{cfg: cfg, inspector: cfg.Queue.inspector, streaks: map[string]*streak{}}
	for _, subscriber := range cfg.Subscribers {
		r.streaks[subscriber.Name] = &streak{}
	}
	return r
}

// payload is what subscribers receive (Standard Webhooks, payload structure).
type payload struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the receipt of the club system's events: it does not say when they happened
	Data      any       `json:"data"`      // identifiers as in the public API, without the organisation; of own events their data
}

// deliveryID identifies an event's delivery to a subscriber.
func deliveryID(event, subscriber string) string { return event + "@" + subscriber }

// Enqueue delivers events to the subscribers that match them. It does nothing for a
// delivery that is in progress, or was made within the last hour.
func (r *Relay) Enqueue(ctx context.Context, events []flows.Event) error {
	queued := make([]queuedEvent, len(events))
	for i, event := range events {
		data := map[string]string{}
		for member, iri := range event.Object {
			data[member] = iri.ID()
		}
		queued[i] = queuedEvent{event.ID, event.Trace, payload{event.Type, flows.Instant(event.At), data}}
	}
	return r.enqueueAll(ctx, queued)
}

// queuedEvent is an event on its way to subscribers.
type queuedEvent struct {
	id, trace string
	payload   payload
}

func (r *Relay) enqueueAll(ctx context.Context, events []queuedEvent) error {
	for _, subscriber := range r.cfg.Subscribers {
		queue, err := r.info(subscriber)
		if err == nil && queue.Paused { // gone; while the queue cannot be read, nothing can be enqueued either
			continue
		}
		full := err == nil && queue.Pending+queue.Active+queue.Scheduled+queue.Retry >= maxWaiting
		for _, event := range events {
			if !subscriber.matches(event.payload.Type) {
				continue
			}
			if err := r.enqueue(ctx, subscriber, event, full); err != nil {
				return err
			}
		}
	}
	return nil
}

// enqueue adds a delivery. If the subscriber's queue is full, it is dead at once, unless a worker was quicker.
func (r *Relay) enqueue(ctx context.Context, subscriber Subscriber, event queuedEvent, full bool) error {
	text, err := json.Marshal(event.payload)
	if err != nil {
		return err
	}
	id := deliveryID(event.id, subscriber.Name)
	headers := map[string]string{"event": event.id, "type": event.payload.Type, tracing.TraceHeader: event.trace}
	job := asynq.NewTaskWithHeaders(deliverJob, r.cfg.Keys.Seal(id, text), headers)
	err = r.cfg.Queue.enqueue(ctx, job, asynq.Queue(subscriber.queue()), asynq.TaskID(id), asynq.MaxRetry(len(retryPauses)),
		asynq.Timeout(deliveryTimeout), asynq.Retention(keepDelivered))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	if err == nil && full {
		if err := r.inspector.ArchiveTask(subscriber.queue(), id); err != nil {
			r.cfg.Log.DebugContext(ctx, "delivery beyond the limit not archived", "subscriber", subscriber.Name, "error", err)
		}
	}
	return err
}

// run makes the deliveries to a subscriber until the context ends. Those that do not finish in time are repeated elsewhere.
func (r *Relay) run(ctx context.Context, subscriber Subscriber) error {
	settings := asynq.Config{
		Queues:            map[string]int{subscriber.queue(): 1},
		Concurrency:       deliveryConcurrency,
		TaskCheckInterval: pollRelay,
		ShutdownTimeout:   relayDrainTimeout,
		RetryDelayFunc:    r.pauseAfter(subscriber),
		IsFailure:         func(err error) bool { return !errors.Is(err, errPaused) },
		LogLevel:          asynq.ErrorLevel,
	}
	return r.cfg.serveJobs(ctx, settings, map[string]asynq.HandlerFunc{
		deliverJob: func(ctx context.Context, job *asynq.Task) error { return r.deliver(ctx, subscriber, job) },
	})
}

// deliver makes one attempt. Operators see its error in plain text, so that it names
// neither the address, which may hold a password, nor what was sent.
func (r *Relay) deliver(ctx context.Context, subscriber Subscriber, job *asynq.Task) error {
	event, span := job.Headers()["event"], trace.SpanFromContext(ctx)
	failures, _ := asynq.GetRetryCount(ctx)
	streak := r.streaks[subscriber.Name]
	if failures == 0 && !streak.admit(r.cfg.Now()) {
		return errPaused
	}
	span.SetAttributes(attribute.String("subscriber", subscriber.Name), attribute.Int("attempt", failures+1))
	text, err := r.cfg.Keys.Open(deliveryID(event, subscriber.Name), job.Payload())
	if err != nil {
		return errors.New("sealed by an unknown key; a gateway that has the key can deliver it")
	}
	response, err := r.post(ctx, subscriber, event, text)
	streak.report(r.cfg.Now(), err == nil && response.ok())
	span.SetAttributes(attribute.Int("status", response.status))
	switch {
	case err != nil:
		return err
	case response.status == http.StatusGone: // the subscriber wants no more (Standard Webhooks, section Retries)
		r.cfg.Log.WarnContext(ctx, "subscriber gone; deliveries paused until an operator enables it", "subscriber", subscriber.Name)
		if err := r.inspector.PauseQueue(subscriber.queue()); err != nil {
			r.cfg.Log.DebugContext(ctx, "deliveries already paused", "subscriber", subscriber.Name, "error", err)
		}
		return fmt.Errorf("status 410, no more events are sent: %w", asynq.SkipRetry)
	case !response.ok():
		return response
	}
	return nil
}

// post sends a signed delivery. Network errors name addresses, so only the log gets them.
func (r *Relay) post(ctx context.Context, subscriber Subscriber, event string, text []byte) (deliveryResponse, error) {
	now := r.cfg.Now()
	signature, err := subscriber.sign(event, now, text)
	if err != nil {
		return deliveryResponse{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, subscriber.URL, bytes.NewReader(text))
	if err != nil {
		return deliveryResponse{}, errors.New("the address is invalid")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Frontdesk")
	request.Header.Set(standardwebhooks.HeaderWebhookID, event)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	response, err := r.cfg.Client.Do(request)
	switch {
	case errors.Is(err, ErrDestination):
		return deliveryResponse{}, ErrDestination
	case err != nil && ctx.Err() != nil:
		return deliveryResponse{}, errors.New("no response in time")
	case err != nil:
		r.cfg.Log.DebugContext(ctx, "delivery failed", "subscriber", subscriber.Name, "error", err)
		return deliveryResponse{}, errors.New("the subscriber could not be reached or did not respond")
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // so that the connection can be used again
	return readResponse(response, r.cfg.Now), nil
}

// secrets returns the subscriber's secrets, either of which it may verify with.
func (s Subscriber) secrets() []string { return strings.Split(s.Secret, ",") }

// sign signs a delivery with each of the subscriber's secrets (Standard Webhooks, section Signature scheme).
func (s Subscriber) sign(event string, at time.Time, text []byte) (string, error) {
	var signatures []string
	for _, secret := range s.secrets() {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return "", errors.New("the secret is invalid")
		}
		signature, err := signer.Sign(event, at, text)
		if err != nil {
			return "", errors.New("the delivery could not be signed")
		}
		signatures = append(signatures, signature)
	}
	return strings.Join(signatures, " "), nil
}

func (r *Relay) info(subscriber Subscriber) (*asynq.QueueInfo, error) {
	return queueInfo(r.inspector, subscriber.queue())
}

// queueInfo returns the state of a queue, which does not exist before its first job.
func queueInfo(inspector *asynq.Inspector, queue string) (*asynq.QueueInfo, error) {
	queues, err := inspector.Queues()
	if err != nil || !slices.Contains(queues, queue) {
		return &asynq.QueueInfo{}, err
	}
	return inspector.GetQueueInfo(queue)
}
