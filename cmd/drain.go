package cmd

import (
	"context"
	"net/http"
	"time"
)

// drain gives a context that ends so long after another one.
func drain(ctx context.Context, pause time.Duration) context.Context {
	drained, end := context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- the timer calls it
	context.AfterFunc(ctx, func() { time.AfterFunc(pause, end) })
	return drained
}

// closeOnShutdown ends the connection of every answer once the gateway was told to stop.
// Whoever keeps connections, a proxy or a front end, has none left then on which a
// request could be under way in the moment in which the server closes.
func closeOnShutdown(next http.Handler, stopping <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-stopping:
			w.Header().Set("Connection", "close")
		default:
		}
		next.ServeHTTP(w, r)
	})
}
