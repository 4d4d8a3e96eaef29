package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// Response is what a request got, to be given again to its repetition.
type Response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   []byte            `json:"body"`
}

// RequestStatus says how a request with an idempotency key stands.
type RequestStatus string

// The ways a request with an idempotency key can stand.
const (
	NewRequest RequestStatus = "first"   // nobody sent it before: carry it out, then SaveResponse or AbandonRequest
	InProgress RequestStatus = "running" // the first one has not been answered yet
	KeyReused  RequestStatus = "reused"  // the key came with another request before
	Completed  RequestStatus = "done"    // the first one was answered; here is its answer
)

// The figures of idempotent requests.
const (
	// runningFor: longer than any request takes; after it a request whose gateway died can be sent again.
	runningFor = 90 * time.Second
	// keepResponse: as long as a caller may repeat a request and get the first answer.
	keepResponse = 24 * time.Hour
)

// beginRequest reserves an idempotency key for its first request.
//
// KEYS  1 answer
// ARGV  1 fingerprint of the request  2 owner  3 time to live of the reservation, ms
//
//	4… fingerprints of the same request by older keys
//
// Returns {"first"}, {"running"}, {"reused"}, {"done", answer}, or {"unreadable"} when the key of its fingerprint is not known.
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

// saveResponse stores the answer, if the reservation is still the caller's.
//
// KEYS  1 answer
// ARGV  1 owner  2 answer  3 time to live, ms
// Returns 1 when it is stored, else 0.
var saveResponse = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'answer', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// abandonRequest frees the key, if the reservation is still the caller's.
//
// KEYS  1 answer
// ARGV  1 owner
// Returns 1 when it is freed, else 0.
var abandonRequest = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`)

// BeginRequest reserves an idempotency key within a scope (a holder and a route)
// for a request, of which a fingerprint is kept. It is made with a key: a body
// may hold little that is not known, such as a bank account, and a plain hash
// of it could be found by trying. owner names the attempt.
func (s *Store) BeginRequest(ctx context.Context, scope, key, request, owner string) (RequestStatus, Response, error) {
	at := responseKey(scope, key)
	prints := s.keys.Pseudonyms("request", request)
	args := []any{prints[0], owner, runningFor.Milliseconds()}
	for _, print := range prints[1:] {
		args = append(args, print)
	}
	reply, err := s.run(ctx, beginRequest, []string{at}, args...)
	if err != nil {
		return "", Response{}, unavailable(err)
	}
	fields, ok := reply.([]any)
	if !ok || len(fields) == 0 {
		return "", Response{}, unavailable(errReply)
	}
	begun, _ := fields[0].(string)
	if begun == "unreadable" {
		return "", Response{}, unavailable(keyring.ErrSealed)
	}
	if RequestStatus(begun) != Completed {
		return RequestStatus(begun), Response{}, nil
	}
	sealed, _ := fields[1].(string)
	var answer Response
	if err := s.open(at, sealed, &answer); err != nil {
		return "", Response{}, unavailable(err)
	}
	return Completed, answer, nil
}

// SaveResponse stores the definitive answer to the first request. It is sealed:
// the answer that starts a registration holds its token.
func (s *Store) SaveResponse(ctx context.Context, scope, key, owner string, answer Response) error {
	at := responseKey(scope, key)
	sealed, err := s.seal(at, answer)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, saveResponse, []string{at}, owner, sealed, keepResponse.Milliseconds())
	return unavailable(err)
}

// AbandonRequest frees the key after an answer that is not definitive.
func (s *Store) AbandonRequest(ctx context.Context, scope, key, owner string) error {
	_, err := s.run(ctx, abandonRequest, []string{responseKey(scope, key)}, owner)
	return unavailable(err)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return &flows.Error{Code: flows.StorageUnavailable, Err: err}
}
