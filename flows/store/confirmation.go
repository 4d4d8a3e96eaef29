package store

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// maxConfirmations of one contact or one person are found: more than anyone concludes.
const maxConfirmations = 100

// saveConfirmation stores a confirmation, once.
//
// KEYS  1 confirmation
// ARGV  1 body  2 time to live, ms
// Returns 1 when it is stored, 0 when there was one.
var saveConfirmation = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0
`)

// SaveConfirmation stores a confirmation, sealed, unless its registration has one, and returns the one that is stored then. It is found by
// its contact and its person for as long.
func (s *Store) SaveConfirmation(ctx context.Context, confirmation *flows.Confirmation, keep time.Duration) (*flows.Confirmation, error) {
	key := confirmationKey(confirmation.Registration)
	body, err := s.seal(key, confirmation)
	if err != nil {
		return nil, err
	}
	names := confirmation.PersonPseudonyms
	if confirmation.Contact != "" {
		names = append([]string{digest(string(confirmation.Contact))}, names...)
	}
	var index []call
	for _, list := range prefixed(confirmationsPrefix, names) {
		index = append(index, call{indexRegistration, []string{list}, []any{confirmation.Registration, confirmation.At.UnixMilli(),
			keep.Milliseconds(), maxConfirmations}})
	}
	stored, err := s.runAfter(ctx, index, call{saveConfirmation, []string{key}, []any{body, keep.Milliseconds()}}).Bool()
	if err != nil || stored {
		return confirmation, err
	}
	return s.Confirmation(ctx, confirmation.Registration)
}

// Confirmation reads the confirmation of a registration. flows.ErrNotFound without one.
func (s *Store) Confirmation(ctx context.Context, registration string) (*flows.Confirmation, error) {
	key := confirmationKey(registration)
	body, err := s.redis.Get(ctx, key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, flows.ErrNotFound
	case err != nil:
		return nil, err
	}
	confirmation := &flows.Confirmation{}
	return confirmation, s.open(key, body, confirmation)
}

// ConfirmationsOf returns the ids of the registrations of a contact that have a confirmation. Some may have expired.
func (s *Store) ConfirmationsOf(ctx context.Context, contact club.IRI) ([]string, error) {
	return s.indexed(ctx, prefixed(confirmationsPrefix, []string{digest(string(contact))}))
}

// ConfirmationsOfPerson returns the ids of a person's registrations that have a confirmation, by pseudonyms (keyring.PersonPseudonyms).
// Some may have expired.
func (s *Store) ConfirmationsOfPerson(ctx context.Context, names ...string) ([]string, error) {
	return s.indexed(ctx, prefixed(confirmationsPrefix, names))
}

// renewConfirmation replaces a sealed confirmation.
//
// KEYS  1 confirmation
// ARGV  1 as it was sealed  2 as it is sealed now
// Returns 1 when it was there, else 0.
var renewConfirmation = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`)

// RenewConfirmations seals with the current key every confirmation that an older key sealed. One that no key opens is kept: its key may
// come back.
func (s *Store) RenewConfirmations(ctx context.Context) error {
	return forEachPrimary(ctx, s.redis, func(ctx context.Context, node *redis.Client) error {
		found := node.Scan(ctx, 0, confirmationKey("*"), receiptBatch).Iterator()
		for found.Next(ctx) {
			key := found.Val()
			body, err := s.redis.Get(ctx, key).Result()
			if errors.Is(err, redis.Nil) {
				continue
			}
			if err != nil {
				return err
			}
			text, err := s.keys.Open(key, []byte(body))
			if err != nil || s.keys.Current([]byte(body)) {
				continue
			}
			if err := s.run(ctx, renewConfirmation, []string{key}, body, s.keys.Seal(key, text)).Err(); err != nil {
				return err
			}
		}
		return found.Err()
	})
}
