package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// maxOfContact registrations are indexed for one contact: more than anyone has, so that a
	// client in a loop fills nothing.
	maxOfContact = 20
	// maxOfPerson registrations are indexed for one address or phone: a family, or a desk that
	// enters its own for every visitor, makes fewer in the two days that they are kept.
	maxOfPerson = 1000
)

// indexRegistration adds a registration to an index.
//
// KEYS  1 registrations of a contact or a person
// ARGV  1 registration  2 its rank: those with the lowest go first  3 time to live, ms  4 how many are kept
// Returns 1.
var indexRegistration = redis.NewScript(`
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[4])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
`)

// pollRegistration schedules the first refresh of a registration; a scheduled one is kept.
//
// KEYS  1 refreshes
// ARGV  1 registration  2 when, ms
// Returns 1 when it had none, else 0.
var pollRegistration = redis.NewScript(`return redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])`)

// index returns the calls that make a registration found by contact, by person and by polling.
// They run before it is saved: an entry that leads nowhere is harmless.
func (s *Store) index(registration *flows.Registration) (calls []call) {
	entry := func(key string, most int) call {
		return call{indexRegistration, []string{key}, []any{registration.ID, registration.ExpiresAt.UnixMilli(),
			registrationTTL(registration).Milliseconds(), most}}
	}
	if registration.Contact != nil {
		calls = append(calls, entry(s.contactKeys(registration.Contact.IRI)[0], maxOfContact))
		if registration.Sale != "" || registration.Mandate != nil { // a refresh also announces a signed mandate
			calls = append(calls, call{pollRegistration, []string{refreshes},
				[]any{registration.ID, registration.CreatedAt.Add(flows.FirstPoll).UnixMilli()}})
		}
	}
	for _, key := range personKeys(registration.PersonPseudonyms) {
		calls = append(calls, entry(key, maxOfPerson))
	}
	return calls
}

// RegistrationsOf returns the ids of the registrations of contacts. Some may no longer exist.
func (s *Store) RegistrationsOf(ctx context.Context, contacts ...club.IRI) ([]string, error) {
	var keys []string
	for _, contact := range contacts {
		keys = append(keys, s.contactKeys(contact)...)
	}
	return s.indexed(ctx, keys)
}

// RegistrationsOfPerson returns the ids of the registrations of a person, by pseudonyms (keyring.PersonPseudonyms). Some may no longer
// exist.
func (s *Store) RegistrationsOfPerson(ctx context.Context, names ...string) ([]string, error) {
	return s.indexed(ctx, personKeys(names))
}

// indexed lists the registrations of several indexes.
func (s *Store) indexed(ctx context.Context, keys []string) (ids []string, err error) {
	for _, key := range keys {
		found, err := s.redis.ZRange(ctx, key, 0, -1).Result()
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// Unindex removes a registration from every index by contact or person, and ends its refreshes.
func (s *Store) Unindex(ctx context.Context, registration *flows.Registration) error {
	keys := append(personKeys(registration.PersonPseudonyms), refreshes)
	if registration.Contact != nil {
		keys = append(keys, s.contactKeys(registration.Contact.IRI)...)
	}
	for _, key := range keys {
		if err := s.redis.ZRem(ctx, key, registration.ID).Err(); err != nil {
			return err
		}
	}
	return nil
}
