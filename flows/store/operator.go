package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

const (
	maxFinished = 1000                // payments listed of each final state: enough for calibration and for operators
	maxNotes    = 100                 // about one payment; a longer conversation belongs in a ticket
	keepNotes   = 60 * 24 * time.Hour // longer than a finished payment is kept
	maxAudit    = 20000               // entries, approximately: years of decisions on payments in doubt
)

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

// finish takes a final payment from the open ones.
//
// KEYS  1 open payments  2 payments by state  3 payments to verify
// ARGV  1 id  2 score of its finding, empty for none  3 when it is verified, ms, empty for never again
// Returns 1.
var finish = redis.NewScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
for i = 2, 3 do
  if ARGV[i] == '' then redis.call('ZREM', KEYS[i], ARGV[1]) else redis.call('ZADD', KEYS[i], ARGV[i], ARGV[1]) end
end
return 1
`)

// drop removes a payment from lists, which share a slot.
//
// KEYS  lists of payments
// ARGV  1 id
// Returns 1.
var drop = redis.NewScript(`
for _, list in ipairs(KEYS) do redis.call('ZREM', list, ARGV[1]) end
return 1
`)

// dropping removes a payment from the open ones and from those to verify.
func dropping(id flows.PaymentID) call {
	return call{drop, []string{openPayments, paymentStates, unverifiedPayments}, []any{string(id)}}
}

// MarkFinished implements payment.Store. The lists are on different slots. A failure between the
// two writes leaves a payment that the next poll handles, or that the finished ones lack.
func (s *Store) MarkFinished(ctx context.Context, p *flows.Payment, verify time.Time) error {
	finding, due := "", ""
	if p.Finding() != "" {
		finding = strconv.FormatInt(stateScore(p.Finding(), p.StateSince()), 10)
	}
	if !verify.IsZero() {
		due = strconv.FormatInt(verify.UnixMilli(), 10)
	}
	return s.runAll(ctx, call{addFinished, []string{finishedPayments(p.State)}, []any{string(p.ID), p.UpdatedAt.UnixMilli(), maxFinished}},
		call{finish, []string{openPayments, paymentStates, unverifiedPayments}, []any{string(p.ID), finding, due}})
}

// EnsureVerification implements payment.Store.
func (s *Store) EnsureVerification(ctx context.Context, id flows.PaymentID, at time.Time) error {
	return s.redis.ZAddNX(ctx, unverifiedPayments, redis.Z{Score: float64(at.UnixMilli()), Member: string(id)}).Err()
}

// DueVerifications implements payment.Store.
func (s *Store) DueVerifications(ctx context.Context, now time.Time, pause time.Duration, limit int) ([]flows.PaymentID, error) {
	return s.takeDue(ctx, unverifiedPayments, now, pause, limit)
}

// FinishedPayments implements payment.Store.
func (s *Store) FinishedPayments(ctx context.Context, state flows.PaymentState, limit int) ([]flows.PaymentID, error) {
	return paymentIDs(s.redis.ZRevRange(ctx, finishedPayments(state), 0, int64(limit)-1).Result())
}

func paymentIDs(members []string, err error) ([]flows.PaymentID, error) {
	ids := make([]flows.PaymentID, len(members))
	for i, id := range members {
		ids[i] = flows.PaymentID(id)
	}
	return ids, err
}

// Rule implements payment.Store.
func (s *Store) Rule(ctx context.Context, environment string) (*flows.Rule, error) {
	key := ruleKey(environment)
	sealed, err := s.redis.Get(ctx, key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, flows.ErrNotFound
	case err != nil:
		return nil, err
	}
	rule := &flows.Rule{}
	return rule, s.open(key, sealed, rule)
}

// SaveRule implements payment.Store.
func (s *Store) SaveRule(ctx context.Context, environment string, rule *flows.Rule) error {
	key := ruleKey(environment)
	sealed, err := s.seal(key, rule)
	if err != nil {
		return err
	}
	return s.redis.Set(ctx, key, sealed, 0).Err()
}

// AddNote implements payment.Store.
func (s *Store) AddNote(ctx context.Context, id flows.PaymentID, note flows.Note) error {
	key := notesKey(id)
	sealed, err := s.seal(key, note)
	if err != nil {
		return err
	}
	_, err = s.redis.TxPipelined(ctx, func(all redis.Pipeliner) error {
		all.RPush(ctx, key, sealed)
		all.LTrim(ctx, key, -maxNotes, -1)
		all.PExpire(ctx, key, keepNotes)
		return nil
	})
	return err
}

// Notes implements payment.Store.
func (s *Store) Notes(ctx context.Context, id flows.PaymentID) ([]flows.Note, error) {
	key := notesKey(id)
	sealed, err := s.redis.LRange(ctx, key, 0, -1).Result()
	if err != nil {
		return nil, err
	}
	notes := make([]flows.Note, len(sealed))
	for i := range sealed {
		if err := s.open(key, sealed[i], &notes[i]); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// Audit implements payment.Store.
func (s *Store) Audit(ctx context.Context, entry flows.AuditEntry) error {
	return s.redis.XAdd(ctx, &redis.XAddArgs{Stream: auditStream, MaxLen: maxAudit, Approx: true, Values: []string{
		"at", entry.At.UTC().Format(time.RFC3339Nano), "by", entry.Operator, "what", string(entry.Action),
		"payment", string(entry.Payment), "from", string(entry.From), "to", string(entry.To),
	}}).Err()
}
