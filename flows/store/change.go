package store

import (
	"context"
	"iter"
	"strings"
)

// changes is the channel to which scripts publish the key of the registration they changed.
const changes = "fd:changes"

// Changes implements jobs.ChangeSource. The client subscribes again after a lost connection;
// what is published in between is lost.
func (s *Store) Changes(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		subscription := s.redis.Subscribe(ctx, changes)
		defer subscription.Close()
		messages := subscription.Channel()
		for {
			select {
			case <-ctx.Done():
				return
			case message, ok := <-messages:
				if !ok || !yield(registrationOf(message.Payload)) {
					return
				}
			}
		}
	}
}

// registrationOf reverses registrationKey.
func registrationOf(key string) string {
	return strings.TrimSuffix(strings.TrimPrefix(key, "fd:{"), "}:registration")
}
