package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

const (
	defaultOpsAddr     = "127.0.0.1:9090"
	defaultMetricsAddr = "127.0.0.1:9091" // in live mode
	// opsTimeout is above the longest response, that of the calibration.
	opsTimeout = 100 * time.Second
)

// opsClient calls the operators' listener of a running gateway.
type opsClient struct {
	addr  string
	json  bool   // print responses as they are
	token string // identifies the operator
	world string // in mock mode; empty: the default one
}

// options are the flags of every command that uses the client.
func (o *opsClient) options() []option {
	return []option{
		{
			variable:     "FRONTDESK_OPS_ADDR",
			value:        text(&o.addr),
			defaultValue: defaultOpsAddr,
			help:         "Address on which the gateway serves operators.",
		},
		{flag: "json", value: yesNo(&o.json), help: "Print JSON."},
		{flag: "world", value: text(&o.world), help: "The world that is meant, such as demo-x; mock mode only."},
		{
			variable:     "FRONTDESK_OPERATOR_TOKEN",
			value:        text(&o.token),
			defaultValue: demoOperatorToken,
			help:         "Your token, from frontdesk operators add. The default works in mock and test mode without FRONTDESK_OPERATORS.",
		},
	}
}

// runE is the type of cobra.Command.RunE.
type runE = func(*cobra.Command, []string) error

// read returns the RunE of a command that reads a path and prints the response with show. The command's arguments replace
// each %s in the path.
func read[T any](client *opsClient, path string, show func(io.Writer, T)) runE {
	return func(command *cobra.Command, args []string) error {
		return callOps(command.Context(), client, http.MethodGet, pathTo(path, args), nil, show)
	}
}

// write returns the RunE of a command that posts to a path, as read does. body makes the fields of the request from the
// arguments; nil for none.
func write[T any](client *opsClient, path string, body func(args []string) map[string]string, show func(io.Writer, T)) runE {
	return func(command *cobra.Command, args []string) error {
		fields := map[string]string{}
		if body != nil {
			fields = body(args)
		}
		return callOps(command.Context(), client, http.MethodPost, pathTo(path, args), fields, show)
	}
}

// pathTo replaces each %s in a path by an argument.
func pathTo(path string, args []string) string {
	for _, arg := range args {
		path = strings.Replace(path, "%s", url.PathEscape(arg), 1)
	}
	return path
}

// callOps calls an operation with a body of texts, or none, and prints its response: as JSON on request, otherwise with
// show. For JSON it calls show too, and discards the output, because a command may take its exit status from the response.
// No operation has an empty response.
func callOps[T any](ctx context.Context, client *opsClient, method, path string, body any, show func(io.Writer, T)) error {
	response, err := client.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	var result T
	if json.Unmarshal(response, &result) != nil || reflect.ValueOf(result).IsZero() {
		return client.notFrontdesk()
	}
	if client.json {
		_, err = fmt.Fprintf(os.Stdout, "%s\n", response)
		show(io.Discard, result)
		return err
	}
	show(os.Stdout, result)
	return nil
}

// request calls an operation and returns the body of its response.
func (o *opsClient) request(ctx context.Context, method, path string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, opsTimeout)
	defer cancel()
	content, _ := json.Marshal(body) // it never fails for texts
	request, err := http.NewRequestWithContext(ctx, method, "http://"+reachable(o.addr)+path, bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("FRONTDESK_OPS_ADDR: %q is not an address and port", o.addr)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+o.token)
	if o.world != "" {
		request.Header.Set("X-Frontdesk-World", o.world)
	}
	response, err := (&http.Client{Transport: &http.Transport{Proxy: nil}}).Do(request)
	if err != nil {
		if method == http.MethodGet || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("no Frontdesk at %s: is it running? Set FRONTDESK_OPS_ADDR or --ops-addr if it is elsewhere", o.addr)
		}
		return nil, fmt.Errorf("no response from Frontdesk at %s: check whether the operation took effect before you repeat it", o.addr)
	}
	defer response.Body.Close()
	content, err = io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the response from Frontdesk at %s is incomplete", o.addr)
	case response.StatusCode != http.StatusOK:
		return nil, o.problem(content)
	}
	return content, nil
}

// problem turns a problem document into an error.
func (o *opsClient) problem(body []byte) error {
	var problem struct {
		Title, Detail string
		Errors        []struct {
			Pointer *string // nil: a header or a parameter, which the detail describes
			Text    string
		}
	}
	if json.Unmarshal(body, &problem) != nil || problem.Title == "" {
		return o.notFrontdesk()
	}
	text := problem.Title
	if problem.Detail != "" {
		text += ": " + problem.Detail
	}
	for _, field := range problem.Errors {
		if field.Pointer != nil {
			text += "\n  " + strings.TrimPrefix(*field.Pointer, "/") + ": " + field.Text
		}
	}
	return errors.New(text)
}

func (o *opsClient) notFrontdesk() error {
	return fmt.Errorf("the server at %s is not Frontdesk, or another version of it", o.addr)
}

// reachable returns the address at which this machine reaches a listener: a host such as 0.0.0.0 can be listened on, but not called.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
