package sandbox

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"strings"
	"time"
)

const (
	// keyLifetime is how long Stripe remembers a key at least (https://docs.stripe.com/api/idempotent_requests). Then the double
	// takes it for a new one, and forgets it when it needs the room.
	keyLifetime = 24 * time.Hour

	// maxKeyLength is Stripe's.
	maxKeyLength = 255

	// keysPerPayment is twice what a payment needs from creation to record, so that keys do
	// not run out before payments do.
	keysPerPayment = 10
)

// response is the result of a call. Its body refers to nothing that changes, so it can be stored.
type response struct {
	status int
	body   any // has JSON
}

// digest identifies a key of an account, or a request: without their texts, a day of keys is small.
type digest [16]byte

func digestOf(parts ...string) digest {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return digest(sum[:])
}

// keyUse is the first request under a key.
type keyUse struct {
	request  digest   // method, path and parameters
	first    int64    // when it came, in nanoseconds
	bytes    int      // of the request, which its response may have
	of       *intent  // the payment that it is about; nil: none
	response response // without a body while the request is in progress
}

// idempotent carries out a write under its key, or replays the stored response. Run
// reports whether its response is stored: every response is, server errors included,
// unless the parameters were found wrong before anything began.
//
// While the first request is in progress, Stripe answers 409 and does not document
// whether it compares parameters then. The double does not, so the caller must ask again
// to learn it.
func (s *Server) idempotent(rq *request, run func() (_ response, stored bool)) (out response, replayed bool) {
	if rq.method != http.MethodPost || rq.key == "" {
		out, _ = run()
		return out, false
	}
	key := digestOf(rq.account.SecretKey, rq.key)
	use, replay, err := s.begin(rq, key)
	switch {
	case err != nil:
		out, _ = errorResponse(err)
		return out, false
	case use == nil:
		return replay, true
	}
	out, stored := run()
	s.mu.Lock()
	defer s.mu.Unlock()
	use.of = rq.intent
	if stored {
		use.response = out
	} else if s.keys[key] == use {
		delete(s.keys, key)
		s.keyBytes -= use.bytes
	}
	return out, false
}

// begin starts the first request under a key, or returns the response to a later one.
func (s *Server) begin(rq *request, key digest) (first *keyUse, replay response, err error) {
	print, bytes := digestOf(rq.method, rq.path, rq.canonical), len(rq.path)+len(rq.canonical)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.WorldNow(rq.world()).UnixNano()
	expired := func(use *keyUse) bool {
		return now-use.first >= int64(keyLifetime) && (use.of == nil || use.of.world == rq.world())
	}
	full := func() bool {
		return len(s.keys) >= s.cfg.MaxPayments*keysPerPayment || s.keyBytes+bytes > s.cfg.MaxPayments*bytesPerPayment
	}
	use, used := s.keys[key]
	if used && expired(use) || !used && full() {
		s.forgetKeys(expired)
		use, used = s.keys[key]
	}
	switch {
	case len(rq.key) > maxKeyLength:
		return nil, replay, invalidRequest("", "", "Idempotency-Key must have at most 255 characters.")
	case used && use.response.body == nil:
		return nil, replay, &apiError{Type: typeIdempotency, Code: "idempotency_key_in_use", status: http.StatusConflict,
			Message: "There is currently another in-progress request using this Idempotency-Key."}
	case used && use.request != print:
		return nil, replay, &apiError{Type: typeIdempotency,
			Message: "Keys for idempotent requests can only be used with the same parameters they were first used with."}
	case used:
		return nil, use.response, nil
	case full():
		return nil, replay, errFull("idempotency keys")
	}
	first = &keyUse{request: print, first: now, bytes: bytes}
	s.keys[key] = first
	s.keyBytes += bytes
	return first, replay, nil
}

// forgetKeys forgets some keys.
func (s *Server) forgetKeys(which func(*keyUse) bool) {
	maps.DeleteFunc(s.keys, func(_ digest, use *keyUse) bool {
		old := which(use)
		if old {
			s.keyBytes -= use.bytes
		}
		return old
	})
}
