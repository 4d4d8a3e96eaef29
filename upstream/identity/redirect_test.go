package identity_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"frontdesk/upstream/identity"
)

// TestKeysAreNotFetchedElsewhere: an attacker that makes the login's host redirect, for example through an
// open redirect, must not be able to choose the keys.
func TestKeysAreNotFetchedElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := newLogin(t)
	redirector := httptest.NewServer(http.RedirectHandler(elsewhere.url, http.StatusFound))
	t.Cleanup(redirector.Close)
	v := identity.New(identity.Config{JWKSURL: redirector.URL, Now: time.Now})
	if _, err := v.UsableKeys(t.Context()); err == nil {
		t.Error("the keys of the redirect's target are usable")
	}
	_, err := v.Verify(t.Context(), "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9.eyJzdWIiOiIxIn0.AA", "")
	if !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("a token of that host is verified with %v, want ErrUnavailable", err)
	}
	elsewhere.mu.Lock()
	defer elsewhere.mu.Unlock()
	if elsewhere.fetches != 0 {
		t.Errorf("the redirect's target was called %d times", elsewhere.fetches)
	}
}
