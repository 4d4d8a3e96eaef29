package handlers

import (
	"sync"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// A stream costs a connection, a goroutine and some forty kilobytes for as long as a client holds
// it open, so that limiting how often one is opened is not enough.
const (
	// maxStreams of a registration: its five devices, with three tabs each.
	maxStreams = 15
	// maxStreamsPerAddress: far more visitors than sign up at the same moment in one guest
	// network, four megabytes, and fewer than the requests that an address has at once.
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

// admitStream counts a stream of the holder of a registration; leave ends it.
func (s *Server) admitStream(c echo.Context, id string) (leave func(), err error) {
	registration, address, limited := "registration "+id, "", s.buckets != nil
	if limited {
		address = "address " + s.clientAddress(c.Request())
	}
	if limited && !s.streams.enter(registration, maxStreams) {
		return nil, tooManyStreams("There are too many open streams of this registration.")
	}
	if limited && !s.streams.enter(address, maxStreamsPerAddress) {
		s.streams.leave(registration)
		return nil, tooManyStreams("There are too many open streams from this address.")
	}
	count := s.cfg.OnStream
	if count == nil {
		count = func(int) {}
	}
	count(1)
	return func() {
		count(-1)
		if limited {
			s.streams.leave(registration)
			s.streams.leave(address)
		}
	}, nil
}

// tooManyStreams asks to come again after a heartbeat, at which streams whose clients have left end.
func tooManyStreams(detail string) error {
	return &flows.Error{Code: flows.RateLimited, RetryAfter: heartbeat, Detail: detail}
}
