package flows

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// sideBySide does two things at once and waits for both. The first failure ends the other
// one, and is the one that is told. One of the two goes on where the caller is, whose stack
// has room for it: that of a new goroutine grows twice for one call of the club system.
func sideBySide(ctx context.Context, here, beside func(context.Context) error) error {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return beside(ctx) })
	if err := here(ctx); err != nil {
		both.Go(func() error { return err })
	}
	return both.Wait()
}
