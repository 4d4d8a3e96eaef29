package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// startPayment saves a registration and creates its next payment, both or neither. Neither expires
// before the payment is final.
//
// KEYS  1 registration  2 payment
// ARGV  1 expected version and 2 operation, 3 body, 4 generation of the registration
//
//	5 state and 6 body of the payment  7 prefix of the registration's payments' keys
//
// Returns the version of both when done (also by this operation before), 0 when the registration was changed. It follows that of the
// payment before, too.
var startPayment = redis.NewScript(nextVersion + `
local held = redis.call('HMGET', KEYS[1], 'version', 'operation')
if held[2] == ARGV[2] then return held[1] end
if held[1] ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local before = redis.call('HGET', ARGV[7] .. string.format('%d', ARGV[4] - 1), 'version') or 0
local version = nextVersion(math.max(ARGV[1], before))
redis.call('HSET', KEYS[1], 'version', version, 'operation', ARGV[2], 'body', ARGV[3], 'generation', ARGV[4])
redis.call('PERSIST', KEYS[1])
redis.call('HSET', KEYS[2], 'version', version, 'state', ARGV[5], 'body', ARGV[6])
redis.call('PUBLISH', '` + changes + `', KEYS[1])
return version
`)

// commit moves a payment by compare-and-set. A repeated operation returns its first result, which
// the caller may have missed.
//
// KEYS  1 payment  2 registration  3 payments by state (not in a cluster)
// ARGV  1 expected state  2 expected version  3 operation  4 new state  5 new body
//
//	6 lease, ms, 0 for none  7 how long the lease must be over, ms, 0 for no condition
//	8 time to live of a final payment, ms, 0 while it is not final or an operator must look at it
//	9 then that of its registration, ms, if this is its latest payment  10 the payment's number
//	11 1 to notify subscribers of the registration  12 id  13 score of the new state
//
// Returns its version when it moved, 0 when it was changed, -1 when it is leased to another process.
var commit = redis.NewScript(nextVersion + `
local done = redis.call('HGET', KEYS[1], 'operation:' .. ARGV[3])
if done then return done end
local held = redis.call('HMGET', KEYS[1], 'state', 'version', 'lease')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[7] ~= '0' and now < tonumber(held[3] or '0') + ARGV[7] then return -1 end
local lease = 0
if ARGV[6] ~= '0' then lease = now + ARGV[6] end
local version = nextVersion(ARGV[2])
redis.call('HSET', KEYS[1], 'state', ARGV[4], 'version', version, 'body', ARGV[5],
  'lease', string.format('%.0f', lease), 'operation:' .. ARGV[3], version)
if ARGV[8] ~= '0' then
  redis.call('PEXPIRE', KEYS[1], ARGV[8])
  if redis.call('HGET', KEYS[2], 'generation') == ARGV[10] then redis.call('PEXPIRE', KEYS[2], ARGV[9]) end
elseif redis.call('PERSIST', KEYS[1]) == 1 and redis.call('HGET', KEYS[2], 'generation') == ARGV[10] then
  redis.call('PERSIST', KEYS[2])
end
if KEYS[3] and ARGV[8] == '0' then redis.call('ZADD', KEYS[3], ARGV[13], ARGV[12]) end
if ARGV[11] == '1' then redis.call('PUBLISH', '` + changes + `', KEYS[2]) end
return version
`)

const (
	// firstPoll is when a new payment is due if its start does not finish: longer than its start takes with all retries, because
	// an entry without a payment is dropped.
	firstPoll = 15 * time.Second
	// keepAfterPayment is how long a registration outlives the end of its payment. A cancelled
	// payment leaves it open for another one.
	keepAfterPayment = 2 * flows.KeepRegistration
)

// StartPayment saves a registration, as SaveRegistration does, and creates its next payment, both or neither. flows.ErrConflict if the
// registration was changed since it was read. The payment is listed as open first: an entry without a payment is dropped later, a
// payment without an entry would never be polled. A registration whose contact awaits its e-mail address is refreshed.
func (s *Store) StartPayment(ctx context.Context, registration *flows.Registration, payment *flows.Payment) error {
	rKey, pKey := registrationKey(registration.ID), paymentKey(payment.ID)
	rBody, err := s.sealRegistration(registration)
	if err != nil {
		return err
	}
	pBody, err := s.seal(pKey, payment)
	if err != nil {
		return err
	}
	start := call{startPayment, []string{rKey, pKey}, []any{
		registration.Version, uuid.NewString(), rBody, registration.Generation, string(payment.State), pBody, paymentPrefix(registration.ID),
	}}
	before := []call{opening(payment, payment.CreatedAt.Add(firstPoll), replace, onlyNew)}
	if registration.Contact.AwaitsEmail() { // a refresh puts it on the contact
		before = append(before, refreshing(payment.CreatedAt, registration.ID))
	}
	version, err := written(s.runAfter(ctx, before, start))
	if err == nil {
		registration.Version, payment.Version = version, version
	}
	return err
}

// Payment reads a payment. flows.ErrNotFound if it is not stored; flows.ErrDamaged, flows.ErrNewer or keyring.ErrSealed if this
// version cannot read it.
func (s *Store) Payment(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	fields, err := s.redis.HMGet(ctx, paymentKey(id), paymentFields...).Result()
	if err != nil {
		return nil, err
	}
	return s.payment(paymentKey(id), fields)
}

// PaymentUnlessSeen is Payment, unless Once was called with this name within its period: then seen is true, and p is nil.
func (s *Store) PaymentUnlessSeen(ctx context.Context, id flows.PaymentID, name string) (payment *flows.Payment, seen bool, err error) {
	pipe := s.redis.Pipeline()
	times, fields := pipe.Exists(ctx, onceKey(name)), pipe.HMGet(ctx, paymentKey(id), paymentFields...)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, false, err
	}
	if times.Val() > 0 {
		return nil, true, nil
	}
	payment, err = s.payment(paymentKey(id), fields.Val())
	return payment, false, err
}

// paymentFields are the fields that payment reads, in its order.
var paymentFields = []string{"version", "body", "state", "emailInUse"}

// payment opens a payment from its fields version, body and state, and emailInUse if it was read. ErrNotFound without them.
func (s *Store) payment(key string, fields []any) (payment *flows.Payment, err error) {
	payment = &flows.Payment{}
	if payment.Version, err = s.record(key, fields[0], fields[1], payment); err != nil {
		return nil, err
	}
	if fields[2] != string(payment.State) {
		return nil, fmt.Errorf("%w: %s: its plain state differs", flows.ErrDamaged, key)
	}
	if len(fields) > 3 && fields[3] != nil {
		payment.EmailInUse = true
	}
	return payment, nil
}

// Commit changes a payment by compare-and-set; see flows.StateChange. flows.ErrConflict if the payment was changed since it was read,
// flows.ErrOwned while its lease keeps others out. A final payment and its registration expire afterwards. In a cluster the list of
// states is on another slot, and changes afterwards; the next poll does it if this fails.
func (s *Store) Commit(ctx context.Context, move flows.StateChange) error {
	key := paymentKey(move.Next.ID)
	body, err := s.seal(key, move.Next)
	if err != nil {
		return err
	}
	keys, score := []string{key, registrationKey(move.Next.Registration)}, stateScore(move.Next.Listing(), move.Next.StateSince())
	_, clustered := s.redis.(*redis.ClusterClient)
	if !clustered {
		keys = append(keys, paymentStates)
	}
	moved := s.run(ctx, commit, keys, string(move.From), move.Version, move.Operation, string(move.Next.State), body,
		move.Lease.Milliseconds(), move.LeaseExpiredFor.Milliseconds(), move.Keep.Milliseconds(), keepAfterPayment.Milliseconds(),
		number(move.Next.ID), !move.Silent, string(move.Next.ID), score)
	if moved.Val() == int64(-1) {
		return flows.ErrOwned
	}
	version, err := written(moved)
	if err != nil {
		return err
	}
	move.Next.Version = version
	if clustered && move.Keep == 0 {
		s.redis.ZAdd(ctx, paymentStates, stateEntry(move.Next)) // else the next poll does it
	}
	return nil
}

func stateEntry(p *flows.Payment) redis.Z {
	return redis.Z{Score: float64(stateScore(p.Listing(), p.StateSince())), Member: string(p.ID)}
}

// PaymentsIn lists payments in a state that is not final, or with a finding, the longest there first: those that entered it from an
// instant until before another one; zero: no bound. The list may lag behind the records.
func (s *Store) PaymentsIn(ctx context.Context, state flows.PaymentState, since, until time.Time, limit int) ([]flows.PaymentID, error) {
	from, to := stateRange(state)
	if !since.IsZero() {
		from = strconv.FormatInt(stateScore(state, since), 10)
	}
	if !until.IsZero() {
		to = "(" + strconv.FormatInt(stateScore(state, until), 10)
	}
	return paymentIDs(s.redis.ZRangeByScore(ctx, paymentStates, &redis.ZRangeBy{Min: from, Max: to, Count: int64(limit)}).Result())
}

// StateCount is the number of payments in one state that is not final, with one finding, or flows.Unverifiable.
type StateCount struct {
	Payments int
	Oldest   time.Time // since when the oldest of them has been there
}

// CountPayments counts the payments in each state that is not final, with each finding, and those that are flows.Unverifiable. A state
// without any is left out.
func (s *Store) CountPayments(ctx context.Context) (map[flows.PaymentState]StateCount, error) {
	counts := map[flows.PaymentState]StateCount{}
	pipe := s.redis.Pipeline()
	totals, oldest := map[flows.PaymentState]*redis.IntCmd{}, map[flows.PaymentState]*redis.ZSliceCmd{}
	for _, state := range slices.Concat(flows.PaymentStates, flows.Findings) {
		from, to := stateRange(state)
		totals[state] = pipe.ZCount(ctx, paymentStates, from, to)
		oldest[state] = pipe.ZRangeByScoreWithScores(ctx, paymentStates, &redis.ZRangeBy{Min: from, Max: to, Count: 1})
	}
	unverifiable := pipe.HLen(ctx, unverifiablePayments)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	if n := int(unverifiable.Val()); n > 0 {
		counts[flows.Unverifiable] = StateCount{Payments: n}
	}
	for state, total := range totals {
		if first := oldest[state].Val(); len(first) > 0 {
			counts[state] = StateCount{Payments: int(total.Val()), Oldest: time.UnixMilli(int64(first[0].Score) % stateSpan)}
		}
	}
	return counts, nil
}

func stateRange(state flows.PaymentState) (from, to string) {
	first := stateScore(state, time.UnixMilli(0))
	return strconv.FormatInt(first, 10), strconv.FormatInt(first+stateSpan-1, 10)
}
