package handlers

import (
	"slices"
	"time"
)

// NewServer returns a server of another contract.
var NewServer = newServer

// SetKeyedTimeout sets the time for a request with an Idempotency-Key.
func (s *Server) SetKeyedTimeout(limit time.Duration) { s.keyedTimeout = limit }

// Amount writes an amount in a language.
func Amount(tag string, minor int64, code string) string {
	i := slices.IndexFunc(languages, func(l *texts) bool { return l.Tag == tag })
	return languages[i].amount(minor, code)
}
