package handlers

import (
	"sync"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// A stream costs a connection, a goroutine and some forty kilobytes while it is open, so a limit on
// how often one is opened is not enough.
const (
	maxStreams           = 15  // of a registration: five devices with three tabs each
	maxStreamsPerAddress = 100 // more than sign up at once in one guest network; four megabytes
)

// openStreams counts the open event streams of this process. The zero value is ready.
type openStreams struct {
	mu    sync.Mutex
	count map[string]int // by registration and by address; never zero
}

// enter counts one more stream, unless the most are open.
func (o *openStreams) enter(key string, most int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[key] >= most {
		return false
	}
	if o.count == nil {
		o.count = map[string]int{}
	}
	o.count[key]++
	return true
}

func (o *openStreams) leave(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[key]--; o.count[key] == 0 {
		delete(o.count, key)
	}
}

// admitStream counts a stream of a registration until leave is called.
func (s *Server) admitStream(c echo.Context, id string) (leave func(), err error) {
	leave = func() {}
	if s.buckets != nil {
		registration, address := "registration "+id, "address "+s.clientAddress(c.Request())
		if !s.streams.enter(registration, maxStreams) {
			return nil, tooManyStreams("There are too many open streams of this registration.")
		}
		if !s.streams.enter(address, maxStreamsPerAddress) {
			s.streams.leave(registration)
			return nil, tooManyStreams("There are too many open streams from this address.")
		}
		leave = func() { s.streams.leave(registration); s.streams.leave(address) }
	}
	if s.cfg.OnStream == nil {
		return leave, nil
	}
	s.cfg.OnStream(1)
	return func() { s.cfg.OnStream(-1); leave() }, nil
}

// tooManyStreams asks for a retry after a heartbeat, when streams whose clients have left end.
func tooManyStreams(detail string) error {
	return &flows.Error{Code: flows.RateLimited, RetryAfter: heartbeat, Detail: detail}
}
