package store_test

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

func TestRegistration(t *testing.T) {
	onEach(t, func(b *fixture) {
		r := b.registered()
		got, p, err := b.Registration(b.Context(), r.ID)
		if err != nil || p != nil || got.Version != 1 || !reflect.DeepEqual(got, r) {
			b.Errorf("stored %+v, read %+v with payment %v (%v)", r, got, p, err)
		}
		b.lives(registrationKey(r), 44*time.Hour)
		if _, _, err := b.Registration(b.Context(), "unknown"); !errors.Is(err, flows.ErrNotFound) {
			b.Errorf("what is not there: %v", err)
		}
	})
}

func TestRegistrationCompareAndSet(t *testing.T) {
	onEach(t, func(b *fixture) {
		r := b.registered()
		stale := *r
		r.ClubID = "12"
		if err := b.SaveRegistration(b.Context(), r); err != nil || r.Version != 2 {
			b.Fatalf("version %d: %v", r.Version, err)
		}
		again := *r
		again.Version = 0
		for what, lost := range map[string]*flows.Registration{"an old version": &stale, "a new one of the same id": &again} {
			b.unchanged(what, func() {
				if err := b.SaveRegistration(b.Context(), lost); !errors.Is(err, flows.ErrConflict) {
					b.Errorf("%s: %v", what, err)
				}
			})
		}
		var won atomic.Int32
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				mine := *r
				switch err := b.SaveRegistration(b.Context(), &mine); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, flows.ErrConflict):
					b.Errorf("a lost race: %v", err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			b.Errorf("%d of 16 writers won", won.Load())
		}
	})
}

// TestAnswersOfRedisGetLost loses the response to each message of each write in turn: the write is sent again
// and finds its work done.
func TestAnswersOfRedisGetLost(t *testing.T) {
	onEach(t, func(b *fixture) {
		for name, write := range map[string]func(*store.Store) error{
			"create": func(s *store.Store) error {
				r := *b.registered()
				r.ID, r.Version = "another "+r.ID, 0
				return s.SaveRegistration(b.Context(), &r)
			},
			"save": func(s *store.Store) error { return s.SaveRegistration(b.Context(), b.registered()) },
			"start": func(s *store.Store) error {
				r := b.registered()
				return s.StartPayment(b.Context(), r, b.next(r))
			},
			"commit": func(s *store.Store) error {
				_, p := b.started()
				return s.Commit(b.Context(), to(p, flows.Intent))
			},
			"final": func(s *store.Store) error {
				_, p := b.started()
				move := to(p, flows.Cancelled)
				move.Keep = time.Hour
				return s.Commit(b.Context(), move)
			},
		} {
			for message := 1; ; message++ {
				behind, wire := b.behind(message)
				err := write(behind)
				if !wire.Triggered() {
					break
				}
				// A poll that could not be scheduled is an error, and then no payment was started.
				if err != nil && (name != "start" || errors.Is(err, flows.ErrConflict)) {
					b.Errorf("%s, message %d: %v", name, message, err)
				}
			}
		}
	})
}

// TestSaveKeepsOpenPayment: a registration does not expire while its latest payment is open, even if Redis has fallen
// back to a registration that did. After the payment's end it expires with every save.
func TestSaveKeepsOpenPayment(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.started()
		save := func() {
			if err := b.SaveRegistration(b.Context(), r); err != nil {
				b.Fatal(err)
			}
		}
		save()
		b.lives(registrationKey(r), 0)
		b.redis.Expire(b.Context(), registrationKey(r), time.Hour)
		save()
		b.lives(registrationKey(r), 0)
		end := to(p, flows.Cancelled)
		end.Keep = 30 * 24 * time.Hour
		b.commit(end)
		b.lives(registrationKey(r), 48*time.Hour)
		save()
		b.lives(registrationKey(r), 44*time.Hour)
	})
}

// TestAmendLists: a registration is listed again when its lifetime restarts or its contact changes. Otherwise
// its entry is unchanged.
func TestAmendLists(t *testing.T) {
	onEach(t, func(b *fixture) {
		r := b.registered()
		if err := b.Unindex(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		listed := func(contact club.IRI) bool {
			ids, err := b.RegistrationsOf(b.Context(), contact)
			if err != nil {
				b.Fatal(err)
			}
			return slices.Contains(ids, r.ID)
		}
		read, _, err := b.Registration(b.Context(), r.ID)
		if err != nil {
			b.Fatal(err)
		}
		if err := b.AmendRegistration(b.Context(), read); err != nil || listed("/demo/contacts/7") {
			b.Errorf("amended (%v), it was listed again", err)
		}
		read.Contact = &flows.Contact{IRI: "/demo/contacts/8"}
		if err := b.AmendRegistration(b.Context(), read); err != nil || !listed("/demo/contacts/8") {
			b.Errorf("amended (%v), it was not listed under another contact", err)
		}
		read.Contact = &flows.Contact{IRI: "/demo/contacts/7"}
		if err := b.SaveRegistration(b.Context(), read); err != nil || !listed("/demo/contacts/7") {
			b.Errorf("saved (%v), it was not listed", err)
		}
	})
}
