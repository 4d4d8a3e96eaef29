package club_test

import (
	"net/http"
	"testing"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestCheckouts reads the registers of a club, in installations that show them.
func TestCheckouts(t *testing.T) {
	world := newWorld(t, "checkouts")
	if _, err := world.client.ListCheckouts(t.Context(), world.bastille); club.OutcomeOf(err) != club.Rejected {
		t.Errorf("as described: %v", err)
	}
	world.configure(func(s *clubsim.Settings) { s.Checkouts = "own" })
	register := club.Checkout{IRI: world.iri("checkouts", "111"), Account: "acct_demo", Currency: "EUR"}
	equal(t, must[[]club.Checkout](t)(world.client.ListCheckouts(t.Context(), world.bastille)), []club.Checkout{register})
}

// TestOddCheckouts: what an installation shows otherwise is empty, and a register of another club is left out.
func TestOddCheckouts(t *testing.T) {
	t.Parallel()
	const all = `{"hydra:member": [
		{"@id": "/demo/checkouts/1", "clubId": "/demo/clubs/12", "paymentProviderConfiguration": {"accountId": "acct_12"}},
		{"@id": "/demo/checkouts/2", "clubId": "/demo/clubs/11", "currency": 978, "paymentProviderConfiguration": []},
		{"@id": "/demo/checkouts/3", "clubId": 11, "currency": "CHF", "paymentProviderConfiguration": {"accountId": "acct_11", "publicKey": 7}},
		{"@id": "/demo/registers/4", "paymentProviderConfiguration": {"accountId": "acct_4"}}], "hydra:totalItems": 4}`
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(all)) })
	listed := must[[]club.Checkout](t)(club.New(configured(server.URL)).ListCheckouts(t.Context(), demo))
	equal(t, listed, []club.Checkout{{IRI: "/demo/checkouts/2"}, {IRI: "/demo/checkouts/3", Account: "acct_11", Currency: "CHF"}})
}
