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
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// references are the servers to compare with, of the standard library and Echo alone, by
// name. Each is made from the arguments of its measurement.
var references = map[string]func(args []string) (http.Handler, error){
	"bytes":      func(args []string) (http.Handler, error) { return bareBytes(args[0]) },
	"echo-bytes": func(args []string) (http.Handler, error) { return bareEcho(args[0]) },
	"replay":     func(args []string) (http.Handler, error) { return bareReplay(args[0]) },

	"echo-encode": func(args []string) (http.Handler, error) { return bareEncoder(args[0]) },
	"echo-merge":  func(args []string) (http.Handler, error) { return bareMerger(args[0], merged) },
	"echo-pick":   func(args []string) (http.Handler, error) { return bareMerger(args[0], picked) },
	"echo-splice": func(args []string) (http.Handler, error) { return bareMerger(args[0], spliced) },
	"forward":     func(args []string) (http.Handler, error) { return bareForward(args[0]), nil },
}

// serveReference runs one: its name, its address, and its arguments.
func serveReference(ctx context.Context, args []string) error {
	if len(args) < 2 || references[args[0]] == nil {
		return fmt.Errorf("no such reference: %q", args)
	}
	handler, err := references[args[0]](args[2:])
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

// bareBytes writes the bytes of a file, and nothing else; with If-None-Match it says that
// they are known.
func bareBytes(path string) (http.Handler, error) {
	body, err := os.ReadFile(path)
	length := strconv.Itoa(len(body))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		w.Write(body)
	}), err
}

// bareReplay gives an answer that was recorded, byte for byte, with all its headers.
func bareReplay(path string) (http.Handler, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var told recordedResponse
	err = json.Unmarshal(text, &told)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, known := told.Header, r.Header.Get("If-None-Match") != ""
		if known {
			header = told.Known
		}
		maps.Copy(w.Header(), header)
		if known {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write(told.Body)
	}), err
}

// bareEcho does the same as bareBytes with Echo, at the address of the catalogue.
func bareEcho(path string) (http.Handler, error) {
	body, err := os.ReadFile(path)
	e := echo.New()
	e.GET(catalogue, func(c echo.Context) error { return c.JSONBlob(http.StatusOK, body) })
	return e, err
}

// bareForward asks another server for each request, and passes its answer on.
func bareForward(to string) http.Handler {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := client.Get(to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		io.Copy(w, answer.Body) //nolint:errcheck // whoever asks sees what is missing
	})
}
