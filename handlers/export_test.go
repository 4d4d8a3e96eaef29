package handlers

import "time"

// SetKeyedTimeout sets the time for a request with an Idempotency-Key.
func (s *Server) SetKeyedTimeout(limit time.Duration) { s.keyedTimeout = limit }

// Provokable are the operations that the first word of an e-mail address at fault.example names, as method and route.
func Provokable() map[string][]string { return provokable }
