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
	onEach(t, func(redis *fixture) {
		r := redis.registered()
		got, p, err := redis.Registration(redis.Context(), r.ID)
		if err != nil || p != nil || got.Version == 0 || !reflect.DeepEqual(got, r) {
			redis.Errorf("stored %+v, read %+v with payment %v (%v)", r, got, p, err)
		}
		redis.lives(registrationKey(r), 44*time.Hour)
		if _, _, err := redis.Registration(redis.Context(), "unknown"); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("what is not there: %v", err)
		}
	})
}

func TestRegistrationCompareAndSet(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration := redis.registered()
		stale := *registration
		registration.ClubID = "12"
		if err := redis.SaveRegistration(redis.Context(), registration); err != nil || registration.Version <= stale.Version {
			redis.Fatalf("version %d: %v", registration.Version, err)
		}
		again := *registration
		again.Version = 0
		for what, lost := range map[string]*flows.Registration{"an old version": &stale, "a new one of the same id": &again} {
			redis.unchanged(what, func() {
				if err := redis.SaveRegistration(redis.Context(), lost); !errors.Is(err, flows.ErrConflict) {
					redis.Errorf("%s: %v", what, err)
				}
			})
		}
		var won atomic.Int32
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				mine := *registration
				switch err := redis.SaveRegistration(redis.Context(), &mine); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, flows.ErrConflict):
					redis.Errorf("a lost race: %v", err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			redis.Errorf("%d of 16 writers won", won.Load())
		}
	})
}

// TestAnswersOfRedisGetLost loses the response to each message of each write in turn: the write is sent again
// and finds its work done.
func TestAnswersOfRedisGetLost(t *testing.T) {
	onEach(t, func(redis *fixture) {
		for name, write := range map[string]func(*store.Store) error{
			"create": func(s *store.Store) error {
				r := *redis.registered()
				r.ID, r.Version = "another "+r.ID, 0
				return s.SaveRegistration(redis.Context(), &r)
			},
			"save": func(s *store.Store) error { return s.SaveRegistration(redis.Context(), redis.registered()) },
			"start": func(s *store.Store) error {
				r := redis.registered()
				return s.StartPayment(redis.Context(), r, redis.next(r))
			},
			"commit": func(s *store.Store) error {
				_, p := redis.started()
				return s.Commit(redis.Context(), to(p, flows.Intent))
			},
			"final": func(s *store.Store) error {
				_, p := redis.started()
				move := to(p, flows.Cancelled)
				move.Keep = time.Hour
				return s.Commit(redis.Context(), move)
			},
		} {
			for message := 1; ; message++ {
				behind, wire := redis.behind(message)
				err := write(behind)
				if !wire.Triggered() {
					break
				}
				// A poll that could not be scheduled is an error, and then no payment was started.
				if err != nil && (name != "start" || errors.Is(err, flows.ErrConflict)) {
					redis.Errorf("%s, message %d: %v", name, message, err)
				}
			}
		}
	})
}

// TestSaveKeepsOpenPayment: a registration does not expire while its latest payment is open, even if Redis has fallen
// back to a registration that did. After the payment's end it expires with every save.
func TestSaveKeepsOpenPayment(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		save := func() {
			if err := redis.SaveRegistration(redis.Context(), registration); err != nil {
				redis.Fatal(err)
			}
		}
		save()
		redis.lives(registrationKey(registration), 0)
		redis.redis.Expire(redis.Context(), registrationKey(registration), time.Hour)
		save()
		redis.lives(registrationKey(registration), 0)
		end := to(payment, flows.Cancelled)
		end.Keep = 30 * 24 * time.Hour
		redis.commit(end)
		redis.lives(registrationKey(registration), 48*time.Hour)
		save()
		redis.lives(registrationKey(registration), 44*time.Hour)
	})
}

// TestAmendLists: a registration is listed again when its lifetime restarts or its contact changes. Otherwise
// its entry is unchanged.
func TestAmendLists(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration := redis.registered()
		if err := redis.Unindex(redis.Context(), registration); err != nil {
			redis.Fatal(err)
		}
		listed := func(contact club.IRI) bool {
			ids, err := redis.RegistrationsOf(redis.Context(), contact)
			if err != nil {
				redis.Fatal(err)
			}
			return slices.Contains(ids, registration.ID)
		}
		read, _, err := redis.Registration(redis.Context(), registration.ID)
		if err != nil {
			redis.Fatal(err)
		}
		if err := redis.AmendRegistration(redis.Context(), read); err != nil || listed("/demo/contacts/7") {
			redis.Errorf("amended (%v), it was listed again", err)
		}
		read.Contact = &flows.Contact{IRI: "/demo/contacts/8"}
		if err := redis.AmendRegistration(redis.Context(), read); err != nil || !listed("/demo/contacts/8") {
			redis.Errorf("amended (%v), it was not listed under another contact", err)
		}
		read.Contact = &flows.Contact{IRI: "/demo/contacts/7"}
		if err := redis.SaveRegistration(redis.Context(), read); err != nil || !listed("/demo/contacts/7") {
			redis.Errorf("saved (%v), it was not listed", err)
		}
	})
}
