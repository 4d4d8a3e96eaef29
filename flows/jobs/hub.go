package jobs

import (
	"context"
	"iter"
	"sync"
)

// ChangeSource is where changes come from.
type ChangeSource interface {
	// Changes gives the ids of registrations that were written, payments included, by
	// whichever gateway, until the context ends. Some may get lost.
	Changes(ctx context.Context) iter.Seq[string]
}

// Hub tells whoever follows a registration that it may have changed, on
// whichever gateway. It is a hint and may get lost: a follower reads the
// registration again, and now and then does so without a hint.
type Hub struct {
	store ChangeSource

	mu          sync.Mutex
	closed      bool
	subscribers map[string]map[chan struct{}]struct{} // by registration
	active      sync.WaitGroup                        // until each of them has stopped
}

// NewHub makes changes that nobody is told of before Run.
func NewHub(store ChangeSource) *Hub {
	return &Hub{store: store, subscribers: map[string]map[chan struct{}]struct{}{}}
}

// Subscribe gives a channel that holds one hint at most, however many changes there
// were, and is closed when the gateway stops; stop ends it, and has to be called once.
func (c *Hub) Subscribe(registration string) (hints <-chan struct{}, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hint := make(chan struct{}, 1)
	if c.closed {
		close(hint)
		return hint, func() {}
	}
	if c.subscribers[registration] == nil {
		c.subscribers[registration] = map[chan struct{}]struct{}{}
	}
	c.subscribers[registration][hint] = struct{}{}
	c.active.Add(1)
	return hint, func() {
		defer c.active.Done()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subscribers[registration], hint)
		if len(c.subscribers[registration]) == 0 {
			delete(c.subscribers, registration)
		}
	}
}

// Run tells the followers until the context ends; then their channels are closed, and
// it waits until each of them has stopped.
func (c *Hub) Run(ctx context.Context) {
	for registration := range c.store.Changes(ctx) {
		c.notify(registration)
	}
	c.close()
	c.active.Wait()
}

func (c *Hub) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, hints := range c.subscribers {
		for hint := range hints {
			close(hint)
		}
	}
}

func (c *Hub) notify(registration string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for hint := range c.subscribers[registration] {
		select {
		case hint <- struct{}{}:
		default: // it has not read since the last one
		}
	}
}
