package store_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows/catalogue"
)

// TestReadings: one holder at a time reads anew, what is newer stays, and a name that
// tells who somebody is is told to nobody.
func TestReadings(t *testing.T) {
	onEach(t, func(b *fixture) {
		const name = "products of /demo/contacts/1002"
		begin := time.Now().Truncate(time.Millisecond)
		recall := func(holder string, notBefore time.Time) catalogue.SharedEntry {
			b.Helper()
			found, err := b.Acquire(b.Context(), name, holder, notBefore, time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			return found
		}
		keep := func(holder, text string, at time.Time) {
			b.Helper()
			if err := b.Publish(b.Context(), name, holder, []byte(text), at, 10*time.Minute); err != nil {
				b.Fatal(err)
			}
		}
		if found := recall("a", begin); !found.Leader || found.Text != nil {
			b.Errorf("the first one gets %+v", found)
		}
		if found := recall("b", begin); found.Leader {
			b.Error("two read at once")
		}
		if err := b.ReleaseLease(b.Context(), name, "b"); err != nil || recall("b", begin).Leader {
			b.Errorf("a lease was ended by who does not have it (%v)", err)
		}
		keep("a", "first", begin)
		if found := recall("b", begin); string(found.Text) != "first" || !found.At.Equal(begin) || found.Leader {
			b.Errorf("after the first reading: %+v", found)
		}
		found := recall("b", begin.Add(time.Second))
		if !found.Leader || string(found.Text) != "first" {
			b.Errorf("who wants a newer one gets %+v", found)
		}
		if err := b.RenewLease(b.Context(), name, "b", 2*time.Minute); err != nil {
			b.Fatal(err)
		}
		keep("b", "second", begin.Add(2*time.Second))
		keep("late", "older", begin.Add(time.Second))
		if found := recall("c", begin.Add(time.Second)); string(found.Text) != "second" {
			b.Errorf("a reading that came late replaced %q", found.Text)
		}
		if err := b.ReleaseLease(b.Context(), name, "c"); err != nil || !recall("c", begin.Add(time.Hour)).Leader {
			b.Errorf("nobody may read anew (%v)", err)
		}
		for key, value := range b.everything() {
			if strings.Contains(key+value, "1002") || strings.Contains(value, "second") {
				b.Errorf("%s tells of it: %s", key, value)
			}
		}
	})
}
