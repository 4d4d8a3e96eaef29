package jobs

import (
	"context"
	"sync"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// AdvanceRequest asks for one Advance of a payment in this process.
type AdvanceRequest struct {
	Payment *flows.Payment
	Trace   string // the traceparent header of the caller
}

// dispatcher hands payments to this process's worker, one request at a time for each
// payment: the buyer waits, and the queue is polled only now and then.
type dispatcher struct {
	requests chan AdvanceRequest // unbuffered: a request that is received is begun

	mu   sync.Mutex
	busy map[flows.PaymentID]bool // the payments in progress; true: another request came meanwhile
}

func newDispatcher() *dispatcher {
	return &dispatcher{requests: make(chan AdvanceRequest), busy: map[flows.PaymentID]bool{}}
}

// begin marks a payment as in progress. It returns false for one that already is, which
// is then advanced once more afterwards.
func (d *dispatcher) begin(id flows.PaymentID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, busy := d.busy[id]
	d.busy[id] = busy
	return !busy
}

// Pending tells whether this process is advancing a payment already; if so, it advances
// it once more afterwards.
func (q *Queue) Pending(id flows.PaymentID) bool {
	d := q.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	_, busy := d.busy[id]
	if busy {
		d.busy[id] = true
	}
	return busy
}

// AdvanceSoon asks for one Advance of a payment that was just read: in this process, at
// once, if it has capacity, and otherwise as EnqueueAdvance does. A request is lost with
// its process; the sweep finds the payment then.
func (q *Queue) AdvanceSoon(ctx context.Context, p *flows.Payment) error {
	if !q.dispatcher.begin(p.ID) {
		return nil
	}
	select {
	case q.dispatcher.requests <- AdvanceRequest{p, tracing.Traceparent(ctx)}:
		return nil
	default:
		q.Finish(p.ID)
		return q.EnqueueAdvance(ctx, p.ID)
	}
}

// Requests delivers this process's requests to its worker, which calls Finish after each.
func (q *Queue) Requests() <-chan AdvanceRequest { return q.dispatcher.requests }

// Finish ends the work on a payment. It returns true, and keeps the payment in progress,
// when another request came meanwhile.
func (q *Queue) Finish(id flows.PaymentID) (again bool) {
	d := q.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	again = d.busy[id]
	if delete(d.busy, id); again {
		d.busy[id] = false
	}
	return again
}
