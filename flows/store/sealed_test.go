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
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		other, otherPayment := redis.started()
		rKey, pKey := registrationKey(registration), paymentKey(payment)
		body := func(key string) string { return redis.redis.HGet(redis.Context(), key, "body").Val() }
		rBody, pBody := body(rKey), body(pKey)
		otherKeys := redis.open(redis.url, "two")
		for name, test := range map[string]struct {
			read  *store.Store
			spoil func()
		}{
			"another key": {otherKeys, func() {}},
			"swapped": {redis.Store, func() {
				redis.set(rKey, body(registrationKey(other)))
				redis.set(pKey, body(paymentKey(otherPayment)))
			}},
			"one for the other": {redis.Store, func() { redis.set(rKey, pBody); redis.set(pKey, rBody) }},
			"garbage":           {redis.Store, func() { redis.set(rKey, "garbage that is long enough to be a record"); redis.set(pKey, "\x00") }},
			"cut off":           {redis.Store, func() { redis.set(rKey, rBody[:len(rBody)-1]); redis.set(pKey, pBody[:3]) }},
			"altered":           {redis.Store, func() { redis.set(rKey, flip(rBody)); redis.set(pKey, flip(pBody)) }},
			"empty":             {redis.Store, func() { redis.set(rKey, ""); redis.set(pKey, "") }},
			"without a body": {redis.Store, func() {
				redis.redis.HDel(redis.Context(), rKey, "body")
				redis.redis.HDel(redis.Context(), pKey, "body")
			}},
			"a version of letters": {redis.Store, func() {
				redis.redis.HSet(redis.Context(), rKey, "version", "x")
				redis.redis.HSet(redis.Context(), pKey, "version", "x")
			}},
		} {
			test.spoil()
			redis.unchanged(name, func() {
				if _, _, err := test.read.Registration(redis.Context(), registration.ID); err == nil || errors.Is(err, flows.ErrNotFound) {
					redis.Errorf("%s: the registration is read with %v", name, err)
				}
				if _, err := test.read.Payment(redis.Context(), payment.ID); err == nil || errors.Is(err, flows.ErrNotFound) {
					redis.Errorf("%s: the payment is read with %v", name, err)
				}
			})
			redis.redis.HSet(redis.Context(), rKey, "body", rBody, "version", registration.Version)
			redis.redis.HSet(redis.Context(), pKey, "body", pBody, "version", payment.Version)
		}
		if _, _, err := redis.Registration(redis.Context(), registration.ID); err != nil {
			redis.Errorf("mended, and still: %v", err)
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
	onEach(t, func(redis *fixture) {
		first := attempt{"body", "first"}
		redis.begin(first)
		redis.keep(first)
		_, _, err := redis.open(redis.url, "two").BeginRequest(redis.Context(), "a holder and a route", "the key", "body", "again")
		if flows.CodeOf(err) != flows.StorageUnavailable {
			redis.Errorf("with another key: %v", err)
		}
	})
}

// TestRotation puts a new key first, and later drops the old one.
func TestRotation(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		untouched, _ := redis.started()
		rotated, dropped := redis.open(redis.url, "two", "one"), redis.open(redis.url, "two")
		if _, _, err := dropped.Registration(redis.Context(), registration.ID); err == nil {
			redis.Error("a record is read without its key")
		}
		read, _, err := rotated.Registration(redis.Context(), registration.ID)
		if err != nil {
			redis.Fatal(err)
		}
		if err := rotated.SaveRegistration(redis.Context(), read); err != nil {
			redis.Fatal(err)
		}
		if err := rotated.Commit(redis.Context(), to(payment, flows.Intent)); err != nil {
			redis.Fatal(err)
		}
		if _, again, err := dropped.Registration(redis.Context(), registration.ID); err != nil || again.State != flows.Intent {
			redis.Errorf("what was written with the new key: %+v (%v)", again, err)
		}
		if _, _, err := dropped.Registration(redis.Context(), untouched.ID); err == nil {
			redis.Error("what was not written since is read without its key")
		}
	})
}

// TestNothingIsReadable: no key or value in Redis shows a name, a reference of the club system or any part of
// a response.
func TestNothingIsReadable(t *testing.T) {
	onEach(t, func(redis *fixture) {
		redis.started()
		first := attempt{"body", "first"}
		redis.begin(first)
		redis.keep(first)
		all := redis.everything()
		if len(all) < 4 {
			redis.Fatalf("only %d keys are there", len(all))
		}
		for key, value := range all {
			for _, secret := range []string{
				"/demo/", "Martin", "Ada", "C-0007", "the-hash-of-a-token", "secret", "a holder and a route", "the key", "4990",
			} {
				if strings.Contains(key+value, secret) {
					redis.Errorf("%q is in %s: %q", secret, key, value)
				}
			}
		}
	})
}

func TestRedisIsGone(t *testing.T) {
	onEach(t, func(redis *fixture) {
		behind, wire := redis.behind(0)
		if _, err := behind.ClubEventsWaiting(redis.Context()); err != nil {
			redis.Fatal(err)
		}
		registration, payment := redis.started()
		wire.Cut()
		_, _, readErr := behind.Registration(redis.Context(), registration.ID)
		_, countErr := behind.ClubEventsWaiting(redis.Context())
		_, _, beginErr := behind.BeginRequest(redis.Context(), "scope", "key", "body", "owner")
		for what, err := range map[string]error{
			"count": countErr, "read": readErr, "save": behind.SaveRegistration(redis.Context(), registration),
			"commit": behind.Commit(redis.Context(), to(payment, flows.Intent)), "begin": beginErr,
		} {
			if err == nil || errors.Is(err, flows.ErrConflict) || errors.Is(err, flows.ErrNotFound) {
				redis.Errorf("%s: %v", what, err)
			}
		}
	})
}
