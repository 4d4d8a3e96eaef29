package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// HasUniqueEmails reports whether an organisation's club system was seen to use an e-mail address once.
func (s *Store) HasUniqueEmails(ctx context.Context, organisation string) (bool, error) {
	return s.redis.SIsMember(ctx, uniqueEmails, organisation).Result()
}

// NoteUniqueEmails notes that an organisation's club system uses an e-mail address once. After a loss, it is seen again.
func (s *Store) NoteUniqueEmails(ctx context.Context, organisation string) error {
	return s.redis.SAdd(ctx, uniqueEmails, organisation).Err()
}

// markEmailInUse marks a payment, unless it has expired.
//
// KEYS  1 payment
// Returns 1.
var markEmailInUse = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'emailInUse', 1) end
return 1
`)

// MarkEmailInUse sets EmailInUse of a payment, whose record others may be changing.
func (s *Store) MarkEmailInUse(ctx context.Context, id flows.PaymentID) error {
	return s.run(ctx, markEmailInUse, []string{paymentKey(id)}).Err()
}
