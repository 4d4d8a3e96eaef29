package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// maxClubEvents waiting at most: a night of a large chain, about three megabytes. Older ones are
// dropped; polling makes up for them.
const maxClubEvents = 10_000

// saveClubEvent stores and counts an event before its sender gets a response.
//
// KEYS  1 events  2 counts
// ARGV  1 body  2 what it counts as  3 how many are kept
// Returns how many are waiting.
var saveClubEvent = redis.NewScript(`
redis.call('XADD', KEYS[1], '*', 'body', ARGV[1])
redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
local waiting = redis.call('XLEN', KEYS[1])
if waiting > tonumber(ARGV[3]) then
  redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[3])
  redis.call('HINCRBY', KEYS[2], 'dropped', waiting - ARGV[3])
end
return waiting
`)

// SaveClubEvent appends an event of the club system, counts it as one of a kind, and returns how many events wait then. Beyond
// maxClubEvents it drops the oldest, and counts them as "dropped".
func (s *Store) SaveClubEvent(ctx context.Context, event flows.StoredEvent, countsAs string) (int64, error) {
	body, err := s.seal(clubEvents, event)
	if err != nil {
		return 0, err
	}
	return s.run(ctx, saveClubEvent, []string{clubEvents, clubEventCounts}, body, countsAs, maxClubEvents).Int64()
}

// ClubEvents returns the events that wait after an entry (empty: all), the oldest first, at most limit. One without a Body
// cannot be opened with the keys of this gateway.
func (s *Store) ClubEvents(ctx context.Context, after string, limit int) ([]flows.StoredEvent, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	entries, err := s.redis.XRangeN(ctx, clubEvents, from, "+", int64(limit)).Result()
	if err != nil {
		return nil, err
	}
	events := make([]flows.StoredEvent, len(entries))
	for i, entry := range entries {
		if sealed, _ := entry.Values["body"].(string); s.open(clubEvents, sealed, &events[i]) != nil {
			events[i] = flows.StoredEvent{} // sealed with a key that is gone, or that only other gateways have yet
		}
		events[i].Entry = entry.ID
	}
	return events, nil
}

// DropClubEvents deletes events that were processed.
func (s *Store) DropClubEvents(ctx context.Context, events []flows.StoredEvent) error {
	entries := make([]string, len(events))
	for i, event := range events {
		entries[i] = event.Entry
	}
	return s.redis.XDel(ctx, clubEvents, entries...).Err()
}

// ClubEventsWaiting returns how many events wait.
func (s *Store) ClubEventsWaiting(ctx context.Context) (int64, error) {
	return s.redis.XLen(ctx, clubEvents).Result()
}

// ClubEventCounts returns how many events were received of each kind, and how many "dropped".
func (s *Store) ClubEventCounts(ctx context.Context) (map[string]string, error) {
	return s.redis.HGetAll(ctx, clubEventCounts).Result()
}

// requestRefresh brings the next refresh of registrations forward, and never delays one.
//
// KEYS  1 refreshes
// ARGV  1 when, ms, less urgent  2… registrations
// Returns how many there were.
var requestRefresh = redis.NewScript(`
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'LT', ARGV[1], ARGV[i]) end
return #ARGV - 1
`)

// RequestRefresh brings the next refresh of registrations forward to at, before those that are only due for a poll. It never
// delays one.
func (s *Store) RequestRefresh(ctx context.Context, ids []string, at time.Time) error {
	return s.runAll(ctx, refreshing(at, ids...))
}

func refreshing(at time.Time, ids ...string) call {
	args := []any{at.UnixMilli() - urgent}
	for _, id := range ids {
		args = append(args, id)
	}
	return call{requestRefresh, []string{refreshes}, args}
}

// dueRefreshes takes due registrations, as many as the budget allows, those of events first, and postpones each, so
// that concurrent gateways get different ones. The budget is a token bucket. Polls leave a quarter of it for the next
// events, which would else wait for a sweep. A bucket from later than the time that fills it is of a gateway whose clock
// was ahead.
//
// KEYS  1 refreshes  2 budget
// ARGV  1 now, ms  2 the next refresh, ms  3 size of the bucket  4 ms per token  5 urgent
// Returns their ids.
var dueRefreshes = redis.NewScript(`
local now = tonumber(ARGV[1])
local held = redis.call('HMGET', KEYS[2], 'left', 'at')
local left, at = tonumber(held[1] or ARGV[3]), tonumber(held[2] or now)
if at - now > ARGV[3] * ARGV[4] then at = now end
left = math.min(tonumber(ARGV[3]), left + math.max(0, now - at) / ARGV[4])
local due = {}
local function take(from, offset, reserve)
  local ids = redis.call('ZRANGEBYSCORE', KEYS[1], from, now - offset, 'LIMIT', 0, math.max(0, math.floor(left - reserve) - #due))
  for _, id in ipairs(ids) do
    redis.call('ZADD', KEYS[1], ARGV[2] - offset, id)
    table.insert(due, id)
  end
end
take('-inf', ARGV[5], 0)
take(0, 0, ARGV[3] / 4)
redis.call('HSET', KEYS[2], 'left', string.format('%.3f', left - #due), 'at', string.format('%.0f', math.max(now, at)))
redis.call('PEXPIRE', KEYS[2], math.ceil(ARGV[3] * ARGV[4]))
return due
`)

// DueRefreshes returns the registrations whose refresh is due, and postpones each to next. All gateways together get burst at
// once, and one more after each interval.
func (s *Store) DueRefreshes(ctx context.Context, now, next time.Time, burst int, interval time.Duration) ([]string, error) {
	return dueRefreshes.Run(ctx, s.redis, []string{refreshes, refreshRate}, now.UnixMilli(), next.UnixMilli(), burst,
		interval.Milliseconds(), urgent).StringSlice()
}

// finishRefresh ends a refresh, unless another one was requested since it was taken.
//
// KEYS  1 refreshes
// ARGV  1 registration  2 what it was postponed to, ms  3 the next refresh, ms; 0 for none  4 urgent
// Returns 1 when it ended, else 0.
var finishRefresh = redis.NewScript(`
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not due or tonumber(due) % ARGV[4] ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '0' then return redis.call('ZREM', KEYS[1], ARGV[1]) end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
`)

// FinishRefresh sets the next refresh (zero: never) of a registration that DueRefreshes postponed to taken. It does nothing if
// an event has requested a refresh since.
func (s *Store) FinishRefresh(ctx context.Context, id string, taken, next time.Time) error {
	at := int64(0)
	if !next.IsZero() {
		at = next.UnixMilli()
	}
	return s.run(ctx, finishRefresh, []string{refreshes}, id, taken.UnixMilli(), at, urgent).Err()
}
