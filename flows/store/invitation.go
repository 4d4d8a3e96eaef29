package store

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// saveInvitation stores an unused invitation.
//
// KEYS  1 invitation
// ARGV  1 body  2 time to live, ms
// Returns 1.
var saveInvitation = redis.NewScript(`
redis.call('HSET', KEYS[1], 'body', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// claimInvitation marks an invitation as used. It is kept until it expires, so that it can be released.
//
// KEYS  1 invitation
// ARGV  1 use
// Returns its body, even if this use repeats; false without one, or if another use has it.
var claimInvitation = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'body', 'use')
if not held[1] or (held[2] and held[2] ~= ARGV[1]) then return false end
redis.call('HSET', KEYS[1], 'use', ARGV[1])
return held[1]
`)

// releaseInvitation makes a claimed invitation usable again.
//
// KEYS  1 invitation
// ARGV  1 use
// Returns 1 when this use had it, else 0.
var releaseInvitation = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'use') ~= ARGV[1] then return 0 end
return redis.call('HDEL', KEYS[1], 'use')
`)

// SaveInvitation stores an unused invitation, sealed, under the hash of its token. It expires after life.
func (s *Store) SaveInvitation(ctx context.Context, hash string, invitation flows.Invitation, life time.Duration) error {
	key := invitationKey(hash)
	body, err := s.seal(key, invitation)
	if err != nil {
		return err
	}
	return s.run(ctx, saveInvitation, []string{key}, body, life.Milliseconds()).Err()
}

// ClaimInvitation returns an invitation to its first use, also when that use repeats. flows.ErrNotFound for every other use, and once
// the invitation has expired.
func (s *Store) ClaimInvitation(ctx context.Context, hash, use string) (invitation flows.Invitation, err error) {
	key := invitationKey(hash)
	body, err := s.run(ctx, claimInvitation, []string{key}, use).Text()
	switch {
	case errors.Is(err, redis.Nil):
		return invitation, flows.ErrNotFound
	case err != nil:
		return invitation, err
	}
	err = s.open(key, body, &invitation)
	return invitation, err
}

// ReleaseInvitation makes an invitation that this use has claimed usable again.
func (s *Store) ReleaseInvitation(ctx context.Context, hash, use string) error {
	return s.run(ctx, releaseInvitation, []string{invitationKey(hash)}, use).Err()
}
