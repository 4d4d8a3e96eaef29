package sandbox

import (
	"net/http"
	"time"
)

// keyLifetime is how long Stripe remembers a key at least. The double forgets it then.
const keyLifetime = 24 * time.Hour

// idempotencyRecord is the first request under a key.
type idempotencyRecord struct {
	fingerprint string
	first       time.Time
	response    *response // nil while the request is in progress
}

// idempotent carries out a write under its key, or replays the stored response. Run
// reports whether its response is stored: every response is, server errors included,
// unless the parameters were found wrong before anything began.
//
// While the first request is in progress, Stripe answers 409 and does not document
// whether it compares parameters then. The double does not, so the caller must ask again
// to learn it.
func (s *Server) idempotent(rq *request, run func() (_ response, stored bool)) (out response) {
	if rq.Method != http.MethodPost || rq.key == "" || s.cfg.ForgetKeys {
		out, _ = run()
		return out
	}
	record, replay := s.begin(rq)
	if replay != nil {
		return *replay
	}
	stored := false
	defer func() { // also when a fault breaks the connection, which unwinds the stack
		s.mu.Lock()
		defer s.mu.Unlock()
		if stored {
			record.response = &out
		} else {
			delete(s.keys, rq.key)
		}
	}()
	out, stored = run()
	return out
}

// begin starts the first request under a key, or returns the response to a later one.
func (s *Server) begin(rq *request) (first *idempotencyRecord, replay *response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fingerprint, now := rq.Method+" "+rq.URL.Path+"\n"+rq.Form.Encode(), s.cfg.Now()
	record, used := s.keys[rq.key]
	var refusal error
	switch {
	case used && record.response == nil:
		refusal = &apiError{
			Type: typeIdempotency, Code: "idempotency_key_in_use", status: http.StatusConflict,
			Message: "There is currently another in-progress request using this Idempotency-Key.",
		}
	case !used || now.Sub(record.first) >= keyLifetime:
		record = &idempotencyRecord{fingerprint: fingerprint, first: now}
		s.keys[rq.key] = record
		return record, nil
	case record.fingerprint != fingerprint:
		refusal = &apiError{
			Type:    typeIdempotency,
			Message: "Keys for idempotent requests can only be used with the same parameters they were first used with.",
		}
	default:
		replayed := *record.response
		replayed.replayed = true
		return nil, &replayed
	}
	out, _ := errorResponse(refusal)
	return nil, &out
}
