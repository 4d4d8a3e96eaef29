package oldsandbox

import (
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

const (
	// keyLifetime is how long the large processors remember an idempotency key.
	keyLifetime = 24 * time.Hour

	// maxKeyLength is what the large processors accept.
	maxKeyLength = 255

	// codeKeyInUse: the first request of a key is still running.
	codeKeyInUse = "idempotency_key_in_use"
)

// fingerprint identifies equal requests: method, path and body.
type fingerprint [sha256.Size]byte

func fingerprintOf(r *http.Request, body []byte) fingerprint {
	return sha256.Sum256([]byte(r.Method + "\n" + r.URL.Path + "\n" + string(body)))
}

// storedResponse is the result of a write: a payment or an error.
type storedResponse struct {
	payment  Payment
	err      error
	replayed bool // by a later request with the same key
}

// idempotencyKeys holds the first request of each key and its response. A key is taken from
// the start of its first request until it expires, whatever the result. A claim depends on
// that, so a full store refuses new keys and never forgets an old one early.
type idempotencyKeys struct {
	max int

	mu    sync.Mutex
	byKey map[string]*keyUse
	order []string // keys by first use, to expire the oldest
}

type keyUse struct {
	fingerprint fingerprint
	first       time.Time
	response    *storedResponse // nil while the first request runs
}

// run runs a write under a key, or replays the response of the first request with the key.
// It fails when that was another request, or when it is still running.
func (k *idempotencyKeys) run(key string, print fingerprint, now time.Time, run func() (Payment, error)) storedResponse {
	use, mine, err := k.begin(key, print, now)
	if err != nil {
		return storedResponse{err: err}
	}
	if !mine {
		replay := *use.response
		replay.replayed = true
		return replay
	}
	p, err := run()
	k.mu.Lock()
	defer k.mu.Unlock()
	use.response = &storedResponse{payment: p, err: err}
	return *use.response
}

// begin takes the key, or finds the finished use of the same request.
func (k *idempotencyKeys) begin(key string, print fingerprint, now time.Time) (use *keyUse, mine bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(now)
	use, used := k.byKey[key]
	switch {
	case used && use.fingerprint != print:
		return nil, false, newError(http.StatusBadRequest, typeIdempotency, "idempotency_key_reused",
			"This Idempotency-Key was used with another request.")
	case used && use.response == nil:
		return nil, false, newError(http.StatusConflict, typeIdempotency, codeKeyInUse,
			"A request with this Idempotency-Key is still running. Try again in a moment.")
	case used:
		return use, false, nil
	case len(k.byKey) >= k.max:
		return nil, false, errFull("idempotency keys")
	}
	use = &keyUse{fingerprint: print, first: now}
	k.byKey[key] = use
	k.order = append(k.order, key)
	return use, true, nil
}

func (k *idempotencyKeys) expire(now time.Time) {
	n := 0
	for n < len(k.order) && now.Sub(k.byKey[k.order[n]].first) >= keyLifetime {
		delete(k.byKey, k.order[n])
		n++
	}
	k.order = k.order[n:]
}

func checkKey(key string) error {
	switch {
	case key == "":
		return errInvalid("idempotency_key_missing", "This request needs the header Idempotency-Key.")
	case len(key) > maxKeyLength:
		return errInvalid("idempotency_key_too_long", "Idempotency-Key must have at most 255 characters.")
	}
	return nil
}
