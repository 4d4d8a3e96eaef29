package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// forwarder runs a server on the server's core that only forwards requests to an address: the one to compare with.
func (h *harness) forwarder(url string) *frontdesktest.Process {
	at := h.freeAddress()
	return h.startServer(at, "forwarder is at", nil, h.self, "forwarder", at, url)
}

// serveForwarder is the program of a forwarder, given its own address and the one to forward to. It uses net/http alone.
func serveForwarder(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("a forwarder needs its address and another one, not %q", args)
	}
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	fmt.Println("forwarder is at", listener.Addr())
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	forward := func(w http.ResponseWriter, _ *http.Request) {
		response, err := client.Get(args[1])
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		io.Copy(w, response.Body)
	}
	server := &http.Server{Handler: http.HandlerFunc(forward), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	return server.Serve(listener)
}
