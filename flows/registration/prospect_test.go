package registration_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

func (w *world) migrate(g *gateway, r *flows.Registration, accessToken string) (flows.View, error) {
	return g.Registrations.Migrate(w.Context(), r.ID, holderToken, accessToken)
}

// expectProspect checks that the registration and the sale belong to the known contact.
func (w *world) expectProspect(view flows.View) {
	w.Helper()
	known := w.Persona("prospect")
	sale := must(w, func() (club.Sale, error) { return w.Club.GetSale(w.Context(), bastille, view.Sale) })
	if string(view.Contact.IRI) != known.ContactID || view.Contact.Status != "prospect" || string(sale.Contact) != known.ContactID ||
		sale.FamilyName != known.FamilyName {
		w.Errorf("the registration is %+v's, the sale %s's; want %s", view.Contact, sale.Contact, known.ContactID)
	}
	if known.ClubID != "/demo/clubs/11" || !view.Cart.Valid {
		w.Errorf("the prospect is of %s, the cart %+v", known.ClubID, view.Cart)
	}
}

// TestProspect attaches a known contact to a registration, whichever of the two contacts the club system
// keeps, and the contact pays.
func TestProspect(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	view, err := world.migrate(gateway, registration, world.Persona("prospect").AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	world.expectProspect(view)
	if got := strings.Join(view.Actions, " "); got != "pay check add_item clear_items consents abandon" {
		t.Errorf("they can %s", got)
	}
	if found := world.FoundByEmail(gateway, world.Persona("prospect")); len(found) != 1 || found[0] != registration.ID {
		t.Errorf("an erasure by the account's e-mail address finds %v", found)
	}
	if again, err := world.migrate(gateway, registration, "another"); err != nil || again.Contact.IRI != view.Contact.IRI {
		t.Errorf("again: %v", err)
	}
	if _, err := gateway.Registrations.PutPerson(t.Context(), registration.ID, holderToken, visitor); flows.CodeOf(err) != flows.PersonKnown {
		t.Errorf("their details are changed: %v", err)
	}
	p := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
	world.Confirm(p, goodCard)
	p = world.Advance(gateway, p)
	if p.State != flows.Recorded {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	world.Clock.Advance(5 * time.Second) // the status is read for those who still look then
	done := must(t, func() (flows.View, error) {
		return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
	})
	if done.Contact.Status != "customer" {
		t.Errorf("in the end they are a %s", done.Contact.Status)
	}
	if strings.Contains(world.Journal.String(), "eyJ") {
		t.Error("a token is in the log")
	}
}

func TestProspectKeptAsTarget(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	if err := world.Sim.Configure(func(s *clubsim.Settings) { s.MigrationKeeps = "target" }); err != nil {
		t.Fatal(err)
	}
	r := world.Registered(g)
	view, err := world.migrate(g, r, world.Persona("prospect").AccessToken)
	if err != nil || view.Contact.IRI != r.Contact.IRI || view.Contact.Status != "prospect" || !view.Prospect.Done {
		t.Errorf("the registration is %+v's (%v)", view.Contact, err)
	}
}

// TestProspectRefused: a refusal says why the contact cannot be attached, and leaves
// the registration unchanged.
func TestProspectRefused(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	own := must(t, func() (string, error) { return world.Persona("minor").AccessToken, nil })
	for name, test := range map[string]struct {
		token string
		code  flows.Code
	}{
		"no token at all":       {"what is this", flows.AccessTokenRefused},
		"an unknown token":      {"bm9ib2R5.x", flows.AccessTokenRefused},
		"a header in it":        {"x\r\nX-User-Club-Id: /demo/clubs/11", flows.AccessTokenRefused},
		"known at this club":    {own, flows.MigrationClub},
		"a former member":       {world.Persona("former").AccessToken, flows.MigrationContact},
		"a member of this club": {world.Persona("customer").AccessToken, flows.MigrationClub},
	} {
		registration := world.Registered(gateway)
		_, err := world.migrate(gateway, registration, test.token)
		if flows.CodeOf(err) != test.code || strings.Contains(err.Error(), test.token) {
			t.Errorf("%s: %v", name, err)
		}
		view := must(t, func() (flows.View, error) {
			return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
		})
		if view.Prospect != nil || view.Contact.IRI != registration.Contact.IRI ||
			!strings.Contains(strings.Join(view.Actions, " "), "person prospect") {
			t.Errorf("%s: left behind %+v, %v", name, view.Prospect, view.Actions)
		}
	}
	bare := world.Registered(gateway)
	if _, err := gateway.Registrations.ClearItems(t.Context(), bare.ID, holderToken); err != nil {
		t.Fatal(err)
	}
	if _, err := world.migrate(gateway, bare, own); flows.CodeOf(err) != flows.CartEmpty {
		t.Errorf("without a cart: %v", err)
	}
}

// TestProspectPromised: a success without effect in front of the club system is not a migration. The visitor reads
// so, and can do without the account.
func TestProspectPromised(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 204} {
		world := newWorld(t)
		gateway := world.Gateway()
		registration := world.Registered(gateway)
		world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "PUT", Path: "/contacts/*/migrate"}, Kind: "empty_success", Status: status})
		for range 2 {
			if _, err := world.migrate(gateway, registration, world.Persona("prospect").AccessToken); flows.CodeOf(err) != flows.ClubSystemFailed {
				t.Errorf("%d: the visitor got %v", status, err)
			}
		}
		view := must(t, func() (flows.View, error) {
			return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
		})
		if view.Contact.IRI != registration.Contact.IRI || !slices.Contains(view.Actions, "person") ||
			!slices.Contains(view.Actions, "prospect") {
			t.Errorf("%d: %+v, %v", status, view.Contact, view.Actions)
		}
		if world.Persona("prospect").ClubID != "/demo/clubs/13" {
			t.Errorf("%d: the prospect is of club %s", status, world.Persona("prospect").ClubID)
		}
		world.Fault()
		world.expectProspect(must(t, func() (flows.View, error) {
			return world.migrate(gateway, registration, world.Persona("prospect").AccessToken)
		}))
	}
}

// TestProspectHalfDone loses each call in each way: repeating the request completes it, and never does
// anything twice.
func TestProspectHalfDone(t *testing.T) {
	t.Parallel()
	for _, at := range []clubsim.FaultMatch{
		{Method: "GET", Path: "/optins"}, {Method: "PUT", Path: "/contacts/*/migrate"}, {Method: "PUT", Path: "/sale/*/update_contact"},
		{Method: "GET", Path: "/sales/*"}, {Method: "GET", Path: "/contacts/*"},
	} {
		for _, kind := range []string{"error_before", "error_after", "drop_after", "malformed", "foreign_page", "foreign_json", "empty_success"} {
			t.Run(at.Path[1:]+" "+kind, func(t *testing.T) {
				t.Parallel()
				world := newWorld(t)
				gateway := world.Gateway()
				registration := world.Registered(gateway)
				token := world.Persona("prospect").AccessToken
				world.Fault(clubsim.Fault{Match: at, Kind: kind, Times: new(1)})
				view, err := world.migrate(gateway, registration, token)
				if err != nil {
					if code := flows.CodeOf(err); code != flows.ClubSystemFailed && code != flows.ClubSystemUnavailable {
						t.Errorf("the visitor got %v", err)
					}
					if view, err = world.migrate(gateway, registration, token); err != nil {
						t.Fatal(err)
					}
				}
				world.expectProspect(view)
				migrated := 0
				for _, request := range world.Sim.Requests() {
					if strings.HasSuffix(request.Path, "/migrate") && request.Status == 204 {
						migrated++
					}
				}
				if migrated > 1 {
					t.Errorf("%d migrations", migrated)
				}
			})
		}
	}
}

// TestProspectForeignAnswer: something in front of the club system answers the migration with 200, and nothing was
// migrated. The person reads so, and the repetition migrates.
func TestProspectForeignAnswer(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	token := world.Persona("prospect").AccessToken
	world.Inject(callFault{Call: "PUT /sim/demo/contacts/*/migrate", Fail: 1, Status: http.StatusOK})
	if _, err := world.migrate(gateway, registration, token); flows.CodeOf(err) != flows.ClubSystemFailed {
		t.Errorf("the foreign answer: %v", err)
	}
	world.expectProspect(must(t, func() (flows.View, error) { return world.migrate(gateway, registration, token) }))
}

// TestProspectIdentified: whom the club's login identifies brings the account along without an access token, if the operator allows
// it. The club system gives the gateway that token for the address of the identified contact alone.
func TestProspectIdentified(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	allowed := world.Gateway(gatewayOptions{ContactTokens: true})
	identity := func(key string) flows.ContactIdentity {
		known := world.Persona(key)
		return flows.ContactIdentity{ClientToken: "demo", ContactID: club.IRI(known.ContactID).ID(), ClubID: club.IRI(known.ClubID).ID()}
	}
	elsewhere, unknown := identity("prospect"), identity("prospect")
	elsewhere.ClientToken, unknown.ContactID = "demo-other", "999"
	for name, test := range map[string]struct {
		gateway  *gateway
		identity flows.ContactIdentity
		code     flows.Code
	}{
		"not allowed":                {world.Gateway(), identity("prospect"), flows.AccessTokenRefused},
		"of another organisation":    {allowed, elsewhere, flows.AccessTokenRefused},
		"unknown to the club system": {allowed, unknown, flows.AccessTokenRefused},
		"a former member":            {allowed, identity("former"), flows.MigrationContact},
		"a member of this club":      {allowed, identity("customer"), flows.MigrationClub},
	} {
		registration := world.Registered(test.gateway)
		_, err := test.gateway.Registrations.MigrateIdentified(t.Context(), registration.ID, holderToken, test.identity)
		if flows.CodeOf(err) != test.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	namesake := must(t, func() (club.Contact, error) { // who has the address of another contact
		lyon := club.Scope{ClientToken: "demo", Club: "/demo/clubs/13", Node: "/demo/network_nodes/5"}
		home := club.Address{Country: "FR", Locality: "Lyon", PostalCode: "69002", Street: "1 rue de la Paix"}
		return world.Club.CreateContact(t.Context(), lyon, club.NewContact{
			FamilyName: "Silva",
			GivenName:  "Pablo",
			Club:       lyon.Club,
			Email:      "prospect@example.com",
			Mobile:     "+33601020399",
			Address:    &home,
			Status:     club.StatusProspect,
		})
	})
	theirs := flows.ContactIdentity{ClientToken: "demo", ContactID: namesake.IRI.ID(), ClubID: "13"}
	if _, err := allowed.Registrations.MigrateIdentified(t.Context(), world.Registered(allowed).ID, holderToken, theirs); flows.CodeOf(err) !=
		flows.AccessTokenRefused {
		t.Errorf("with the token of the contact who has the same address: %v", err)
	}
	registration := world.Registered(allowed)
	view, err := allowed.Registrations.MigrateIdentified(t.Context(), registration.ID, holderToken, identity("prospect"))
	if err != nil {
		t.Fatal(err)
	}
	world.expectProspect(view)
}
