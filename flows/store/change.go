package store

import (
	"context"
	"iter"
	"strings"
)

// changes is the channel on which the scripts that write a record publish the
// key of its registration. In a cluster every node passes it on.
const changes = "fd:changes"

// Changes implements jobs.ChangeSource. The client subscribes again by itself after
// the connection was lost; what was published meanwhile is not heard.
func (s *Store) Changes(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		subscription := s.redis.Subscribe(ctx, changes)
		defer subscription.Close()
		heard := subscription.Channel()
		for {
			select {
			case <-ctx.Done():
				return
			case message, ok := <-heard:
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
