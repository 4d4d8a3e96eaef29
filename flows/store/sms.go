package store

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// reserveSMS counts an SMS code unless a limit is reached.
//
// KEYS  1 codes of a subject: their ids, scored by the millisecond at which they were counted
// ARGV  1 now, ms  2 id  3 number of limits, then for each: how many codes, within how many ms; the longest last
// Returns {1 when counted (even if this id was counted before), when the next one is allowed, ms}.
var reserveSMS = redis.NewScript(`
local now = tonumber(ARGV[1])
local longest = ARGV[#ARGV]
local function allowed()
  local at = 0
  for i = 0, ARGV[3] - 1 do
    local nth = tonumber(ARGV[4 + 2 * i]) - 1
    local code = redis.call('ZREVRANGE', KEYS[1], nth, nth, 'WITHSCORES')
    if code[2] then at = math.max(at, code[2] + ARGV[5 + 2 * i]) end
  end
  return string.format('%.0f', at)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - longest)
if redis.call('ZSCORE', KEYS[1], ARGV[2]) then return {1, allowed()} end
local at = allowed()
if tonumber(at) > now then return {0, at} end
redis.call('ZADD', KEYS[1], now, ARGV[2])
redis.call('PEXPIRE', KEYS[1], longest)
return {1, allowed()}
`)

// ReserveSMS counts a code for a subject unless one of the limits is reached, and returns when the next code is allowed. A repeated id
// counts once. The longest limit must be the last.
func (s *Store) ReserveSMS(ctx context.Context, subject, id string, now time.Time, limits []flows.SMSLimit) (bool, time.Time, error) {
	args := []any{now.UnixMilli(), id, len(limits)}
	for _, limit := range limits {
		args = append(args, limit.Codes, limit.Period.Milliseconds())
	}
	reply, err := s.run(ctx, reserveSMS, []string{s.smsKey(subject)}, args...).Int64Slice()
	if err != nil {
		return false, time.Time{}, err
	}
	return reply[0] == 1, time.UnixMilli(reply[1]), nil
}

// CountSMS counts a subject's codes between two instants, inclusive.
func (s *Store) CountSMS(ctx context.Context, subject string, from, to time.Time) (int, error) {
	n, err := s.redis.ZCount(ctx, s.smsKey(subject), strconv.FormatInt(from.UnixMilli(), 10), strconv.FormatInt(to.UnixMilli(), 10)).Result()
	return int(n), err
}

// ReleaseSMS takes a counted code back.
func (s *Store) ReleaseSMS(ctx context.Context, subject, id string) error {
	return s.redis.ZRem(ctx, s.smsKey(subject), id).Err()
}
