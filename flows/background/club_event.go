package background

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/club"
)

const (
	// maxEvent is a hundred times the size of an event, and small enough that the waiting
	// events fit into a small Redis, whatever is sent.
	maxEvent = 16 << 10
	// eventBatch is processed within a moment.
	eventBatch = 100
	// refreshDelay lets what a visitor or staff is doing finish first, and gives one
	// refresh for all events meanwhile.
	refreshDelay = 2 * time.Second
	// keepUnreadable is how long an event is left to gateways that have its key: longer than a rotation takes
	// to reach them all.
	keepUnreadable = time.Hour
)

// Intake receives and processes the club system's events. They arrive at most once, unsigned and in any order, so their
// contents are not trusted: an event only triggers a re-read of its contact's registrations, and is relayed to subscribers.
type Intake struct {
	cfg   Config
	relay *Relay
}

// Receive stores an event before anything is done with it, whatever the JSON is, because
// the sender would not send it better. It fails with MalformedRequest, TooLarge or
// StorageUnavailable; the sender notes that, and does not repeat the event.
func (i *Intake) Receive(ctx context.Context, body []byte) error {
	body = club.TrimByteOrderMark(body)
	switch {
	case len(body) > maxEvent:
		return flows.BodyTooLarge(maxEvent >> 10)
	case !json.Valid(body):
		return &flows.Error{Code: flows.MalformedRequest, Detail: flows.DetailNotJSON}
	}
	return i.add(ctx, body)
}

// Publish adds an event of Frontdesk's own, for subscribers, to those of the club system.
func (i *Intake) Publish(ctx context.Context, name string, object map[string]club.IRI) error {
	body, _ := json.Marshal(map[string]any{"event": name, "data": map[string]any{"object": object}}) // strings can be encoded
	return i.add(ctx, body)
}

func (i *Intake) add(ctx context.Context, body []byte) error {
	event := flows.StoredEvent{
		ID:    "evt_" + uuid.NewString(),
		At:    i.cfg.Now().UTC().Truncate(time.Millisecond),
		Body:  body,
		Trace: tracing.Traceparent(ctx),
	}
	waiting, err := i.cfg.Store.SaveClubEvent(ctx, event, i.kindOf(event))
	if err != nil {
		return flows.StorageFailed(err)
	}
	if waiting > 1 {
		return nil // the job for the event before it processes this one too
	}
	if err := i.cfg.Queue.enqueueEvents(ctx); err != nil {
		i.cfg.Log.WarnContext(ctx, "club events not enqueued; the next sweep retries", "error", err)
	}
	return nil
}

// kindOf returns what an event counts as: its name, if the club system documents it.
func (i *Intake) kindOf(stored flows.StoredEvent) string {
	event, ok := parseEvent(stored)
	switch {
	case !ok:
		return "unreadable"
	case !i.concernsUs(event):
		return "foreign"
	case flows.IsKnownEvent(event.Type):
		return event.Type
	}
	return "unknown"
}

// concernsUs reports whether an event is about the organisation, or about nothing.
func (i *Intake) concernsUs(event flows.Event) bool {
	for _, iri := range event.Object {
		if iri.ClientToken() != i.cfg.ClientToken {
			return false
		}
	}
	return true
}

// eventName matches the names of events, those of later versions included.
var eventName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}\.[a-z][a-z0-9_]{0,40}$`)

// maxMembers bounds what is read of an event; documented events have three members.
const maxMembers = 10

// parseEvent reads an event. Members that are not identifiers are left out, because they
// are not documented and could be personal.
func parseEvent(stored flows.StoredEvent) (event flows.Event, ok bool) {
	var body struct {
		Event string `json:"event"`
		Data  struct {
			Object map[string]any `json:"object"`
		} `json:"data"`
	}
	if json.Unmarshal(stored.Body, &body) != nil || !eventName.MatchString(body.Event) {
		return event, false
	}
	event = flows.Event{
		ID:     stored.ID,
		At:     stored.At,
		Type:   body.Event,
		Object: map[string]club.IRI{},
		Trace:  stored.Trace,
	}
	for member, value := range body.Data.Object {
		if member == "indentificatorId" {
			member = "identificatorId" // the club system misspells it
		}
		if text, _ := value.(string); strings.HasSuffix(member, "Id") && club.IRI(text).ID() != "" && len(event.Object) < maxMembers {
			event.Object[member] = club.IRI(text)
		}
	}
	return event, true
}

// ProcessPending processes the events that wait. It may run anywhere, at any time and
// twice at once, because an event has the same effect each time. It leaves events that another gateway
// sealed with a newer key to those that have it.
func (i *Intake) ProcessPending(ctx context.Context) error {
	for after := ""; ; {
		events, err := i.cfg.Store.ClubEvents(ctx, after, eventBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		after = events[len(events)-1].Entry
		events = slices.DeleteFunc(events, i.leave)
		if len(events) == 0 {
			continue
		}
		if err := i.process(ctx, events); err != nil {
			return err
		}
		if err := i.cfg.Store.DropClubEvents(ctx, events); err != nil {
			return err
		}
	}
}

// leave reports whether an event waits for a gateway that has its key.
func (i *Intake) leave(event flows.StoredEvent) bool {
	return event.Body == nil && i.cfg.Now().Sub(event.StoredAt()) < keepUnreadable
}

func (i *Intake) process(ctx context.Context, batch []flows.StoredEvent) error {
	var events []flows.Event
	contacts, unreadable := map[club.IRI]bool{}, 0
	for _, stored := range batch {
		tracing.LinkCause(ctx, stored.Trace)
		if stored.Body == nil {
			unreadable++
		}
		event, ok := parseEvent(stored)
		if !ok || !i.concernsUs(event) {
			continue
		}
		events = append(events, event)
		if contact := event.Contact(); contact != "" {
			contacts[contact] = true
		}
	}
	if unreadable > 0 {
		i.cfg.Log.WarnContext(ctx, "club events dropped: sealed with an unknown key", "found", unreadable)
	}
	err := i.relay.Enqueue(ctx, events)
	return errors.Join(err, i.requestRefreshes(ctx, slices.Collect(maps.Keys(contacts))))
}

func (i *Intake) requestRefreshes(ctx context.Context, contacts []club.IRI) error {
	ids, err := i.cfg.Store.RegistrationsOf(ctx, contacts...)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := i.cfg.Store.RequestRefresh(ctx, ids, i.cfg.Now().Add(refreshDelay)); err != nil {
		return err
	}
	return i.cfg.Queue.enqueueDueRefreshes(ctx, refreshDelay)
}
