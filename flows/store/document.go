package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// extendDocument keeps a document for longer, if it is stored.
//
// KEYS  1 document
// ARGV  1 time to live, ms; a longer one stays
// Returns 1 if it is stored, else 0.
var extendDocument = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
`)

// keepDocument stores a document.
//
// KEYS  1 document
// ARGV  1 content type  2 bytes  3 time to live, ms
// Returns 1.
var keepDocument = redis.NewScript(`
redis.call('HSET', KEYS[1], 'type', ARGV[1], 'body', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// KeepDocuments stores documents that a buyer agrees to, in plain because everybody may read them, under the hashes of their bytes.
// Each is sent once; later calls only keep it for longer.
func (s *Store) KeepDocuments(ctx context.Context, documents []flows.Document, keep time.Duration) error {
	extend := make([]call, len(documents))
	for i, document := range documents {
		extend[i] = call{extendDocument, []string{documentKey(document.SHA256)}, []any{keep.Milliseconds()}}
	}
	pipe := s.redis.Pipeline()
	replies := enqueue(ctx, pipe, extend...)
	_, _ = pipe.Exec(ctx) // each reply has its own error
	for i, document := range documents {
		reply := replies[i]
		if reply.Err() != nil {
			reply = s.run(ctx, extendDocument, extend[i].keys, extend[i].args...)
		}
		known, err := reply.Bool()
		if err == nil && !known {
			err = s.run(ctx, keepDocument, extend[i].keys, document.ContentType, document.Body, keep.Milliseconds()).Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Document reads a document by the hash of its bytes, in hex. Its name, version and language are with the agreements.
// flows.ErrNotFound if no buyer agreed to it, or that is too long ago.
func (s *Store) Document(ctx context.Context, hash string) (document flows.Document, err error) {
	fields, err := s.redis.HMGet(ctx, documentKey(hash), "type", "body").Result()
	if err != nil {
		return document, err
	}
	kind, isStored := fields[0].(string)
	body, _ := fields[1].(string)
	if !isStored {
		return document, flows.ErrNotFound
	}
	if sum := sha256.Sum256([]byte(body)); hex.EncodeToString(sum[:]) != hash {
		return document, fmt.Errorf("%w: %s: its bytes have another hash", flows.ErrDamaged, documentKey(hash))
	}
	return flows.Document{ContentType: kind, SHA256: hash, Body: []byte(body)}, nil
}
