package club_test

import (
	"context"
	"errors"
	"testing"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestNetworkInTheSimulator reads the demo chains in both shapes.
func TestNetworkInTheSimulator(t *testing.T) {
	for _, nodeShape := range []string{"nested", "flat"} {
		t.Run(nodeShape, func(t *testing.T) {
			w := newWorld(t, "network")
			w.configure(func(s *clubsim.Settings) { s.NetworkNodeShape = nodeShape })
			n := must[*club.Network](t)(w.client.NetworkNodes(t.Context(), club.Scope{ClientToken: w.ClientToken()}))
			if got, want := shape(n), "11:1/2/3 12:1/2/4 13:1/5 21:6/7 22:6/8"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			own, _ := n.NodeOf(w.bastille.Club)
			if own.Name != "Lumen Bastille" || own.Alias != "bastille" || own.Type != "club" || len(own.Children) != 0 {
				t.Errorf("node %+v", own)
			}
			if got, ok := n.CommonAncestor(w.bastille.Club, w.batignolles.Club); !ok || got.ID() != "2" {
				t.Errorf("common ancestor of two clubs of a franchise: %s", got)
			}
			if _, ok := n.CommonAncestor(w.bastille.Club, w.lille.Club); ok {
				t.Error("a common ancestor of two chains")
			}
		})
	}
}

// TestOtherForms runs a journey against a club system that responds in unusual forms.
func TestOtherForms(t *testing.T) {
	for name, change := range map[string]func(*clubsim.Settings){
		"without prefix":  func(s *clubsim.Settings) { s.HydraPrefix = false },
		"small pages":     func(s *clubsim.Settings) { s.PageSize = 7 },
		"status 200":      func(s *clubsim.Settings) { s.CreatedStatus = 200 },
		"plain errors":    func(s *clubsim.Settings) { s.ErrorShape = "plain" },
		"no expires_in":   func(s *clubsim.Settings) { s.TokenExpiresIn = false },
		"target survives": func(s *clubsim.Settings) { s.MigrationKeeps = "target" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "forms")
			w.configure(change)
			c, ctx, s := w.client, t.Context(), w.bastille
			if products := must[[]club.Product](t)(c.ListProducts(ctx, s, club.ProductQuery{})); len(products) < 40 {
				t.Errorf("%d products", len(products))
			}
			cart := w.cart(w.visitor().IRI, "401")
			if check := must[club.SaleCheck](t)(c.CheckSale(ctx, s, cart.IRI)); !check.Valid {
				t.Errorf("check %+v", check)
			}
			must[club.Receipt](t)(c.CreatePayment(ctx, s, cart.IRI, w.paying(cart), nil))
			wantCode(t, c.PostponeDue(ctx, s, cart.IRI, w.day(1), nil), "api.error.sale.not-editable")
			_, err := c.CreateMandate(ctx, s, club.NewMandate{Club: s.Club, Contact: cart.Contact})
			wantViolation(t, err, "iban")
			_, err = c.GetContact(ctx, s, w.iri("contacts", "999999"))
			if !errors.Is(err, club.ErrNotFound) {
				t.Errorf("unknown contact: %v", err)
			}
		})
	}
}

// TestWritesWithoutBodies: a response without a body is enough where the caller finds out later what was done;
// otherwise it counts as lost.
func TestWritesWithoutBodies(t *testing.T) {
	w := newWorld(t, "bodies")
	c, ctx, s := w.client, t.Context(), w.bastille
	cart := w.cart(w.visitor().IRI)
	w.configure(func(s *clubsim.Settings) { s.WriteBodies = false })
	wantOutcome(t, c.AddArticle(ctx, s, cart.IRI, club.NewArticle{Offer: w.iri("offers", "101")}), club.Unknown)
	cart = must[club.Sale](t)(c.GetSale(ctx, s, cart.IRI))
	if receipt := must[club.Receipt](t)(c.CreatePayment(ctx, s, cart.IRI, w.paying(cart), nil)); receipt.Payment != "" {
		t.Errorf("receipt %+v", receipt)
	}
	_, err := c.CreateSale(ctx, s, club.NewSale{Contact: cart.Contact, Club: s.Club, ClubCode: "PARIS11"})
	if e := asError(t, err); e.Outcome != club.Unknown || e.Status != 201 || w.calls("createSale") != 2 {
		t.Errorf("sale without an IRI: %v after %d calls", e, w.calls("createSale"))
	}
}

// TestProductionMode: every operation is refused unless its endpoint is granted.
func TestProductionMode(t *testing.T) {
	w := newWorld(t, "production")
	cart := w.cart(w.visitor().IRI, "101")
	w.configure(func(s *clubsim.Settings) {
		s.ProductionMode, s.GrantedEndpoints = true, []string{"getSale", "GET /products"}
	})
	c, ctx := w.client, t.Context()
	must[club.Sale](t)(c.GetSale(ctx, w.bastille, cart.IRI))
	must[[]club.Product](t)(c.ListProducts(ctx, w.bastille, club.ProductQuery{}))
	for name, err := range map[string]error{
		"CreateSale":    result(c.CreateSale(ctx, w.bastille, club.NewSale{})),
		"GetContact":    result(c.GetContact(ctx, w.bastille, cart.Contact)),
		"CheckSale":     result(c.CheckSale(ctx, w.bastille, cart.IRI)),
		"CreatePayment": result(c.CreatePayment(ctx, w.bastille, cart.IRI, w.paying(cart), nil)),
		"PostponeDue":   c.PostponeDue(ctx, w.bastille, cart.IRI, w.day(1), nil),
		"ListOptins":    result(c.ListOptins(ctx, w.bastille, "")),
	} {
		e := asError(t, err)
		if e.Outcome != club.Refused || e.Code != club.CodeUnauthorizedEndpoint || !errors.Is(err, club.ErrEndpointNotGranted) ||
			e.Operation != name {
			t.Errorf("%s: %v", name, e)
		}
	}
	if len(w.Ledger()) != 0 {
		t.Error("a payment was booked")
	}
}

// TestCredentials checks the gateway's key, the client's secret and the organisation.
func TestCredentials(t *testing.T) {
	w := newWorld(t, "credentials")
	read := func(change func(*club.Config), s club.Scope) error {
		cfg := w.config()
		change(&cfg)
		return result(club.New(cfg).GetClub(t.Context(), s, club.NewIRI(s.ClientToken, "clubs", "11")))
	}
	unchanged := func(*club.Config) {}
	if err := read(unchanged, w.bastille); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*club.Config){
		"no gateway key":    func(cfg *club.Config) { cfg.GatewayKey = "" },
		"wrong gateway key": func(cfg *club.Config) { cfg.GatewayKey = "other" },
		"wrong header":      func(cfg *club.Config) { cfg.GatewayKeyHeader = "X-Key" },
		"wrong secret":      func(cfg *club.Config) { cfg.ClientSecret = "other" },
	} {
		err := read(change, w.bastille)
		inner := asError(t, asError(t, err).Err)
		if club.OutcomeOf(err) != club.NotSent || inner.Operation != "Token" || !errors.Is(inner, club.ErrUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := read(func(cfg *club.Config) { cfg.GatewayKeyHeader = "X-Some-Api-Key" }, w.bastille); err != nil {
		t.Errorf("another name for the gateway key's header: %v", err)
	}
	other := club.Scope{ClientToken: "demo-other", Club: "/demo-other/clubs/11", Node: "/demo-other/network_nodes/3"}
	if err := read(unchanged, other); !errors.Is(err, club.ErrNotFound) {
		t.Errorf("foreign organisation: %v, want ErrNotFound", err)
	}
}

// TestScopeRules: the club and the node determine whose data can be read.
func TestScopeRules(t *testing.T) {
	w := newWorld(t, "scope")
	c, ctx := w.client, t.Context()
	paula := club.IRI(w.persona("prospect").ContactID) // of the club in Lyon
	for name, tt := range map[string]struct {
		scope club.Scope
		want  error
	}{
		"her club":             {w.lyon, nil},
		"the head of chain":    {w.lumen, nil},
		"another club":         {w.bastille, club.ErrNotFound},
		"another chain":        {w.lille, club.ErrNotFound},
		"no headers":           {club.Scope{ClientToken: w.ClientToken()}, club.ErrNotFound},
		"no node":              {club.Scope{ClientToken: w.ClientToken(), Club: w.lyon.Club}, club.ErrNotFound},
		"a node of other club": {club.Scope{ClientToken: w.ClientToken(), Club: w.lyon.Club, Node: w.bastille.Node}, club.ErrNotFound},
		"a club as node":       {club.Scope{ClientToken: w.ClientToken(), Club: w.lyon.Club, Node: w.lyon.Club}, club.ErrNotFound},
	} {
		_, err := c.GetContact(ctx, tt.scope, paula)
		if !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
			t.Errorf("from %s: %v, want %v", name, err, tt.want)
		}
	}
	journal := w.Requests()
	last := journal[len(journal)-1]
	if last.Method != "GET" || last.Operation != "getContact" {
		t.Errorf("journal %+v", last)
	}
}

// TestRejections covers each rule of the club system that a request can break.
func TestRejections(t *testing.T) {
	w := newWorld(t, "rules")
	c, s := w.client, w.bastille
	who := w.visitor()
	cart, banned := w.cart(who.IRI, "101"), club.IRI(w.persona("banned").ContactID)
	minor := w.cart(club.IRI(w.persona("minor").ContactID), "401")
	bad := w.paying(cart)
	bad.Amount, bad.Mean = 0, "shells"
	unreachable := must[club.Contact](
		t,
	)(
		c.CreateContact(t.Context(), s, club.NewContact{FamilyName: "Testeur", GivenName: "Bob", Club: s.Club}),
	)
	mandate := must[club.Mandate](
		t,
	)(
		c.CreateMandate(t.Context(), s, club.NewMandate{
			Club:       s.Club,
			Contact:    unreachable.IRI,
			FamilyName: "Testeur",
			GivenName:  "Bob",
			Number:     "1",
			Address:    paris,
			Holder:     "Bob",
			IBAN:       "FR7630006000011234567890189",
			BIC:        "AGRIFRPP",
			Bank:       "B",
			ValidFrom:  w.day(0),
		}),
	)

	for name, tt := range map[string]struct {
		call  func(context.Context) error
		field string // that a violation names
	}{
		"contact without names": {func(ctx context.Context) error { return result(c.CreateContact(ctx, s, club.NewContact{})) }, "familyName"},
		"contact without club":  {func(ctx context.Context) error { return result(c.CreateContact(ctx, s, club.NewContact{})) }, "clubId"},
		"contact of other status": {func(ctx context.Context) error {
			return result(c.CreateContact(ctx, s, club.NewContact{Status: club.StatusCustomer}))
		}, "status"},
		"sale without code": {func(ctx context.Context) error { return result(c.CreateSale(ctx, s, club.NewSale{})) }, "clubCode"},
		"sale with wrong code": {func(ctx context.Context) error {
			return result(c.CreateSale(ctx, s, club.NewSale{Contact: who.IRI, Club: s.Club, ClubCode: "X"}))
		}, "clubCode"},
		"article without offer": {func(ctx context.Context) error { return c.AddArticle(ctx, s, cart.IRI, club.NewArticle{}) }, "offerId"},
		"article with wrong date": {func(ctx context.Context) error {
			return c.AddArticle(ctx, s, cart.IRI, club.NewArticle{StartDate: "soon"})
		}, "implementation.startDate"},
		"payment of nothing":       {func(ctx context.Context) error { return result(c.CreatePayment(ctx, s, cart.IRI, bad, nil)) }, "amount"},
		"payment by shells":        {func(ctx context.Context) error { return result(c.CreatePayment(ctx, s, cart.IRI, bad, nil)) }, "mean"},
		"deferral without date":    {func(ctx context.Context) error { return c.PostponeDue(ctx, s, cart.IRI, "", nil) }, "date"},
		"deferral of invalid sale": {func(ctx context.Context) error { return c.PostponeDue(ctx, s, minor.IRI, w.day(1), nil) }, "articles[0]"},
		"signature without a phone": {func(ctx context.Context) error {
			return result(c.CreateSignatureRequest(ctx, s, unreachable.IRI, mandate.IRI))
		}, "contactId"},
		"products of no channel": {func(ctx context.Context) error {
			return result(c.ListProducts(ctx, s, club.ProductQuery{Channel: "radio"}))
		}, "context[channel]"},
		"debit days from never": {func(ctx context.Context) error { return result(c.ListAllowedDebitDays(ctx, s, "never")) }, "startDate"},
	} {
		t.Run(name, func(t *testing.T) { wantViolation(t, tt.call(t.Context()), tt.field) })
	}
	check := must[club.SaleCheck](t)(c.CheckSale(t.Context(), s, w.cart(banned, "201").IRI))
	if check.Valid || !hasCode(check.Violations, "api.error.sale.contact-banned") {
		t.Errorf("check for a banned contact %+v", check)
	}
	check = must[club.SaleCheck](t)(c.CheckSale(t.Context(), s, minor.IRI))
	if check.Valid || !hasCode(check.Violations, "api.error.sale.article.age-restricted") {
		t.Errorf("check for a minor %+v", check)
	}
}

// TestNotFound covers every operation that names a record that does not exist.
func TestNotFound(t *testing.T) {
	w := newWorld(t, "missing")
	c, s := w.client, w.bastille
	cart := w.cart(w.visitor().IRI)
	missing := func(collection string) club.IRI { return w.iri(collection, "999999") }
	for name, call := range map[string]func(context.Context) error{
		"GetContact":           func(ctx context.Context) error { return result(c.GetContact(ctx, s, missing("contacts"))) },
		"GetAccountStatistics": func(ctx context.Context) error { return result(c.GetAccountStatistics(ctx, s, missing("contacts"))) },
		"GetClub":              func(ctx context.Context) error { return result(c.GetClub(ctx, s, missing("clubs"))) },
		"GetSale":              func(ctx context.Context) error { return result(c.GetSale(ctx, s, missing("sales"))) },
		"CheckSale":            func(ctx context.Context) error { return result(c.CheckSale(ctx, s, missing("sales"))) },
		"UpdateSaleContact":    func(ctx context.Context) error { return c.UpdateSaleContact(ctx, s, missing("sales")) },
		"AddArticle": func(ctx context.Context) error {
			return c.AddArticle(ctx, s, cart.IRI, club.NewArticle{Offer: missing("offers")})
		},
		"CreateSale": func(ctx context.Context) error {
			return result(c.CreateSale(ctx, s, club.NewSale{Contact: missing("contacts"), Club: s.Club, ClubCode: "PARIS11"}))
		},
		"CreatePayment": func(ctx context.Context) error {
			return result(c.CreatePayment(ctx, s, missing("sales"), w.paying(cart), nil))
		},
		"PostponeDue":  func(ctx context.Context) error { return c.PostponeDue(ctx, s, missing("sales"), w.day(1), nil) },
		"ValidateSale": func(ctx context.Context) error { return c.ValidateSale(ctx, s, missing("sales"), nil) },
		"CreateSignatureRequest": func(ctx context.Context) error {
			return result(c.CreateSignatureRequest(ctx, s, cart.Contact, missing("mandates")))
		},
		"ValidateSignatureRequest": func(ctx context.Context) error {
			return c.ValidateSignatureRequest(ctx, s, missing("signature_requests"), "1")
		},
		"CancelSignatureRequest": func(ctx context.Context) error {
			return c.CancelSignatureRequest(ctx, s, missing("signature_requests"))
		},
		"MigrateContact": func(ctx context.Context) error {
			return c.MigrateContact(ctx, s, missing("contacts"), w.persona("prospect").AccessToken, club.Migration{
				Contact: cart.Contact,
				Club:    s.Club,
			})
		},
		"ListOffers":  func(ctx context.Context) error { return result(c.ListOffers(ctx, s, missing("products"))) },
		"ListOptins":  func(ctx context.Context) error { return result(c.ListOptins(ctx, s, missing("contacts"))) },
		"UpdateOptin": func(ctx context.Context) error { return c.UpdateOptin(ctx, s, missing("optins"), true) },
	} {
		t.Run(name, func(t *testing.T) {
			e := asError(t, call(t.Context()))
			if !errors.Is(e, club.ErrNotFound) || e.Outcome != club.Rejected || e.Status != 404 || e.Operation != name {
				t.Errorf("%v, want ErrNotFound", e)
			}
		})
	}
}
