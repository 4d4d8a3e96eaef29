package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

func TestInvitationIsForOneUse(t *testing.T) {
	onEach(t, func(redis *fixture) {
		ctx, invitation := redis.Context(), flows.Invitation{ContactID: "1001", ClubID: "11"}
		if err := redis.SaveInvitation(ctx, "hash", invitation, time.Hour); err != nil {
			redis.Fatal(err)
		}
		for _, use := range []string{"one", "one"} { // repeated because its response was lost
			if got, err := redis.ClaimInvitation(ctx, "hash", use); err != nil || got != invitation {
				redis.Errorf("%s: %+v, %v", use, got, err)
			}
		}
		taken := func(use string) {
			redis.Helper()
			if got, err := redis.ClaimInvitation(ctx, "hash", use); !errors.Is(err, flows.ErrNotFound) {
				redis.Errorf("%s: %+v, %v", use, got, err)
			}
		}
		taken("other")
		if err := redis.ReleaseInvitation(ctx, "hash", "other"); err != nil {
			redis.Error(err)
		}
		taken("other")
		if err := redis.ReleaseInvitation(ctx, "hash", "one"); err != nil {
			redis.Error(err)
		}
		if got, err := redis.ClaimInvitation(ctx, "hash", "third"); err != nil || got != invitation {
			redis.Errorf("given back: %+v, %v", got, err)
		}
		if held := redis.redis.HGet(ctx, "fd:invitation:hash", "body").Val(); held == "" || strings.Contains(held, "1001") {
			redis.Errorf("Redis holds %q", held)
		}
		redis.expire("fd:invitation:hash")
		taken("third")
	})
}

func TestReceiptsAreKept(t *testing.T) {
	onEach(t, func(redis *fixture) {
		ctx, at := redis.Context(), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		for i, id := range []string{"one", "two"} {
			receipt := flows.Receipt{
				ID:      id,
				At:      at.Add(time.Duration(i) * time.Hour),
				Wording: "v1",
				Items:   []flows.Consent{{ID: "12012", Channel: "email", Type: "news", Authorized: true}},
			}
			if err := redis.SaveReceipt(ctx, "/demo/contacts/1001", receipt); err != nil {
				redis.Fatal(err)
			}
		}
		kept, err := redis.Receipts(ctx, "/demo/contacts/1001")
		if err != nil || len(kept) != 2 || kept[0].ID != "two" || kept[1].ID != "one" || kept[1].Items[0].Type != "news" ||
			!kept[1].At.Equal(at) {
			redis.Errorf("kept: %+v, %v", kept, err)
		}
		for _, other := range []club.IRI{"/demo/contacts/1002", "/demo-x/contacts/1001"} {
			if kept, err := redis.Receipts(ctx, other); err != nil || len(kept) != 0 {
				redis.Errorf("%s: %+v, %v", other, kept, err)
			}
		}
		for _, key := range redis.redis.Keys(ctx, "fd:receipts:*").Val() {
			if life := redis.redis.TTL(ctx, key).Val(); strings.Contains(key, "1001") || life < 2*365*24*time.Hour {
				redis.Errorf("%s lives %s", key, life)
			}
			for _, body := range redis.redis.LRange(ctx, key, 0, -1).Val() {
				if strings.Contains(body, "12012") {
					redis.Errorf("%s holds %q", key, body)
				}
			}
		}
	})
}
