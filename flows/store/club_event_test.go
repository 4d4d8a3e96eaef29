package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

func event(id string) flows.StoredEvent {
	return flows.StoredEvent{
		ID:   id,
		At:   time.Now().UTC().Truncate(time.Millisecond),
		Body: []byte(`{"event":"contact.updated","of":"/demo/contacts/7"}`),
	}
}

func TestClubEvents(t *testing.T) {
	onEach(t, func(redis *fixture) {
		ctx := redis.Context()
		for i, id := range []string{"evt_a", "evt_b"} {
			waiting, err := redis.SaveClubEvent(ctx, event(id), "contact.updated")
			if err != nil || waiting != int64(i+1) {
				redis.Fatalf("%d wait, %v", waiting, err)
			}
		}
		raw := redis.redis.XRange(ctx, "fd:{club}:events", "-", "+").Val()
		if strings.Contains(fmt.Sprint(raw), "contacts") {
			redis.Errorf("Redis sees %v", raw)
		}
		events, err := redis.ClubEvents(ctx, "", 10)
		if err != nil || len(events) != 2 || events[0].ID != "evt_a" || string(events[1].Body) != string(event("").Body) ||
			events[0].At.IsZero() {
			redis.Fatalf("kept: %+v, %v", events, err)
		}
		if rest, err := redis.ClubEvents(ctx, events[0].Entry, 10); err != nil || len(rest) != 1 || rest[0].ID != "evt_b" {
			redis.Errorf("after the first: %+v, %v", rest, err)
		}
		if age := time.Since(events[0].StoredAt()); age < -time.Minute || age > time.Hour {
			redis.Errorf("stored %s ago", age)
		}
		if err := redis.DropClubEvents(ctx, events[:1]); err != nil {
			redis.Fatal(err)
		}
		stranger := redis.open(redis.url, "another")
		left, err := stranger.ClubEvents(ctx, "", 10)
		if err != nil || len(left) != 1 || left[0].ID != "" || left[0].Entry != events[1].Entry {
			redis.Errorf("without the key: %+v, %v", left, err)
		}
		if n, err := redis.ClubEventsWaiting(ctx); n != 1 || err != nil {
			redis.Errorf("%d wait, %v", n, err)
		}
	})
}

// TestClubEventsAreBounded: the oldest events are dropped and counted.
func TestClubEventsAreBounded(t *testing.T) {
	onEach(t, func(b *fixture) {
		ctx := b.Context()
		_, err := b.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range 9_999 {
				p.XAdd(ctx, &redis.XAddArgs{Stream: "fd:{club}:events", Values: []any{"body", "of long ago"}})
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		for _, id := range []string{"evt_a", "evt_b", "evt_c"} {
			if _, err := b.SaveClubEvent(ctx, event(id), "unknown"); err != nil {
				b.Fatal(err)
			}
		}
		counts, err := b.ClubEventCounts(ctx)
		if n, _ := b.ClubEventsWaiting(ctx); n != 10_000 || counts["dropped"] != "2" || counts["unknown"] != "3" || err != nil {
			b.Errorf("%d wait, %v, %v", n, counts, err)
		}
	})
}

func TestRefreshes(t *testing.T) {
	onEach(t, func(redis *fixture) {
		ctx, now := redis.Context(), time.Now().Truncate(time.Millisecond)
		later := now.Add(time.Minute)
		due := func(at time.Time) []string {
			redis.Helper()
			ids, err := redis.DueRefreshes(ctx, at, at.Add(time.Minute), 100, time.Second)
			if err != nil {
				redis.Fatal(err)
			}
			slices.Sort(ids)
			return ids
		}
		hint := func(at time.Time, ids ...string) {
			redis.Helper()
			if err := redis.RequestRefresh(ctx, ids, at); err != nil {
				redis.Fatal(err)
			}
		}
		hint(now, "a", "b")
		hint(later, "a") // does not postpone the earlier hint
		hint(later, "c")
		if got := due(now); !slices.Equal(got, []string{"a", "b"}) {
			redis.Errorf("due: %v", got)
		}
		if got := due(now); len(got) != 0 {
			redis.Errorf("taken twice: %v", got)
		}
		// a is done; meanwhile another hint for b arrived.
		hint(now.Add(time.Second), "b")
		for _, id := range []string{"a", "b"} {
			if err := redis.FinishRefresh(ctx, id, later, time.Time{}); err != nil {
				redis.Fatal(err)
			}
		}
		if got := due(now.Add(time.Second)); !slices.Equal(got, []string{"b"}) {
			redis.Errorf("after the hint: %v", got)
		}
		// b was not finished, because its gateway died.
		if got := due(now.Add(2 * time.Minute)); !slices.Equal(got, []string{"b", "c"}) {
			redis.Errorf("after a death: %v", got)
		}
		taken := now.Add(3 * time.Minute)
		if err := redis.FinishRefresh(ctx, "c", taken, now.Add(time.Hour)); err != nil {
			redis.Fatal(err)
		}
		if score := redis.redis.ZScore(ctx, "fd:{refreshes}:registrations", "c").Val(); score != float64(now.Add(time.Hour).UnixMilli()) {
			redis.Errorf("c is looked at again at %f", score)
		}
	})
}

// TestRefreshRate: a burst at once, then one refresh per interval, shared by all callers.
func TestRefreshRate(t *testing.T) {
	onEach(t, func(redis *fixture) {
		ctx, now := redis.Context(), time.Now().Truncate(time.Millisecond)
		other := redis.open(redis.url, "one")
		for i := range 60 {
			if err := redis.RequestRefresh(ctx, []string{fmt.Sprint(i)}, now); err != nil {
				redis.Fatal(err)
			}
		}
		for i, step := range []struct {
			after time.Duration
			want  int
		}{{0, 5}, {0, 0}, {900 * time.Millisecond, 0}, {time.Second, 1}, {4 * time.Second, 3}, {3 * time.Second, 0}, {time.Hour, 5},
			{24 * time.Hour, 5}, {time.Hour + 6*time.Second, 0}, {time.Hour + 8*time.Second, 2}} { // as after a clock that was a day ahead
			at := now.Add(step.after)
			asked := redis.Store
			if i%2 == 1 {
				asked = other
			}
			ids, err := asked.DueRefreshes(ctx, at, at.Add(24*time.Hour), 5, time.Second)
			if err != nil || len(ids) != step.want {
				redis.Errorf("step %d: %d looks instead of %d, %v", i, len(ids), step.want, err)
			}
		}
	})
}

// TestRefreshesForEvents: overdue polls leave a part of the budget for events, and use the rest and what refills it.
func TestRefreshesForEvents(t *testing.T) {
	onEach(t, func(b *fixture) {
		ctx, now := b.Context(), time.Now().Truncate(time.Millisecond)
		for i := range 60 {
			overdue := redis.Z{Score: float64(now.Add(-time.Hour).UnixMilli()), Member: fmt.Sprint("overdue-", i)}
			if err := b.redis.ZAdd(ctx, "fd:{refreshes}:registrations", overdue).Err(); err != nil {
				b.Fatal(err)
			}
		}
		taken := func(at time.Time) []string {
			b.Helper()
			ids, err := b.DueRefreshes(ctx, at, at.Add(time.Hour), 20, time.Second)
			if err != nil {
				b.Fatal(err)
			}
			return ids
		}
		if n := len(taken(now)); n != 15 {
			b.Errorf("%d polls are taken at once", n)
		}
		reported := []string{"a", "b", "c", "d", "e", "f"}
		if err := b.RequestRefresh(ctx, reported, now); err != nil {
			b.Fatal(err)
		}
		if got := taken(now); !slices.Equal(got, reported[:5]) {
			b.Errorf("of six events at that time %v are taken", got)
		}
		if got := taken(now.Add(7 * time.Second)); !slices.Equal(got, append(reported[5:], "overdue-22")) {
			b.Errorf("seven seconds later %v are taken", got)
		}
	})
}

func TestRegistrationsOfAContact(t *testing.T) {
	onEach(t, func(redis *fixture) {
		ctx := redis.Context()
		registration, another := redis.registered(), redis.registered()
		find := func(s *store.Store, contacts ...club.IRI) []string {
			redis.Helper()
			ids, err := s.RegistrationsOf(ctx, contacts...)
			if err != nil {
				redis.Fatal(err)
			}
			slices.Sort(ids)
			return ids
		}
		both := []string{registration.ID, another.ID}
		slices.Sort(both)
		if got := find(redis.Store, "/demo/contacts/7", "/demo/contacts/8"); !slices.Equal(got, both) {
			redis.Errorf("found %v", got)
		}
		registration.Contact = &flows.Contact{IRI: "/demo/contacts/8", Number: "C-0008"}
		if err := redis.AmendRegistration(ctx, registration); err != nil {
			redis.Fatal(err)
		}
		rotated := redis.open(redis.url, "two", "one")
		if got := find(rotated, "/demo/contacts/8"); !slices.Equal(got, []string{registration.ID}) {
			redis.Errorf("after the contact became another, and the key was rotated: %v", got)
		}
		if got := find(redis.Store, "/demo-x/contacts/7"); len(got) != 0 {
			redis.Errorf("in another organisation: %v", got)
		}
		for _, key := range redis.redis.Keys(ctx, "fd:contact:*").Val() {
			redis.lives(key, 44*time.Hour)
			if strings.Contains(key, "/") {
				redis.Errorf("the key %s tells whose it is", key)
			}
		}
		if n := redis.redis.ZCard(ctx, "fd:{refreshes}:registrations").Val(); n != 2 {
			redis.Errorf("%d registrations are polled", n)
		}
		for range 30 {
			redis.registered()
		}
		if got := find(redis.Store, "/demo/contacts/7"); len(got) != 20 {
			redis.Errorf("%d registrations of one contact are kept", len(got))
		}
	})
}
