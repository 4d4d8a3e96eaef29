package store_test

import (
	"errors"
	"strings"
	"testing"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// TestUnreadableRecords damages the records in Redis: every read then returns an error, never an empty record,
// and changes nothing.
func TestUnreadableRecords(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.started()
		other, otherPayment := b.started()
		rKey, pKey := registrationKey(r), paymentKey(p)
		body := func(key string) string { return b.redis.HGet(b.Context(), key, "body").Val() }
		rBody, pBody := body(rKey), body(pKey)
		otherKeys := b.open(b.url, "two")
		for name, test := range map[string]struct {
			read  *store.Store
			spoil func()
		}{
			"another key":       {otherKeys, func() {}},
			"swapped":           {b.Store, func() { b.set(rKey, body(registrationKey(other))); b.set(pKey, body(paymentKey(otherPayment))) }},
			"one for the other": {b.Store, func() { b.set(rKey, pBody); b.set(pKey, rBody) }},
			"garbage":           {b.Store, func() { b.set(rKey, "garbage that is long enough to be a record"); b.set(pKey, "\x00") }},
			"cut off":           {b.Store, func() { b.set(rKey, rBody[:len(rBody)-1]); b.set(pKey, pBody[:3]) }},
			"altered":           {b.Store, func() { b.set(rKey, flip(rBody)); b.set(pKey, flip(pBody)) }},
			"empty":             {b.Store, func() { b.set(rKey, ""); b.set(pKey, "") }},
			"without a body":    {b.Store, func() { b.redis.HDel(b.Context(), rKey, "body"); b.redis.HDel(b.Context(), pKey, "body") }},
			"a version of letters": {b.Store, func() {
				b.redis.HSet(b.Context(), rKey, "version", "x")
				b.redis.HSet(b.Context(), pKey, "version", "x")
			}},
		} {
			test.spoil()
			b.unchanged(name, func() {
				if _, _, err := test.read.Registration(b.Context(), r.ID); err == nil || errors.Is(err, flows.ErrNotFound) {
					b.Errorf("%s: the registration is read with %v", name, err)
				}
				if _, err := test.read.Payment(b.Context(), p.ID); err == nil || errors.Is(err, flows.ErrNotFound) {
					b.Errorf("%s: the payment is read with %v", name, err)
				}
			})
			b.redis.HSet(b.Context(), rKey, "body", rBody, "version", r.Version)
			b.redis.HSet(b.Context(), pKey, "body", pBody, "version", p.Version)
		}
		if _, _, err := b.Registration(b.Context(), r.ID); err != nil {
			b.Errorf("mended, and still: %v", err)
		}
	})
}

func (b *fixture) set(key, body string) { b.redis.HSet(b.Context(), key, "body", body) }

// flip inverts the last bit.
func flip(sealed string) string {
	last := len(sealed) - 1
	return sealed[:last] + string([]byte{sealed[last] ^ 1})
}

// TestUnreadableResponse: a response that cannot be opened is an error, never an empty answer.
func TestUnreadableResponse(t *testing.T) {
	onEach(t, func(b *fixture) {
		first := attempt{"body", "first"}
		b.begin(first)
		b.keep(first)
		_, _, err := b.open(b.url, "two").BeginRequest(b.Context(), "a holder and a route", "the key", "body", "again")
		if flows.CodeOf(err) != flows.StorageUnavailable {
			b.Errorf("with another key: %v", err)
		}
	})
}

// TestRotation puts a new key first, and later drops the old one.
func TestRotation(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.started()
		untouched, _ := b.started()
		rotated, dropped := b.open(b.url, "two", "one"), b.open(b.url, "two")
		if _, _, err := dropped.Registration(b.Context(), r.ID); err == nil {
			b.Error("a record is read without its key")
		}
		read, _, err := rotated.Registration(b.Context(), r.ID)
		if err != nil {
			b.Fatal(err)
		}
		if err := rotated.SaveRegistration(b.Context(), read); err != nil {
			b.Fatal(err)
		}
		if err := rotated.Commit(b.Context(), to(p, flows.Intent)); err != nil {
			b.Fatal(err)
		}
		if _, again, err := dropped.Registration(b.Context(), r.ID); err != nil || again.State != flows.Intent {
			b.Errorf("what was written with the new key: %+v (%v)", again, err)
		}
		if _, _, err := dropped.Registration(b.Context(), untouched.ID); err == nil {
			b.Error("what was not written since is read without its key")
		}
	})
}

// TestNothingIsReadable: no key or value in Redis shows a name, a reference of the club system or any part of
// a response.
func TestNothingIsReadable(t *testing.T) {
	onEach(t, func(b *fixture) {
		b.started()
		first := attempt{"body", "first"}
		b.begin(first)
		b.keep(first)
		all := b.everything()
		if len(all) < 4 {
			b.Fatalf("only %d keys are there", len(all))
		}
		for key, value := range all {
			for _, secret := range []string{
				"/demo/", "Martin", "Ada", "C-0007", "the-hash-of-a-token", "secret", "a holder and a route", "the key", "4990",
			} {
				if strings.Contains(key+value, secret) {
					b.Errorf("%q is in %s: %q", secret, key, value)
				}
			}
		}
	})
}

func TestRedisIsGone(t *testing.T) {
	onEach(t, func(b *fixture) {
		behind, wire := b.behind(0)
		if _, err := behind.ClubEventsWaiting(b.Context()); err != nil {
			b.Fatal(err)
		}
		r, p := b.started()
		wire.Cut()
		_, _, readErr := behind.Registration(b.Context(), r.ID)
		_, countErr := behind.ClubEventsWaiting(b.Context())
		_, _, beginErr := behind.BeginRequest(b.Context(), "scope", "key", "body", "owner")
		for what, err := range map[string]error{
			"count": countErr, "read": readErr, "save": behind.SaveRegistration(b.Context(), r),
			"commit": behind.Commit(b.Context(), to(p, flows.Intent)), "begin": beginErr,
		} {
			if err == nil || errors.Is(err, flows.ErrConflict) || errors.Is(err, flows.ErrNotFound) {
				b.Errorf("%s: %v", what, err)
			}
		}
	})
}
