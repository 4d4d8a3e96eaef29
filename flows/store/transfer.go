package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// saveTransfer replaces a transfer by compare-and-set.
//
// KEYS  1 transfer
// ARGV  1 expected version (0: it must not exist)  2 operation  3 body  4 time to live, ms
// Returns 1 when it is saved (even if this same operation saved it before), 0 when it was changed.
var saveTransfer = redis.NewScript(`
local held = redis.call('HMGET', KEYS[1], 'version', 'operation')
if held[2] == ARGV[2] then return 1 end
if (held[1] or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'operation', ARGV[2], 'body', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`)

// Transfer reads a contact's latest transfer. flows.ErrNotFound if none is stored.
func (s *Store) Transfer(ctx context.Context, contact club.IRI) (*flows.Transfer, error) {
	key := s.transferKey(contact)
	fields, err := s.redis.HMGet(ctx, key, "version", "body").Result()
	if err != nil {
		return nil, err
	}
	if fields[0] == nil {
		return nil, flows.ErrNotFound
	}
	t := &flows.Transfer{}
	t.Version, err = s.record(key, fields[0], fields[1], t)
	return t, err
}

// SaveTransfer creates a contact's transfer (version 0), or replaces it if its version is still t.Version, and increments that.
// flows.ErrConflict if it was changed since it was read. It expires after keep.
func (s *Store) SaveTransfer(ctx context.Context, contact club.IRI, t *flows.Transfer, keep time.Duration) error {
	key := s.transferKey(contact)
	body, err := s.seal(key, t)
	if err != nil {
		return err
	}
	if err := committed(s.run(ctx, saveTransfer, []string{key}, t.Version, uuid.NewString(), body, keep.Milliseconds())); err != nil {
		return err
	}
	t.Version++
	return nil
}

// EraseTransfer deletes a contact's transfer, and reports whether there was one.
func (s *Store) EraseTransfer(ctx context.Context, contact club.IRI) (bool, error) {
	n, err := s.redis.Del(ctx, s.transferKey(contact)).Result()
	return n > 0, err
}
