package store

import (
	"context"
	"errors"
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

// FinishedPayments lists payments that ended in a state, latest first: of each state the latest maxFinished.
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

// Rule reads an environment's calibrated rule; flows.ErrNotFound if it has none. A loss leaves the one that is configured.
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

// SaveRule replaces an environment's rule.
func (s *Store) SaveRule(ctx context.Context, environment string, rule *flows.Rule) error {
	key := ruleKey(environment)
	sealed, err := s.seal(key, rule)
	if err != nil {
		return err
	}
	return s.redis.Set(ctx, key, sealed, 0).Err()
}

// AddNote adds a note for operators to a payment; the oldest beyond maxNotes are dropped. Notes are kept for keepNotes after the
// latest, and nothing restores them after a loss.
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

// Notes reads a payment's notes, oldest first; without notes, an empty list. flows.ErrDamaged or keyring.ErrSealed if one cannot be read.
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

// Audit appends an operator's action to the audit stream, which is bounded and in plain. Nothing restores it after a loss.
func (s *Store) Audit(ctx context.Context, entry flows.AuditEntry) error {
	values := []string{
		"at", entry.At.UTC().Format(time.RFC3339Nano), "by", entry.Operator, "what", string(entry.Action),
		"payment", string(entry.Payment), "from", string(entry.From), "to", string(entry.To),
	}
	if entry.Statement != "" {
		values = append(values, "statement", entry.Statement)
	}
	if entry.Registration != "" {
		values = append(values, "registration", entry.Registration)
	}
	return s.redis.XAdd(ctx, &redis.XAddArgs{Stream: auditStream, MaxLen: maxAudit, Approx: true, Values: values}).Err()
}
