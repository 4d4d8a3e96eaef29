package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// brakeFields reads an organisation's brake. ARGV[1] is the organisation. Times are in ms; a field that is missing is nil.
const brakeFields = `
local function field(name) return ARGV[1] .. ' ' .. name end
local function read(name) return redis.call('HGET', KEYS[1], field(name)) end
local function set(name, value) redis.call('HSET', KEYS[1], field(name), value) end
local function drop(...) for _, name in ipairs({...}) do redis.call('HDEL', KEYS[1], field(name)) end end
`

// askBrake lets a payment pass, or makes it wait. While the brake holds, one payment at a time passes as its probe.
//
// KEYS  1 brakes
// ARGV  1 organisation  2 payment  3 now, ms  4 lease of a probe, ms
//
//	5 pause after the first failed probe, ms, which doubles with each further one  6 longest pause, ms
//	7 longest wait, ms: a longer one was set by a clock that was ahead
//
// Returns how long the payment must wait, ms; 0 when it passes.
var askBrake = redis.NewScript(brakeFields + `
if not read('since') then return 0 end
local probe, now = read('probe'), tonumber(ARGV[3])
if probe == ARGV[2] then -- it may be stuck: its lease is not prolonged, and the others are first for half a minute
  local over = now - tonumber(read('until') or '0')
  if over < 0 then return 0 end
  if over < 30000 then return string.format('%.0f', 30000 - over) end
end
if probe ~= ARGV[2] then
  local due, failed = tonumber(read('until') or '0'), tonumber(read('failed') or '0')
  if not probe and failed > 0 then due = due + math.min(ARGV[5] * 2 ^ math.min(failed - 1, 30), tonumber(ARGV[6])) end
  if due > now and due - now <= tonumber(ARGV[7]) then return string.format('%.0f', due - now) end
end
set('probe', ARGV[2])
set('until', string.format('%.0f', now + ARGV[4]))
return 0
`)

// countOutcome engages and releases the brake. A repetition changes nothing more: consecutive unknown outcomes of
// one payment count once, also because its sale may be the reason. The more payments are accepted, the more of them it takes;
// the pace of acceptances is an estimate, in which an older one weighs less, and one that is repeated weighs twice.
//
// Once several accepted payments in a row left their sales unsettled, an acceptance is not believed until a sale is seen as
// settled. That is so only where one was seen before.
//
// KEYS  1 brakes
// ARGV  1 organisation  2 payment  3 now, ms  4 beginning of the attempt, ms
//
//	5 accepted, unknown, refused, continues, settled or unsettled
//	6 until when a probe continues, ms  7 how many unknown or refused outcomes in a row, or unsettled sales, engage the brake
//	8 the most outcomes that do while others are accepted  9 how many accepted ones in the last minute require one more
//
// Returns engaged, released, or an empty text.
var countOutcome = redis.NewScript(brakeFields + `
local since, probe, now, began = read('since'), read('probe'), tonumber(ARGV[3]), tonumber(ARGV[4])
local unsettled, most = tonumber(read('unsettled') or '0'), tonumber(ARGV[7])
local accepted = tonumber(read('accepted') or '0')
local function pace(at) -- attempts accepted in the minute before
  return tonumber(read('pace') or '0') * math.max(0, 1 - math.abs(at - accepted) / 60000)
end
local function release() drop('since', 'probe', 'until', 'failed', 'unknown', 'last') end
if ARGV[5] == 'settled' then
  set('settles', 1)
  if since and began < tonumber(since) then return '' end
  drop('unsettled')
  if not since or unsettled < most then return '' end
  release()
  return 'released'
elseif ARGV[5] == 'unsettled' then
  if not read('settles') or redis.call('HINCRBY', KEYS[1], field('unsettled'), 1) < most or since then return '' end
  set('since', ARGV[3])
  return 'engaged'
elseif ARGV[5] == 'accepted' and unsettled >= most then
  ARGV[5] = 'ends'
end
if ARGV[5] == 'accepted' then
  if since and probe ~= ARGV[2] and began < tonumber(since) then return '' end
  release()
  set('pace', string.format('%.2f', 1 + pace(began)))
  set('accepted', ARGV[4])
  return since and 'released' or ''
end
if probe == ARGV[2] then
  if ARGV[5] == 'continues' or ARGV[5] == 'refused' then
    set('until', ARGV[6])
  else
    drop('probe')
    set('until', ARGV[3])
    redis.call('HINCRBY', KEYS[1], field('failed'), 1)
  end
end
if ARGV[5] ~= 'unknown' and ARGV[5] ~= 'refused' then return '' end
if began < accepted and accepted <= now or read('last') == ARGV[2] then return '' end
set('last', ARGV[2])
local enough = math.max(most, math.min(pace(now) / ARGV[9], tonumber(ARGV[8])))
if redis.call('HINCRBY', KEYS[1], field('unknown'), 1) < enough or since then return '' end
set('since', ARGV[3])
return 'engaged'
`)

// AskBrake returns how long a payment must wait because its organisation's brake holds; zero: it passes, perhaps as the probe. After a
// loss in Redis no brake holds, until outcomes engage it again.
func (s *Store) AskBrake(ctx context.Context, in flows.BrakeRequest) (time.Duration, error) {
	left, err := s.run(ctx, askBrake, []string{brakes}, in.Organisation, string(in.Payment), in.Now.UnixMilli(), in.Lease.Milliseconds(),
		in.Pause.Milliseconds(), in.MaxPause.Milliseconds(), in.MaxWait.Milliseconds()).Int64()
	return time.Duration(left) * time.Millisecond, err
}

// CountOutcome counts how a request that records money ended, and returns what that changed: it may engage or release an organisation's
// brake. Consecutive failures of one payment count once.
func (s *Store) CountOutcome(ctx context.Context, in flows.BrakeOutcome) (flows.BrakeChange, error) {
	change, err := s.run(ctx, countOutcome, []string{brakes}, in.Organisation, string(in.Payment), in.Now.UnixMilli(), in.Began.UnixMilli(),
		string(in.Result), in.ProbesUntil.UnixMilli(), in.MaxUnknown, in.MaxUnknownInCrowd, in.AcceptedPerUnknown).Text()
	return flows.BrakeChange(change), err
}

// LastAccepted returns when the latest attempt began whose payment an organisation's club system accepted; zero: none.
func (s *Store) LastAccepted(ctx context.Context, organisation string) (time.Time, error) {
	began, err := s.redis.HGet(ctx, brakes, organisation+" accepted").Int64()
	if errors.Is(err, redis.Nil) {
		return time.Time{}, nil
	}
	return time.UnixMilli(began), err
}

// Brakes lists the brakes that hold, by organisation.
func (s *Store) Brakes(ctx context.Context) ([]flows.Brake, error) {
	fields, err := s.redis.HGetAll(ctx, brakes).Result()
	if err != nil {
		return nil, err
	}
	held := []flows.Brake{}
	for field, value := range fields {
		organisation, found := strings.CutSuffix(field, " since")
		since, err := strconv.ParseInt(value, 10, 64)
		if !found || err != nil {
			continue
		}
		unknown, _ := strconv.Atoi(fields[organisation+" unknown"])
		unsettled, _ := strconv.Atoi(fields[organisation+" unsettled"])
		held = append(held, flows.Brake{Organisation: organisation, Since: time.UnixMilli(since), Unknown: unknown + unsettled,
			Probe: flows.PaymentID(fields[organisation+" probe"])})
	}
	slices.SortFunc(held, func(a, b flows.Brake) int { return cmp.Compare(a.Organisation, b.Organisation) })
	return held, nil
}
