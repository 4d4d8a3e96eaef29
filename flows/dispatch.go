package flows

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/trace"
)

// This file advances a payment in the gateway that has just been told of it: its
// buyer waits, and a queue is asked only now and then.

// advanceRequest is a payment that is to be advanced, as it was just read.
type advanceRequest struct {
	payment *Payment
	trace   string // the header of whoever wishes it
}

// dispatcher take wishes, one at a time for each payment.
type dispatcher struct {
	requests chan advanceRequest // without a buffer: what is taken is begun

	mu   sync.Mutex
	busy map[PaymentID]bool // the payments that are in a hand; true: there was another wish since
}

func newDispatcher() *dispatcher {
	return &dispatcher{requests: make(chan advanceRequest), busy: map[PaymentID]bool{}}
}

// requestAgain tells whether a payment is in a hand, which will look at it once more then.
func (h *dispatcher) requestAgain(id PaymentID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, busy := h.busy[id]
	if busy {
		h.busy[id] = true
	}
	return busy
}

// begin takes a payment into a hand, unless it is in one, which will look at it once more then.
func (h *dispatcher) begin(id PaymentID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, busy := h.busy[id]
	h.busy[id] = busy
	return !busy
}

// end lets go of a payment, unless there was another wish since; then the next look is begun.
func (h *dispatcher) end(id PaymentID) (again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	again = h.busy[id]
	if delete(h.busy, id); again {
		h.busy[id] = false
	}
	return again
}

// AdvanceSoon asks for one Advance of a payment that was just read: by this gateway
// and at once if it has a hand free, and else as EnqueueAdvance does. A gateway that
// dies takes the wish along; the sweeper comes to the payment then.
func (q *Queue) AdvanceSoon(ctx context.Context, p *Payment) error {
	if !q.dispatcher.begin(p.ID) {
		return nil
	}
	select {
	case q.dispatcher.requests <- advanceRequest{p, Traceparent(ctx)}:
		return nil
	default:
		q.dispatcher.end(p.ID)
		return q.EnqueueAdvance(ctx, p.ID)
	}
}

// startDispatch begins the work on wishes. What is under way when the context ends is
// finished, for as long as drainTimeout.
func (w *Worker) startDispatch(ctx context.Context) *sync.WaitGroup {
	var working sync.WaitGroup
	jobs, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	for range concurrency {
		working.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case each := <-w.cfg.Queue.dispatcher.requests:
					w.process(jobs, each)
				}
			}
		})
	}
	context.AfterFunc(ctx, func() {
		ended := make(chan struct{})
		go func() { working.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-w.cfg.After(drainTimeout):
		}
		giveUp()
	})
	return &working
}

// process advances a payment, until nobody has wished for more.
func (w *Worker) process(ctx context.Context, each advanceRequest) {
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	ctx, span := StartTrace(ctx, w.cfg.Traces, each.trace, "job "+advanceJob, trace.SpanKindConsumer)
	defer span.End()
	p, err := w.cfg.Payments.advance(ctx, each.payment)
	for w.cfg.Queue.dispatcher.end(each.payment.ID) {
		if p == nil || !p.State.Final() {
			p, err = w.cfg.Payments.Advance(ctx, each.payment.ID)
		}
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "payment not advanced", "payment", each.payment.ID, "error", err)
	}
}
