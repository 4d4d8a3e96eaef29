// Package store keeps the records of the journeys in Redis, with every key and every script, and the responses of idempotent
// requests for handlers.
//
// A record is a hash: its version, the sealed body, and for payments the state, the lease and
// the operations applied. Personal data is readable only with the keys of package
// keyring; ids, states, times, counts and the audit stream are plain. All keys of a registration share its hash tag, so that
// each script works on one slot of a cluster.
//
// Redis coordinates the gateways; it never authorises the recording of money. That right is
// claimed at the card processor, because Redis may lose writes.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// Store keeps the records of the journeys in Redis. A change of a record is atomic: one that loses a race returns flows.ErrConflict
// and changes nothing. One that cannot be opened is flows.ErrDamaged, flows.ErrNewer or keyring.ErrSealed. Any other error that a method
// does not name is Redis': the change may have been made. Lists of records may lag behind them; polls and rebuilds correct them.
type Store struct {
	redis    redis.UniversalClient
	keys     *keyring.Keyring
	replicas int
	taken    atomic.Int64 // how many open payments Due has returned
}

// Config is what a store needs.
type Config struct {
	Redis    redis.UniversalClient // required; made by Connect
	Keys     *keyring.Keyring      // required; seals what is stored
	Replicas int                   // how many must acknowledge each write of a record; zero: none is asked
}

// resends is how often a script is sent again when its reply was lost. That is safe for scripts,
// which recognise their own repetition; the client's own retries, which do not, are off.
const resends = 2

// New returns a store.
func New(cfg Config) *Store {
	return &Store{redis: cfg.Redis, keys: cfg.Keys, replicas: cfg.Replicas}
}

// run executes a script, and again with the same arguments when its reply was lost.
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) (reply *redis.Cmd) {
	_ = repeat(ctx, func() error { // the reply has the error
		reply = s.send(ctx, script, keys, args...)
		return reply.Err()
	})
	return reply
}

// repeat calls send until Redis answers, at most 1 + resends times.
func repeat(ctx context.Context, send func() error) (err error) {
	for range 1 + resends {
		err = send()
		if _, refused := errors.AsType[redis.Error](err); err == nil || refused || ctx.Err() != nil {
			break
		}
	}
	return err
}

// committed returns ErrConflict unless a compare-and-set replied 1.
func committed(reply *redis.Cmd) error {
	done, err := reply.Int64()
	if err == nil && done != 1 {
		return flows.ErrConflict
	}
	return err
}

// nextVersion begins the scripts that write a registration or a payment. A version is a time in µs, so that it is higher than those
// of the writes that Redis has lost, too: View.Sequence must not fall, and a gateway that knows a lost record must not replace another.
const nextVersion = `
local function nextVersion(last)
  local time = redis.call('TIME')
  return string.format('%.0f', math.max(last + 1, time[1] * 1000000 + time[2]))
end
`

// written is committed for a script that returns the version of the record that it wrote.
func written(reply *redis.Cmd) (version int64, err error) {
	version, err = reply.Int64()
	if err == nil && version == 0 {
		err = flows.ErrConflict
	}
	return version, err
}

// call is a script with its keys and arguments.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
}

func enqueue(ctx context.Context, pipe redis.Pipeliner, calls ...call) (replies []*redis.Cmd) {
	for _, c := range calls {
		replies = append(replies, c.script.EvalSha(ctx, pipe, c.keys, c.args...))
	}
	return replies
}

// runAll executes scripts in one round trip. Their order must not matter, because a cluster runs
// them concurrently. Each one that fails, or that this Redis has not loaded yet, runs again alone.
func (s *Store) runAll(ctx context.Context, calls ...call) error {
	pipe := s.redis.Pipeline()
	replies := enqueue(ctx, pipe, calls...)
	_, _ = pipe.Exec(ctx) // each reply has its own error
	for i, c := range calls {
		if replies[i].Err() != nil {
			if err := s.run(ctx, c.script, c.keys, c.args...).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// runAfter executes scripts, and after them the last one, whose reply it returns. A single Redis
// keeps the order of a pipeline, so that one round trip is enough. A cluster does not, and
// replicas must acknowledge each write. What failed in the pipeline is sent again in sequence.
func (s *Store) runAfter(ctx context.Context, before []call, last call) *redis.Cmd {
	if _, clustered := s.redis.(*redis.ClusterClient); !clustered && s.replicas == 0 {
		pipe := s.redis.Pipeline()
		replies := enqueue(ctx, pipe, append(before, last)...)
		if _, err := pipe.Exec(ctx); err == nil {
			return replies[len(before)]
		}
	}
	if err := s.runAll(ctx, before...); err != nil {
		return redis.NewCmdResult(nil, err)
	}
	return s.run(ctx, last.script, last.keys, last.args...)
}

func (s *Store) seal(key string, record any) ([]byte, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return s.keys.Seal(key, text), nil
}

// open reverses seal, with a decoder twice as fast as encoding/json. ErrNewer for a layout that
// this version does not know. A record that cannot be read is an error, never an empty record.
func (s *Store) open(key string, sealed string, record any) error {
	text, err := s.keys.Open(key, []byte(sealed))
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if jsonv2.Unmarshal(text, record) != nil {
		if isNewer(text, record) {
			return fmt.Errorf("%w: %s", flows.ErrNewer, key)
		}
		return fmt.Errorf("%w: %s: it is not a record of its kind", flows.ErrDamaged, key)
	}
	if r, ok := record.(*flows.Registration); ok && r.Schema > flows.RegistrationSchema {
		return fmt.Errorf("%w: %s", flows.ErrNewer, key)
	}
	if r, ok := record.(*flows.Statement); ok && r.Schema > flows.StatementSchema {
		return fmt.Errorf("%w: %s", flows.ErrNewer, key)
	}
	return nil // a readable payment of a newer version may be shown; the machine does not advance it
}

func isNewer(text []byte, record any) bool {
	var layout struct {
		Schema int `json:"schema"`
	}
	if jsonv2.Unmarshal(text, &layout) != nil {
		return false
	}
	switch record.(type) {
	case *flows.Registration:
		return layout.Schema > flows.RegistrationSchema
	case *flows.Payment:
		return layout.Schema > flows.PaymentSchema
	case *flows.Statement:
		return layout.Schema > flows.StatementSchema
	}
	return false
}

func (s *Store) sealRegistration(r *flows.Registration) ([]byte, error) {
	r.Schema = flows.RegistrationSchema
	return s.seal(registrationKey(r.ID), r)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return &flows.Error{Code: flows.StorageUnavailable, Err: err}
}
