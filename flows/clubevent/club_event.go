// Package clubevent takes in the club system's events. They come once, unsigned, in any
// order or not at all, so their contents are not trusted: an event only causes the
// registrations of its contact to be read again, and is relayed to subscribers.
package clubevent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/jobs"
	"frontdesk/flows/relay"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/club"
)

// The figures of events.
const (
	// maxEvent is a hundred times what an event has, so that those that wait fit into
	// a small Redis whatever is sent.
	maxEvent = 16 << 10
	// eventBatch: events are worked on in bundles of which each takes a moment.
	eventBatch = 100
	// refreshDelay: an event that follows from what a visitor, or staff, is just doing
	// is acted upon when that is over, and once for all that came meanwhile.
	refreshDelay = 2 * time.Second
)

// Intake takes what the club system tells. It comes once, unsigned, in any order
// or not at all, so everything in it is a hint: that something is worth being read again.
type Intake struct {
	cfg Config
}

// Store is what the club system's events need of Redis.
type Store interface {
	// SaveClubEvent stores an event behind those that wait, counts it, and tells
	// how many wait then. The oldest of very many are dropped.
	SaveClubEvent(ctx context.Context, event flows.StoredEvent, countsAs string) (waiting int64, err error)
	// Intake reads the events that wait, the oldest first.
	ClubEvents(ctx context.Context, limit int) ([]flows.StoredEvent, error)
	// DropClubEvents takes events away that were worked on.
	DropClubEvents(ctx context.Context, events []flows.StoredEvent) error
	// ClubEventsWaiting tells how many events wait.
	ClubEventsWaiting(ctx context.Context) (int64, error)
	// RegistrationsOf lists the registrations of contacts; some may be gone.
	RegistrationsOf(ctx context.Context, contacts ...club.IRI) ([]string, error)
	// RequestRefresh brings the next look at registrations forward to an instant.
	RequestRefresh(ctx context.Context, ids []string, at time.Time) error
	// DueRefreshes takes the registrations whose look is due, within the budget of all
	// gateways, and puts each of them off to next.
	DueRefreshes(ctx context.Context, now, next time.Time, budget flows.RateLimit) ([]string, error)
	// FinishRefresh says when a registration that was put off to taken is looked at
	// again (the zero instant: never), unless there was a hint since.
	FinishRefresh(ctx context.Context, id string, taken, next time.Time) error
}

// Refresher reads again what the club may have changed of a registration, and tells
// when that is worth doing without an event; the zero instant: never.
type Refresher interface {
	Refresh(ctx context.Context, id string) (next time.Time, err error)
}

// Config is what events need; every field is required.
type Config struct {
	Store           Store
	Queue           *jobs.Queue
	Registrations   Refresher
	Relay           *relay.Relay
	ClientToken     string // the organisation whose events count
	AnyOrganisation bool   // those of every demo world count (mock mode)
	Now             func() time.Time
	Log             *slog.Logger
}

// New makes the intake of events.
func New(cfg Config) *Intake { return &Intake{cfg: cfg} }

// Receive stores an event before anything is made of it. MalformedRequest when it is
// no JSON, TooLarge for more than any event has; whatever else it is, it is taken,
// since nobody would send it better.
// StorageUnavailable when it is not stored: its sender notes that, and does not
// repeat it.
func (e *Intake) Receive(ctx context.Context, body []byte) error {
	switch {
	case len(body) > maxEvent:
		return &flows.Error{Code: flows.TooLarge, Detail: "At most 16 KiB are taken."}
	case !json.Valid(body):
		return &flows.Error{Code: flows.MalformedRequest, Detail: "The body is not JSON."}
	}
	event := flows.StoredEvent{ID: "evt_" + uuid.NewString(), At: e.cfg.Now().UTC().Truncate(time.Millisecond), Body: body, Trace: tracing.Traceparent(ctx)}
	waiting, err := e.cfg.Store.SaveClubEvent(ctx, event, e.kindOf(event))
	if err != nil {
		return flows.StorageFailed(err)
	}
	if waiting > 1 {
		return nil // whoever works on the one before comes to this one
	}
	if err := e.cfg.Queue.EnqueueEvents(ctx); err != nil {
		e.cfg.Log.WarnContext(ctx, "club events not enqueued; the next sweep retries", "error", err)
	}
	return nil
}

// kindOf is what an event counts as: its name, if the club system's description has it.
func (e *Intake) kindOf(event flows.StoredEvent) string {
	n, ok := parseEvent(event)
	switch {
	case !ok:
		return "unreadable"
	case !e.concernsUs(n):
		return "foreign"
	case flows.IsKnownEvent(n.Type):
		return n.Type
	}
	return "unknown"
}

// concernsUs tells whether an event is about the organisation; one about nothing is.
func (e *Intake) concernsUs(n flows.Event) bool {
	for _, iri := range n.Object {
		if iri.ClientToken() != e.cfg.ClientToken && !e.cfg.AnyOrganisation {
			return false
		}
	}
	return true
}

// eventName is what the names of events look like, those of later versions included.
var eventName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}\.[a-z][a-z0-9_]{0,40}$`)

// maxMembers bounds what is read of an event; the description's have three.
const maxMembers = 10

// parseEvent reads an event. Members that are no identifiers are left out: nobody
// said what they are, so they could be about a person.
func parseEvent(event flows.StoredEvent) (n flows.Event, ok bool) {
	var wire struct {
		Event string `json:"event"`
		Data  struct {
			Object map[string]any `json:"object"`
		} `json:"data"`
	}
	if json.Unmarshal(event.Body, &wire) != nil || !eventName.MatchString(wire.Event) {
		return n, false
	}
	n = flows.Event{ID: event.ID, At: event.At, Type: wire.Event, Object: map[string]club.IRI{}, Trace: event.Trace}
	for member, value := range wire.Data.Object {
		if text, _ := value.(string); strings.HasSuffix(member, "Id") && club.IRI(text).ID() != "" && len(n.Object) < maxMembers {
			n.Object[correctMember(member)] = club.IRI(text)
		}
	}
	return n, true
}

// correctMember mends a name that the club system misspells; the right one is taken as well.
func correctMember(member string) string {
	if member == "indentificatorId" {
		return "identificatorId"
	}
	return member
}

// ProcessPending works on the events that wait. It may run anywhere, at any time and twice
// at once: what an event leads to is the same each time.
func (e *Intake) ProcessPending(ctx context.Context) error {
	for {
		events, err := e.cfg.Store.ClubEvents(ctx, eventBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		if err := e.process(ctx, events); err != nil {
			return err
		}
		if err := e.cfg.Store.DropClubEvents(ctx, events); err != nil {
			return err
		}
	}
}

func (e *Intake) process(ctx context.Context, events []flows.StoredEvent) error {
	var notices []flows.Event
	concerned := map[club.IRI]bool{}
	for _, event := range events {
		tracing.LinkCause(ctx, event.Trace)
		n, ok := parseEvent(event)
		if !ok || !e.concernsUs(n) {
			continue
		}
		notices = append(notices, n)
		if contact := n.Object[flows.EventsAboutContacts[n.Type]]; contact.Collection() == "contacts" {
			concerned[contact] = true
		}
	}
	err := e.cfg.Relay.Enqueue(ctx, notices)
	return errors.Join(err, e.requestRefreshes(ctx, concerned))
}

// requestRefreshes has the registrations of contacts read again soon.
func (e *Intake) requestRefreshes(ctx context.Context, concerned map[club.IRI]bool) error {
	contacts := make([]club.IRI, 0, len(concerned))
	for contact := range concerned {
		contacts = append(contacts, contact)
	}
	ids, err := e.cfg.Store.RegistrationsOf(ctx, contacts...)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := e.cfg.Store.RequestRefresh(ctx, ids, e.cfg.Now().Add(refreshDelay)); err != nil {
		return err
	}
	return e.cfg.Queue.EnqueueDueRefreshes(ctx, refreshDelay)
}
