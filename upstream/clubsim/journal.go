package clubsim

import (
	"slices"
	"time"
)

// journalSize is how many calls a world remembers: a long test's worth, a few
// hundred KiB at most.
const journalSize = 2000

// Request is one line of the journal of calls.
type Request struct {
	At            time.Time `json:"at"`
	Method        string    `json:"method"`
	Path          string    `json:"path"` // relative to the client token, without the query
	Operation     string    `json:"operation"`
	Status        int       `json:"status"` // 0: no answer was sent
	ClubID        string    `json:"clubId"`
	NetworkNodeID string    `json:"networkNodeId"`
	Fault         string    `json:"fault"` // kind of the fault that hit the call; empty: none
	DurationMs    float64   `json:"durationMs"`
}

// note writes a call into the journal. A nil world has none.
func (w *World) note(r Request, began time.Time, status int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r.At, r.Status = began.Add(w.offset).UTC(), status
	r.DurationMs = float64(w.server.cfg.Now().Sub(began).Microseconds()) / 1000
	if len(w.journal) >= journalSize {
		w.journal = slices.Delete(w.journal, 0, journalSize/4) // in steps, to stay cheap
	}
	w.journal = append(w.journal, r)
}

// Requests returns the journal of calls, newest last.
func (w *World) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Request{}, w.journal...)
}
