package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// keepReceipts: a club must be able to prove a consent for as long as it may write to inactive
	// people, three years in its usual countries.
	keepReceipts = 3 * 365 * 24 * time.Hour
	// maxReceipts of a contact: more than a person makes.
	maxReceipts = 50
	// receiptBatch is how many keys a scan for receipts asks for, so that it blocks no other request.
	receiptBatch = 500
)

// saveReceipt puts a receipt before the others of its contact, once.
//
// KEYS  1 receipts of the contact
// ARGV  1 receipt  2 how many are kept  3 time to live, ms
// Returns 1.
var saveReceipt = redis.NewScript(`
if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then
  redis.call('LPUSH', KEYS[1], ARGV[1])
  redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// renewReceipt replaces a receipt, wherever it is in the list by now.
//
// KEYS  1 receipts of the contact
// ARGV  1 the receipt as it was sealed  2 as it is sealed now
// Returns 1 when it was found, else 0.
var renewReceipt = redis.NewScript(`
for i, held in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if held == ARGV[1] then
    redis.call('LSET', KEYS[1], i - 1, ARGV[2])
    return 1
  end
end
return 0
`)

// RenewReceipts seals with the current key every receipt of a consent that an older key sealed.
func (s *Store) RenewReceipts(ctx context.Context) error {
	return forEachPrimary(ctx, s.redis, func(ctx context.Context, node *redis.Client) error {
		found := node.Scan(ctx, 0, receiptsPrefix+"*", receiptBatch).Iterator()
		for found.Next(ctx) {
			if err := s.renewReceiptsOf(ctx, found.Val()); err != nil {
				return err
			}
		}
		return found.Err()
	})
}

// renewReceiptsOf renews one contact's receipts. One that no key opens is kept: its key may come back.
func (s *Store) renewReceiptsOf(ctx context.Context, key string) error {
	sealed, err := s.redis.LRange(ctx, key, 0, -1).Result()
	if err != nil {
		return err
	}
	for _, body := range sealed {
		text, err := s.keys.Open(key, []byte(body))
		if err != nil || s.keys.Current([]byte(body)) {
			continue
		}
		if err := s.run(ctx, renewReceipt, []string{key}, body, s.keys.Seal(key, text)).Err(); err != nil {
			return err
		}
	}
	return nil
}

// SaveReceipt stores what a contact said about its consents, sealed, for keepReceipts after the latest one; the oldest beyond
// maxReceipts are dropped. Nothing restores them after a loss.
func (s *Store) SaveReceipt(ctx context.Context, contact club.IRI, receipt flows.Receipt) error {
	key := receiptsKey(contact)
	body, err := s.seal(key, receipt)
	if err != nil {
		return err
	}
	return s.run(ctx, saveReceipt, []string{key}, body, maxReceipts, keepReceipts.Milliseconds()).Err()
}

// Receipts returns what a contact said about its consents, newest first. A receipt that cannot be opened is left out.
func (s *Store) Receipts(ctx context.Context, contact club.IRI) ([]flows.Receipt, error) {
	key := receiptsKey(contact)
	sealed, err := s.redis.LRange(ctx, key, 0, -1).Result()
	if err != nil {
		return nil, err
	}
	receipts := make([]flows.Receipt, 0, len(sealed))
	for _, body := range sealed {
		var receipt flows.Receipt
		if s.open(key, body, &receipt) == nil {
			receipts = append(receipts, receipt)
		}
	}
	return receipts, nil
}
