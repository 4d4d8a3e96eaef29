package club_test

import (
	"errors"
	"testing"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestUpdateContactPath: an installation with the other path costs one call more, once; a sale that does not exist
// is not found in either.
func TestUpdateContactPath(t *testing.T) {
	world := newWorld(t, "update-contact")
	client, ctx := world.client, t.Context()
	cart := world.cart(world.visitor().IRI, "101")
	update := func(step string, wantCalls int, grant ...string) {
		t.Helper()
		before := world.calls("updateSaleContact")
		world.configure(func(s *clubsim.Settings) { s.ProductionMode, s.GrantedEndpoints = len(grant) > 0, grant })
		if err := client.UpdateSaleContact(ctx, world.bastille, cart.IRI); err != nil {
			t.Errorf("%s: %v", step, err)
		}
		if calls := world.calls("updateSaleContact") - before; calls != wantCalls {
			t.Errorf("%s: %d calls, want %d", step, calls, wantCalls)
		}
	}
	update("as described", 1)
	world.configure(func(s *clubsim.Settings) { s.UpdateContactPath = "sales" })
	update("the other path", 2)
	update("remembered", 1)
	missing := world.iri("sales", "999999")
	if err := client.UpdateSaleContact(ctx, world.bastille, missing); !errors.Is(err, club.ErrNotFound) {
		t.Errorf("a sale that does not exist: %v", err)
	}
	update("still remembered", 1)
	world.configure(func(s *clubsim.Settings) { s.UpdateContactPath = "sale" })
	update("after an upgrade, in production", 2, "PUT sale/{id}/update_contact")
	update("remembered in production", 1, "PUT sale/{id}/update_contact")
}
