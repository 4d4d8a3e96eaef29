package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"time"
)

// references are the servers to compare with, built from the standard library and Echo alone. Each
// takes the argument of its measurement: a file or a URL.
var references = map[string]func(arg string) (http.Handler, error){
	"replay":      bareReplay,
	"echo-encode": bareEncoder,
	"echo-merge":  bareMerger,
	"forward":     bareForward,
}

// serveReference runs a reference server, given its name, its address and its argument.
func serveReference(ctx context.Context, args []string) error {
	if len(args) != 3 || references[args[0]] == nil {
		return fmt.Errorf("no such reference: %q", args)
	}
	handler, err := references[args[0]](args[2])
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", args[1])
	if err != nil {
		return err
	}
	fmt.Println("reference is at", listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	return server.Serve(listener)
}

// bareReplay writes a recorded response, with all its headers.
func bareReplay(file string) (http.Handler, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var recorded recordedResponse
	err = json.Unmarshal(text, &recorded)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			maps.Copy(w.Header(), recorded.NotModified)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		maps.Copy(w.Header(), recorded.Header)
		w.Write(recorded.Body)
	}), err
}

// bareForward forwards each request to another server, and passes the response on.
func bareForward(url string) (http.Handler, error) {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, err := client.Get(url)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		io.Copy(w, response.Body)
	}), nil
}
