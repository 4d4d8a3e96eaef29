package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// recallReading reads what is kept, and gives a lease where that is too old.
//
// KEYS  1 reading  2 lease
// ARGV  1 the oldest instant that will do, ms  2 holder  3 time to live of the lease, ms
// Returns {instant of the reading in ms or "", body or "", 1 when the holder has got the lease}.
var recallReading = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'at', 'body')
local yours = 0
if not held[1] or tonumber(held[1]) < tonumber(ARGV[1]) then
  if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then yours = 1 end
end
return {held[1] or '', held[2] or '', yours}
`)

// holdReading renews a lease.
//
// KEYS  1 lease
// ARGV  1 holder  2 time to live, ms
// Returns 1 when the holder has it, 0 otherwise.
var holdReading = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// keepReading keeps a reading unless a newer one is there, and ends the lease.
//
// KEYS  1 reading  2 lease
// ARGV  1 holder  2 instant of the reading, ms; empty: only the lease ends  3 body  4 time to live, ms
// Returns 1 when it is kept, 0 otherwise.
var keepReading = redis.NewScript(`
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
if ARGV[2] == '' then return 0 end
local held = redis.call('HGET', KEYS[1], 'at')
if held and tonumber(held) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[2], 'body', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`)

// Recall implements flows.Shared. What was sealed with a key that is not known is as
// good as not there.
func (s *Store) Recall(ctx context.Context, name, holder string, notBefore time.Time, lease time.Duration) (flows.Recalled, error) {
	reading, leased := s.readingKeys(name)
	reply, err := recallReading.Run(ctx, s.redis, []string{reading, leased}, notBefore.UnixMilli(), holder, lease.Milliseconds()).Slice()
	if err != nil {
		return flows.Recalled{}, unavailable(err)
	}
	at, body, yours, err := recalled(reply)
	if err != nil {
		return flows.Recalled{}, err
	}
	found := flows.Recalled{At: time.UnixMilli(at), Yours: yours}
	if body != "" {
		if found.Text, err = s.keys.Open(reading, []byte(body)); err != nil {
			found.Text = nil
		}
	}
	return found, nil
}

// recalled takes a reply of recallReading apart.
func recalled(reply []any) (at int64, body string, yours bool, err error) {
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

// Hold implements flows.Shared.
func (s *Store) Hold(ctx context.Context, name, holder string, lease time.Duration) error {
	_, leased := s.readingKeys(name)
	return unavailable(holdReading.Run(ctx, s.redis, []string{leased}, holder, lease.Milliseconds()).Err())
}

// Keep implements flows.Shared.
func (s *Store) Keep(ctx context.Context, name, holder string, text []byte, at time.Time, life time.Duration) error {
	reading, leased := s.readingKeys(name)
	return unavailable(keepReading.Run(ctx, s.redis, []string{reading, leased}, holder, at.UnixMilli(), s.keys.Seal(reading, text), max(1, life.Milliseconds())).Err())
}

// LetGo implements flows.Shared.
func (s *Store) LetGo(ctx context.Context, name, holder string) error {
	reading, leased := s.readingKeys(name)
	return unavailable(keepReading.Run(ctx, s.redis, []string{reading, leased}, holder, "", "", 0).Err())
}
