package background

import (
	"context"
	"sync"

	"frontdesk/flows/store"
)

// Hub hints to subscribers that a registration may have changed, on any gateway. Hints
// may get lost, so subscribers also read the registration now and then without one.
type Hub struct {
	records *store.Store

	mu          sync.Mutex
	closed      bool
	subscribers map[string]map[chan struct{}]struct{} // by registration
	active      sync.WaitGroup                        // the subscribers that have not stopped yet
}

func newHub(records *store.Store) *Hub {
	return &Hub{records: records, subscribers: map[string]map[chan struct{}]struct{}{}}
}

// Subscribe returns a channel that holds at most one hint, however many changes there
// were, and is closed when the gateway stops. The caller must call stop once: the end of the
// background work waits for it.
func (h *Hub) Subscribe(registration string) (hints <-chan struct{}, stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hint := make(chan struct{}, 1)
	if h.closed {
		close(hint)
		return hint, func() {}
	}
	if h.subscribers[registration] == nil {
		h.subscribers[registration] = map[chan struct{}]struct{}{}
	}
	h.subscribers[registration][hint] = struct{}{}
	h.active.Add(1)
	return hint, func() {
		defer h.active.Done()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subscribers[registration], hint)
		if len(h.subscribers[registration]) == 0 {
			delete(h.subscribers, registration)
		}
	}
}

// run delivers hints until the context ends. Then it closes the channels, and waits for
// the subscribers to stop.
func (h *Hub) run(ctx context.Context) {
	for registration := range h.records.Changes(ctx) {
		h.notify(registration)
	}
	h.close()
	h.active.Wait()
}

func (h *Hub) notify(registration string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for hint := range h.subscribers[registration] {
		select {
		case hint <- struct{}{}:
		default: // the subscriber has not read the previous notification yet
		}
	}
}

func (h *Hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, hints := range h.subscribers {
		for hint := range hints {
			close(hint)
		}
	}
}
