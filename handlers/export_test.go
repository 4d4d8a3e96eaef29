package handlers

import "time"

// SetKeyedTimeout sets the time for a request with an Idempotency-Key.
func (s *Server) SetKeyedTimeout(limit time.Duration) { s.keyedTimeout = limit }
