package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// The figures of receipts.
const (
	// keepReceipts: a club has to be able to show a consent for as long as it
	// writes to people who gave no other sign, three years in its usual countries.
	keepReceipts = 3 * 365 * 24 * time.Hour
	// maxReceipts of a contact; who changes their mind more often is not a person.
	maxReceipts = 50
)

// keepReceipt puts a receipt in front of those of its contact, once.
//
// KEYS  1 receipts of the contact
// ARGV  1 receipt  2 how many are kept  3 time to live, ms
// Returns 1.
var keepReceipt = redis.NewScript(`
if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then
  redis.call('LPUSH', KEYS[1], ARGV[1])
  redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// KeepReceipt implements flows.Store.
func (s *Store) KeepReceipt(ctx context.Context, contact club.IRI, receipt flows.Receipt) error {
	key := receiptsKey(contact)
	body, err := s.seal(key, receipt)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, keepReceipt, []string{key}, body, maxReceipts, keepReceipts.Milliseconds())
	return err
}

// Receipts implements flows.Store. A receipt outlives the keys that sealed it,
// unless they are kept as long: one that cannot be opened is left out.
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
