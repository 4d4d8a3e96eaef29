package docs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// laterWord begins each value that no client of this contract knows.
const laterWord = "later"

// openMembers are the members whose lists can grow.
var openMembers = map[string]bool{
	"state":        true,
	"step":         true,
	"status":       true,
	"code":         true,
	"then":         true,
	"origin":       true,
	"kind":         true,
	"method":       true,
	"presentation": true,
	"reason":       true,
}

// newLaterGateway returns the address of a gateway whose lists have grown: below /v1/registrations it sends no value of an
// open list that this contract has, except for the actions and methods that a client needs, which follow unknown ones. It
// refuses the first payment for an unknown reason, and its streams have events with an unknown name.
func newLaterGateway(t *testing.T, gateway string) string {
	t.Helper()
	address, err := url.Parse(gateway)
	frontdesktest.Must(t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(address)
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: growResponse,
	}
	var refused atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/payment") && !refused.Swap(true) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"title": "Later", "status": 409, "code": %q, "retry": "never", "then": %[1]q}`, laterWord)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// growResponse replaces the values of a response below /v1/registrations.
func growResponse(response *http.Response) error {
	kind := response.Header.Get("Content-Type")
	switch {
	case !strings.HasPrefix(response.Request.URL.Path, "/v1/registrations"):
	case strings.HasPrefix(kind, "text/event-stream"):
		reader, writer := io.Pipe()
		go growStream(response.Body, writer)
		response.Body = reader
	case strings.Contains(kind, "json"):
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		body = growJSON(body)
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		response.Header.Set("Content-Length", fmt.Sprint(len(body)))
	}
	return nil
}

// growStream copies a stream. An event of an unknown name precedes each event.
func growStream(stream io.ReadCloser, w *io.PipeWriter) {
	defer stream.Close()
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			line = fmt.Appendf(nil, "data: %s\n", growJSON(data))
		} else if bytes.HasPrefix(line, []byte("event: ")) {
			line = fmt.Appendf(nil, "event: %s\ndata: {\"id\": 1}\n\n%s", laterWord, line)
		}
		if err == nil {
			_, err = w.Write(line)
		}
		if err != nil {
			w.CloseWithError(err)
			return
		}
	}
}

// growJSON replaces the values in a document.
func growJSON(document []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return document
	}
	grow(value)
	grown, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return grown
}

func grow(value any) {
	switch value := value.(type) {
	case []any:
		for _, each := range value {
			grow(each)
		}
	case map[string]any:
		for name, member := range value {
			word, isWord := member.(string)
			list, isList := member.([]any)
			switch {
			case isWord && openMembers[name]:
				value[name] = laterWord + "_" + word
			case isList && name == "next":
				value[name] = append([]any{map[string]any{"action": laterWord}}, list...)
			case isList && name == "methods":
				value[name] = append([]any{laterWord}, list...)
			}
			grow(member)
		}
	}
}

// TestTypedExampleMeetsLaterGateway signs up with the typed example at a gateway that sends values which it has never heard of.
func TestTypedExampleMeetsLaterGateway(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	project := newNodeProject(t, newLaterGateway(t, client.URL), "client.ts", "signup.ts", "screens.ts")
	project.write("frontdesk.d.ts", string(client.Do("GET", "/docs/frontdesk.d.ts", nil).Body))
	if out, err := project.compile("signup.ts"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := project.must("node", "signup.js")
	for _, shown := range []string{"Please check your cart", "pay by card", "Please complete your payment.", "Welcome!", "member 11-"} {
		if !strings.Contains(said, shown) {
			t.Errorf("the example does not show %q:\n%s", shown, said)
		}
	}
	expectOnePayment(t, client)
}
