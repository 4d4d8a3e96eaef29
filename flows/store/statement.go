package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// saveStatement replaces a statement by compare-and-set, and lists it: where it is to be followed up, while it is open, and among all
// that are received. It also makes it found by its person.
//
// KEYS  1 statement  2 follow-ups  3 open statements  4 received statements  5 statements in doubt  6… those of its person
// ARGV  1 expected version (0: it must not exist)  2 operation  3 body  4 time to live, ms  5 id  6 now, ms
//
//	7 when it is followed up, ms, empty for never  8 its deadline, ms, empty unless it is open
//	9 its receipt, ms, empty unless it is received  10 the claim of its online cancellation, ms, empty unless that is in doubt
//
// Returns 1 when it is saved (even if this same operation saved it before), 0 when it was changed.
var saveStatement = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'version', 'operation')
if held[2] == ARGV[2] then return 1 end
if (held[1] or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'operation', ARGV[2], 'body', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
for i = 2, 5 do
  local score = ARGV[i + 5]
  if score == '' then redis.call('ZREM', KEYS[i], ARGV[5]) else redis.call('ZADD', KEYS[i], score, ARGV[5]) end
end
for i = 6, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', ARGV[6])
  redis.call('ZADD', KEYS[i], ARGV[6] + ARGV[4], ARGV[5])
  if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[i], ARGV[4]) end
end
return 1
`)

// holdSubscription reserves a subscription for the statement that ends it, or gives it up.
//
// KEYS  1 the statement that holds it
// ARGV  1 id of the statement  2 how long it holds the subscription, ms; 0: no longer
// Returns 1 when it holds it, or has given it up; 0 when another one holds it.
var holdSubscription = redis.NewScript(`
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 1
`)

// takeStatements takes statements whose follow-up is due, and postpones each, so that concurrent gateways get different ones.
//
// KEYS  1 follow-ups
// ARGV  1 now, ms  2 when they are due again, ms  3 limit
// Returns their ids.
var takeStatements = redis.NewScript(`
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(due) do redis.call('ZADD', KEYS[1], 'XX', ARGV[2], id) end
return due
`)

// SaveStatement creates a statement (version 0), or replaces it if its version is still statement.Version, and increments that.
// flows.ErrConflict if it was changed since it was read. It expires after keep. With a time in followUp it is among DueStatements from
// then on; zero: no longer.
func (s *Store) SaveStatement(ctx context.Context, statement *flows.Statement, now, followUp time.Time, keep time.Duration) error {
	key := statementKey(statement.ID)
	statement.Schema = flows.StatementSchema
	body, err := s.seal(key, statement)
	if err != nil {
		return err
	}
	deadline, received := statement.Deadline, statement.ReceivedAt
	if statement.State != flows.Received {
		deadline = time.Time{}
	}
	doubt := time.Time{}
	if statement.InDoubt() {
		doubt = statement.Online.ClaimedAt
	}
	keys := append([]string{key, dueStatements, openStatements, receivedStatements, doubtfulStatements}, s.statementIndexes(statement)...)
	err = committed(s.run(ctx, saveStatement, keys, statement.Version, uuid.NewString(), body, keep.Milliseconds(), statement.ID,
		now.UnixMilli(), score(followUp), score(deadline), score(received), score(doubt)))
	if err == nil {
		statement.Version++
	}
	return err
}

// HoldSubscription reserves a subscription for a statement that ends it online, or gives it up with zero. It reports whether the statement
// has it: of several about the same subscription, one does.
func (s *Store) HoldSubscription(ctx context.Context, subscription club.IRI, statement string, keep time.Duration) (bool, error) {
	return s.run(ctx, holdSubscription, []string{leavingKey(subscription)}, statement, keep.Milliseconds()).Bool()
}

// score is a time in ms as a script takes it; empty for none.
func score(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

// statementIndexes are the lists by which a statement's person finds it, under the current key.
func (s *Store) statementIndexes(statement *flows.Statement) []string {
	names := s.keys.CurrentPersonPseudonyms(statement.ClientToken, statement.Declared.Email, "")
	if contact := statement.ContactIRI(); contact != "" {
		names = append(names, s.keys.Pseudonym("contact", string(contact)))
	}
	return prefixed(statementsOf, names)
}

// Statement reads a statement. flows.ErrNotFound if it does not exist, or no longer.
func (s *Store) Statement(ctx context.Context, id string) (*flows.Statement, error) {
	key := statementKey(id)
	fields, err := s.redis.HMGet(ctx, key, "version", "body").Result()
	if err != nil {
		return nil, err
	}
	statement := &flows.Statement{}
	statement.Version, err = s.record(key, fields[0], fields[1], statement)
	return statement, err
}

// ListedStatement returns what the lists say of a statement that cannot be read: when it was received and, while it is open, its deadline.
func (s *Store) ListedStatement(ctx context.Context, id string) (*flows.Statement, error) {
	listed := &flows.Statement{ID: id, State: flows.Done}
	at := func(list string, instant *time.Time) error {
		score, err := s.redis.ZScore(ctx, list, id).Result()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		*instant = flows.Instant(time.UnixMilli(int64(score)))
		return err
	}
	if err := cmp.Or(at(receivedStatements, &listed.ReceivedAt), at(openStatements, &listed.Deadline)); err != nil {
		return nil, err
	}
	if !listed.Deadline.IsZero() {
		listed.State = flows.Received
	}
	return listed, nil
}

// DueStatements returns at most limit statements whose follow-up is due. Each is due again after lease, so that several gateways share
// the work.
func (s *Store) DueStatements(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]string, error) {
	return takeStatements.Run(ctx, s.redis, []string{dueStatements}, now.UnixMilli(), now.Add(lease).UnixMilli(), limit).StringSlice()
}

// ForgetStatement removes a statement that no longer exists from the lists.
func (s *Store) ForgetStatement(ctx context.Context, id string) error {
	return s.run(ctx, drop, []string{dueStatements, openStatements, receivedStatements, doubtfulStatements}, id).Err()
}

// OpenStatements returns the ids of the statements that wait for an operator, that with the earliest deadline first.
func (s *Store) OpenStatements(ctx context.Context) ([]string, error) {
	return s.redis.ZRange(ctx, openStatements, 0, -1).Result()
}

// ReceivedStatements returns the ids of the statements that were received since a time, done ones too, latest first.
func (s *Store) ReceivedStatements(ctx context.Context, since time.Time) ([]string, error) {
	from := since.UnixMilli()
	return s.redis.ZRangeArgs(ctx, redis.ZRangeArgs{Key: receivedStatements, Start: "+inf", Stop: from, ByScore: true, Rev: true}).Result()
}

// StatementCounts counts the open statements at a time, and those in doubt, without reading them.
func (s *Store) StatementCounts(ctx context.Context, now time.Time) (counts flows.StatementCounts, err error) {
	if counts.InDoubt, err = s.redis.ZCard(ctx, doubtfulStatements).Result(); err != nil {
		return counts, err
	}
	open, err := s.redis.ZRangeWithScores(ctx, openStatements, 0, -1).Result()
	if err != nil || len(open) == 0 {
		return counts, err
	}
	ids := make([]string, len(open))
	for i, one := range open {
		ids[i] = one.Member.(string) //nolint:errcheck // the client's members are texts
		if int64(one.Score) <= now.UnixMilli() {
			counts.Overdue++
		}
	}
	receipts, err := s.redis.ZMScore(ctx, receivedStatements, ids...).Result()
	if err != nil {
		return counts, err
	}
	counts.Open, counts.Next = len(open), time.UnixMilli(int64(open[0].Score))
	if oldest := slices.Min(receipts); oldest > 0 { // zero: it expired meanwhile
		counts.Oldest = time.UnixMilli(int64(oldest))
	}
	return counts, nil
}

// StatementsOfPerson returns the ids of the statements of a person, by pseudonyms (keyring.PersonPseudonyms). Some may no longer exist.
func (s *Store) StatementsOfPerson(ctx context.Context, names ...string) ([]string, error) {
	return s.indexed(ctx, prefixed(statementsOf, names))
}

// StatementsOfContact returns the ids of the statements of a contact that the club's login has identified.
func (s *Store) StatementsOfContact(ctx context.Context, contact club.IRI) ([]string, error) {
	return s.indexed(ctx, prefixed(statementsOf, s.keys.Pseudonyms("contact", string(contact))))
}

// EraseStatement deletes a statement. What is left in the lists of its person leads nowhere.
func (s *Store) EraseStatement(ctx context.Context, id string) error {
	return cmp.Or(s.redis.Del(ctx, statementKey(id)).Err(), s.ForgetStatement(ctx, id))
}

// RenewStatements seals with the current key every received statement that an older key sealed, and makes it found by the pseudonyms of
// the current key. keep is how long a statement is kept after its receipt. Those that no key opens are left: the key may come back.
func (s *Store) RenewStatements(ctx context.Context, now time.Time, keep time.Duration) error {
	ids, err := s.ReceivedStatements(ctx, time.Time{})
	if err != nil {
		return err
	}
	for _, id := range ids {
		body, err := s.redis.HGet(ctx, statementKey(id), "body").Result()
		switch {
		case errors.Is(err, redis.Nil):
			err = s.ForgetStatement(ctx, id)
		case err == nil && !s.keys.Current([]byte(body)):
			err = s.renewStatement(ctx, id, now, keep)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) renewStatement(ctx context.Context, id string, now time.Time, keep time.Duration) error {
	statement, err := s.Statement(ctx, id)
	if errors.Is(err, flows.ErrNotFound) || flows.Unreadable(err) {
		return nil
	}
	if err != nil {
		return err
	}
	followUp := time.Time{}
	if statement.Notified != statement.State || !statement.Searched {
		followUp = now
	}
	err = s.SaveStatement(ctx, statement, now, followUp, statement.ReceivedAt.Add(keep).Sub(now))
	if errors.Is(err, flows.ErrConflict) { // the change has sealed it with the current key
		return nil
	}
	return err
}
