package handlers

import "time"

// NewServer returns a server of another contract.
var NewServer = newServer

// SetKeyedTimeout sets the time for a request with an Idempotency-Key.
func (s *Server) SetKeyedTimeout(limit time.Duration) { s.keyedTimeout = limit }
