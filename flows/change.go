package flows

import (
	"context"
	"iter"
	"sync"
)

// ChangeStore is where changes come from.
type ChangeStore interface {
	// Changes gives the ids of registrations that were written, payments included, by
	// whichever gateway, until the context ends. Some may get lost.
	Changes(ctx context.Context) iter.Seq[string]
}

// Changes tells whoever follows a registration that it may have changed, on
// whichever gateway. It is a hint and may get lost: a follower reads the
// registration again, and now and then does so without a hint.
type Changes struct {
	store ChangeStore

	mu        sync.Mutex
	ended     bool
	followers map[string]map[chan struct{}]struct{} // by registration
	following sync.WaitGroup                        // until each of them has stopped
}

// NewChanges makes changes that nobody is told of before Run.
func NewChanges(store ChangeStore) *Changes {
	return &Changes{store: store, followers: map[string]map[chan struct{}]struct{}{}}
}

// Follow gives a channel that holds one hint at most, however many changes there
// were, and is closed when the gateway stops; stop ends it, and has to be called once.
func (c *Changes) Follow(registration string) (hints <-chan struct{}, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hint := make(chan struct{}, 1)
	if c.ended {
		close(hint)
		return hint, func() {}
	}
	if c.followers[registration] == nil {
		c.followers[registration] = map[chan struct{}]struct{}{}
	}
	c.followers[registration][hint] = struct{}{}
	c.following.Add(1)
	return hint, func() {
		defer c.following.Done()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.followers[registration], hint)
		if len(c.followers[registration]) == 0 {
			delete(c.followers, registration)
		}
	}
}

// Run tells the followers until the context ends; then their channels are closed, and
// it waits until each of them has stopped.
func (c *Changes) Run(ctx context.Context) {
	for registration := range c.store.Changes(ctx) {
		c.tell(registration)
	}
	c.end()
	c.following.Wait()
}

func (c *Changes) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, hints := range c.followers {
		for hint := range hints {
			close(hint)
		}
	}
}

func (c *Changes) tell(registration string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for hint := range c.followers[registration] {
		select {
		case hint <- struct{}{}:
		default: // it has not read since the last one
		}
	}
}
