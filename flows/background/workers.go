package background

import (
	"context"
	"sync"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// Request asks for work on one payment.
type Request struct {
	ID      flows.PaymentID
	Payment *flows.Payment // as just read; nil: it must be read
	Trace   string         // the traceparent header of the caller; empty: it is not known
}

// Wake requests one Advance of a payment and does not wait for it: in this process if a worker is idle, because a
// buyer may wait, else on the first gateway that has one. p is the payment if it was just read, else nil. If the process
// dies, the payment is due again at the time that it was scheduled for. It fails with StorageUnavailable.
func (q *Queue) Wake(ctx context.Context, id flows.PaymentID, p *flows.Payment) error {
	if q.open.Start(Request{id, p, tracing.Traceparent(ctx)}) {
		return nil
	}
	if err := q.store.Wake(ctx, id, q.now()); err != nil {
		return flows.StorageFailed(err)
	}
	q.open.signal()
	return nil
}

// Workers are this process's workers on one lane. There are none before Open.
type Workers struct {
	changed chan struct{}                // see Changed
	do      func(Request) *flows.Payment // see Open
	running sync.WaitGroup

	mu     sync.Mutex
	idle   int
	wanted bool                     // more payments may be due than there were idle workers
	closed bool                     // nothing new begins
	busy   map[flows.PaymentID]bool // the payments in progress; true: another request came meanwhile
}

func newWorkers() *Workers {
	return &Workers{changed: make(chan struct{}, 1), busy: map[flows.PaymentID]bool{}}
}

// Open adds n idle workers. They do what was requested, and return the payment as it is then, nil if that is not known.
func (w *Workers) Open(n int, do func(Request) *flows.Payment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle, w.do = n, do
}

// Close lets nothing new begin, and waits for what is in progress.
func (w *Workers) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.running.Wait()
}

// Start has an idle worker do what is requested, and returns false without one. A payment that is already in progress here
// is worked on again afterwards.
func (w *Workers) Start(request Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, busy := w.busy[request.ID]; busy {
		w.busy[request.ID] = true
		return true
	}
	if w.idle == 0 || w.closed {
		return false
	}
	w.idle--
	w.begin(request)
	return true
}

// Fill has all idle workers do what take returns: at most as many payments as it is asked for, which no other worker has. take is
// called even if no worker is idle.
func (w *Workers) Fill(take func(n int) ([]flows.PaymentID, error)) error {
	n := w.reserve()
	ids, err := take(n)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted = err == nil && len(ids) == n
	for _, id := range ids {
		if _, busy := w.busy[id]; busy {
			w.busy[id] = true
			continue
		}
		n--
		w.begin(Request{ID: id})
	}
	w.idle += n
	return err
}

// reserve makes all idle workers busy, and returns how many there were.
func (w *Workers) reserve() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0
	}
	n, w.idle = w.idle, 0
	return n
}

// begin has a worker that does not count as idle do what is requested. The caller holds the lock.
func (w *Workers) begin(request Request) {
	w.busy[request.ID] = false
	w.running.Go(func() {
		p := w.do(request)
		for w.finish(request.ID) {
			if p == nil || !p.State.Final() || p.State == flows.Refunded { // a refund can fail after all
				p = w.do(Request{ID: request.ID, Trace: request.Trace})
			}
		}
	})
}

// finish ends the work on a payment, and makes its worker idle. It returns true, and does neither, if another request came
// meanwhile.
func (w *Workers) finish(id flows.PaymentID) (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[id] {
		w.busy[id] = false
		return true
	}
	delete(w.busy, id)
	w.idle++
	if w.wanted {
		w.signal()
	}
	return false
}

// Changed delivers a value when Fill should be called at once: a payment was woken, or a worker is idle while more payments
// may be due.
func (w *Workers) Changed() <-chan struct{} { return w.changed }

func (w *Workers) signal() {
	select {
	case w.changed <- struct{}{}:
	default: // there is one already
	}
}

// InProgress counts the payments that this process works on.
func (w *Workers) InProgress() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.busy)
}
