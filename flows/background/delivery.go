package background

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/flows"
)

// DeliveryState is the state of a delivery to a subscriber.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaiting   DeliveryState = "waiting"   // in progress, or about to be
	DeliveryRetrying  DeliveryState = "retrying"  // failed, or waits because the subscriber fails; is tried again
	DeliveryDead      DeliveryState = "dead"      // failed for good, or too many were waiting; kept for 90 days, at most 10,000
	DeliveryDelivered DeliveryState = "delivered" // kept for an hour
)

// Delivery is an event's delivery to a subscriber.
type Delivery struct {
	ID         string        `json:"id"`
	Subscriber string        `json:"subscriber"`
	Event      string        `json:"event"` // its name
	State      DeliveryState `json:"state"`
	Failures   int           `json:"failures"`
	LastError  string        `json:"lastError,omitempty"`
	LastFailed *time.Time    `json:"lastFailed,omitempty"`
	Next       *time.Time    `json:"next,omitempty"` // while retrying
	Body       string        `json:"body,omitempty"` // not in lists
}

// Subscription is the state of a subscriber.
type Subscription struct {
	Name      string   `json:"name"`
	Host      string   `json:"host"` // the rest of its address may hold a password
	Events    []string `json:"events,omitempty"`
	Gone      bool     `json:"gone"` // it returned 410: nothing is sent until it is enabled
	Waiting   int      `json:"waiting"`
	Retrying  int      `json:"retrying"`
	Dead      int      `json:"dead"`
	Delivered int      `json:"delivered"` // within the last hour
	LatencyMs int64    `json:"latencyMs"` // of the oldest waiting delivery
	AgeMs     int64    `json:"ageMs"`     // of the oldest waiting or retrying delivery, about
}

// Deliveries is the state of the relay, for operators.
type Deliveries struct {
	Subscribers []Subscription    `json:"subscribers"`
	Received    map[string]string `json:"received"` // events by name, and unknown, foreign, unreadable and dropped ones
	Pending     int64             `json:"unworked"` // stored, and not processed yet
	Items       []Delivery        `json:"items"`
}

// maxDeliveries of each subscriber are in one list.
const maxDeliveries = 100

// Deliveries returns the state of the relay, with the deliveries in a state; by default
// those that are retrying or dead. It fails with InvalidRequest for an unknown state.
func (r *Relay) Deliveries(ctx context.Context, state DeliveryState) (Deliveries, error) {
	states, err := statesOf(state)
	if err != nil {
		return Deliveries{}, err
	}
	all, err := r.deliveries(ctx, states)
	return all, flows.StorageFailed(err)
}

// statesOf returns the states of a list: the one that was asked for, by default what failed.
func statesOf(state DeliveryState) ([]DeliveryState, error) {
	switch state {
	case "":
		return []DeliveryState{DeliveryRetrying, DeliveryDead}, nil
	case DeliveryWaiting, DeliveryRetrying, DeliveryDead, DeliveryDelivered:
		return []DeliveryState{state}, nil
	}
	return nil, flows.Invalid(flows.FieldProblem{
		Pointer: flows.InQuery + "state",
		Message: "must be waiting, retrying, dead or delivered",
	})
}

func (r *Relay) deliveries(ctx context.Context, states []DeliveryState) (all Deliveries, err error) {
	all.Subscribers, all.Items = []Subscription{}, []Delivery{}
	if all.Received, err = r.cfg.Store.ClubEventCounts(ctx); err != nil {
		return all, err
	}
	if all.Pending, err = r.cfg.Store.ClubEventsWaiting(ctx); err != nil {
		return all, err
	}
	for _, subscriber := range r.cfg.Subscribers {
		subscription, err := r.subscription(subscriber)
		if err != nil {
			return all, err
		}
		all.Subscribers = append(all.Subscribers, subscription)
		for _, state := range states {
			items, err := r.list(subscriber, state)
			if err != nil {
				return all, err
			}
			all.Items = append(all.Items, items...)
		}
	}
	return all, nil
}

func (r *Relay) subscription(subscriber Subscriber) (Subscription, error) {
	view := Subscription{Name: subscriber.Name, Events: subscriber.Events}
	if u, err := url.Parse(subscriber.URL); err == nil {
		view.Host = u.Host
	}
	info, err := r.info(subscriber)
	if err != nil {
		return view, err
	}
	view.Gone, view.Waiting, view.Retrying = info.Paused, info.Pending+info.Active+info.Scheduled, info.Retry
	view.Dead, view.Delivered, view.LatencyMs = info.Archived, info.Completed, info.Latency.Milliseconds()
	age, err := oldestRetry(r.inspector, subscriber.queue(), info.Retry, r.age)
	view.AgeMs = max(view.LatencyMs, age.Milliseconds())
	return view, err
}

// oldestRetry returns the age of the oldest job of a queue that is retrying. Of many it reads those with the latest next
// attempt: what has failed most often is among them.
func oldestRetry(
	inspector *asynq.Inspector, queue string, retrying int, age func(*asynq.TaskInfo) time.Duration,
) (oldest time.Duration, err error) {
	last := (retrying + maxDeliveries - 1) / maxDeliveries
	for page := last; page > max(0, last-2); page-- { // the last one may have a single job
		jobs, err := inspector.ListRetryTasks(queue, asynq.PageSize(maxDeliveries), asynq.Page(page))
		if err != nil {
			return 0, err
		}
		for _, job := range jobs {
			oldest = max(oldest, age(job))
		}
	}
	return oldest, nil
}

// age returns the age of the event of a delivery; 0 if it cannot be read.
func (r *Relay) age(job *asynq.TaskInfo) time.Duration {
	var body payload
	text, err := r.cfg.Keys.Open(job.ID, job.Payload)
	if err != nil || json.Unmarshal(text, &body) != nil {
		return 0
	}
	return r.cfg.Now().Sub(body.Timestamp)
}

func (r *Relay) list(subscriber Subscriber, state DeliveryState) (items []Delivery, err error) {
	jobs, err := listJobs(r.inspector, subscriber.queue(), state)
	for _, job := range jobs {
		items = append(items, deliveryOf(subscriber, job))
	}
	return items, err
}

// listJobs returns the jobs of a queue in a state, at most maxDeliveries of each kind.
func listJobs(inspector *asynq.Inspector, queue string, state DeliveryState) (all []*asynq.TaskInfo, err error) {
	lists := map[DeliveryState][]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		DeliveryWaiting:   {inspector.ListPendingTasks, inspector.ListActiveTasks},
		DeliveryRetrying:  {inspector.ListRetryTasks},
		DeliveryDead:      {inspector.ListArchivedTasks},
		DeliveryDelivered: {inspector.ListCompletedTasks},
	}
	for _, list := range lists[state] {
		jobs, err := list(queue, asynq.PageSize(maxDeliveries))
		if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
			return nil, err
		}
		all = append(all, jobs...)
	}
	return all, nil
}

func deliveryOf(subscriber Subscriber, job *asynq.TaskInfo) Delivery {
	delivery := Delivery{
		ID:         job.ID,
		Subscriber: subscriber.Name,
		Event:      job.Headers["type"],
		State:      DeliveryWaiting,
		Failures:   job.Retried,
		LastError:  job.LastErr,
	}
	switch job.State {
	case asynq.TaskStateRetry:
		delivery.State, delivery.Next = DeliveryRetrying, &job.NextProcessAt
	case asynq.TaskStateArchived:
		delivery.State = DeliveryDead
		if job.LastFailedAt.IsZero() {
			delivery.LastError = "too many deliveries were waiting"
		} else {
			delivery.Failures++ // the last failure is not retried
		}
	case asynq.TaskStateCompleted:
		delivery.State = DeliveryDelivered
	}
	if !job.LastFailedAt.IsZero() {
		delivery.LastFailed = &job.LastFailedAt
	}
	return delivery
}

// Delivery returns one delivery with its body. It fails with NotFound.
func (r *Relay) Delivery(_ context.Context, id string) (Delivery, error) {
	subscriber, job, err := r.job(id)
	if err != nil {
		return Delivery{}, err
	}
	delivery := deliveryOf(subscriber, job)
	if text, err := r.cfg.Keys.Open(id, job.Payload); err == nil {
		delivery.Body = string(text)
	}
	return delivery, nil
}

// job returns the job of a delivery. It fails with NotFound.
func (r *Relay) job(delivery string) (Subscriber, *asynq.TaskInfo, error) {
	_, name, _ := strings.Cut(delivery, "@")
	subscriber, err := r.subscriber(name)
	if err != nil {
		return subscriber, nil, deliveryFailed(asynq.ErrTaskNotFound)
	}
	job, err := r.inspector.GetTaskInfo(subscriber.queue(), delivery)
	return subscriber, job, deliveryFailed(err)
}

func deliveryFailed(err error) error {
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return &flows.Error{Code: flows.NotFound, Operator: "The delivery does not exist, or was made more than an hour ago.", Err: err}
	}
	return flows.StorageFailed(err)
}

// Replay sends a delivery again, now, whatever its state, and records the operator.
// It fails with NotFound, and with NotDecidable while the delivery is in progress.
func (r *Relay) Replay(ctx context.Context, id, by string) (Delivery, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return Delivery{}, err
	}
	subscriber, job, err := r.job(id)
	switch {
	case err != nil:
		return Delivery{}, err
	case job.State == asynq.TaskStatePending || job.State == asynq.TaskStateActive:
		return Delivery{}, &flows.Error{Code: flows.NotDecidable, Operator: "The delivery is already queued; wait for its result."}
	}
	if err := r.cfg.audit(ctx, flows.AuditReplay, by); err != nil {
		return Delivery{}, err
	}
	if err := r.inspector.RunTask(subscriber.queue(), id); err != nil {
		return Delivery{}, deliveryFailed(err)
	}
	return r.Delivery(ctx, id)
}

// Replayed is the number of dead deliveries of a subscriber that are made again.
type Replayed struct {
	Subscriber string `json:"subscriber"`
	Deliveries int    `json:"deliveries"`
}

// ReplayAll makes all dead deliveries of a subscriber again.
func (r *Relay) ReplayAll(ctx context.Context, name, by string) (Replayed, error) {
	subscriber, err := r.operate(ctx, flows.AuditReplayAll, name, by)
	if err != nil {
		return Replayed{}, err
	}
	info, err := r.info(subscriber)
	if err != nil || info.Archived == 0 {
		return Replayed{Subscriber: subscriber.Name}, flows.StorageFailed(err)
	}
	n, err := r.inspector.RunAllArchivedTasks(subscriber.queue())
	return Replayed{subscriber.Name, n}, flows.StorageFailed(err)
}

// Enable delivers again to a subscriber that returned 410 (Gone).
func (r *Relay) Enable(ctx context.Context, name, by string) (Subscription, error) {
	subscriber, err := r.operate(ctx, flows.AuditEnable, name, by)
	if err != nil {
		return Subscription{}, err
	}
	if queue, err := r.info(subscriber); err == nil && queue.Paused {
		if err := r.inspector.UnpauseQueue(subscriber.queue()); err != nil {
			return Subscription{}, flows.StorageFailed(err)
		}
	}
	view, err := r.subscription(subscriber)
	return view, flows.StorageFailed(err)
}

func (r *Relay) operate(ctx context.Context, action flows.AuditAction, name, by string) (Subscriber, error) {
	subscriber, err := r.subscriber(name)
	if err == nil {
		err = (flows.Decision{Operator: by}).Validate()
	}
	if err == nil {
		err = r.cfg.audit(ctx, action, by)
	}
	return subscriber, err
}

func (cfg Config) audit(ctx context.Context, action flows.AuditAction, by string) error {
	return flows.StorageFailed(cfg.Store.Audit(ctx, flows.AuditEntry{At: cfg.Now(), Operator: by, Action: action}))
}

func (r *Relay) subscriber(name string) (Subscriber, error) {
	for _, subscriber := range r.cfg.Subscribers {
		if subscriber.Name == name {
			return subscriber, nil
		}
	}
	return Subscriber{}, &flows.Error{Code: flows.NotFound, Operator: "The subscriber does not exist."}
}
