package handlers

import (
	"net/http"
	"time"
)

// writeTimeout: a client that takes nothing of an answer for so long is gone. What is written
// at once is some hundred kilobytes at most, which the slowest of mobile networks carry in
// that time; longer answers are written in pieces, each with a time of its own.
const writeTimeout = 10 * time.Second

// responseWriter writes a response to a client that reads it, and keeps its status. The
// server's own limit is for whole requests, so that a client that reads nothing would hold a
// connection and its buffers for as long as the longest of them may take.
type responseWriter struct {
	http.ResponseWriter
	now    func() time.Time
	status int // zero: nothing was written
}

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *responseWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.now().Add(writeTimeout)) // a writer in memory has no deadlines
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
