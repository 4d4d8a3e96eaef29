package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// maxClubEvents bounds what waits to be worked on: a night's worth of a large
// chain, in about three megabytes. Beyond it the oldest go, which polling repairs.
const maxClubEvents = 10_000

// saveClubEvent stores an event before its sender is answered, and counts it.
//
// KEYS  1 events  2 counts
// ARGV  1 body  2 what it counts as  3 how many are kept
// Returns how many wait now.
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

// SaveClubEvent implements clubevent.Store.
func (s *Store) SaveClubEvent(ctx context.Context, event flows.StoredEvent, countsAs string) (int64, error) {
	body, err := s.seal(clubEvents, event)
	if err != nil {
		return 0, err
	}
	waiting, err := s.run(ctx, saveClubEvent, []string{clubEvents, clubEventCounts}, body, countsAs, maxClubEvents)
	if err != nil {
		return 0, err
	}
	n, ok := waiting.(int64)
	if !ok {
		return 0, errReply
	}
	return n, nil
}

// ClubEvents implements clubevent.Store.
func (s *Store) ClubEvents(ctx context.Context, limit int) ([]flows.StoredEvent, error) {
	entries, err := s.redis.XRangeN(ctx, clubEvents, "-", "+", int64(limit)).Result()
	if err != nil {
		return nil, err
	}
	events := make([]flows.StoredEvent, len(entries))
	for i, entry := range entries {
		if sealed, _ := entry.Values["body"].(string); s.open(clubEvents, sealed, &events[i]) != nil {
			events[i] = flows.StoredEvent{} // sealed by a key that is gone: there is nothing left to work on
		}
		events[i].Entry = entry.ID
	}
	return events, nil
}

// DropClubEvents implements clubevent.Store.
func (s *Store) DropClubEvents(ctx context.Context, events []flows.StoredEvent) error {
	entries := make([]string, len(events))
	for i, event := range events {
		entries[i] = event.Entry
	}
	return s.redis.XDel(ctx, clubEvents, entries...).Err()
}

// ClubEventsWaiting implements clubevent.Store.
func (s *Store) ClubEventsWaiting(ctx context.Context) (int64, error) {
	return s.redis.XLen(ctx, clubEvents).Result()
}

// ClubEventCounts implements relay.Store.
func (s *Store) ClubEventCounts(ctx context.Context) (map[string]string, error) {
	return s.redis.HGetAll(ctx, clubEventCounts).Result()
}

// requestRefresh brings the next look at registrations forward, and never puts one off.
//
// KEYS  1 looks
// ARGV  1 the look, ms  2… registrations
// Returns how many there were.
var requestRefresh = redis.NewScript(`
for i = 2, #ARGV do
  local due = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if not due or tonumber(due) > tonumber(ARGV[1]) then redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) end
end
return #ARGV - 1
`)

// RequestRefresh implements clubevent.Store.
func (s *Store) RequestRefresh(ctx context.Context, ids []string, at time.Time) error {
	args := []any{at.UnixMilli()}
	for _, id := range ids {
		args = append(args, id)
	}
	_, err := s.run(ctx, requestRefresh, []string{refreshes}, args...)
	return err
}

// dueRefreshes takes registrations whose look is due, as many as the budget has looks
// left, and puts each of them off, so that gateways that ask at the same time get
// different ones. The budget is a bucket that fills up steadily.
//
// KEYS  1 looks  2 budget
// ARGV  1 now, ms  2 the next look, ms  3 what the bucket holds  4 ms in which one look more is allowed
// Returns their ids.
var dueRefreshes = redis.NewScript(`
local now = tonumber(ARGV[1])
local held = redis.call('HMGET', KEYS[2], 'left', 'at')
local left, at = tonumber(held[1] or ARGV[3]), tonumber(held[2] or now)
left = math.min(tonumber(ARGV[3]), left + math.max(0, now - at) / ARGV[4])
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, math.floor(left))
for _, id in ipairs(due) do redis.call('ZADD', KEYS[1], ARGV[2], id) end
redis.call('HSET', KEYS[2], 'left', string.format('%.3f', left - #due), 'at', string.format('%.0f', math.max(now, at)))
redis.call('PEXPIRE', KEYS[2], math.ceil(ARGV[3] * ARGV[4]))
return due
`)

// DueRefreshes implements clubevent.Store.
func (s *Store) DueRefreshes(ctx context.Context, now, next time.Time, budget flows.RateLimit) ([]string, error) {
	return dueRefreshes.Run(ctx, s.redis, []string{refreshes, refreshRate}, now.UnixMilli(), next.UnixMilli(), budget.Burst, budget.Interval.Milliseconds()).StringSlice()
}

// finishRefresh ends a look, unless there was another hint since it was taken.
//
// KEYS  1 looks
// ARGV  1 registration  2 what the look was put off to, ms  3 the next look, ms; 0 for none
// Returns 1 when it ended, 0 when there was a hint.
var finishRefresh = redis.NewScript(`
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not due or tonumber(due) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '0' then return redis.call('ZREM', KEYS[1], ARGV[1]) end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
`)

// FinishRefresh implements clubevent.Store.
func (s *Store) FinishRefresh(ctx context.Context, id string, taken, next time.Time) error {
	at := int64(0)
	if !next.IsZero() {
		at = next.UnixMilli()
	}
	_, err := s.run(ctx, finishRefresh, []string{refreshes}, id, taken.UnixMilli(), at)
	return err
}

// maxOfContact bounds what is kept of one contact: more registrations at once
// than anybody has, so that a machine that starts them for ever fills nothing.
const maxOfContact = 20

// indexRegistration notes whose a registration is.
//
// KEYS  1 registrations of the contact
// ARGV  1 registration  2 its end, ms  3 time to live, ms  4 how many are kept
// Returns 1.
var indexRegistration = redis.NewScript(`
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[4])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
`)

// pollRegistration says when a registration is looked at first; one that has a look keeps it.
//
// KEYS  1 looks
// ARGV  1 registration  2 the look, ms
// Returns 1 when it had none, else 0.
var pollRegistration = redis.NewScript(`return redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])`)

// index notes where events of the club system, and polling, find a registration.
// It comes before the registration: an entry that leads nowhere is harmless.
func (s *Store) index(r *flows.Registration) (calls []call) {
	if r.Contact == nil {
		return nil
	}
	calls = []call{indexEntry(r, s.contactKeys(r.Contact.IRI)[0], maxOfContact)}
	if r.Sale != "" {
		calls = append(calls, call{pollRegistration, []string{refreshes}, []any{r.ID, r.CreatedAt.Add(flows.FirstPoll).UnixMilli()}})
	}
	return calls
}

// indexEntry is the call that notes under a key whose a registration is.
func indexEntry(r *flows.Registration, key string, most int) call {
	return call{indexRegistration, []string{key}, []any{r.ID, r.ExpiresAt.UnixMilli(), registrationTTL(r).Milliseconds(), most}}
}

// RegistrationsOf implements clubevent.Store.
func (s *Store) RegistrationsOf(ctx context.Context, contacts ...club.IRI) (ids []string, err error) {
	for _, contact := range contacts {
		for _, key := range s.contactKeys(contact) {
			found, err := s.redis.ZRange(ctx, key, 0, -1).Result()
			if err != nil {
				return nil, err
			}
			ids = append(ids, found...)
		}
	}
	return ids, nil
}
