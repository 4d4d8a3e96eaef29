package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// Response is the response to a request, which its repetition gets too.
type Response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   []byte            `json:"body"`
}

// RequestStatus is the status of a request with an idempotency key.
type RequestStatus string

// The statuses of a request with an idempotency key.
const (
	NewRequest RequestStatus = "first"   // the first one: execute it, then SaveResponse or AbandonRequest
	InProgress RequestStatus = "running" // the first one has no response yet
	KeyReused  RequestStatus = "reused"  // the key was used for another request
	Completed  RequestStatus = "done"    // the first one has a response
)

const (
	// runningFor: longer than any request takes; then a request whose gateway failed can be sent again.
	runningFor = 90 * time.Second
	// KeepResponse is how long a repeated request gets the first response.
	KeepResponse = 24 * time.Hour
	// KeepRefusal is how long it gets a refusal. A client that lost the response repeats within
	// seconds, and callers can cause any number of refusals.
	KeepRefusal = 30 * time.Second
)

// beginRequest reserves an idempotency key for its first request.
//
// KEYS  1 response
// ARGV  1 fingerprint of the request  2 owner  3 time to live, ms  4… its fingerprints by older keys
// Returns {"first"}, {"running"}, {"reused"}, {"done", response}, or {"unreadable"} when the key of
// the stored fingerprint is unknown.
var beginRequest = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'fingerprint', 'owner', 'answer')
if not held[1] then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'owner', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return {'first'}
end
local same, known = false, false
for i, mine in ipairs(ARGV) do
  if i == 1 or i > 3 then
    same = same or held[1] == mine
    known = known or string.sub(held[1], 1, 8) == string.sub(mine, 1, 8)
  end
end
if not known then return {'unreadable'} end
if not same then return {'reused'} end
if held[3] then return {'done', held[3]} end
if held[2] == ARGV[2] then return {'first'} end
return {'running'}
`)

// saveResponse stores the response, if the caller still has the reservation.
//
// KEYS  1 response
// ARGV  1 owner  2 response  3 time to live, ms
// Returns 1 when it is stored, else 0.
var saveResponse = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'answer', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// abandonRequest frees the key, if the caller still has the reservation.
//
// KEYS  1 response
// ARGV  1 owner
// Returns 1 when it is freed, else 0.
var abandonRequest = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`)

// beginAttempt reads or makes the attempt of a request.
//
// KEYS  1 attempt
// ARGV  1 fingerprint of the request  2 id of a new attempt  3 time to live, ms  4… its fingerprints by older keys
// Returns {id}, or {} if the key was used for another request.
var beginAttempt = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'fingerprint', 'id')
if not held[1] then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'id', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return {ARGV[2]}
end
for i, mine in ipairs(ARGV) do
  if held[1] == mine and (i == 1 or i > 3) then return {held[2]} end
end
return {}
`)

// Attempt is what all repetitions of a request have in common. What they make has its id.
type Attempt struct {
	ID    string
	Again bool // an earlier repetition has begun
}

// BeginAttempt returns the attempt of a request whose idempotency key is reserved: its first one has the id of owner. It
// is remembered for as long as a response, even if the response is not final, unless DropAttempt forgets it. KeyReused
// if the key was used for another request.
func (s *Store) BeginAttempt(ctx context.Context, scope, key, request, owner string) (Attempt, error) {
	prints := s.keys.Pseudonyms("request", request)
	args := []any{prints[0], owner, KeepResponse.Milliseconds()}
	for _, print := range prints[1:] {
		args = append(args, print)
	}
	held, err := s.run(ctx, beginAttempt, []string{attemptKey(scope, key)}, args...).StringSlice()
	switch {
	case err != nil:
		return Attempt{}, unavailable(err)
	case len(held) == 0:
		return Attempt{}, &flows.Error{Code: flows.KeyReused}
	}
	return Attempt{ID: held[0], Again: held[0] != owner}, nil
}

// DropAttempt forgets an attempt that has not stored a registration: callers can cause any number of refusals.
func (s *Store) DropAttempt(ctx context.Context, scope, key string, attempt Attempt) error {
	if made, err := s.redis.Exists(ctx, registrationKey(attempt.ID)).Result(); err != nil || made > 0 {
		return unavailable(err)
	}
	return unavailable(s.redis.Del(ctx, attemptKey(scope, key)).Err())
}

// BeginRequest reserves an idempotency key within a scope (a holder and a route). It keeps a keyed
// fingerprint of the request: a body may hold little more than a bank account, which trying could
// find from a plain hash. owner identifies the attempt.
func (s *Store) BeginRequest(ctx context.Context, scope, key, request, owner string) (RequestStatus, Response, error) {
	at := responseKey(scope, key)
	prints := s.keys.Pseudonyms("request", request)
	args := []any{prints[0], owner, runningFor.Milliseconds()}
	for _, print := range prints[1:] {
		args = append(args, print)
	}
	reply, err := s.run(ctx, beginRequest, []string{at}, args...).StringSlice()
	if err != nil {
		return "", Response{}, unavailable(err)
	}
	if reply[0] == "unreadable" {
		return "", Response{}, flows.StorageFailed(&keyring.SealedError{})
	}
	var response Response
	if status := RequestStatus(reply[0]); status != Completed {
		return status, response, nil
	}
	err = s.open(at, reply[1], &response)
	return Completed, response, flows.StorageFailed(err)
}

// SaveResponse stores the final response to the first request, for KeepResponse or KeepRefusal. It is
// sealed: the response that starts a registration holds its token.
func (s *Store) SaveResponse(ctx context.Context, scope, key, owner string, response Response, keep time.Duration) error {
	at := responseKey(scope, key)
	sealed, err := s.seal(at, response)
	if err != nil {
		return err
	}
	return unavailable(s.run(ctx, saveResponse, []string{at}, owner, sealed, keep.Milliseconds()).Err())
}

// AbandonRequest frees the key after a response that is not final.
func (s *Store) AbandonRequest(ctx context.Context, scope, key, owner string) error {
	return unavailable(s.run(ctx, abandonRequest, []string{responseKey(scope, key)}, owner).Err())
}
