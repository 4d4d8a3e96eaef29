package jobs

import (
	"context"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// AdvanceRequest asks this process's worker for one Advance of a payment. Each payment
// has one request at a time.
type AdvanceRequest struct {
	Payment *flows.Payment
	Trace   string // the traceparent header of the caller
}

// AdvanceSoon requests one Advance of a payment that was just read: in this process if a
// worker is idle, because a buyer waits, otherwise as EnqueueAdvance does. If the process
// dies, the sweep finds the payment.
func (q *Queue) AdvanceSoon(ctx context.Context, p *flows.Payment) error {
	if q.offer(AdvanceRequest{p, tracing.Traceparent(ctx)}) {
		return nil
	}
	return q.EnqueueAdvance(ctx, p.ID)
}

// offer hands a request to an idle worker, and returns false without one. A payment that
// is already in progress here is advanced again afterwards.
func (q *Queue) offer(request AdvanceRequest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	id := request.Payment.ID
	if _, busy := q.busy[id]; busy {
		q.busy[id] = true
		return true
	}
	select {
	case q.requests <- request:
		q.busy[id] = false // before the worker's Finish, which waits for the lock
		return true
	default:
		return false
	}
}

// Requests delivers this process's requests to its worker, which calls Finish after each.
func (q *Queue) Requests() <-chan AdvanceRequest { return q.requests }

// InProgress counts the payments that this process advances.
func (q *Queue) InProgress() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.busy)
}

// Finish ends the work on a payment. It returns true, and keeps the payment in progress,
// if another request came meanwhile.
func (q *Queue) Finish(id flows.PaymentID) (again bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	again = q.busy[id]
	if delete(q.busy, id); again {
		q.busy[id] = false
	}
	return again
}
