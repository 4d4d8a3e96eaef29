package store

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/upstream/club"
)

// quotaState reads what is known of the API gateway's limits, in fields "<limit> <what>": of the rate and of the quota its limit, the
// calls left, when a response last showed them, and of its present window its begin, its end and the calls that were left at its
// begin. Times are in ms, by the clock of Redis; what was written later than now was written before that clock was set back.
//
// A lane may make a call while more is left than its floor: a part of what would be left if all calls were spread evenly over the
// window. So the lanes above it always find calls, and nothing is left over at the end.
const quotaState = `
local signupCalls, assumed = 14, 100 -- with its verification, see docs/explanation/performance.md; a hundred real signups outweigh that
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local state, fields = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local value = tonumber(fields[i + 1])
  if value and value < now + 172800000 then state[fields[i]] = value end -- no limit ends later than in two days
end
local function get(name, what) return state[name .. ' ' .. what] end
local function set(name, values) for what, value in pairs(values) do state[name .. ' ' .. what] = value end end
if (state.saved or 0) > now + 1000 then state = {} end
for _, name in ipairs({'rate', 'quota'}) do -- nothing is known of a limit unless all is
  local whole = (get(name, 'limit') or 0) > 0 and (get(name, 'period') or 0) > 0
  for _, what in ipairs({'left', 'first', 'began'}) do whole = whole and get(name, what) end
  if not whole then state[name .. ' ends'] = nil end
end
local function known(name) return get(name, 'ends') ~= nil end
local function begin(name, left, ends)
  set(name, {left = left, first = left, began = now, ends = ends})
  if name == 'rate' then -- a signup's last calls are long after its start, so that one window says little
    local calls, starts = state.calls or 0, state.starts or 0
    state.cost = (calls + assumed * signupCalls) / (starts + assumed)
    state.calls, state.starts = calls * 0.8, starts * 0.8
  end
end
local function spare(name, floor, wanted)
  if not known(name) then return wanted, 0 end
  local ends, left = get(name, 'ends'), get(name, 'left')
  if ends <= now then
    begin(name, get(name, 'limit'), now + get(name, 'period')) -- until a response tells when it really ends
    set(name, {guessed = 1})
    ends, left = get(name, 'ends'), get(name, 'left')
  end
  local kept, length = floor * get(name, 'first'), ends - get(name, 'began')
  local free = math.max(0, math.floor(left - kept * (ends - now) / length))
  if free >= wanted then return wanted, 0 end
  if kept == 0 or left < free + 1 then return free, ends - now end
  return free, math.max(1, ends - now - (left - free - 1) * length / kept)
end
local floors = {0, 0.1, 0.2, 0.3, 0.5} -- in the order of club.Lanes
local function save()
  state.saved = now
  local written = {}
  for field, value in pairs(state) do
    written[#written + 1] = field
    written[#written + 1] = string.format('%.3f', value)
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], unpack(written))
  redis.call('PEXPIRE', KEYS[1], 172800000)
end
`

// shareCalls grants calls. The spike arrest is kept to by a bucket: in no slice more than two thirds of its limit, since calls that
// are sent in two slices may arrive in one; and payments find half of the bucket.
//
// Where no call is left, and no response has shown the limit for four minutes, one call finds out: the provider may have raised the limit,
// and a wrong header must not stop all calls until the end that it names. A limit of which none tells then, either, does not exist.
//
// KEYS  1 quota of the organisation
// ARGV  1-3 limit, remaining and reset of the rate, ms; 0: none  4-6 the same of the quota  7 spike; 0: none  8 its slice, ms
//
//	9… how many calls each lane wants
//
// Returns for each lane how many it gets, and when it may have another one, ms.
var shareCalls = redis.NewScript(quotaState + `
local function see(name, limit, remaining, ends)
  if limit == 0 or ends <= now then return end
  local former, guessed, period = get(name, 'ends') or 0, get(name, 'guessed') == 1, get(name, 'period') or 0
  local slack = math.min(1000, period / 4) -- some gateways compute the end for each response
  local earlier = guessed and 0 or former - ends
  if earlier > 30000 then period = 0 -- what was known was wrong
  elseif earlier > slack then return end -- a slow response tells of an earlier window
  if former > now and get(name, 'tried') ~= 1 and (guessed or math.abs(earlier) <= slack) then
    set(name, {left = math.min(get(name, 'left'), remaining), ends = ends})
  else
    begin(name, remaining, ends)
  end
  set(name, {limit = limit, period = math.max(period, ends - get(name, 'began')), guessed = 0, tried = 0, shown = now})
end
local seen = {}
for i = 1, 8 do seen[i] = tonumber(ARGV[i]) end
see('rate', seen[1], seen[2], seen[3])
see('quota', seen[4], seen[5], seen[6])
local reply, gap, burst = {}, 0, math.max(1, seen[7] / 3)
if seen[7] > 0 then gap = 3 * seen[8] / seen[7] end
state.next = math.min(state.next or 0, now + burst * gap) -- a former response may have shown another spike
for lane, floor in ipairs(floors) do
  local wanted = tonumber(ARGV[8 + lane])
  local free, wait = wanted, 0
  for _, name in ipairs({'rate', 'quota'}) do
    local calls, pause = spare(name, floor, wanted)
    if calls == 0 and wanted > 0 and now - (get(name, 'shown') or get(name, 'began')) > 240000 then
      if get(name, 'tried') == 1 then
        state[name .. ' ends'] = nil
        calls = wanted
      else
        set(name, {shown = now, tried = 1})
        calls = 1
      end
    end
    free, wait = math.min(free, calls), math.max(wait, pause)
  end
  if gap > 0 then
    local ahead = math.max(0, state.next - now) / gap
    local own = lane == 1 and burst or math.max(1, burst / 2)
    free = math.min(free, math.max(0, math.floor(own - ahead)))
    if free < wanted then wait = math.max(wait, (ahead + free + 1 - own) * gap) end
    if free > 0 then state.next = math.max(state.next, now) + free * gap end
  end
  for _, name in ipairs({'rate', 'quota'}) do
    if known(name) then set(name, {left = get(name, 'left') - free}) end
  end
  if lane < #floors then state.calls = (state.calls or 0) + free end
  reply[#reply + 1] = free
  reply[#reply + 1] = math.ceil(wait)
end
save()
return reply
`)

// admitNewcomer admits as many newcomers as the rate leaves calls for: for their whole signup, which needs what signups have
// needed so far. The others get a turn, and keep it by the key of their request. Places are collected evenly, and half of
// them are kept for newcomers whose turn has come. Turns are a fifth further apart than places, because a signup may need
// more calls than it seemed, and the time that a newcomer was given must stay right. Newcomers without a turn get the places that are
// left, and those of newcomers who stay away.
//
// KEYS  1 quota of the organisation  2 the newcomer's turn: when, ms; 0: admitted
// ARGV  1 how far ahead turns are given, ms  2 how long a turn is kept, ms
//
// Returns how long the newcomer has to wait, ms; 0: admitted.
var admitNewcomer = redis.NewScript(quotaState + `
local turn, limit = tonumber(redis.call('GET', KEYS[2]) or '-1'), get('rate', 'limit')
if turn == 0 or not known('rate') then return 0 end
local _, wait = spare('quota', floors[4], 1)
local _, pause = spare('rate', floors[4], 1)
wait = math.max(wait, pause)
local ends = get('rate', 'ends')
local cost = math.max(1, state.cost or signupCalls)
local period = math.max(60000, get('rate', 'period')) -- shorter if all that was seen is the rest of a window
local pace, later = get('rate', 'left') / (ends - now) / cost, limit / period / cost -- newcomers a ms
local most = math.max(2, 20000 * later)
state.places, state.at = math.min(most, (state.places or most) + pace * (now - (state.at or now))), now
local needed = most / 2
if turn > 0 and turn <= now then needed = 1 end
if wait == 0 and state.places >= needed then
  state.places, state.starts = state.places - 1, (state.starts or 0) + 1
  save()
  redis.call('SET', KEYS[2], 0, 'PX', ARGV[2])
  return 0
end
if turn < 0 then
  local last = math.max(state.last or 0, now)
  turn = math.max(last, ends) + 1.2 / later
  if last < ends then turn = math.min(turn, last + 1.2 / pace) end
  turn = math.min(turn, now + ARGV[1])
  state.last = turn -- that was given last
  redis.call('SET', KEYS[2], string.format('%.0f', turn), 'PX', string.format('%.0f', turn - now + ARGV[2]))
end
save()
return math.ceil(math.max(wait, turn - now, (1 - state.places) / math.max(pace, later)))
`)

const (
	// maxTurnAhead is longer than most visitors would wait, and keepTurn how late they may be.
	maxTurnAhead, keepTurn = 15 * time.Minute, 10 * time.Minute
)

// ShareCalls returns the function by which the gateways of a Redis share the calls to a club system, for club.Config.
func ShareCalls(connection redis.UniversalClient) func(context.Context, club.CallRequest) ([]club.CallGrant, error) {
	return func(ctx context.Context, in club.CallRequest) ([]club.CallGrant, error) {
		args := append(limitArgs(in.Seen.Rate), limitArgs(in.Seen.Quota)...)
		args = append(args, in.Seen.Spike, in.Seen.Slice.Milliseconds())
		for _, wanted := range in.Wanted {
			args = append(args, wanted)
		}
		key := quotaKey(in.Organisation)
		reply, err := shareCalls.Run(ctx, connection, []string{key}, args...).Int64Slice()
		if err != nil && strings.Contains(err.Error(), "WRONGTYPE") { // no gateway wrote it; the next call begins a new one
			_ = connection.Del(ctx, key)
		}
		if err != nil {
			return nil, err
		}
		grants := make([]club.CallGrant, len(in.Wanted))
		for lane := range grants {
			grants[lane] = club.CallGrant{Calls: int(reply[2*lane]), Wait: time.Duration(reply[2*lane+1]) * time.Millisecond}
		}
		return grants, nil
	}
}

// limitArgs are the arguments of shareCalls for a limit.
func limitArgs(of club.CallLimit) []any {
	if of.Limit == 0 {
		return []any{0, 0, 0}
	}
	return []any{of.Limit, of.Remaining, of.Reset.UnixMilli()}
}

// AdmitNewcomer returns how long a newcomer has to wait for the calls of a signup; zero: there are enough. request is the same
// each time that the newcomer asks; empty: the newcomer cannot be recognised.
func (s *Store) AdmitNewcomer(ctx context.Context, organisation, request string) (time.Duration, error) {
	keys := []string{quotaKey(organisation), turnKey(organisation, request)}
	wait, err := admitNewcomer.Run(ctx, s.redis, keys, maxTurnAhead.Milliseconds(), keepTurn.Milliseconds()).Int64()
	return time.Duration(wait) * time.Millisecond, err
}
