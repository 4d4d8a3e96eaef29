package handlers_test

import (
	"bytes"
	"encoding/base64"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows/keyring"
	"frontdesk/flows/store"
)

// expired is the holder of a registration that is too old to be paid.
const expired = "holder, expired"

// TestAuthorisationMatrixOfExpiredAndForeign walks the matrix as callers whose credentials are valid but for an
// expired registration, another club or another organisation. It needs a Redis in which registrations can be
// made older, and the secret of the club's login.
func TestAuthorisationMatrixOfExpiredAndForeign(t *testing.T) {
	t.Parallel()
	outside, redisURL, secret := frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t), bytes.Repeat([]byte("s"), 32)
	client := frontdesktest.NewClient(
		t,
		frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim", "FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox",
			"FRONTDESK_REDIS_URL="+redisURL, "FRONTDESK_SEAL_KEYS="+base64.StdEncoding.EncodeToString(secret),
			"FRONTDESK_IDENTITY_SECRET="+string(secret), "FRONTDESK_IDENTITY_AUDIENCE=frontdesk").URL,
	)
	client.UpstreamsURL = outside.URL
	login := func(club, audience string) [2]string {
		now := time.Now()
		signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "1001", "club": club, "aud": audience,
			"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}).SignedString(secret)
		if err != nil {
			t.Fatal(err)
		}
		return bearer(signed)
	}
	client.Do("GET", "/v1/me", nil, login("11", "frontdesk")).Into(200, nil)
	age := ageing(t, redisURL, secret)
	walkMatrix(t, client, map[string]func(own holding) [][2]string{
		expired: func(own holding) [][2]string {
			age(own.id)
			return [][2]string{bearer(own.token)}
		},
		"login, another club":         func(holding) [][2]string { return [][2]string{login("12", "frontdesk")} },
		"login, another organisation": func(holding) [][2]string { return [][2]string{login("11", "another")} },
	})
}

// ageing makes registrations too old to be paid.
func ageing(t *testing.T, redisURL string, secret []byte) func(id string) {
	t.Helper()
	keys, err := keyring.New(secret)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := store.Connect(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	records := store.New(store.Config{Redis: connection, Keys: keys})
	return func(id string) {
		registration, _, err := records.Registration(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		const past = -21 * time.Hour
		registration.CreatedAt, registration.ExpiresAt = registration.CreatedAt.Add(past), registration.ExpiresAt.Add(past)
		if err := records.SaveRegistration(t.Context(), registration); err != nil {
			t.Fatal(err)
		}
	}
}
