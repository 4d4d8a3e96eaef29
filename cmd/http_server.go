package cmd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	headerTimeout = 5 * time.Second  // slowloris protection
	readTimeout   = 15 * time.Second // bodies are small
	writeTimeout  = 90 * time.Second // above the longest request
	idleTimeout   = 2 * time.Minute  // longer than the usual proxies keep a connection
	maxHeader     = 32 << 10         // four times a browser's cookies and a token
	// sendBuffer is what the system buffers for a client that does not read, instead of
	// megabytes: enough for a megabyte a second to a distant client, and soon full.
	sendBuffer = 64 << 10
	// drainDelay in live mode: a proxy that requests /readyz every five seconds has done so twice.
	drainDelay = 10 * time.Second
	// shutdownTimeout is for requests in progress; a payment's POST takes 30 s at most. A
	// request that takes longer is cut off, which is safe at any point. With drainDelay before
	// it a stop takes 55 s: grant the process 75 s.
	shutdownTimeout = 45 * time.Second
)

// serve serves until the context ends. It then calls stopping, which ends the requests that
// are kept waiting on purpose, and waits for it and for the requests in progress. It fails if
// requests are still in progress after shutdownTimeout; their connections are closed then.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, stopping func()) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext: func(ctx context.Context, connection net.Conn) context.Context {
			if client, ok := connection.(interface{ SetWriteBuffer(int) error }); ok {
				_ = client.SetWriteBuffer(sendBuffer) // it fails only for a connection that is closed already
			}
			endWithPeer(connection)
			return ctx
		},
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	var end sync.WaitGroup // unlike RegisterOnShutdown, it can be waited for
	end.Go(stopping)
	defer end.Wait()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // before the caller closes what the requests use
		return fmt.Errorf("requests were still in progress after %s: %w", shutdownTimeout, err)
	}
	return nil
}

// drain returns a context that ends delay after ctx.
func drain(ctx context.Context, delay time.Duration) context.Context {
	drained, end := context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- the timer calls it
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, end) })
	return drained
}

// closeOnShutdown closes the connection of every response once the gateway is stopping.
// Proxies and front ends that keep connections then have none left on which a request
// could be in progress when the server closes.
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
