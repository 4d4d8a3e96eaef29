package store

import (
	"context"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// This file keeps by whom a registration is found again, and forgets it.

// maxOfPerson bounds what is found by one address or phone: a family, or a desk that
// writes its own down for everybody, comes to fewer in the two days that they live.
const maxOfPerson = 1000

// indexPersons notes as whose a registration is found. It comes before the
// registration, as index does.
func indexPersons(r *flows.Registration) (calls []call) {
	for _, name := range r.PersonPseudonyms {
		calls = append(calls, indexEntry(r, personKey(name), maxOfPerson))
	}
	return calls
}

// RegistrationsOfPerson implements erasure.Store.
func (s *Store) RegistrationsOfPerson(ctx context.Context, names ...string) (ids []string, err error) {
	for _, name := range names {
		found, err := s.redis.ZRange(ctx, personKey(name), 0, -1).Result()
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// Unindex implements erasure.Store.
func (s *Store) Unindex(ctx context.Context, r *flows.Registration) error {
	var keys []string
	for _, name := range r.PersonPseudonyms {
		keys = append(keys, personKey(name))
	}
	if r.Contact != nil {
		keys = append(keys, s.contactKeys(r.Contact.IRI)...)
	}
	for _, key := range append(keys, refreshes) {
		if err := s.redis.ZRem(ctx, key, r.ID).Err(); err != nil {
			return err
		}
	}
	return nil
}

// EraseTransfer implements erasure.Store.
func (s *Store) EraseTransfer(ctx context.Context, contact club.IRI) (bool, error) {
	n, err := s.redis.Del(ctx, s.transferKey(contact)).Result()
	return n > 0, err
}
