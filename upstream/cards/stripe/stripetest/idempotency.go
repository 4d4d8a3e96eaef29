package stripetest

import (
	"net/http"
	"sync"
	"time"
)

// keyLifetime is after how long the company may forget a key; the double does
// at once.
const keyLifetime = 24 * time.Hour

// idempotencyKeys remembers the idempotency keys of the account.
type idempotencyKeys struct {
	mu   sync.Mutex
	uses map[string]*idempotencyRecord
}

// idempotencyRecord is the first request under a key.
type idempotencyRecord struct {
	fingerprint string
	first       time.Time
	response    *response // nil while it is carried out
}

// idempotent carries out a write under its key, or gives the kept answer. Run tells
// whether its answer is kept: every answer is, errors and server errors too,
// unless the parameters were found wrong before anything began.
//
// While the first request is carried out the company answers 409 and does not
// say whether it compares parameters then. The double does not: who lost has to
// ask again to learn it.
func (s *Server) idempotent(r *http.Request, rq request, run func() (response, bool)) response {
	if r.Method != http.MethodPost || rq.key == "" || s.cfg.ForgetKeys {
		a, _ := run()
		return a
	}
	use, mine, e := s.keys.begin(rq.key, r.Method+" "+r.URL.Path+"\n"+rq.form.Encode(), s.cfg.Now())
	switch {
	case e != nil:
		return e.response()
	case !mine:
		a := *use.response
		a.replayed = true
		return a
	}
	kept := false
	var a response
	// A fault may break the connection from within, which unwinds the stack.
	defer func() { s.keys.finish(rq.key, use, a, kept) }()
	a, kept = run()
	return a
}

// begin takes a key, or finds its finished use by the same request.
func (k *idempotencyKeys) begin(key, print string, now time.Time) (use *idempotencyRecord, mine bool, e *apiError) {
	k.mu.Lock()
	defer k.mu.Unlock()
	use, used := k.uses[key]
	switch {
	case used && use.response == nil:
		return nil, false, &apiError{
			status: http.StatusConflict, kind: typeIdempotency, code: "idempotency_key_in_use",
			message: "There is currently another in-progress request using this Idempotency-Key.",
		}
	case used && now.Sub(use.first) >= keyLifetime:
	case used && use.fingerprint != print:
		return nil, false, &apiError{
			status: http.StatusBadRequest, kind: typeIdempotency,
			message: "Keys for idempotent requests can only be used with the same parameters they were first used with.",
		}
	case used:
		return use, false, nil
	}
	use = &idempotencyRecord{fingerprint: print, first: now}
	k.uses[key] = use
	return use, true, nil
}

func (k *idempotencyKeys) finish(key string, use *idempotencyRecord, a response, kept bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if kept {
		use.response = &a
		return
	}
	delete(k.uses, key)
}
