package handlers

import (
	"net/http"
	"time"
)

// takeTime: a client that takes nothing of an answer for so long is gone. What is written
// at once is some hundred kilobytes at most, which the slowest of mobile networks carry in
// that time; longer answers are written in pieces, each with a time of its own.
const takeTime = 10 * time.Second

// attentive writes an answer to a client that takes it. The server's own limit is for
// whole requests, so that one who reads nothing would hold a connection and its buffers for as
// long as the longest of them may take.
type attentive struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
}

func newAttentive(w http.ResponseWriter, now func() time.Time) *attentive {
	return &attentive{w, http.NewResponseController(w), now}
}

// Write implements io.Writer.
func (a *attentive) Write(p []byte) (int, error) {
	_ = a.control.SetWriteDeadline(a.now().Add(takeTime)) // a writer without deadlines, as in memory, needs none
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *attentive) Unwrap() http.ResponseWriter { return a.ResponseWriter }
