package store_test

import (
	"strings"
	"testing"
	"time"
)

// TestCatalogueCopies: an older copy does not replace a newer one, copies expire, and Redis reveals neither
// the name nor the text.
func TestCatalogueCopies(t *testing.T) {
	onEach(t, func(b *fixture) {
		const name = "products of /demo/contacts/1002"
		begin := time.Now().Truncate(time.Millisecond)
		expect := func(want string, wantAt time.Time) {
			b.Helper()
			text, at, err := b.ReadCopy(b.Context(), name)
			if err != nil || string(text) != want || want != "" && !at.Equal(wantAt) {
				b.Errorf("the copy is %q of %s (%v), want %q of %s", text, at, err, want, wantAt)
			}
		}
		publish := func(text string, at time.Time) {
			b.Helper()
			if err := b.PublishCopy(b.Context(), name, []byte(text), at, 10*time.Minute); err != nil {
				b.Fatal(err)
			}
		}
		expect("", begin)
		publish("first", begin)
		expect("first", begin)
		publish("second", begin.Add(2*time.Second))
		publish("late", begin.Add(time.Second))
		expect("second", begin.Add(2*time.Second))
		if text, _, err := b.open(b.url, "another key", "one").ReadCopy(b.Context(), name); text != nil || err != nil {
			b.Errorf("a gateway that writes with another key reads %q (%v)", text, err)
		}
		for key, value := range b.everything() {
			if strings.Contains(key+value, "contacts") || strings.Contains(value, "second") {
				b.Errorf("%s reveals it: %s", key, value)
			}
			b.lives(key, 10*time.Minute)
			b.redis.HSet(b.Context(), key, "body", "sealed by another version")
			expect("", begin)
			b.expire(key)
		}
		expect("", begin)
	})
}
