package sandbox

import (
	"slices"
	"strings"
	"time"
)

const (
	// maxRequests is how many calls Requests keeps.
	maxRequests = 10_000
	// maxRecorded bounds the texts of a kept call, in bytes.
	maxRecorded = 4 << 10
)

// Request is one call that reached the double. Its texts are cut at maxRecorded.
type Request struct {
	Method, Path string
	Key          string // Idempotency-Key
	Form         string // the parameters, encoded and sorted by name; "hidden" if they have a card's number
	At           time.Time
}

// Requests returns the last 10,000 calls that got a response or were broken, in that order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal[max(0, len(s.journal)-maxRequests):])
}

// record keeps a call for Requests.
func (s *Server) record(rq *request) {
	form := rq.canonical
	if strings.Contains(form, "card%5D") {
		form = "hidden"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.journal) >= 2*maxRequests {
		s.journal = slices.Clone(s.journal[maxRequests:])
	}
	s.journal = append(s.journal, Request{
		Method: rq.method,
		Path:   clip(rq.path),
		Key:    clip(rq.key),
		Form:   clip(form),
		At:     s.cfg.Now(),
	})
}

// clip cuts a text at maxRecorded.
func clip(text string) string {
	if len(text) > maxRecorded {
		return strings.Clone(text[:maxRecorded])
	}
	return text
}
