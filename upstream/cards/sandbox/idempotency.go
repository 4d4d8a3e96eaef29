package sandbox

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// keyLifetime is how long Stripe remembers a key at least (https://docs.stripe.com/api/idempotent_requests). The double
	// forgets it then.
	keyLifetime = 24 * time.Hour

	// maxKeyLength is Stripe's.
	maxKeyLength = 255

	// keysPerPayment is twice what a payment needs from creation to record, so that keys do
	// not run out before payments do.
	keysPerPayment = 10
)

// answer is the result of a call. Its body refers to nothing that changes, so it can be stored.
type answer struct {
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
	key     digest
	request digest  // method, path and parameters
	first   int64   // when it came, in nanoseconds
	bytes   int     // of the request, which its answer may have
	of      *intent // the payment that it is about; nil: none
	answer  answer  // without a body while the request is in progress
}

// idempotencyKeys holds the first request of each key. A claim depends on it, so
// a full store refuses new keys and never forgets an old one early. The lock of the Server guards it.
type idempotencyKeys struct {
	max   int
	bytes int // of all requests, at most bytesPerPayment for each payment that the double may hold
	byKey map[digest]*keyUse
	order []*keyUse // by first use, to expire the oldest; those that were not stored are still in it
}

// idempotent carries out a write under its key, or replays the stored response. Run
// reports whether its response is stored: every response is, server errors included,
// unless the parameters were found wrong before anything began.
//
// While the first request is in progress, Stripe answers 409 and does not document
// whether it compares parameters then. The double does not, so the caller must ask again
// to learn it.
func (s *Server) idempotent(rq *request, run func() (_ answer, stored bool)) (out answer, replayed bool) {
	if rq.method != http.MethodPost || rq.key == "" || s.cfg.ForgetKeys {
		out, _ = run()
		return out, false
	}
	use, replay, err := s.begin(rq)
	switch {
	case err != nil:
		out, _ = errorAnswer(err)
		return out, false
	case use == nil:
		return replay, true
	}
	out, stored := run()
	s.mu.Lock()
	defer s.mu.Unlock()
	use.of = rq.intent
	if stored {
		use.answer = out
	} else {
		s.keys.drop(use)
	}
	return out, false
}

// begin starts the first request under a key, or returns the response to a later one.
func (s *Server) begin(rq *request) (first *keyUse, replay answer, err error) {
	print, key := digestOf(rq.method, rq.path, rq.canonical), digestOf(rq.account.SecretKey, rq.key)
	bytes := len(rq.path) + len(rq.canonical)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now().UnixNano()
	s.keys.expire(now)
	use, used := s.keys.byKey[key]
	switch {
	case len(rq.key) > maxKeyLength:
		return nil, replay, invalidRequest("", "", "Idempotency-Key must have at most 255 characters.")
	case used && use.answer.body == nil:
		return nil, replay, &apiError{Type: typeIdempotency, Code: "idempotency_key_in_use", status: http.StatusConflict,
			Message: "There is currently another in-progress request using this Idempotency-Key."}
	case used && use.request != print:
		return nil, replay, &apiError{Type: typeIdempotency,
			Message: "Keys for idempotent requests can only be used with the same parameters they were first used with."}
	case used:
		return nil, use.answer, nil
	case len(s.keys.byKey) >= s.keys.max, s.keys.bytes+bytes > s.store.max*bytesPerPayment:
		return nil, replay, errFull("idempotency keys")
	}
	first = &keyUse{key: key, request: print, first: now, bytes: bytes}
	s.keys.byKey[key] = first
	s.keys.bytes += bytes
	s.keys.order = append(s.keys.order, first)
	return first, replay, nil
}

// drop forgets a key, unless it is used again since.
func (k *idempotencyKeys) drop(use *keyUse) {
	if k.byKey[use.key] == use {
		delete(k.byKey, use.key)
		k.bytes -= use.bytes
	}
}

// expire forgets the keys whose time is over.
func (k *idempotencyKeys) expire(now int64) {
	n := 0
	for ; n < len(k.order) && now-k.order[n].first >= int64(keyLifetime); n++ {
		k.drop(k.order[n])
	}
	k.order = k.order[n:]
	if len(k.order) > 2*len(k.byKey)+1000 { // many calls that were not stored
		k.forget(func(use *keyUse) bool { return k.byKey[use.key] != use })
	}
}

// forget forgets some keys before their time.
func (k *idempotencyKeys) forget(which func(*keyUse) bool) {
	k.order = slices.DeleteFunc(k.order, func(use *keyUse) bool {
		old := which(use)
		if old {
			k.drop(use)
		}
		return old
	})
}
