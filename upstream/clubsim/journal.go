package clubsim

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// journalSize is how many requests a world remembers: those of a long test, a few hundred
// KiB.
const journalSize = 2000

// Request is one line of the journal.
type Request struct {
	Number        int       `json:"number"` // counts the world's requests; a reset does not restart it
	At            time.Time `json:"at"`
	Method        string    `json:"method"`
	Path          string    `json:"path"` // relative to the client token, without the query
	Operation     string    `json:"operation"`
	Status        int       `json:"status"` // 0: no response was sent
	ClubID        string    `json:"clubId"`
	NetworkNodeID string    `json:"networkNodeId"`
	Fault         string    `json:"fault"` // kind of the fault that hit the request; empty: none
	DurationMs    float64   `json:"durationMs"`
	TraceID       string    `json:"traceId"` // of the caller's traceparent header; empty: no valid one
}

// traceparent is the header's form (W3C Trace Context, version 00).
var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$`)

func traceID(header http.Header) string {
	if parts := traceparent.FindStringSubmatch(header.Get("traceparent")); parts != nil {
		return parts[1]
	}
	return ""
}

// recordRequest adds a request to the journal. A nil world has none.
func (w *World) recordRequest(request Request, began time.Time, status int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requestCount++
	request.Number = w.requestCount
	request.At, request.Status = began.Add(time.Duration(w.clockOffset.Load())).UTC(), status
	request.DurationMs = float64(w.server.cfg.Now().Sub(began).Microseconds()) / 1000
	if len(w.journal) >= journalSize {
		w.journal = slices.Delete(w.journal, 0, journalSize/4) // in steps, to stay cheap
	}
	w.journal = append(w.journal, request)
}

// Requests returns the journal, newest last.
func (w *World) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Request{}, w.journal...)
}

// getRequests is GET _control/requests: the whole journal, or the requests of one trace, or
// those after a number. A number that was never used is from before a restart, so every
// request came after it.
func getRequests(world *World, req *httpRequest) (any, error) {
	after, err := strconv.Atoi(cmp.Or(req.query.Get("after"), "0"))
	if err != nil || after < 0 {
		return nil, errors.New("after must be the number of a request")
	}
	trace, all := req.query.Get("traceId"), world.Requests()
	if len(all) == 0 || after > all[len(all)-1].Number {
		after = 0
	}
	return Items[Request]{slices.DeleteFunc(all, func(r Request) bool {
		return r.Number <= after || trace != "" && r.TraceID != trace
	})}, nil
}
