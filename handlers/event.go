package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

const (
	// heartbeat: proxies close what is silent for half a minute or more. With each
	// the registration is read again, since a hint may have got lost.
	heartbeat = 15 * time.Second
	// eventTimeout: a client that takes an event no faster than this is gone.
	eventTimeout = 10 * time.Second
)

// followRegistration serves GET /v1/registrations/{id}/events as server-sent
// events (HTML Standard, section 9.2). It follows before it reads, so that no
// change falls between the two. The stream goes on after the request: see follow.
func (s *Server) followRegistration(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	changed, stop := s.cfg.Changes.Subscribe(id)
	stream, leave, err := s.beginStream(c, id)
	if err != nil {
		stop()
		return err
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer stop() // last: whoever ends the changes waits for it
		defer leave()
		s.follow(ctx, stream, changed)
	}()
	return nil
}

// beginStream answers the holder of a registration with its present state, and takes
// the connection over.
func (s *Server) beginStream(c echo.Context, id string) (stream *eventStream, leave func(), err error) {
	ctx := c.Request().Context()
	view, look, err := s.cfg.Registrations.Load(ctx, id, callerOf(ctx).token)
	if err != nil {
		return nil, nil, err
	}
	if leave, err = s.admitStream(c, id); err != nil {
		return nil, nil, err
	}
	stream = &eventStream{registration: id, token: callerOf(ctx).token, seen: c.Request().Header.Get("Last-Event-ID"), now: s.cfg.Now}
	if err := stream.takeOver(c); err != nil {
		leave()
		return nil, nil, err
	}
	if !s.tell(ctx, stream, view, look) {
		_ = stream.conn.Close() // the client has left, which follow notices
	}
	return stream, leave, nil
}

// follow tells a stream of every change, until its client leaves or the changes end.
//
// Ten thousand visitors may wait at once, nearly always for nothing. So what waits is as
// little as can be: the connection without the server's buffers and the request, and two
// goroutines whose stacks stay small. The work is done on a stack of its own.
func (s *Server) follow(ctx context.Context, stream *eventStream, changed <-chan struct{}) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		var one [1]byte
		_, _ = stream.conn.Read(one[:]) // whatever comes, or ends: a client has nothing more to say here
	}()
	defer func() { _ = stream.conn.Close(); <-left }()
	for {
		select {
		case <-left:
			return
		case _, goesOn := <-changed:
			if !goesOn {
				return
			}
		case <-s.cfg.After(heartbeat):
		}
		goesOn := make(chan bool)
		go func() { goesOn <- s.readAndTell(ctx, stream) }()
		if !<-goesOn {
			return
		}
	}
}

// readAndTell reads the registration again. It is false when the stream is over.
func (s *Server) readAndTell(ctx context.Context, stream *eventStream) bool {
	within, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	view, look, err := s.cfg.Registrations.Load(within, stream.registration, stream.token)
	switch {
	case err == nil:
		return s.tell(within, stream, view, look)
	case flows.CodeOf(err) == flows.NotFound:
		return false
	default: // it passes, and the client has the last state meanwhile
		return stream.beat() == nil
	}
}

// tell sends a state that the client does not have, what a look makes of it, or else a
// sign of life: who waits for a payment does not wait for what it made of the contact.
// It is false when the client has left.
func (s *Server) tell(ctx context.Context, stream *eventStream, view flows.View, look func() flows.View) bool {
	before := stream.seen
	switch {
	case !s.show(ctx, stream, view), !s.show(ctx, stream, look()):
		return false
	case stream.seen == before:
		return stream.beat() == nil
	}
	return true
}

// show sends a state, unless the client has it. It is false when the client has left.
func (s *Server) show(ctx context.Context, stream *eventStream, view flows.View) bool {
	now := stateOf(view)
	if now == stream.seen {
		return true
	}
	stream.seen = now
	return stream.send(now, s.registrationOf(ctx, view)) == nil
}

// stateOf names a state of a registration: what is written counts a version up.
func stateOf(view flows.View) string {
	if view.Payment == nil {
		return fmt.Sprintf("%d", view.Version)
	}
	return fmt.Sprintf("%d.%d.%d", view.Version, view.Payment.Generation, view.Payment.Version)
}

// eventStream is a connection on which events are sent, each on its way at once.
type eventStream struct {
	conn                net.Conn
	registration, token string
	seen                string // the state that the client has
	now                 func() time.Time
}

// takeOver begins the answer, and takes the connection from the server, whose time
// limits are for requests that end; here each event has its own. The answer ends with
// the connection.
func (s *eventStream) takeOver(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would collect what is to be seen at once
	header.Set("Connection", "close")
	header.Set("Date", s.now().UTC().Format(http.TimeFormat))
	conn, _, err := http.NewResponseController(c.Response()).Hijack()
	if err != nil {
		return err
	}
	s.conn = conn
	c.Response().Status, c.Response().Committed = http.StatusOK, true
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	_ = header.Write(&head) // into memory
	head.WriteString("\r\n")
	_ = s.write(head.Bytes()) // the event that follows tells
	return nil
}

func (s *eventStream) send(id string, document any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return s.write(fmt.Appendf(nil, "event: registration\nid: %s\ndata: %s\n\n", id, data))
}

// beat is a comment, which clients pass over.
func (s *eventStream) beat() error { return s.write([]byte(":\n\n")) }

func (s *eventStream) write(text []byte) error {
	_ = s.conn.SetWriteDeadline(s.now().Add(eventTimeout)) // then writing fails as well
	_, err := s.conn.Write(text)
	return err
}
