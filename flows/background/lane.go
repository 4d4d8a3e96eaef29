package background

import (
	"context"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// request asks for work on one payment.
type request struct {
	id      flows.PaymentID
	payment *flows.Payment // as just read; nil: it must be read
	trace   string         // the traceparent header of the caller; empty: it is not known
}

// lane is this process's part in a list of payments that gateways share: its workers, and the payments that they have taken.
// There are no workers before open.
type lane struct {
	name    flows.Lane
	lease   time.Duration // after which a payment that a gateway took is due again, because that gateway may have died
	store   *store.Store
	now     func() time.Time
	changed chan struct{}                // has a value when fill should be called at once, see signal
	work    func(request) *flows.Payment // see open
	running sync.WaitGroup

	mu     sync.Mutex
	idle   int                      // workers
	wanted bool                     // more payments may be due than there were idle workers
	closed bool                     // nothing new begins
	busy   map[flows.PaymentID]bool // the payments in progress; true: another request came meanwhile
}

func newLane(name flows.Lane, lease time.Duration, records *store.Store, now func() time.Time) *lane {
	return &lane{
		name:    name,
		lease:   lease,
		store:   records,
		now:     now,
		changed: make(chan struct{}, 1),
		busy:    map[flows.PaymentID]bool{},
	}
}

// open adds idle workers. They do what was requested by calling work, which returns the payment as it is then, nil if that is
// not known.
func (l *lane) open(workers int, work func(request) *flows.Payment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle, l.work = workers, work
}

// close lets nothing new begin, and waits for what is in progress. The caller has ended its calls of fill.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.running.Wait()
}

// start has an idle worker do what is requested, and returns false without one. A payment that is already in progress here
// is worked on again afterwards.
func (l *lane) start(asked request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, busy := l.busy[asked.id]; busy {
		l.busy[asked.id] = true
		return true
	}
	if l.idle == 0 || l.closed {
		return false
	}
	l.idle--
	l.begin(asked)
	return true
}

// fill has all idle workers work on payments that are due. Without an idle worker it takes none, but still fails if Redis
// cannot say what is due.
func (l *lane) fill(ctx context.Context) error {
	n := l.reserve()
	ids, err := l.store.Due(ctx, l.name, l.now(), l.lease, n)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted = err == nil && len(ids) == n
	for _, id := range ids {
		if _, busy := l.busy[id]; busy {
			l.busy[id] = true
			continue
		}
		n--
		l.begin(request{id: id})
	}
	l.idle += n
	return err
}

// reserve makes all idle workers busy, and returns how many there were.
func (l *lane) reserve() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0
	}
	n, l.idle = l.idle, 0
	return n
}

// begin has a worker that does not count as idle do what is requested. The caller holds the lock.
func (l *lane) begin(asked request) {
	l.busy[asked.id] = false
	l.running.Go(func() {
		p := l.work(asked)
		for l.finish(asked.id) {
			if p == nil || !p.State.Final() || p.State == flows.Refunded { // a refund can fail after all
				p = l.work(request{id: asked.id, trace: asked.trace})
			}
		}
	})
}

// finish ends the work on a payment, and makes its worker idle. It returns true, and does neither, if another request came
// meanwhile.
func (l *lane) finish(id flows.PaymentID) (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy[id] {
		l.busy[id] = false
		return true
	}
	delete(l.busy, id)
	l.idle++
	if l.wanted {
		l.signal()
	}
	return false
}

// signal reports that a payment was woken, or that a worker is idle while more payments may be due.
func (l *lane) signal() {
	select {
	case l.changed <- struct{}{}:
	default: // there is one already
	}
}

// inProgress counts the payments that this process works on.
func (l *lane) inProgress() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.busy)
}
