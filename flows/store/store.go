// Package store keeps the records of the journeys in Redis: every key and every
// script of Frontdesk is here. It implements the Store interface of each service, and
// keeps the responses of idempotent requests for handlers.
//
// A record is a hash: its version, for payments its state, lease and the
// operations that were applied, and the sealed body. Redis sees no personal
// data and nothing that can be read without the keys. All keys of one
// registration share its hash tag, so that each script works on one slot of a
// cluster.
//
// Redis coordinates the gateways; it never authorises money to be recorded.
// That right is claimed at the card processor, because Redis may forget.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/clubevent"
	"frontdesk/flows/erasure"
	"frontdesk/flows/jobs"
	"frontdesk/flows/keyring"
	"frontdesk/flows/member"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/relay"
	"frontdesk/flows/signature"
	"frontdesk/flows/worker"
)

// The parts of the store that the services declare.
var (
	_ payment.Store        = (*Store)(nil)
	_ registration.Store   = (*Store)(nil)
	_ catalogue.CacheStore = (*Store)(nil)
	_ signature.Store      = (*Store)(nil)
	_ member.Store         = (*Store)(nil)
	_ member.TransferStore = (*Store)(nil)
	_ clubevent.Store      = (*Store)(nil)
	_ relay.Store          = (*Store)(nil)
	_ erasure.Store        = (*Store)(nil)
	_ jobs.ChangeSource    = (*Store)(nil)
	_ worker.Store         = (*Store)(nil)
)

// Store is the Redis of the journeys.
type Store struct {
	redis    redis.UniversalClient
	keys     *keyring.Keyring
	replicas int
}

// Config is what a store needs.
type Config struct {
	Redis redis.UniversalClient // required; made by Connect
	Keys  *keyring.Keyring      // required; seals what is stored
	// Replicas is how many of them have to acknowledge what is written. Zero: nobody asks them.
	Replicas int
}

// resends is how often a script is sent again when its answer got lost. That is
// safe for scripts that know their operation; the client's own repetition, which
// would not be, is off.
const resends = 2

// New makes a store.
func New(cfg Config) *Store {
	return &Store{redis: cfg.Redis, keys: cfg.Keys, replicas: cfg.Replicas}
}

// Ping tells whether Redis answers.
func (s *Store) Ping(ctx context.Context) error { return s.redis.Ping(ctx).Err() }

// run executes a script, and again with the same arguments when the answer got
// lost. Scripts that change something recognise their own repetition.
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) (any, error) {
	return repeat(ctx, func() (any, error) { return s.send(ctx, script, keys, args...) })
}

// read is run for a script that changes nothing, so that no replica is waited for.
func (s *Store) read(ctx context.Context, script *redis.Script, keys []string, args ...any) (any, error) {
	return repeat(ctx, func() (any, error) { return script.Run(ctx, s.redis, keys, args...).Result() })
}

func repeat(ctx context.Context, send func() (any, error)) (reply any, err error) {
	for range 1 + resends {
		reply, err = send()
		var refused redis.Error
		if err == nil || errors.As(err, &refused) || ctx.Err() != nil {
			break
		}
	}
	return reply, err
}

// call is a script with what it works on.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
}

// runAll executes scripts in one round trip, for which they must not mind their
// order: in a cluster they run side by side. Whatever does not answer, or is not known
// to this Redis yet, is executed once more by itself.
func (s *Store) runAll(ctx context.Context, calls ...call) error {
	pipe := s.redis.Pipeline()
	for _, c := range calls {
		c.script.EvalSha(ctx, pipe, c.keys, c.args...)
	}
	replies, _ := pipe.Exec(ctx) // each reply has its own error
	for i, c := range calls {
		if i < len(replies) && replies[i].Err() == nil {
			continue
		}
		if _, err := s.run(ctx, c.script, c.keys, c.args...); err != nil {
			return err
		}
	}
	return nil
}

// runAfter executes scripts, and then one for which they have to be done, whose reply it
// gives. One Redis keeps the order of what it is asked, so that one round trip does; a
// cluster does not, and where replicas are waited for each has its own. What did not go
// well in one goes again, one after another: each of them recognises its own repetition.
func (s *Store) runAfter(ctx context.Context, before []call, last call) (any, error) {
	if _, several := s.redis.(*redis.ClusterClient); !several && s.replicas == 0 {
		pipe := s.redis.Pipeline()
		for _, c := range before {
			c.script.EvalSha(ctx, pipe, c.keys, c.args...)
		}
		reply := last.script.EvalSha(ctx, pipe, last.keys, last.args...)
		if _, err := pipe.Exec(ctx); err == nil {
			return reply.Val(), nil
		}
	}
	if err := s.runAll(ctx, before...); err != nil {
		return nil, err
	}
	return s.run(ctx, last.script, last.keys, last.args...)
}

// seal turns a record into what is stored of it under a key.
func (s *Store) seal(key string, record any) ([]byte, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return s.keys.Seal(key, text), nil
}

// open reverses seal, in half of the time that encoding/json would take. What cannot be opened or read is an error, never an empty
// record; ErrNewer for one whose layout this version does not know.
func (s *Store) open(key string, sealed string, record any) error {
	text, err := s.keys.Open(key, []byte(sealed))
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if jsonv2.Unmarshal(text, record) != nil {
		if isNewer(text, record) {
			return fmt.Errorf("%w: %s", flows.ErrNewer, key)
		}
		return fmt.Errorf("%s: the record is not readable", key)
	}
	if r, ok := record.(*flows.Registration); ok && r.Schema > flows.RegistrationSchema {
		return fmt.Errorf("%w: %s", flows.ErrNewer, key)
	}
	return nil // a payment of a newer version that can be read may be looked at; nobody moves it
}

// isNewer tells whether a newer version wrote a record that cannot be read.
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
	}
	return false
}

// sealRegistration seals a registration in this version's layout.
func (s *Store) sealRegistration(r *flows.Registration) ([]byte, error) {
	r.Schema = flows.RegistrationSchema
	return s.seal(registrationKey(r.ID), r)
}

// errReply says that a script answered with something it never does.
var errReply = errors.New("store: unexpected reply of a script")
