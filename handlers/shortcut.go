package handlers

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"

	"frontdesk/flows"
)

// This file is the short way of what most visitors ask for first: an answer that is
// remembered for anybody. It says and counts what the long way through New's middleware
// does for such an answer (observe, securityHeaders, limit, recall), without the router, the
// context and the copies of a request that all other requests need. Whatever has to be
// looked at, or told of, takes the long way: who says who they are, a page of another
// origin, a body, a limit that is used up, and everything where single requests are traced
// or logged.

// hasShortcut tells whether nobody wants to hear of single answers from memory.
func (cfg Config) hasShortcut() bool {
	return !cfg.Worlds && cfg.OnRequest == nil && !flows.Exports(cfg.Traces) && !cfg.Log.Enabled(context.Background(), recalledLevel)
}

// recalledLevel is that of the line about an answer from memory, which is one of many that
// are all the same: metrics count them.
const recalledLevel = slog.LevelDebug

// shortcut answers from memory, and tells whether it did.
func (s *Server) shortcut(w http.ResponseWriter, r *http.Request) bool {
	if !s.short || r.Method != http.MethodGet && r.Method != http.MethodHead || !fromAnybody(r) || r.Header["Origin"] != nil {
		return false
	}
	wire, ok := r.Context().Value(wireKey{}).(*wire)
	if !ok {
		return false
	}
	begun := s.cfg.Now()
	kept := s.remembers(r.RequestURI, begun)
	if kept == nil {
		return false
	}
	var left []byte
	if s.buckets != nil {
		taken := s.buckets.take(s.placeFrom(r, wire.peer), begun)
		if !taken.Allowed {
			return false // it is refused there, and not counted twice
		}
		left = s.buckets.lines[taken.Remaining]
	}
	answer := RequestInfo{At: begun, Method: http.MethodGet, Route: kept.route, Status: http.StatusOK, World: s.cfg.ClientToken}
	v, known := kept.variantFor(r)
	wire.begin(v.lines, left)
	if known { // the server writes it after this, so that there is no time to measure
		answer.Status = http.StatusNotModified
		w.WriteHeader(answer.Status)
	} else {
		_ = wire.SetWriteDeadline(begun.Add(writeTimeout)) // a connection that is gone is told of by the write
		if r.Method == http.MethodGet {
			wire.gather()
		}
		_ = v.write(w) // the visitor has left: there is nobody to tell
		_ = wire.settle()
		answer.DurationMs = milliseconds(s.cfg.Now().Sub(begun))
	}
	if s.cfg.OnRequestMetric != nil {
		s.cfg.OnRequestMetric(answer)
	}
	return true
}

// linesOf are the headers of an answer to anybody that are the same each time.
func (s *Server) linesOf(a *cachedResponse, v *encoding) ([]byte, error) {
	header := http.Header{}
	s.protect(header)
	a.label(header, v, publicCacheControl)
	if s.buckets != nil {
		header[policyHeader] = s.buckets.policy
	}
	var lines bytes.Buffer
	err := header.Write(&lines)
	return lines.Bytes(), err
}
