package frontdesktest

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
)

// LaterWord begins each value that no client of this contract knows.
const LaterWord = "unheard"

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
	"type":         true,
	"channel":      true,
	"debitChoice":  true,
	"processor":    true,
}

// LaterDetail is the text of the refusal by a later gateway.
const LaterDetail = "This came up only later."

// NewLaterGateway returns the address of a gateway whose lists have grown: of registrations and the catalogue it sends no value
// of an open list that this contract has, except for the actions, methods and needs that a client must know, which follow
// unknown ones. It refuses the first payment for an unknown reason, and its streams have events with an unknown name.
func NewLaterGateway(t TB, gateway string) string {
	t.Helper()
	address, err := url.Parse(gateway)
	Must(t, err)
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
			fmt.Fprintf(w, `{"title": "Later", "detail": %q, "status": 409, "code": %q, "retry": "never", "then": %[2]q}`, LaterDetail, LaterWord)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// growResponse replaces the values of a response about registrations or the catalogue.
func growResponse(response *http.Response) error {
	kind, path := response.Header.Get("Content-Type"), response.Request.URL.Path
	switch {
	case !strings.HasPrefix(path, "/v1/registrations") && !strings.HasPrefix(path, "/v1/clubs"):
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
			line = fmt.Appendf(nil, "event: %s\ndata: {\"id\": 1}\n\n%s", LaterWord, line)
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
			case isWord && openMembers[name] && !strings.HasPrefix(word, "/"): // not a problem's type
				value[name] = LaterWord + "_" + word
			case isList && name == "next":
				value[name] = append([]any{map[string]any{"action": LaterWord}}, list...)
			case isList && (name == "methods" || name == "needs" || name == "rules"):
				value[name] = append([]any{LaterWord}, list...)
			}
			grow(member)
		}
	}
}
