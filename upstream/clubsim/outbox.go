package clubsim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// reorderWindow is how long a delivery waits for another one to overtake it. Half a second
// is longer than one request takes to emit its events, and short enough for a test.
const reorderWindow = 500 * time.Millisecond

// outbox delivers the events of a world one after the other. The world's lock guards it.
type outbox struct {
	queue   []*eventRecord
	held    *eventRecord // waiting to be overtaken (webhooks: reorder)
	running bool
	round   int // incremented by each reset; events of an earlier round are not sent
}

// clear forgets the events that were not sent.
func (o *outbox) clear() {
	o.queue, o.held = nil, nil
	o.round++
}

// dispatch queues an event as the world's webhooks setting says.
func (w *World) dispatch(event *eventRecord) {
	box := &w.outbox
	switch w.settings.Webhooks {
	case "drop":
	case "duplicate":
		w.enqueue(event, event)
	case "late":
		w.later(w.settings.WebhookDelay.Duration(), func() { w.enqueue(event) })
	case "reorder":
		if held := box.held; held != nil {
			box.held = nil
			w.enqueue(event, held)
			return
		}
		box.held = event
		w.later(reorderWindow, func() {
			if box.held == event {
				box.held = nil
				w.enqueue(event)
			}
		})
	default:
		w.enqueue(event)
	}
}

// later runs f under the world's lock after a delay, unless the world is reset or the
// server closes.
func (w *World) later(delay time.Duration, run func()) {
	round := w.outbox.round
	w.server.runInBackground(func() {
		if !w.server.sleep(delay, nil) {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.outbox.round == round {
			run()
		}
	})
}

// enqueue adds events to the queue and makes sure that it is drained.
func (w *World) enqueue(events ...*eventRecord) {
	w.outbox.queue = append(w.outbox.queue, events...)
	if !w.outbox.running {
		w.outbox.running = true
		w.server.runInBackground(w.drain)
	}
}

// drain delivers until the queue is empty or the server closes.
func (w *World) drain() {
	for e := w.next(); e != nil; e = w.next() {
		d := w.deliver(e)
		w.mu.Lock()
		e.Deliveries = append(e.Deliveries, d)
		w.mu.Unlock()
	}
}

// next takes an event from the queue; nil ends the drain.
func (w *World) next() *eventRecord {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server.closing.Err() != nil {
		w.outbox.queue = nil
	}
	if len(w.outbox.queue) == 0 {
		w.outbox.running = false
		return nil
	}
	e := w.outbox.queue[0]
	w.outbox.queue = w.outbox.queue[1:]
	return e
}

// deliver posts an event once (club system API, section Events).
func (w *World) deliver(event *eventRecord) Delivery {
	delivery := Delivery{At: w.Now()}
	body := encode(record{"event": event.Event.Event, "data": record{"object": event.Object}})
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, event.URL, bytes.NewReader(body))
	if err != nil {
		delivery.Error = err.Error()
		return delivery
	}
	r.Header.Set("Content-Type", "application/json")
	if event.ClubID != "" {
		r.Header.Set(clubHeader, event.ClubID)
	}
	r.Header.Set("X-Frontdesk-World", w.clientToken) // so that developer tools know whose event it is
	response, err := w.server.events.Do(r)
	if err != nil {
		delivery.Error = err.Error()
		return delivery
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody)) // so that the connection can be used again
	delivery.Status = response.StatusCode
	return delivery
}
