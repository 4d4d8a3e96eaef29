package handlers

import (
	"sync"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// A stream costs a connection, two goroutines and fourteen kilobytes for as long as somebody
// holds it open, so that counting how often one is asked for is not enough.
const (
	// maxStreams of a registration: its five devices, with three tabs each.
	maxStreams = 15
	// maxStreamsPerAddress one address: far more visitors than sign up at the same moment
	// in one guest network, under two megabytes, and fewer than the requests that it has at once.
	maxStreamsPerAddress = 100
)

// openStreams counts the event streams that are open in this process. The zero value counts from none.
type openStreams struct {
	mu sync.Mutex
	by map[string]int // by whose they are; nobody stands here with none
}

// enter counts one more stream, unless there are as many as may be.
func (o *openStreams) enter(whose string, most int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by[whose] >= most {
		return false
	}
	if o.by == nil {
		o.by = map[string]int{}
	}
	o.by[whose]++
	return true
}

func (o *openStreams) leave(whose string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by[whose]--; o.by[whose] == 0 {
		delete(o.by, whose)
	}
}

// admitStream takes the holder of a registration in; leave lets the next one in.
func (s *Server) admitStream(c echo.Context, id string) (leave func(), err error) {
	admitted, err := s.limitStreams(c, id)
	if err != nil || s.cfg.OnStream == nil {
		return admitted, err
	}
	s.cfg.OnStream(1)
	return func() { admitted(); s.cfg.OnStream(-1) }, nil
}

// limitStreams counts a stream, where requests are counted.
func (s *Server) limitStreams(c echo.Context, id string) (leave func(), err error) {
	if s.buckets == nil {
		return func() {}, nil
	}
	registration, address := "registration "+id, "address "+s.clientKey(c.Request()).String()
	if !s.streams.enter(registration, maxStreams) {
		return nil, tooManyStreams("There are too many open streams of this registration.")
	}
	if !s.streams.enter(address, maxStreamsPerAddress) {
		s.streams.leave(registration)
		return nil, tooManyStreams("There are too many open streams from this address.")
	}
	return func() { s.streams.leave(registration); s.streams.leave(address) }, nil
}

// tooManyStreams asks to come again after a heartbeat, at which streams whose clients have left end.
func tooManyStreams(detail string) error {
	return &flows.Error{Code: flows.RateLimited, RetryAfter: heartbeat, Detail: detail}
}
