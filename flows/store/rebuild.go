package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// rebuild creates a missing payment and saves its registration, both or neither.
//
// KEYS  1 registration  2 payment
// ARGV  1 operation  2 state and 3 body of the payment  4 its time to live when final, ms, else 0
//
//	5 body of the registration, empty to keep it  6 its expected version (0: it must not exist)
//	7 generation  8 its time to live if the payment is final, ms
//	9 "1" if the payment is not a duplicate, so that its registration must exist, else "0"
//
// Returns the version of the payment when done (also by this operation before), 0 when the payment exists or the registration was
// changed, -1 when the registration to keep is gone.
var rebuild = redis.NewScript(nextVersion + `
if redis.call('HEXISTS', KEYS[2], 'operation:' .. ARGV[1]) == 1 then
  return redis.call('HGET', KEYS[2], 'version')
end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if ARGV[5] ~= '' then
  if (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[6] then return 0 end
  redis.call('HSET', KEYS[1], 'version', nextVersion(ARGV[6]), 'operation', ARGV[1], 'body', ARGV[5], 'generation', ARGV[7])
  if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[8]) else redis.call('PERSIST', KEYS[1]) end
elseif ARGV[9] == '1' and redis.call('EXISTS', KEYS[1]) == 0 then
  return -1
end
local version = nextVersion(0)
redis.call('HSET', KEYS[2], 'version', version, 'state', ARGV[2], 'body', ARGV[3], 'operation:' .. ARGV[1], 1)
if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[2], ARGV[4]) end
return version
`)

// Rebuild stores a payment that Redis lost and, unless nil, its registration as SaveRegistration does, both or neither. keep is how
// long a final payment is kept; zero for others. flows.ErrConflict if the payment exists or the registration was changed;
// flows.ErrNotFound if p is not a duplicate and its registration is neither given nor in Redis. As in StartPayment, the payment is
// listed as open first.
func (s *Store) Rebuild(ctx context.Context, registration *flows.Registration, payment *flows.Payment, keep time.Duration) error {
	if !payment.State.Final() {
		if err := s.EnsureScheduled(ctx, payment, payment.UpdatedAt); err != nil {
			return err
		}
	}
	rKey, pKey := registrationKey(payment.Registration), paymentKey(payment.ID)
	pBody, err := s.seal(pKey, payment)
	if err != nil {
		return err
	}
	var rBody []byte
	var expected int64
	if registration != nil {
		if rBody, err = s.sealRegistration(registration); err != nil {
			return err
		}
		expected = registration.Version
	}
	numbered := payment.ID == flows.NewPaymentID(payment.Registration, payment.Generation)
	reply := s.run(ctx, rebuild, []string{rKey, pKey}, uuid.NewString(), string(payment.State), pBody, keep.Milliseconds(),
		rBody, expected, payment.Generation, keepAfterPayment.Milliseconds(), numbered)
	if n, _ := reply.Int64(); n == -1 {
		return flows.ErrNotFound
	}
	payment.Version, err = written(reply)
	return err
}

// Comparison is the latest complete comparison of Redis with a processor.
type Comparison struct {
	At     time.Time // when it began; zero: Redis knows of none
	Oldest time.Time // when the oldest payment was created that was not over
}

// Comparison reads the latest complete comparison with a processor; zero without one, so that all of it is compared again.
func (s *Store) Comparison(ctx context.Context, processor string) (last Comparison, err error) {
	var held struct {
		At     int64 `redis:"at"` // ms, as the other
		Oldest int64 `redis:"oldest"`
	}
	if err := s.redis.HMGet(ctx, comparisonKey(processor), "at", "oldest").Scan(&held); err != nil || held.At == 0 {
		return last, err
	}
	return Comparison{At: time.UnixMilli(held.At), Oldest: time.UnixMilli(held.Oldest)}, nil
}

// SaveComparison replaces the latest complete comparison with a processor.
func (s *Store) SaveComparison(ctx context.Context, processor string, comparison Comparison) error {
	return s.redis.HSet(ctx, comparisonKey(processor), "at", comparison.At.UnixMilli(), "oldest", comparison.Oldest.UnixMilli()).Err()
}

// saveFingerprint replaces the fingerprint by compare-and-set.
//
// KEYS  1 fingerprint
// ARGV  1 expected, empty for none  2 next
// Returns 1 when it is stored (also before), else 0.
var saveFingerprint = redis.NewScript(`
local held = redis.call('GET', KEYS[1]) or ''
if held == ARGV[2] then return 1 end
if held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`)

// SaveUnverifiable lists an unverifiable payment, or replaces its entry. After a loss of the list, the next comparison restores it.
func (s *Store) SaveUnverifiable(ctx context.Context, u flows.UnverifiablePayment) error {
	sealed, err := s.seal(unverifiablePayments, u)
	if err != nil {
		return err
	}
	return s.redis.HSet(ctx, unverifiablePayments, u.ID, sealed).Err()
}

// UnverifiablePayments lists the unverifiable payments, the oldest first. An entry that cannot be read has only its id, until the
// next comparison seals it again.
func (s *Store) UnverifiablePayments(ctx context.Context) ([]flows.UnverifiablePayment, error) {
	entries, err := s.redis.HGetAll(ctx, unverifiablePayments).Result()
	listed := make([]flows.UnverifiablePayment, 0, len(entries))
	for id, sealed := range entries {
		u := flows.UnverifiablePayment{}
		_ = s.open(unverifiablePayments, sealed, &u)
		u.ID = id
		listed = append(listed, u)
	}
	slices.SortFunc(listed, func(a, b flows.UnverifiablePayment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return listed, err
}

// DropUnverifiable removes a payment from the unverifiable ones, by the processor's id, if it is there.
func (s *Store) DropUnverifiable(ctx context.Context, id string) error {
	return s.redis.HDel(ctx, unverifiablePayments, id).Err()
}

// Fingerprint reads whose payments Redis holds; flows.ErrNotFound if it has none yet, or lost it.
func (s *Store) Fingerprint(ctx context.Context) (fingerprint flows.Fingerprint, err error) {
	text, err := s.redis.Get(ctx, fingerprintKey).Bytes()
	if errors.Is(err, redis.Nil) {
		return fingerprint, flows.ErrNotFound
	}
	if err != nil {
		return fingerprint, err
	}
	return fingerprint, json.Unmarshal(text, &fingerprint)
}

// SaveFingerprint replaces the fingerprint by compare-and-set; a zero one is expected if Redis holds none. flows.ErrConflict if it
// holds another one.
func (s *Store) SaveFingerprint(ctx context.Context, expected, next flows.Fingerprint) error {
	var was []byte
	if expected != (flows.Fingerprint{}) {
		was, _ = json.Marshal(expected) // strings and a time
	}
	text, _ := json.Marshal(next)
	return committed(s.run(ctx, saveFingerprint, []string{fingerprintKey}, was, text))
}

// KeepSealed is how long a seal key is missed after its last use: as long as a final payment is kept.
const KeepSealed = 30 * 24 * time.Hour

// NoteSealKeys notes that the current seal key is in use, so that it is missed when it is removed too early. In a Redis without
// any note, it notes all configured keys.
func (s *Store) NoteSealKeys(ctx context.Context, now time.Time) error {
	ids := s.keys.IDs()
	noted, err := s.redis.ZCard(ctx, sealKeys).Result()
	if err != nil {
		return err
	}
	if noted > 0 {
		ids = ids[:1]
	}
	entries := make([]redis.Z, len(ids))
	for i, id := range ids {
		entries[i] = redis.Z{Score: float64(now.UnixMilli()), Member: id}
	}
	return s.redis.ZAdd(ctx, sealKeys, entries...).Err()
}

// MissingSealKeys returns the ids of seal keys that were in use since an instant and are not configured.
func (s *Store) MissingSealKeys(ctx context.Context, since time.Time) ([]string, error) {
	missing, err := s.redis.ZRangeByScore(ctx, sealKeys, &redis.ZRangeBy{Min: strconv.FormatInt(since.UnixMilli(), 10), Max: "+inf"}).Result()
	return slices.DeleteFunc(missing, func(id string) bool { return slices.Contains(s.keys.IDs(), id) }), err
}

// keepHeartbeat: a gateway that is silent for longer has ended, or must check everything again.
const keepHeartbeat = time.Hour

// Heartbeat stores a gateway's n-th heartbeat and returns the previous one, 0 for none. If the gateway left a later one, Redis
// lost writes.
func (s *Store) Heartbeat(ctx context.Context, gateway string, n int64) (int64, error) {
	before, err := s.redis.SetArgs(ctx, heartbeatKey(gateway), n, redis.SetArgs{Get: true, TTL: keepHeartbeat}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return strconv.ParseInt(before, 10, 64)
}
