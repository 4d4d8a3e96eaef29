// Package store keeps the records of the journeys in Redis: every key and every
// script of Frontdesk stands here. It implements flows.Store, and holds the
// answers of idempotent requests for handlers.
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

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// Store is the Redis of the journeys.
type Store struct {
	redis redis.UniversalClient
	keys  *flows.Keyring
}

// Config is what a store needs.
type Config struct {
	Redis redis.UniversalClient // required; made by Connect
	Keys  *flows.Keyring        // required; seals what is stored
}

// resends is how often a script is sent again when its answer got lost. That is
// safe for scripts that know their operation; the client's own repetition, which
// would not be, is off.
const resends = 2

// New makes a store.
func New(cfg Config) *Store { return &Store{redis: cfg.Redis, keys: cfg.Keys} }

// Ping tells whether Redis answers.
func (s *Store) Ping(ctx context.Context) error { return s.redis.Ping(ctx).Err() }

// run executes a script, and again with the same arguments when the answer got
// lost. Scripts that change something recognise their own repetition.
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) (reply any, err error) {
	for range 1 + resends {
		reply, err = script.Run(ctx, s.redis, keys, args...).Result()
		var refused redis.Error
		if err == nil || errors.As(err, &refused) || ctx.Err() != nil {
			break
		}
	}
	return reply, err
}

// seal turns a record into what is stored of it under a key.
func (s *Store) seal(key string, record any) ([]byte, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return s.keys.Seal(key, text), nil
}

// open reverses seal. What cannot be opened or read is an error, never an empty
// record; ErrNewer for one whose layout this version does not know.
func (s *Store) open(key string, sealed string, record any) error {
	text, err := s.keys.Open(key, []byte(sealed))
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	_, registration := record.(*flows.Registration)
	unread := json.Unmarshal(text, record)
	switch newer := isNewer(text, record); {
	case newer && (registration || unread != nil):
		return fmt.Errorf("%w: %s", flows.ErrNewer, key)
	case unread != nil:
		return fmt.Errorf("%s: the record is not readable", key)
	}
	return nil
}

// isNewer tells whether a newer version wrote a record. A payment may still be
// looked at then, where its fields can be read; nobody moves it.
func isNewer(text []byte, record any) bool {
	var layout struct {
		Schema int `json:"schema"`
	}
	if json.Unmarshal(text, &layout) != nil {
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
