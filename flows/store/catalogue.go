package store

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// publishCopy stores a copy unless a newer one is stored.
//
// KEYS  1 copy
// ARGV  1 time of reading, ms  2 body  3 time to live, ms
// Returns 1 when it is stored, else 0.
var publishCopy = redis.NewScript(`
local at = redis.call('HGET', KEYS[1], 'at')
if at and tonumber(at) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'body', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// ReadCopy returns a copy that gateways share, and when it was read from the club system; nil without one. A copy sealed with an
// unknown key counts as none. flows.StorageUnavailable if Redis does not respond: the gateway then reads the club system itself.
func (s *Store) ReadCopy(ctx context.Context, name string) ([]byte, time.Time, error) {
	key := s.copyKey(name)
	fields, err := s.redis.HGetAll(ctx, key).Result()
	if err != nil {
		return nil, time.Time{}, unavailable(err)
	}
	at, missing := strconv.ParseInt(fields["at"], 10, 64)
	text, unreadable := s.keys.Open(key, []byte(fields["body"]))
	if missing != nil || unreadable != nil {
		return nil, time.Time{}, nil
	}
	return text, time.UnixMilli(at), nil
}

// PublishCopy shares a copy that was read from the club system at an instant, for a time, unless Redis has a newer one.
// flows.StorageUnavailable if Redis does not respond: each gateway then reads the club system itself.
func (s *Store) PublishCopy(ctx context.Context, name string, text []byte, at time.Time, life time.Duration) error {
	key := s.copyKey(name)
	return unavailable(publishCopy.Run(ctx, s.redis, []string{key}, at.UnixMilli(), s.keys.Seal(key, text), max(1, life.Milliseconds())).Err())
}
