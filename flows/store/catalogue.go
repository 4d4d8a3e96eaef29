package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows/catalogue"
)

// acquireReading reads what is kept, and gives a lease where that is too old.
//
// KEYS  1 reading  2 lease
// ARGV  1 the oldest instant that will do, ms  2 holder  3 time to live of the lease, ms
// Returns {instant of the reading in ms or "", body or "", 1 when the holder has got the lease}.
var acquireReading = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'at', 'body')
local yours = 0
if not held[1] or tonumber(held[1]) < tonumber(ARGV[1]) then
  if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then yours = 1 end
end
return {held[1] or '', held[2] or '', yours}
`)

// renewReading renews a lease.
//
// KEYS  1 lease
// ARGV  1 holder  2 time to live, ms
// Returns 1 when the holder has it, 0 otherwise.
var renewReading = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// publishReading keeps a reading unless a newer one is there, and ends the lease.
//
// KEYS  1 reading  2 lease
// ARGV  1 holder  2 instant of the reading, ms; empty: only the lease ends  3 body  4 time to live, ms
// Returns 1 when it is kept, 0 otherwise.
var publishReading = redis.NewScript(`
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
if ARGV[2] == '' then return 0 end
local held = redis.call('HGET', KEYS[1], 'at')
if held and tonumber(held) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[2], 'body', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`)

// Acquire implements catalogue.CacheStore. What was sealed with a key that is not known is as
// good as not there.
func (s *Store) Acquire(ctx context.Context, name, holder string, notBefore time.Time, lease time.Duration) (catalogue.SharedEntry, error) {
	reading, leased := s.readingKeys(name)
	reply, err := acquireReading.Run(ctx, s.redis, []string{reading, leased}, notBefore.UnixMilli(), holder, lease.Milliseconds()).Slice()
	if err != nil {
		return catalogue.SharedEntry{}, unavailable(err)
	}
	at, body, yours, err := parseReading(reply)
	if err != nil {
		return catalogue.SharedEntry{}, err
	}
	found := catalogue.SharedEntry{At: time.UnixMilli(at), Leader: yours}
	if body != "" {
		if found.Text, err = s.keys.Open(reading, []byte(body)); err != nil {
			found.Text = nil
		}
	}
	return found, nil
}

// parseReading takes a reply of acquireReading apart.
func parseReading(reply []any) (at int64, body string, yours bool, err error) {
	if len(reply) != 3 {
		return 0, "", false, errReply
	}
	instant, isText := reply[0].(string)
	body, isBody := reply[1].(string)
	if !isText || !isBody {
		return 0, "", false, errReply
	}
	if instant != "" {
		at, err = strconv.ParseInt(instant, 10, 64)
	}
	return at, body, reply[2] == int64(1), errors.Join(err)
}

// RenewLease implements catalogue.CacheStore.
func (s *Store) RenewLease(ctx context.Context, name, holder string, lease time.Duration) error {
	_, leased := s.readingKeys(name)
	return unavailable(renewReading.Run(ctx, s.redis, []string{leased}, holder, lease.Milliseconds()).Err())
}

// Publish implements catalogue.CacheStore.
func (s *Store) Publish(ctx context.Context, name, holder string, text []byte, at time.Time, life time.Duration) error {
	reading, leased := s.readingKeys(name)
	return unavailable(publishReading.Run(ctx, s.redis, []string{reading, leased}, holder, at.UnixMilli(), s.keys.Seal(reading, text), max(1, life.Milliseconds())).Err())
}

// ReleaseLease implements catalogue.CacheStore.
func (s *Store) ReleaseLease(ctx context.Context, name, holder string) error {
	reading, leased := s.readingKeys(name)
	return unavailable(publishReading.Run(ctx, s.redis, []string{reading, leased}, holder, "", "", 0).Err())
}
