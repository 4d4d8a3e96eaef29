package club_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"frontdesk/upstream/club"
)

// TestContactToken: with the address of a contact the client gets that contact's token, whatever its own may do, and an address that
// no contact has gives none.
func TestContactToken(t *testing.T) {
	world := newWorld(t, "contact-token")
	token := must[string](t)(world.client.ContactToken(t.Context(), world.ClientToken(), "prospect@example.com"))
	own := must[club.Contact](t)(world.client.OwnContact(t.Context(), world.ClientToken(), token))
	if own.IRI != world.iri("contacts", "1003") {
		t.Errorf("it is the token of %s", own.IRI)
	}
	_, err := world.client.ContactToken(t.Context(), world.ClientToken(), "nobody@example.com")
	if e := asError(t, err); !errors.Is(err, club.ErrGrantRefused) || e.Outcome != club.Rejected || strings.Contains(err.Error(), "nobody") {
		t.Errorf("%v", err)
	}
	cfg := world.config()
	cfg.ClientSecret = "other"
	if _, err := club.New(cfg).ContactToken(t.Context(), world.ClientToken(), "prospect@example.com"); errors.Is(err, club.ErrGrantRefused) ||
		!errors.Is(err, club.ErrUnauthorized) {
		t.Errorf("wrong credentials: %v", err)
	}
	if _, err := world.client.ContactToken(t.Context(), "a/b", "prospect@example.com"); !errors.Is(err, club.ErrBadIRI) {
		t.Errorf("no organisation: %v", err)
	}
}

// TestClubToken: a club's token sees that club, and no club outside the client's scope has one.
func TestClubToken(t *testing.T) {
	world := newWorld(t, "club-token")
	token := must[string](t)(world.client.ClubToken(t.Context(), world.bastille.Club))
	r, _ := http.NewRequestWithContext(t.Context(), "GET", world.url+string(world.iri("contacts", "1001")), nil)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("X-Gateway-Api-Key", world.config().GatewayKey)
	response := must[*http.Response](t)(http.DefaultClient.Do(r))
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
	if _, err := world.client.ClubToken(t.Context(), world.iri("clubs", "99")); !errors.Is(err, club.ErrGrantRefused) {
		t.Errorf("unknown club: %v", err)
	}
}

// TestGrantPath: own tokens are requested below the client token, unless another path is configured.
func TestGrantPath(t *testing.T) {
	for configuredPath, wanted := range map[string]string{"": "/api/demo/oauth/v2/token", "/auth/token": "/auth/token"} {
		issuer := newIssuer(t, 3600)
		cfg := configured(issuer.URL)
		cfg.TokenPath, cfg.PathPrefix = configuredPath, "/api"
		must[string](t)(club.New(cfg).ContactToken(t.Context(), "demo", "ada@example.org"))
		r := issuer.asked[0]
		form := "client_id=id&client_secret=secret&email=ada%40example.org&grant_type=http%3A%2F%2Fcontactclientcredentials"
		if r.URL.Path != wanted || r.PostForm.Encode() != form || r.URL.RawQuery != "" {
			t.Errorf("asked at %s with %s", r.URL, r.PostForm.Encode())
		}
	}
}
