package store_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
)

// TestConfirmationIsKept: the first confirmation of a registration stays, sealed, for its time. It is found by its contact and its person,
// and can be read after its key was replaced.
func TestConfirmationIsKept(t *testing.T) {
	onEach(t, func(redis *fixture) {
		const keep, id = 100 * 24 * time.Hour, "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11"
		first := &flows.Confirmation{Registration: id, Contact: "/demo/contacts/7", PersonPseudonyms: []string{"a-person"},
			At: time.Now().UTC().Truncate(time.Second), HTML: "<p>Ada</p>", Document: []byte(`{"of":"Ada"}`)}
		second := *first
		second.HTML = "<p>Bob</p>"
		if _, err := redis.Confirmation(redis.Context(), id); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("before: %v", err)
		}
		for _, one := range []*flows.Confirmation{first, &second} {
			kept, err := redis.SaveConfirmation(redis.Context(), one, keep)
			if err != nil || kept.HTML != first.HTML || string(kept.Document) != string(first.Document) {
				redis.Errorf("kept: %+v, %v", kept, err)
			}
		}
		key := "fd:{" + id + "}:confirmation"
		redis.lives(key, keep)
		if strings.Contains(redis.redis.Get(redis.Context(), key).Val(), "Ada") {
			redis.Error("it is not sealed")
		}
		byContact, err := redis.ConfirmationsOf(redis.Context(), "/demo/contacts/7")
		byPerson, other := redis.ConfirmationsBy(redis.Context(), "nobody", "a-person")
		if err != nil || other != nil || !slices.Equal(byContact, []string{id}) || !slices.Equal(byPerson, []string{id}) {
			redis.Errorf("found by contact %v, %v, by person %v, %v", byContact, err, byPerson, other)
		}
		if err := redis.open(redis.url, "two", "one").RenewConfirmations(redis.Context()); err != nil {
			redis.Fatal(err)
		}
		kept, err := redis.open(redis.url, "two").Confirmation(redis.Context(), id)
		if err != nil || kept.HTML != first.HTML {
			redis.Errorf("after the rotation: %+v, %v", kept, err)
		}
		redis.lives(key, keep)
		again, err := redis.open(redis.url, "two").ConfirmationsOf(redis.Context(), "/demo/contacts/7")
		if err != nil || !slices.Equal(again, []string{id}) {
			redis.Errorf("after the rotation, it is found by contact: %v, %v", again, err)
		}
		if _, err := redis.Confirmation(redis.Context(), id); err == nil || errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("without its key: %v", err)
		}
	})
}

// TestConfirmationWithoutReply: a confirmation whose reply from Redis is lost is stored once, and returned.
func TestConfirmationWithoutReply(t *testing.T) {
	onEach(t, func(redis *fixture) {
		lossy, _ := redis.behind(1)
		kept, err := lossy.SaveConfirmation(redis.Context(), &flows.Confirmation{Registration: "r", HTML: "first"}, time.Hour)
		if err != nil || kept.HTML != "first" {
			redis.Errorf("%+v, %v", kept, err)
		}
	})
}

// TestStrangersHideNoContract: a hundred free orders of a stranger in somebody's name leave the contract found by the name that this person
// has paid, or signed a mandate for.
func TestStrangersHideNoContract(t *testing.T) {
	onEach(t, func(redis *fixture) {
		const keep = 100 * 24 * time.Hour
		save := func(id, document string, at time.Time) {
			redis.Helper()
			one := &flows.Confirmation{Registration: id, PersonPseudonyms: []string{"a-name"}, At: at, Document: []byte(document)}
			if _, err := redis.SaveConfirmation(redis.Context(), one, keep); err != nil {
				redis.Fatal(err)
			}
		}
		now := time.Now()
		save("paid", `{"payment":{"method":"card"}}`, now.Add(-time.Hour))
		save("signed", `{"payment":{"method":"later"},"mandate":{"signedAt":"2026-11-01T10:00:00Z"}}`, now.Add(-time.Hour))
		for n := range 100 {
			save("strange-"+strconv.Itoa(n), `{"payment":{"method":"free"}}`, now)
		}
		found, err := redis.ConfirmationsBy(redis.Context(), "a-name")
		if err != nil || !slices.Contains(found, "paid") || !slices.Contains(found, "signed") || len(found) != 100 {
			redis.Errorf("%d are found, not the person's own: %v, %v", len(found), found, err)
		}
	})
}

// TestMailsLackHidesNoHold: a mail that lacked something leaves the reason for which another one of the same confirmation is held.
func TestMailsLackHidesNoHold(t *testing.T) {
	onEach(t, func(redis *fixture) {
		for _, reason := range []flows.HoldReason{flows.WithoutContract, flows.HeldByLimit, flows.WithoutContract} {
			if err := redis.HoldMail(redis.Context(), "r", flows.MailHold{Reason: reason, At: time.Now()}); err != nil {
				redis.Fatal(err)
			}
		}
		if hold, err := redis.MailHold(redis.Context(), "r"); err != nil || hold.Reason != flows.HeldByLimit {
			redis.Errorf("%+v, %v", hold, err)
		}
	})
}
