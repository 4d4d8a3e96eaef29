package relay

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/flows"
)

// DeliveryState is where a delivery to a subscriber stands.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaiting   DeliveryState = "waiting"   // on its way, or about to be
	DeliveryRetrying  DeliveryState = "retrying"  // it failed, and is tried again
	DeliveryDead      DeliveryState = "dead"      // it failed for good; kept for 90 days, the oldest of 10,000 go
	DeliveryDelivered DeliveryState = "delivered" // it was taken; kept for an hour
)

// DeliveryStates lists every state.
var DeliveryStates = []DeliveryState{DeliveryWaiting, DeliveryRetrying, DeliveryDead, DeliveryDelivered}

// Delivery is an event on its way to a subscriber.
type Delivery struct {
	ID         string        `json:"id"`
	Subscriber string        `json:"subscriber"`
	Event      string        `json:"event"` // its name
	State      DeliveryState `json:"state"`
	Failures   int           `json:"failures"`
	LastError  string        `json:"lastError,omitempty"`
	LastFailed *time.Time    `json:"lastFailed,omitempty"`
	Next       *time.Time    `json:"next,omitempty"` // of one that is retried
	Body       string        `json:"body,omitempty"` // what is delivered; only of a single one
}

// Subscription is how a subscriber stands.
type Subscription struct {
	Name      string   `json:"name"`
	Host      string   `json:"host"` // its address has more, which may be a password
	Events    []string `json:"events,omitempty"`
	Gone      bool     `json:"gone"` // it answered 410: nothing is sent until it is enabled
	Waiting   int      `json:"waiting"`
	Retrying  int      `json:"retrying"`
	Dead      int      `json:"dead"`
	Delivered int      `json:"delivered"` // within the last hour
	LatencyMs int64    `json:"latencyMs"` // of the oldest that waits
}

// Deliveries are the relay as operators see it.
type Deliveries struct {
	Subscribers []Subscription    `json:"subscribers"`
	Received    map[string]string `json:"received"` // events by name, and unknown, foreign, unreadable, dropped ones
	Pending     int64             `json:"unworked"` // stored, and not worked on yet
	Items       []Delivery        `json:"items"`
}

// maxDeliveries is what one list shows of each subscriber: more is for nobody's eyes.
const maxDeliveries = 100

// Deliveries shows how the relay stands, with the deliveries in a state; for the
// empty one, those that are retried or dead. InvalidRequest for any other word.
func (r *Relay) Deliveries(ctx context.Context, state DeliveryState) (Deliveries, error) {
	states := []DeliveryState{DeliveryRetrying, DeliveryDead}
	if state != "" {
		if !slices.Contains(DeliveryStates, state) {
			return Deliveries{}, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/state", Message: "There is no such state."}}}
		}
		states = []DeliveryState{state}
	}
	received, err := r.cfg.Store.ClubEventCounts(ctx)
	if err != nil {
		return Deliveries{}, flows.StorageFailed(err)
	}
	waiting, err := r.cfg.Store.ClubEventsWaiting(ctx)
	if err != nil {
		return Deliveries{}, flows.StorageFailed(err)
	}
	all := Deliveries{Subscribers: []Subscription{}, Received: received, Pending: waiting, Items: []Delivery{}}
	for _, s := range r.cfg.Subscribers {
		subscription, err := r.subscription(s)
		if err != nil {
			return Deliveries{}, flows.StorageFailed(err)
		}
		all.Subscribers = append(all.Subscribers, subscription)
		for _, state := range states {
			items, err := r.list(s, state)
			if err != nil {
				return Deliveries{}, flows.StorageFailed(err)
			}
			all.Items = append(all.Items, items...)
		}
	}
	return all, nil
}

func (r *Relay) subscription(s Subscriber) (Subscription, error) {
	view := Subscription{Name: s.Name, Events: s.Events}
	if u, err := url.Parse(s.URL); err == nil {
		view.Host = u.Host
	}
	info, err := r.info(s)
	if err != nil {
		return view, err
	}
	view.Gone, view.Waiting, view.Retrying = info.Paused, info.Pending+info.Active+info.Scheduled, info.Retry
	view.Dead, view.Delivered, view.LatencyMs = info.Archived, info.Completed, info.Latency.Milliseconds()
	return view, nil
}

func (r *Relay) list(s Subscriber, state DeliveryState) ([]Delivery, error) {
	lists := map[DeliveryState][]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		DeliveryWaiting:  {r.inspector.ListPendingTasks, r.inspector.ListActiveTasks},
		DeliveryRetrying: {r.inspector.ListRetryTasks}, DeliveryDead: {r.inspector.ListArchivedTasks}, DeliveryDelivered: {r.inspector.ListCompletedTasks},
	}
	var all []Delivery
	for _, list := range lists[state] {
		jobs, err := list(s.queue(), asynq.PageSize(maxDeliveries))
		if errors.Is(err, asynq.ErrQueueNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			all = append(all, deliveryOf(s, job))
		}
	}
	return all, nil
}

func deliveryOf(s Subscriber, job *asynq.TaskInfo) Delivery {
	d := Delivery{ID: job.ID, Subscriber: s.Name, Event: job.Headers["type"], State: DeliveryWaiting, Failures: job.Retried, LastError: job.LastErr}
	switch job.State {
	case asynq.TaskStateRetry:
		d.State, d.Next = DeliveryRetrying, &job.NextProcessAt
	case asynq.TaskStateArchived:
		d.State = DeliveryDead
		d.Failures++ // the last one is not a retry any more
	case asynq.TaskStateCompleted:
		d.State = DeliveryDelivered
	}
	if !job.LastFailedAt.IsZero() {
		d.LastFailed = &job.LastFailedAt
	}
	return d
}

// Delivery shows one delivery with what is delivered. NotFound.
func (r *Relay) Delivery(_ context.Context, id string) (Delivery, error) {
	s, err := r.subscriberOf(id)
	if err != nil {
		return Delivery{}, err
	}
	job, err := r.inspector.GetTaskInfo(s.queue(), id)
	if err != nil {
		return Delivery{}, deliveryFailed(err)
	}
	d := deliveryOf(s, job)
	if text, err := r.cfg.Keys.Open(id, job.Payload); err == nil {
		d.Body = string(text)
	}
	return d, nil
}

// Replay delivers once more what is retried, dead or was delivered, now and in an
// operator's name. NotDecidable while it is on its way.
func (r *Relay) Replay(ctx context.Context, id, by string) (Delivery, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return Delivery{}, err
	}
	s, err := r.subscriberOf(id)
	if err != nil {
		return Delivery{}, err
	}
	job, err := r.inspector.GetTaskInfo(s.queue(), id)
	switch {
	case err != nil:
		return Delivery{}, deliveryFailed(err)
	case job.State == asynq.TaskStatePending || job.State == asynq.TaskStateActive:
		return Delivery{}, &flows.Error{Code: flows.NotDecidable, Detail: "It is on its way already."}
	}
	if err := r.audit(ctx, "replay", by); err != nil {
		return Delivery{}, err
	}
	if err := r.inspector.RunTask(s.queue(), id); err != nil {
		return Delivery{}, deliveryFailed(err)
	}
	return r.Delivery(ctx, id)
}

// Replayed is how many dead deliveries of a subscriber go out once more.
type Replayed struct {
	Subscriber string `json:"subscriber"`
	Deliveries int    `json:"deliveries"`
}

// ReplayAll delivers all that is dead of a subscriber once more.
func (r *Relay) ReplayAll(ctx context.Context, subscriber, by string) (Replayed, error) {
	s, err := r.subscriber(subscriber)
	if err == nil {
		err = (flows.Decision{Operator: by}).Validate()
	}
	if err == nil {
		err = r.audit(ctx, "replay-all", by)
	}
	if err != nil {
		return Replayed{}, err
	}
	info, err := r.info(s)
	if err != nil || info.Archived == 0 {
		return Replayed{Subscriber: s.Name}, flows.StorageFailed(err)
	}
	n, err := r.inspector.RunAllArchivedTasks(s.queue())
	return Replayed{s.Name, n}, flows.StorageFailed(err)
}

// Enable delivers again to a subscriber that said that it was gone.
func (r *Relay) Enable(ctx context.Context, subscriber, by string) (Subscription, error) {
	s, err := r.subscriber(subscriber)
	if err == nil {
		err = (flows.Decision{Operator: by}).Validate()
	}
	if err == nil {
		err = r.audit(ctx, "enable", by)
	}
	if err != nil {
		return Subscription{}, err
	}
	if r.gone(s) {
		if err := r.inspector.UnpauseQueue(s.queue()); err != nil {
			return Subscription{}, flows.StorageFailed(err)
		}
	}
	view, err := r.subscription(s)
	return view, flows.StorageFailed(err)
}

func (r *Relay) audit(ctx context.Context, what, by string) error {
	return flows.StorageFailed(r.cfg.Store.Audit(ctx, flows.AuditEntry{At: r.cfg.Now(), Operator: by, Action: what}))
}

func (r *Relay) subscriber(name string) (Subscriber, error) {
	for _, s := range r.cfg.Subscribers {
		if s.Name == name {
			return s, nil
		}
	}
	return Subscriber{}, &flows.Error{Code: flows.NotFound, Detail: "There is no such subscriber."}
}

func (r *Relay) subscriberOf(delivery string) (Subscriber, error) {
	_, name, _ := strings.Cut(delivery, "@")
	s, err := r.subscriber(name)
	if err != nil {
		return s, &flows.Error{Code: flows.NotFound, Detail: "There is no such delivery, or it was delivered more than an hour ago."}
	}
	return s, nil
}

func deliveryFailed(err error) error {
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return &flows.Error{Code: flows.NotFound, Detail: "There is no such delivery, or it was delivered more than an hour ago.", Err: err}
	}
	return flows.StorageFailed(err)
}
