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
	wanted := newcomer(world)
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

// TestCountryISO: the country's code is in a member of its own, which the other side requires. A contact is found by its address
// anyway, and a mandate takes the address over.
func TestCountryISO(t *testing.T) {
	world := newWorld(t, "country")
	world.configure(func(s *clubsim.Settings) { s.CountryISO = true })
	wanted := newcomer(world)
	_, err := world.client.CreateContact(t.Context(), world.bastille, wanted)
	wantViolation(t, err, "address.addressCountryIso")
	wanted.Address.CountryISO = "FR"
	created := must[club.Contact](t)(world.client.CreateContact(t.Context(), world.bastille, wanted))
	read := must[club.Contact](t)(world.client.GetContact(t.Context(), world.bastille, created.IRI))
	if read.Address.Country != "France" || read.Address.CountryCode() != "FR" {
		t.Errorf("address %+v", read.Address)
	}
	if found := must[[]club.Contact](t)(world.client.FindContacts(t.Context(), world.bastille, wanted, world.Now())); len(found) != 1 {
		t.Errorf("found %+v", found)
	}
	if known := must[club.Club](t)(world.client.GetClub(t.Context(), world.bastille, world.bastille.Club)); known.CountryCode() != "FR" {
		t.Errorf("club %+v", known)
	}
	order := sepa(world, read)
	must[club.Mandate](t)(world.client.CreateMandate(t.Context(), world.bastille, order))
}

// newcomer is a person to be created in the first club.
func newcomer(world *world) club.NewContact {
	home := paris
	home.CountryISO = ""
	return club.NewContact{
		FamilyName: "Testeur",
		GivenName:  "Ada",
		Gender:     "female",
		Club:       world.bastille.Club,
		BirthDate:  "1990-01-31",
		Email:      "ada@example.org",
		Mobile:     "+33600000000",
		Address:    &home,
		Status:     club.StatusTemp,
	}
}

// sepa is a mandate of a contact.
func sepa(world *world, contact club.Contact) club.NewMandate {
	return club.NewMandate{
		Club:       world.bastille.Club,
		Contact:    contact.IRI,
		FamilyName: contact.FamilyName,
		GivenName:  contact.GivenName,
		Number:     contact.Number,
		Address:    *contact.Address,
		Holder:     "Ada Testeur",
		IBAN:       "FR1420041010050500013M02606",
		BIC:        "PSSTFRPPXXX",
		Bank:       "Banque",
		ValidFrom:  world.day(0),
	}
}

// TestBacsMandate: where an installation has mandates of type bacs, they have the three fields of such an account.
func TestBacsMandate(t *testing.T) {
	world := newWorld(t, "bacs")
	client, ctx, scope := world.client, t.Context(), world.bastille
	order := sepa(world, world.visitor())
	order.Holder, order.IBAN, order.BIC, order.Bank = "", "", "", ""
	order.Bacs = &club.Bacs{Type: club.MandateBacs, AccountName: "Ada Testeur", AccountNumber: "12345678", SortCode: "12-34-56"}
	_, err := client.CreateMandate(ctx, scope, order)
	wantViolation(t, err, "iban") // the description has no other account
	world.configure(func(s *clubsim.Settings) { s.BacsMandates = true })
	mandate := must[club.Mandate](t)(client.CreateMandate(ctx, scope, order))
	request := must[club.SignatureRequest](t)(client.CreateSignatureRequest(ctx, scope, order.Contact, mandate.IRI))
	if _, err := client.ValidateSignatureRequest(ctx, scope, request.IRI, world.SMS()[0].Code); err != nil {
		t.Fatal(err)
	}
	if read := must[club.Mandate](t)(client.GetMandate(ctx, scope, mandate.IRI)); !read.Signed() {
		t.Errorf("mandate %+v", read)
	}
	order.Bacs = &club.Bacs{Type: club.MandateBacs, AccountName: "Ada Testeur", AccountNumber: "1234", SortCode: "12345"}
	_, err = client.CreateMandate(ctx, scope, order)
	wantViolation(t, err, "accountNumber")
	wantViolation(t, err, "sortCode")
}

// TestSeveralTargets: one code signs a sale and a mandate where the installation can; elsewhere nothing is sent.
func TestSeveralTargets(t *testing.T) {
	world := newWorld(t, "targets")
	client, ctx, scope := world.client, t.Context(), world.bastille
	visitor := world.visitor()
	cart := world.cart(visitor.IRI, "901")
	mandate := must[club.Mandate](t)(client.CreateMandate(ctx, scope, sepa(world, visitor)))
	_, err := client.CreateSignatureRequest(ctx, scope, visitor.IRI, cart.IRI, mandate.IRI)
	wantViolation(t, err, "targetId")
	world.configure(func(s *clubsim.Settings) { s.SeveralTargets = true })
	_, err = client.CreateSignatureRequest(ctx, scope, visitor.IRI, world.iri("sales", "999999"), mandate.IRI)
	if !errors.Is(err, club.ErrNotFound) || len(world.SMS()) != 0 {
		t.Errorf("a sale that does not exist: %v, %d codes", err, len(world.SMS()))
	}
	request := must[club.SignatureRequest](t)(client.CreateSignatureRequest(ctx, scope, visitor.IRI, cart.IRI, mandate.IRI))
	if sent := world.SMS(); len(sent) != 1 {
		t.Fatalf("%d codes", len(sent))
	}
	if _, err := client.ValidateSignatureRequest(ctx, scope, request.IRI, world.SMS()[0].Code); err != nil {
		t.Fatal(err)
	}
	if read := must[club.Mandate](t)(client.GetMandate(ctx, scope, mandate.IRI)); !read.Signed() {
		t.Errorf("mandate %+v", read)
	}
	if sale, _ := world.Sale(string(cart.IRI)); sale.SignedAt.IsZero() {
		t.Errorf("sale %+v", sale)
	}
}

// TestBundle: the details of a package's parts are sent by the identifiers of their offers.
func TestBundle(t *testing.T) {
	world := newWorld(t, "bundle")
	client, ctx, scope := world.client, t.Context(), world.bastille
	cart := world.cart(world.visitor().IRI)
	part := club.NewArticle{Offer: world.iri("offers", "101"), StartDate: world.day(3)}
	packaged := club.NewArticle{Offer: world.iri("offers", "3301"), Bundle: []club.NewArticle{part}}
	if err := client.AddArticle(ctx, scope, cart.IRI, packaged); err != nil {
		t.Fatal(err)
	}
	if check := must[club.SaleCheck](t)(client.CheckSale(ctx, scope, cart.IRI)); !check.Valid {
		t.Errorf("the part's start date is not the package's: %+v", check)
	}
	packaged.Offer = world.iri("offers", "201")
	wantViolation(t, client.AddArticle(ctx, scope, cart.IRI, packaged), "bundleContent")
	packaged = club.NewArticle{Offer: world.iri("offers", "3301"), Bundle: []club.NewArticle{{Offer: world.iri("offers", "999999")}}}
	wantViolation(t, client.AddArticle(ctx, scope, cart.IRI, packaged), "bundleContent."+string(world.iri("offers", "999999")))
}
