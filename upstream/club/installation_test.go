package club_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
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

// throughProxy returns a client whose requests to a world pass through a proxy, which changes them first.
func (w *world) throughProxy(change func(*http.Request)) *club.Client {
	target := must[*url.URL](w.t)(url.Parse(w.url))
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host})
		change(r.Out)
	}}
	server := httptest.NewServer(proxy)
	w.t.Cleanup(server.Close)
	config := w.config()
	config.BaseURL = server.URL + target.Path
	return club.New(config)
}

// TestFiltersAreNotReliedOn: an installation that ignores every filter returns too much, and the client leaves that out.
func TestFiltersAreNotReliedOn(t *testing.T) {
	world := newWorld(t, "filters")
	world.configure(func(s *clubsim.Settings) { s.RefuseFilters = true }) // so that each filter of the client is one the simulator knows
	visitor := world.visitor()
	without := world.throughProxy(func(r *http.Request) {
		query := r.URL.Query()
		for name := range query {
			if name != "page" {
				query.Del(name)
			}
		}
		r.URL.RawQuery = query.Encode()
	})
	wanted := club.NewContact{
		FamilyName: visitor.FamilyName,
		GivenName:  visitor.GivenName,
		Gender:     visitor.Gender,
		Club:       visitor.Club,
		BirthDate:  visitor.BirthDate,
		Email:      visitor.Email,
		Mobile:     visitor.Mobile,
		Address:    visitor.Address,
		Status:     club.StatusTemp,
	}
	later := world.day(20)
	read := func(client *club.Client) []any {
		ctx, scope := t.Context(), world.bastille
		return []any{
			must[[]club.Offer](t)(client.ListOffers(ctx, scope, world.iri("products", "1"))),
			must[[]club.Optin](t)(client.ListOptins(ctx, scope, visitor.IRI)),
			must[[]club.Contact](t)(client.FindContacts(ctx, scope, wanted, world.Now())),
		}
	}
	honoured := read(world.client)
	equal(t, read(without), honoured)
	if offers, consents := honoured[0].([]club.Offer), honoured[1].([]club.Optin); len(offers) == 0 || len(consents) != 12 {
		t.Errorf("%d offers, %d consents", len(offers), len(consents))
	}
	if found := honoured[2].([]club.Contact); len(found) != 1 || found[0].IRI != visitor.IRI {
		t.Errorf("found %+v", found)
	}
	for _, client := range []*club.Client{world.client, without} {
		days := must[[]club.DebitDay](t)(client.ListAllowedDebitDays(t.Context(), world.bastille, later))
		if len(days) == 0 || slices.ContainsFunc(days, func(d club.DebitDay) bool { return d.Date < later }) {
			t.Errorf("from %s: %+v", later, days)
		}
	}
	if _, err := without.ListAllowedDebitDays(t.Context(), world.bastille, world.day(100)); !errors.Is(err, club.ErrUnreadable) {
		t.Errorf("no day from the start date on: %v", err)
	}
}

// TestContentTypes: an installation that requires application/ld+json refuses a write of another type, and sells to a client
// that is configured for it. Its plain JSON lacks identifiers, so the client prefers the other form.
func TestContentTypes(t *testing.T) {
	world := newWorld(t, "content-types")
	world.configure(func(s *clubsim.Settings) { s.WriteType, s.PlainJSON = "application/ld+json", true })
	_, err := world.client.CreateContact(t.Context(), world.bastille, club.NewContact{FamilyName: "Testeur", Club: world.bastille.Club})
	if e := asError(t, err); e.Outcome != club.Rejected || e.Status != http.StatusUnsupportedMediaType {
		t.Errorf("a write of the other type: %v", e)
	}
	config := world.config()
	config.ContentType = "application/ld+json"
	world.client = club.New(config)
	cart := world.cart(world.visitor().IRI, "101")
	must[club.Receipt](t)(world.client.CreatePayment(t.Context(), world.bastille, cart.IRI, world.paying(cart), nil))
	if sale := must[club.Sale](t)(world.client.GetSale(t.Context(), world.bastille, cart.IRI)); sale.State != "settled" {
		t.Errorf("sale %+v", sale)
	}
	plain := world.throughProxy(func(r *http.Request) { r.Header.Set("Accept", "application/json") })
	if _, err := plain.GetSale(t.Context(), world.bastille, cart.IRI); club.OutcomeOf(err) != club.Unknown {
		t.Errorf("a sale without an identifier: %v", err)
	}
}

// TestSlashes: identifiers with two slashes are read, and sent with one.
func TestSlashes(t *testing.T) {
	client := reading(t, `{"@context": "/demo/contexts/Contact", "@id": "/demo//contacts/7",
		"tags": [{"@id": "//demo/contact_tags//1", "name": "a",
		"validFrom": "2026-01-01T00:00:00+01:00", "contact": "/demo//contacts/7", "subscription": {"@id": "/demo/subscriptions/1"}}]}`)
	contact := must[club.Contact](t)(client.GetContact(t.Context(), demo, "/demo/contacts/7"))
	if contact.IRI != "/demo/contacts/7" || len(contact.Tags) != 1 || contact.Tags[0].IRI != "/demo/contact_tags/1" ||
		contact.Tags[0].ValidFrom != "2026-01-01" {
		t.Errorf("contact %+v", contact)
	}
}
