package store_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// TestRates: each limit counts each subject separately, and keys contain no names.
func TestRates(t *testing.T) {
	onEach(t, func(redis *fixture) {
		rate := store.Rate{Requests: 3, Period: time.Hour}
		take := func(name, who string) store.RateStatus {
			redis.Helper()
			taken, err := redis.TakeRequest(redis.Context(), name, who, rate)
			if err != nil {
				redis.Fatal(err)
			}
			return taken
		}
		for want := 2; want >= 0; want-- {
			if got := take("writes", "address 203.0.113.7"); !got.Allowed || got.Remaining != want || got.RetryAfter != 0 || got.ResetAfter <= 0 {
				redis.Errorf("%d should be left: %+v", want, got)
			}
		}
		refused := take("writes", "address 203.0.113.7")
		if refused.Allowed || refused.Remaining != 0 || refused.RetryAfter <= 19*time.Minute || refused.RetryAfter > 20*time.Minute ||
			refused.ResetAfter <= 59*time.Minute {
			redis.Errorf("the fourth: %+v", refused)
		}
		if !take("starts", "address 203.0.113.7").Allowed || !take("writes", "address 203.0.113.8").Allowed {
			redis.Error("limits, or subjects, are counted together")
		}
		for _, key := range redis.redis.Keys(redis.Context(), "*").Val() {
			if strings.Contains(key, "203") || redis.redis.PTTL(redis.Context(), key).Val() <= 0 {
				redis.Errorf("%s tells who it is, or stays for ever", key)
			}
		}
		_, err := redis.open("redis://127.0.0.1:1", "one").TakeRequest(redis.Context(), "writes", "anybody", rate)
		if flows.CodeOf(err) != flows.StorageUnavailable {
			redis.Errorf("without Redis: %v", err)
		}
	})
}

// TestMailsAreCountedOnce: a mail that is counted again, after a failure, takes no other one's place, also when no place is left; and
// neither kinds nor receivers share places.
func TestMailsAreCountedOnce(t *testing.T) {
	onEach(t, func(redis *fixture) {
		take := func(kind store.UnaskedMail, receiver, id string) bool {
			redis.Helper()
			allowed, err := redis.TakeMail(redis.Context(), kind, "demo", receiver, id)
			if err != nil {
				redis.Fatal(err)
			}
			return allowed
		}
		for range 20 {
			if !take(store.UnpaidConfirmation, "ada@example.com", "first") {
				redis.Fatal("a repetition is not allowed")
			}
		}
		allowed := 1
		for n := range 20 {
			if take(store.UnpaidConfirmation, "ada@example.com", strconv.Itoa(n)) {
				allowed++
			}
		}
		if allowed != 10 || !take(store.UnpaidConfirmation, "ada@example.com", "first") {
			redis.Errorf("%d mails are allowed", allowed)
		}
		if !take(store.Acknowledgement, "ada@example.com", "a") || !take(store.UnpaidConfirmation, "bob@example.com", "b") {
			redis.Error("kinds, or receivers, are counted together")
		}
		for _, key := range redis.redis.Keys(redis.Context(), "*").Val() {
			if strings.Contains(key, "example") || redis.redis.PTTL(redis.Context(), key).Val() <= 0 {
				redis.Errorf("%s tells who it is, or stays for ever", key)
			}
		}
	})
}
