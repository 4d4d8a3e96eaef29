package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// heartbeat keeps proxies from closing a silent stream, which they do after half a minute or more.
// The registration is then read again, because a change notification may be lost.
const heartbeat = 15 * time.Second

// followRegistration serves GET /v1/registrations/{id}/events as server-sent events (HTML Standard,
// section 9.2). It subscribes before it reads, so that it misses no change.
func (s *Server) followRegistration(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	changed, stop := s.cfg.Background.Changes.Subscribe(id)
	defer stop()
	view, refreshed, err := s.cfg.Registrations.Load(ctx, id, callerOf(ctx).token)
	if err != nil {
		return err
	}
	leave, err := s.admitStream(c, id)
	if err != nil {
		return err
	}
	defer leave()
	stream := newEventStream(c)
	end := s.sendChange(ctx, stream, view, refreshed)
	exchangeOf(ctx).record() // the request is answered; its stream may last for hours
	for end == "" {
		select {
		case <-ctx.Done():
			return nil
		case _, more := <-changed:
			if !more {
				end = endDraining
				continue
			}
		case <-s.cfg.After(heartbeat):
		}
		end = s.reload(ctx, stream, id)
	}
	last := fmt.Sprintf("event: end\nretry: %d\ndata: {\"reason\":%q}\n\n", s.backoff().Milliseconds(), end)
	_ = stream.write(last) // for a client that is still there
	return nil
}

// Why a stream ends; empty while it continues.
const (
	endFinal     = "final"     // the registration can no longer change
	endForgotten = "forgotten" // the registration was deleted
	endDraining  = "draining"  // this gateway stops: reconnect
	endLeft      = "left"      // the client has left, and reads no reason
)

// reload reads the registration again and sends what changed.
func (s *Server) reload(ctx context.Context, stream *eventStream, id string) (end string) {
	within, cancel := context.WithTimeout(ctx, getTimeout)
	defer cancel()
	view, refreshed, err := s.cfg.Registrations.Load(within, id, callerOf(ctx).token)
	switch {
	case err == nil:
		return s.sendChange(within, stream, view, refreshed)
	case flows.CodeOf(err) == flows.RegistrationNotFound:
		return endForgotten
	case stream.write(comment) != nil: // the error is temporary; the client keeps the last state
		return endLeft
	}
	return ""
}

// sendChange sends the state, then the refreshed one, or a comment when the client has both. A
// visitor who waits for a payment does not wait for the refresh.
func (s *Server) sendChange(ctx context.Context, stream *eventStream, view flows.View, refreshed func() flows.View) (end string) {
	before := stream.version
	if !s.sendState(ctx, stream, view) {
		return endLeft
	}
	view = refreshed()
	if !s.sendState(ctx, stream, view) || stream.version == before && stream.write(comment) != nil {
		return endLeft
	}
	if view.Step().Final() {
		return endFinal
	}
	return ""
}

// sendState sends a state, unless the client has it. It is false when the client has left.
func (s *Server) sendState(ctx context.Context, stream *eventStream, view flows.View) bool {
	registration := s.registrationOf(ctx, view)
	if registration.Version == stream.version {
		return true
	}
	stream.version = registration.Version
	data, err := json.Marshal(registration)
	if err != nil {
		return false
	}
	event := fmt.Sprintf("event: registration\nid: %s\nretry: %d\ndata: %s\n\n", stream.version, s.backoff().Milliseconds(), data)
	return stream.write(event) == nil
}

// comment shows that a stream is alive; clients ignore it.
const comment = ":\n\n"

// eventStream is a response to which events are written, each flushed at once.
type eventStream struct {
	response http.ResponseWriter
	control  *http.ResponseController
	version  string // of the registration that the client has
}

// newEventStream begins the response. It lifts the server's time limits, which are for requests
// that end; each write has its own.
func newEventStream(c echo.Context) *eventStream {
	header := c.Response().Header()
	header.Set("Content-Type", "text/event-stream")
	// Compressing proxies, such as development servers, would hold the events back. The events are personal, so nothing stores them.
	header.Set("Cache-Control", "no-store, no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no") // nginx would buffer the events
	header.Set("Connection", "close")
	control := http.NewResponseController(c.Response().Writer)
	_ = control.SetReadDeadline(time.Time{}) // fails only where deadlines are not supported
	return &eventStream{c.Response(), control, c.Request().Header.Get("Last-Event-ID")}
}

func (s *eventStream) write(text string) error {
	if _, err := io.WriteString(s.response, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// While a stream is open, it costs a connection, two goroutines and about 65 KB. So a limit on how often streams are opened is not
// enough.
const (
	maxStreams           = 15  // of a registration: five devices with three tabs each
	maxStreamsPerAddress = 100 // more than sign up at once in one guest network; 6.5 MB
)

// openStreams counts the open event streams of this process.
type openStreams struct {
	mu    sync.Mutex
	count map[string]int // by registration and by address; never zero
}

// streamLimit limits the open streams of a registration or an address.
type streamLimit struct {
	key    string
	most   int
	detail flows.DetailCode // of a refusal
}

// enter counts one more stream under each limit, unless one is reached.
func (o *openStreams) enter(limits []streamLimit) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range limits {
		if o.count[l.key] >= l.most { // after a heartbeat, the streams whose clients have left end
			return &flows.Error{Code: flows.RateLimited, RetryAfter: heartbeat, Detail: l.detail}
		}
	}
	for _, l := range limits {
		o.count[l.key]++
	}
	return nil
}

func (o *openStreams) leave(limits []streamLimit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range limits {
		o.count[l.key]--
		if o.count[l.key] == 0 {
			delete(o.count, l.key)
		}
	}
}

// admitStream counts a stream of a registration until the returned function is called.
func (s *Server) admitStream(c echo.Context, id string) (leave func(), err error) {
	var limits []streamLimit
	if s.buckets != nil {
		limits = append(limits, streamLimit{"registration " + id, maxStreams, flows.DetailStreamsOfRegistration})
		for _, network := range s.clientNetworks(c.Request()) {
			limits = append(limits, streamLimit{"address " + network.Name, maxStreamsPerAddress * network.Share,
				flows.DetailStreamsOfAddress})
		}
	}
	if err := s.streams.enter(limits); err != nil {
		return nil, err
	}
	s.cfg.OnStream(1)
	return func() {
		s.cfg.OnStream(-1)
		s.streams.leave(limits)
	}, nil
}
