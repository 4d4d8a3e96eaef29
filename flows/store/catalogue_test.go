package store_test

import (
	"strings"
	"testing"
	"time"
)

// TestCatalogueCopies: an older copy does not replace a newer one, copies expire, and Redis reveals neither
// the name nor the text.
func TestCatalogueCopies(t *testing.T) {
	onEach(t, func(redis *fixture) {
		const name = "products of /demo/contacts/1002"
		begin := time.Now().Truncate(time.Millisecond)
		expect := func(want string, wantAt time.Time) {
			redis.Helper()
			text, at, err := redis.ReadCopy(redis.Context(), name)
			if err != nil || string(text) != want || want != "" && !at.Equal(wantAt) {
				redis.Errorf("the copy is %q of %s (%v), want %q of %s", text, at, err, want, wantAt)
			}
		}
		publish := func(text string, at time.Time) {
			redis.Helper()
			if err := redis.PublishCopy(redis.Context(), name, []byte(text), at, 10*time.Minute); err != nil {
				redis.Fatal(err)
			}
		}
		expect("", begin)
		publish("first", begin)
		expect("first", begin)
		publish("second", begin.Add(2*time.Second))
		publish("late", begin.Add(time.Second))
		expect("second", begin.Add(2*time.Second))
		if text, _, err := redis.open(redis.url, "another key", "one").ReadCopy(redis.Context(), name); text != nil || err != nil {
			redis.Errorf("a gateway that writes with another key reads %q (%v)", text, err)
		}
		for key, value := range redis.everything() {
			if strings.Contains(key+value, "contacts") || strings.Contains(value, "second") {
				redis.Errorf("%s reveals it: %s", key, value)
			}
			redis.lives(key, 10*time.Minute)
			redis.redis.HSet(redis.Context(), key, "body", "sealed by another version")
			expect("", begin)
			redis.expire(key)
		}
		expect("", begin)
	})
}
