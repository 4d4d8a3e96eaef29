package handlers

import "time"

// NewServer returns a server of another contract.
var NewServer = newServer

// SetKeyedTimeout sets the time for a request with an Idempotency-Key.
func (s *Server) SetKeyedTimeout(limit time.Duration) { s.keyedTimeout = limit }

// Amount writes an amount in a language.
func Amount(tag string, minor int64, code string) string {
	return (&texts{Tag: tag}).amount(minor, code)
}
