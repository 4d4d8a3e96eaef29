package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

const (
	// heartbeat: proxies close what is silent for half a minute or more. With each
	// the registration is read again, since a hint may have got lost.
	heartbeat = 15 * time.Second
	// eventTime: a client that takes an event no faster than this is gone.
	eventTime = 10 * time.Second
)

// followRegistration serves GET /v1/registrations/{id}/events as server-sent
// events (HTML Standard, section 9.2). It follows before it reads, so that no
// change falls between the two.
func (s *Server) followRegistration(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	changed, stop := s.cfg.Changes.Follow(id)
	defer stop()
	view, err := s.cfg.Registrations.Get(ctx, id, callerOf(ctx).token)
	if err != nil {
		return err
	}
	leave, err := s.admitStream(c, id)
	if err != nil {
		return err
	}
	defer leave()
	stream := newEventStream(c, s.cfg.Now)
	for seen := c.Request().Header.Get("Last-Event-ID"); ; {
		if now := stateOf(view); now != seen {
			seen = now
			err = stream.send(now, s.registrationOf(ctx, view))
		} else {
			err = stream.beat()
		}
		if err != nil {
			return nil // the client has left
		}
		select {
		case <-ctx.Done():
			return nil
		case _, goesOn := <-changed:
			if !goesOn {
				return nil
			}
		case <-s.cfg.After(heartbeat):
		}
		latest, err := s.cfg.Registrations.Get(ctx, id, callerOf(ctx).token)
		switch {
		case err == nil:
			view = latest
		case flows.CodeOf(err) == flows.NotFound:
			return nil
		} // anything else passes, and the client has the last state meanwhile
	}
}

// stateOf names a state of a registration: what is written counts a version up.
func stateOf(view flows.View) string {
	if view.Payment == nil {
		return fmt.Sprintf("%d", view.Version)
	}
	return fmt.Sprintf("%d.%d.%d", view.Version, view.Payment.Generation, view.Payment.Version)
}

// eventStream writes events and sends each on its way at once.
type eventStream struct {
	echo.Context
	control *http.ResponseController
	now     func() time.Time
}

// newEventStream begins the answer. The server's time limits are for requests
// that end; here each event has its own.
func newEventStream(c echo.Context, now func() time.Time) *eventStream {
	header := c.Response().Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would collect what is to be seen at once
	stream := &eventStream{c, http.NewResponseController(c.Response()), now}
	stream.control.SetReadDeadline(time.Time{}) //nolint:errcheck // a server without deadlines has nothing to lift
	c.Response().WriteHeader(http.StatusOK)
	return stream
}

func (s *eventStream) send(id string, document any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return s.write("event: registration\nid: %s\ndata: %s\n\n", id, data)
}

// beat is a comment, which clients pass over.
func (s *eventStream) beat() error { return s.write(":\n\n") }

func (s *eventStream) write(format string, args ...any) error {
	s.control.SetWriteDeadline(s.now().Add(eventTime)) //nolint:errcheck // as above
	if _, err := fmt.Fprintf(s.Response(), format, args...); err != nil {
		return err
	}
	return s.control.Flush()
}
