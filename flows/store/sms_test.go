package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
)

// TestSMSLimits counts codes against all limits at once, separately for each subject.
func TestSMSLimits(t *testing.T) {
	onEach(t, func(redis *fixture) {
		limits := []flows.SMSLimit{{Codes: 1, Period: time.Minute}, {Codes: 3, Period: 10 * time.Minute}}
		begin := time.Now().UTC().Truncate(time.Second)
		take := func(subject, id string, after time.Duration) (bool, time.Duration) {
			redis.Helper()
			allowed, next, err := redis.ReserveSMS(redis.Context(), subject, id, begin.Add(after), limits)
			if err != nil {
				redis.Fatal(err)
			}
			return allowed, next.Sub(begin)
		}
		for _, step := range []struct {
			subject, id string
			after       time.Duration
			allowed     bool
			next        time.Duration
		}{
			{"/demo/contacts/7", "a", 0, true, time.Minute},
			{"/demo/contacts/7", "a", time.Second, true, time.Minute}, // a repetition of the same request
			{"/demo/contacts/7", "b", 59 * time.Second, false, time.Minute},
			{"/demo/contacts/8", "b", 59 * time.Second, true, 119 * time.Second},
			{"/demo/contacts/7", "b", time.Minute, true, 2 * time.Minute},
			{"/demo/contacts/7", "c", 2 * time.Minute, true, 10 * time.Minute},
			{"/demo/contacts/7", "d", 5 * time.Minute, false, 10 * time.Minute},
			{"/demo/contacts/7", "d", 10 * time.Minute, true, 11 * time.Minute},
		} {
			if allowed, next := take(step.subject, step.id, step.after); allowed != step.allowed || next != step.next {
				redis.Errorf("%+v: %t, next after %s", step, allowed, next)
			}
		}
		if err := redis.ReleaseSMS(redis.Context(), "/demo/contacts/7", "d"); err != nil {
			redis.Fatal(err)
		}
		if allowed, _ := take("/demo/contacts/7", "e", 10*time.Minute); !allowed {
			redis.Error("what was given back is still counted")
		}
		for key, value := range redis.everything() {
			if strings.Contains(key+value, "/demo/") {
				redis.Errorf("%s tells who it is: %s", key, value)
			}
		}
	})
}

// TestTransfers: a transfer is stored by compare-and-set, sealed, one per contact.
func TestTransfers(t *testing.T) {
	onEach(t, func(redis *fixture) {
		if _, err := redis.Transfer(redis.Context(), "/demo/contacts/7"); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("what is not there: %v", err)
		}
		first := &flows.Transfer{ClubID: "13"}
		stale := *first
		if err := redis.SaveTransfer(redis.Context(), "/demo/contacts/7", first, time.Hour); err != nil {
			redis.Fatal(err)
		}
		redis.unchanged("an old version", func() {
			if err := redis.SaveTransfer(redis.Context(), "/demo/contacts/7", &stale, time.Hour); !errors.Is(err, flows.ErrConflict) {
				redis.Errorf("an old version: %v", err)
			}
		})
		got, err := redis.Transfer(redis.Context(), "/demo/contacts/7")
		if err != nil || *got != *first || got.Version != 1 {
			redis.Errorf("stored %+v, read %+v (%v)", first, got, err)
		}
		if _, err := redis.open(redis.url, "two").Transfer(redis.Context(), "/demo/contacts/7"); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("with another key: %v", err)
		}
	})
}

// TestRequestsAfterRotation: a repeated request is recognised with the key that made its fingerprint, and a
// different request is not.
func TestRequestsAfterRotation(t *testing.T) {
	onEach(t, func(redis *fixture) {
		first := attempt{"body", "first"}
		redis.begin(first)
		redis.keep(first)
		rotated := *redis
		rotated.Store = redis.open(redis.url, "two", "one")
		if begun, _ := rotated.begin(attempt{"body", "again"}); begun != "done" {
			redis.Errorf("the same request: %s", begun)
		}
		if begun, _ := rotated.begin(attempt{"another body", "other"}); begun != "reused" {
			redis.Errorf("another request: %s", begun)
		}
	})
}
