package handlers

import (
	"net/http"
	"time"
)

// writeTimeout: a client that takes nothing of an answer for so long is gone. What is written
// at once is some hundred kilobytes at most, which the slowest of mobile networks carry in
// that time; longer answers are written in pieces, each with a time of its own.
const writeTimeout = 10 * time.Second

// deadlineWriter writes an answer to a client that takes it. The server's own limit is for
// whole requests, so that one who reads nothing would hold a connection and its buffers for as
// long as the longest of them may take.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
}

func newDeadlineWriter(w http.ResponseWriter, now func() time.Time) *deadlineWriter {
	return &deadlineWriter{w, http.NewResponseController(w), now}
}

// Write implements io.Writer.
func (a *deadlineWriter) Write(p []byte) (int, error) {
	_ = a.control.SetWriteDeadline(a.now().Add(writeTimeout)) // a writer without deadlines, as in memory, needs none
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *deadlineWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
