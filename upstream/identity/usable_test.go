package identity_test

import (
	"crypto"
	"net/http"
	"testing"

	"frontdesk/upstream/identity"
)

// TestUsableKeys counts the keys that can have signed a token, and returns an error if they cannot be read.
func TestUsableKeys(t *testing.T) {
	t.Parallel()
	login := newLogin(t)
	expect := func(what string, want int, fails bool) {
		t.Helper()
		if got, err := login.verifier(nil).UsableKeys(t.Context()); got != want || (err != nil) != fails {
			t.Errorf("%s: %d, %v", what, got, err)
		}
	}
	expect("one of each kind", 3, false)
	login.set(func() { login.kids = map[string]crypto.PublicKey{"ed25519": login.ed25519.Public()} })
	expect("one", 1, false)
	login.set(func() { login.kids = map[string]crypto.PublicKey{} })
	expect("none", 0, false)
	login.set(func() { login.status = http.StatusNotFound })
	expect("no such page", 0, true)
	if got, err := identity.New(identity.Config{Secret: secret, Now: login.clock}).UsableKeys(t.Context()); got != 0 || err != nil {
		t.Errorf("a login that publishes nothing: %d, %v", got, err)
	}
}
