package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// saveInvitation stores an invitation that nobody has used.
//
// KEYS  1 invitation
// ARGV  1 body  2 time to live, ms
// Returns 1.
var saveInvitation = redis.NewScript(`
redis.call('HSET', KEYS[1], 'body', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// claimInvitation gives an invitation to its first use. It stays there, marked,
// until its time is over, so that it can be given back.
//
// KEYS  1 invitation
// ARGV  1 use
// Returns its body (to this very use again and again), or false when there is none or another use has it.
var claimInvitation = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'body', 'use')
if not held[1] or (held[2] and held[2] ~= ARGV[1]) then return false end
redis.call('HSET', KEYS[1], 'use', ARGV[1])
return held[1]
`)

// releaseInvitation makes an invitation good again that a use has taken.
//
// KEYS  1 invitation
// ARGV  1 use
// Returns 1 when this use had it, else 0.
var releaseInvitation = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'use') ~= ARGV[1] then return 0 end
return redis.call('HDEL', KEYS[1], 'use')
`)

// SaveInvitation implements member.Store.
func (s *Store) SaveInvitation(ctx context.Context, hash string, invitation flows.Invitation, life time.Duration) error {
	key := invitationKey(hash)
	body, err := s.seal(key, invitation)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, saveInvitation, []string{key}, body, life.Milliseconds())
	return err
}

// ClaimInvitation implements registration.Store.
func (s *Store) ClaimInvitation(ctx context.Context, hash, use string) (flows.Invitation, error) {
	key := invitationKey(hash)
	var invitation flows.Invitation
	reply, err := s.run(ctx, claimInvitation, []string{key}, use)
	if err == redis.Nil { //nolint:errorlint // the client's own word for "false", never wrapped
		return invitation, flows.ErrNotFound
	}
	if err != nil {
		return invitation, err
	}
	body, ok := reply.(string)
	if !ok {
		return invitation, errReply
	}
	return invitation, s.open(key, body, &invitation)
}

// ReleaseInvitation implements registration.Store.
func (s *Store) ReleaseInvitation(ctx context.Context, hash, use string) error {
	_, err := s.run(ctx, releaseInvitation, []string{invitationKey(hash)}, use)
	return err
}
