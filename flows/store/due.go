package store

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

const (
	// maxPollPause is longer than any pause between two polls. A later poll was scheduled by a gateway whose
	// clock was ahead.
	maxPollPause = 10 * time.Minute
	// urgent is subtracted from the score of what was woken, or what an event has requested. It is above every time in ms, so that
	// such scores are negative.
	urgent = 10_000_000_000_000
	// dueShare: one of so many payments that a gateway takes is the one that has been due the longest, so that those that are only due
	// have their turn while more are woken than the gateways can advance. The others were woken, because their buyers may wait: most of
	// what is due after an outage has no buyer any more.
	dueShare = 4
)

// laneKeys are the sorted sets of the lanes.
var laneKeys = map[flows.Lane]string{flows.OpenLane: openPayments, flows.VerifyLane: unverifiedPayments}

// keepOpen lists a payment as open, under its state. One that was woken stays due: what is scheduled now was decided without
// what it was woken for.
//
// KEYS  1 open payments  2 payments by state
// ARGV  1 id  2 due, ms  3 score of its state  4 NX to keep an earlier time, else CH  5 NX to keep a listed state, else CH
//
//	6 by how much a time that is kept may be later, ms
//
// Returns 1.
var keepOpen = redis.NewScript(`
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0') >= 0 then
  redis.call('ZADD', KEYS[1], ARGV[4], ARGV[2], ARGV[1])
  if ARGV[4] == 'NX' then redis.call('ZADD', KEYS[1], 'XX', 'LT', ARGV[2] + ARGV[6], ARGV[1]) end
end
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[3], ARGV[1])
return 1
`)

// The flags of keepOpen.
const onlyNew, replace = "NX", "CH"

func opening(p *flows.Payment, at time.Time, due, state string) call {
	return call{keepOpen, []string{openPayments, paymentStates}, []any{string(p.ID), at.UnixMilli(),
		stateScore(p.Listing(), p.StateSince()), due, state, maxPollPause.Milliseconds()}}
}

// addFinished lists a payment under its final state, and drops the oldest beyond the bound.
//
// KEYS  1 finished payments of a state
// ARGV  1 id  2 its end, ms  3 bound
// Returns 1.
var addFinished = redis.NewScript(`
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -ARGV[3] - 1)
return 1
`)

// finish takes a final payment from the open ones, unless it was woken: then it is advanced once more.
//
// KEYS  1 open payments  2 payments by state  3 payments to verify
// ARGV  1 id  2 score of its finding, empty for none  3 when it is verified, ms, empty for never again
// Returns 1.
var finish = redis.NewScript(`
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0') >= 0 then redis.call('ZREM', KEYS[1], ARGV[1]) end
for i = 2, 3 do
  if ARGV[i] == '' then redis.call('ZREM', KEYS[i], ARGV[1]) else redis.call('ZADD', KEYS[i], ARGV[i], ARGV[1]) end
end
return 1
`)

// Schedule sets when an open payment is advanced next, unless it was woken and no gateway has taken it since, and lists it under its
// state. A final one it moves to the bounded list of its state, lists it under its finding if it has one, and sets when it is verified;
// zero: never again. These lists are on different slots: a failure between the two writes leaves a payment that is advanced once more,
// or that the finished ones lack.
func (s *Store) Schedule(ctx context.Context, payment *flows.Payment, at time.Time) error {
	if !payment.State.Final() {
		return s.runAll(ctx, opening(payment, at, replace, replace))
	}
	finding, due := "", ""
	if payment.Finding() != "" {
		finding = strconv.FormatInt(stateScore(payment.Finding(), payment.StateSince()), 10)
	}
	if !at.IsZero() {
		due = strconv.FormatInt(at.UnixMilli(), 10)
	}
	return s.runAll(ctx, call{addFinished, []string{finishedPayments(payment.State)},
		[]any{string(payment.ID), payment.UpdatedAt.UnixMilli(), maxFinished}},
		call{finish, []string{openPayments, paymentStates, unverifiedPayments}, []any{string(payment.ID), finding, due}})
}

// EnsureScheduled sets when an open payment is advanced, or a final one verified, unless that is scheduled already.
func (s *Store) EnsureScheduled(ctx context.Context, p *flows.Payment, at time.Time) error {
	if p.State.Final() {
		return s.redis.ZAddNX(ctx, unverifiedPayments, redis.Z{Score: float64(at.UnixMilli()), Member: string(p.ID)}).Err()
	}
	return s.runAll(ctx, opening(p, at, onlyNew, onlyNew))
}

// Wake makes an open payment due at once, before those that are only due, see Due. It lists one that is not listed.
func (s *Store) Wake(ctx context.Context, id flows.PaymentID, now time.Time) error {
	return s.redis.ZAddLT(ctx, openPayments, redis.Z{Score: float64(now.UnixMilli() - urgent), Member: string(id)}).Err()
}

// takeDue takes due payments, those first that were woken, and postpones each, so that concurrent gateways get different ones.
//
// KEYS  1 a lane
// ARGV  1 now, ms  2 when they are due again, ms  3 limit  4 how many the gateway has taken before  5 dueShare
// Returns their ids.
var takeDue = redis.NewScript(`
local woken = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(0', 'LIMIT', 0, ARGV[3])
local due = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, ARGV[3])
local taken, w, d = {}, 1, 1
while #taken < tonumber(ARGV[3]) and (woken[w] or due[d]) do
  local turn = (ARGV[4] + #taken + 1) % ARGV[5] == 0
  if due[d] and (turn or not woken[w]) then
    table.insert(taken, due[d])
    d = d + 1
  else
    table.insert(taken, woken[w])
    w = w + 1
  end
end
for _, id in ipairs(taken) do redis.call('ZADD', KEYS[1], 'XX', ARGV[2], id) end
return taken
`)

// Due returns at most limit payments of a lane that are due: first those that were woken, then those that have been due the longest. Of
// every dueShare that this gateway takes, one is only due. Each is due again after lease, so that several gateways share the work.
func (s *Store) Due(ctx context.Context, lane flows.Lane, now time.Time, lease time.Duration, limit int) ([]flows.PaymentID, error) {
	ids, err := paymentIDs(takeDue.Run(ctx, s.redis, []string{laneKeys[lane]}, now.UnixMilli(), now.Add(lease).UnixMilli(), limit,
		s.taken.Load(), dueShare).StringSlice())
	if lane == flows.OpenLane {
		s.taken.Add(int64(len(ids)))
	}
	return ids, err
}

// drop removes a payment from lists, which share a slot.
//
// KEYS  lists of payments
// ARGV  1 id
// Returns 1.
var drop = redis.NewScript(`
for _, list in ipairs(KEYS) do redis.call('ZREM', list, ARGV[1]) end
return 1
`)

// Unschedule removes a payment from the lanes and from the list of its state.
func (s *Store) Unschedule(ctx context.Context, id flows.PaymentID) error {
	return s.run(ctx, drop, []string{openPayments, paymentStates, unverifiedPayments}, string(id)).Err()
}

// Waiting counts the payments of a lane that are due and those that are due later, and says since when the oldest is due, and when the next
// one is.
func (s *Store) Waiting(ctx context.Context, lane flows.Lane, now time.Time) (flows.Waiting, error) {
	list, until := laneKeys[lane], strconv.FormatInt(now.UnixMilli(), 10)
	pipe := s.redis.Pipeline()
	all, due := pipe.ZCard(ctx, list), pipe.ZCount(ctx, list, "-inf", until)
	woken := pipe.ZRangeByScoreWithScores(ctx, list, &redis.ZRangeBy{Min: "-inf", Max: "(0", Count: 1})
	overdue := pipe.ZRangeByScoreWithScores(ctx, list, &redis.ZRangeBy{Min: "0", Max: until, Count: 1})
	later := pipe.ZRangeByScoreWithScores(ctx, list, &redis.ZRangeBy{Min: "(" + until, Max: "+inf", Count: 1})
	if _, err := pipe.Exec(ctx); err != nil {
		return flows.Waiting{}, err
	}
	waiting := flows.Waiting{Due: int(due.Val()), Later: int(all.Val() - due.Val())}
	for _, first := range woken.Val() {
		waiting.Oldest = time.UnixMilli(int64(first.Score) + urgent)
	}
	for _, first := range overdue.Val() {
		if at := time.UnixMilli(int64(first.Score)); waiting.Oldest.IsZero() || at.Before(waiting.Oldest) {
			waiting.Oldest = at
		}
	}
	for _, first := range later.Val() {
		waiting.Next = time.UnixMilli(int64(first.Score))
	}
	return waiting, nil
}
