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
			world := newWorld(t, "network")
			world.configure(func(s *clubsim.Settings) { s.NetworkNodeShape = nodeShape })
			network := must[*club.Network](t)(world.client.NetworkNodes(t.Context(), club.Scope{ClientToken: world.ClientToken()}))
			if got, want := shape(network), "11:1/2/3 12:1/2/4 13:1/5 21:6/7 22:6/8"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			own, _ := network.NodeOf(world.bastille.Club)
			if own.Name != "Lumen Bastille" || own.Alias != "bastille" || own.Type != "club" || len(own.Children) != 0 {
				t.Errorf("node %+v", own)
			}
			if got, ok := network.CommonAncestor(world.bastille.Club, world.batignolles.Club); !ok || got.ID() != "2" {
				t.Errorf("common ancestor of two clubs of a franchise: %s", got)
			}
			if _, ok := network.CommonAncestor(world.bastille.Club, world.lille.Club); ok {
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
			world := newWorld(t, "forms")
			world.configure(change)
			client, ctx, scope := world.client, t.Context(), world.bastille
			if products := must[[]club.Product](t)(client.ListProducts(ctx, scope, club.ProductQuery{})); len(products) < 40 {
				t.Errorf("%d products", len(products))
			}
			cart := world.cart(world.visitor().IRI, "401")
			if check := must[club.SaleCheck](t)(client.CheckSale(ctx, scope, cart.IRI)); !check.Valid {
				t.Errorf("check %+v", check)
			}
			must[club.Receipt](t)(client.CreatePayment(ctx, scope, cart.IRI, world.paying(cart), nil))
			wantCode(t, client.PostponeDue(ctx, scope, cart.IRI, world.day(1), nil), "api.error.sale.not-editable")
			_, err := client.CreateMandate(ctx, scope, club.NewMandate{Club: scope.Club, Contact: cart.Contact})
			wantViolation(t, err, "iban")
			_, err = client.GetContact(ctx, scope, world.iri("contacts", "999999"))
			if !errors.Is(err, club.ErrNotFound) {
				t.Errorf("unknown contact: %v", err)
			}
		})
	}
}

// TestWritesWithoutBodies: a response without a body is enough where the caller finds out later what was done;
// otherwise it counts as lost.
func TestWritesWithoutBodies(t *testing.T) {
	world := newWorld(t, "bodies")
	client, ctx, scope := world.client, t.Context(), world.bastille
	cart := world.cart(world.visitor().IRI)
	world.configure(func(s *clubsim.Settings) { s.WriteBodies = false })
	wantOutcome(t, client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{Offer: world.iri("offers", "101")}), club.Unknown)
	cart = must[club.Sale](t)(client.GetSale(ctx, scope, cart.IRI))
	if receipt := must[club.Receipt](t)(client.CreatePayment(ctx, scope, cart.IRI, world.paying(cart), nil)); receipt.Payment != "" {
		t.Errorf("receipt %+v", receipt)
	}
	_, err := client.CreateSale(ctx, scope, club.NewSale{Contact: cart.Contact, Club: scope.Club, ClubCode: "PARIS11"})
	if e := asError(t, err); e.Outcome != club.Unknown || e.Status != 201 || world.calls("createSale") != 2 {
		t.Errorf("sale without an IRI: %v after %d calls", e, world.calls("createSale"))
	}
}

// TestProductionMode: every operation is refused unless its endpoint is granted.
func TestProductionMode(t *testing.T) {
	world := newWorld(t, "production")
	cart := world.cart(world.visitor().IRI, "101")
	world.configure(func(s *clubsim.Settings) {
		s.ProductionMode, s.GrantedEndpoints = true, []string{"getSale", "GET /products"}
	})
	client, ctx := world.client, t.Context()
	must[club.Sale](t)(client.GetSale(ctx, world.bastille, cart.IRI))
	must[[]club.Product](t)(client.ListProducts(ctx, world.bastille, club.ProductQuery{}))
	for name, err := range map[string]error{
		"CreateSale":    result(client.CreateSale(ctx, world.bastille, club.NewSale{})),
		"GetContact":    result(client.GetContact(ctx, world.bastille, cart.Contact)),
		"CheckSale":     result(client.CheckSale(ctx, world.bastille, cart.IRI)),
		"CreatePayment": result(client.CreatePayment(ctx, world.bastille, cart.IRI, world.paying(cart), nil)),
		"PostponeDue":   client.PostponeDue(ctx, world.bastille, cart.IRI, world.day(1), nil),
		"ListOptins":    result(client.ListOptins(ctx, world.bastille, "")),
	} {
		e := asError(t, err)
		if e.Outcome != club.Refused || e.Code != club.CodeUnauthorizedEndpoint || !errors.Is(err, club.ErrEndpointNotGranted) ||
			e.Operation != name {
			t.Errorf("%s: %v", name, e)
		}
	}
	if len(world.Ledger()) != 0 {
		t.Error("a payment was booked")
	}
}

// TestCredentials checks the gateway's key, the client's secret and the organisation.
func TestCredentials(t *testing.T) {
	world := newWorld(t, "credentials")
	read := func(change func(*club.Config), s club.Scope) error {
		cfg := world.config()
		change(&cfg)
		return result(club.New(cfg).GetClub(t.Context(), s, club.NewIRI(s.ClientToken, "clubs", "11")))
	}
	unchanged := func(*club.Config) {}
	if err := read(unchanged, world.bastille); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*club.Config){
		"no gateway key":    func(cfg *club.Config) { cfg.GatewayKey = "" },
		"wrong gateway key": func(cfg *club.Config) { cfg.GatewayKey = "other" },
		"wrong header":      func(cfg *club.Config) { cfg.GatewayKeyHeader = "X-Key" },
		"wrong secret":      func(cfg *club.Config) { cfg.ClientSecret = "other" },
	} {
		err := read(change, world.bastille)
		inner := asError(t, asError(t, err).Err)
		if club.OutcomeOf(err) != club.NotSent || inner.Operation != "Token" || !errors.Is(inner, club.ErrUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := read(func(cfg *club.Config) { cfg.GatewayKeyHeader = "X-Some-Api-Key" }, world.bastille); err != nil {
		t.Errorf("another name for the gateway key's header: %v", err)
	}
	other := club.Scope{ClientToken: "demo-other", Club: "/demo-other/clubs/11", Node: "/demo-other/network_nodes/3"}
	if err := read(unchanged, other); !errors.Is(err, club.ErrNotFound) {
		t.Errorf("foreign organisation: %v, want ErrNotFound", err)
	}
}

// TestScopeRules: the club and the node determine whose data can be read.
func TestScopeRules(t *testing.T) {
	world := newWorld(t, "scope")
	client, ctx := world.client, t.Context()
	paula := club.IRI(world.persona("prospect").ContactID) // of the club in Lyon
	for name, tt := range map[string]struct {
		scope club.Scope
		want  error
	}{
		"her club":          {world.lyon, nil},
		"the head of chain": {world.lumen, nil},
		"another club":      {world.bastille, club.ErrNotFound},
		"another chain":     {world.lille, club.ErrNotFound},
		"no headers":        {club.Scope{ClientToken: world.ClientToken()}, club.ErrNotFound},
		"no node":           {club.Scope{ClientToken: world.ClientToken(), Club: world.lyon.Club}, club.ErrNotFound},
		"a node of other club": {
			club.Scope{ClientToken: world.ClientToken(), Club: world.lyon.Club, Node: world.bastille.Node},
			club.ErrNotFound,
		},
		"a club as node": {club.Scope{ClientToken: world.ClientToken(), Club: world.lyon.Club, Node: world.lyon.Club}, club.ErrNotFound},
	} {
		_, err := client.GetContact(ctx, tt.scope, paula)
		if !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
			t.Errorf("from %s: %v, want %v", name, err, tt.want)
		}
	}
	journal := world.Requests()
	last := journal[len(journal)-1]
	if last.Method != "GET" || last.Operation != "getContact" {
		t.Errorf("journal %+v", last)
	}
}

// TestRejections covers each rule of the club system that a request can break.
func TestRejections(t *testing.T) {
	world := newWorld(t, "rules")
	client, scope := world.client, world.bastille
	who := world.visitor()
	cart, banned := world.cart(who.IRI, "101"), club.IRI(world.persona("banned").ContactID)
	minor := world.cart(club.IRI(world.persona("minor").ContactID), "401")
	bad := world.paying(cart)
	bad.Amount, bad.Mean = 0, "shells"
	noMobile := club.NewContact{FamilyName: "Testeur", GivenName: "Bob", Club: scope.Club}
	unreachable := must[club.Contact](t)(client.CreateContact(t.Context(), scope, noMobile))
	mandate := must[club.Mandate](t)(client.CreateMandate(t.Context(), scope, club.NewMandate{
		Club:       scope.Club,
		Contact:    unreachable.IRI,
		FamilyName: "Testeur",
		GivenName:  "Bob",
		Number:     "1",
		Address:    paris,
		Holder:     "Bob",
		IBAN:       "FR7630006000011234567890189",
		BIC:        "AGRIFRPP",
		Bank:       "B",
		ValidFrom:  world.day(0),
	}))

	for name, tt := range map[string]struct {
		call  func(context.Context) error
		field string // that a violation names
	}{
		"contact without names": {func(ctx context.Context) error {
			return result(client.CreateContact(ctx, scope, club.NewContact{}))
		}, "familyName"},
		"contact without club": {func(ctx context.Context) error {
			return result(client.CreateContact(ctx, scope, club.NewContact{}))
		}, "clubId"},
		"contact of other status": {func(ctx context.Context) error {
			return result(client.CreateContact(ctx, scope, club.NewContact{Status: club.StatusCustomer}))
		}, "status"},
		"sale without code": {func(ctx context.Context) error { return result(client.CreateSale(ctx, scope, club.NewSale{})) }, "clubCode"},
		"sale with wrong code": {func(ctx context.Context) error {
			return result(client.CreateSale(ctx, scope, club.NewSale{Contact: who.IRI, Club: scope.Club, ClubCode: "X"}))
		}, "clubCode"},
		"article without offer": {func(ctx context.Context) error {
			return client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{})
		}, "offerId"},
		"article with wrong date": {func(ctx context.Context) error {
			return client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{StartDate: "soon"})
		}, "implementation.startDate"},
		"payment of nothing": {func(ctx context.Context) error {
			return result(client.CreatePayment(ctx, scope, cart.IRI, bad, nil))
		}, "amount"},
		"payment by shells": {func(ctx context.Context) error {
			return result(client.CreatePayment(ctx, scope, cart.IRI, bad, nil))
		}, "mean"},
		"deferral without date": {func(ctx context.Context) error { return client.PostponeDue(ctx, scope, cart.IRI, "", nil) }, "date"},
		"deferral of invalid sale": {func(ctx context.Context) error {
			return client.PostponeDue(ctx, scope, minor.IRI, world.day(1), nil)
		}, "articles[0]"},
		"signature without a phone": {func(ctx context.Context) error {
			return result(client.CreateSignatureRequest(ctx, scope, unreachable.IRI, mandate.IRI))
		}, "contactId"},
		"products of no channel": {func(ctx context.Context) error {
			return result(client.ListProducts(ctx, scope, club.ProductQuery{Channel: "radio"}))
		}, "context[channel]"},
		"debit days from never": {func(ctx context.Context) error {
			return result(client.ListAllowedDebitDays(ctx, scope, "never"))
		}, "startDate"},
	} {
		t.Run(name, func(t *testing.T) { wantViolation(t, tt.call(t.Context()), tt.field) })
	}
	check := must[club.SaleCheck](t)(client.CheckSale(t.Context(), scope, world.cart(banned, "201").IRI))
	if check.Valid || !hasCode(check.Violations, "api.error.sale.contact-banned") {
		t.Errorf("check for a banned contact %+v", check)
	}
	check = must[club.SaleCheck](t)(client.CheckSale(t.Context(), scope, minor.IRI))
	if check.Valid || !hasCode(check.Violations, "api.error.sale.article.age-restricted") {
		t.Errorf("check for a minor %+v", check)
	}
}

// TestNotFound covers every operation that names a record that does not exist.
func TestNotFound(t *testing.T) {
	world := newWorld(t, "missing")
	client, scope := world.client, world.bastille
	cart := world.cart(world.visitor().IRI)
	missing := func(collection string) club.IRI { return world.iri(collection, "999999") }
	for name, call := range map[string]func(context.Context) error{
		"GetContact": func(ctx context.Context) error { return result(client.GetContact(ctx, scope, missing("contacts"))) },
		"GetAccountStatistics": func(ctx context.Context) error {
			return result(client.GetAccountStatistics(ctx, scope, missing("contacts")))
		},
		"GetClub":           func(ctx context.Context) error { return result(client.GetClub(ctx, scope, missing("clubs"))) },
		"GetSale":           func(ctx context.Context) error { return result(client.GetSale(ctx, scope, missing("sales"))) },
		"CheckSale":         func(ctx context.Context) error { return result(client.CheckSale(ctx, scope, missing("sales"))) },
		"UpdateSaleContact": func(ctx context.Context) error { return client.UpdateSaleContact(ctx, scope, missing("sales")) },
		"AddArticle": func(ctx context.Context) error {
			return client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{Offer: missing("offers")})
		},
		"CreateSale": func(ctx context.Context) error {
			return result(client.CreateSale(ctx, scope, club.NewSale{Contact: missing("contacts"), Club: scope.Club, ClubCode: "PARIS11"}))
		},
		"CreatePayment": func(ctx context.Context) error {
			return result(client.CreatePayment(ctx, scope, missing("sales"), world.paying(cart), nil))
		},
		"PostponeDue": func(ctx context.Context) error {
			return client.PostponeDue(ctx, scope, missing("sales"), world.day(1), nil)
		},
		"ValidateSale": func(ctx context.Context) error { return client.ValidateSale(ctx, scope, missing("sales"), nil) },
		"CreateSignatureRequest": func(ctx context.Context) error {
			return result(client.CreateSignatureRequest(ctx, scope, cart.Contact, missing("mandates")))
		},
		"ValidateSignatureRequest": func(ctx context.Context) error {
			return result(client.ValidateSignatureRequest(ctx, scope, missing("signature_requests"), "1"))
		},
		"CancelSignatureRequest": func(ctx context.Context) error {
			return client.CancelSignatureRequest(ctx, scope, missing("signature_requests"))
		},
		"MigrateContact": func(ctx context.Context) error {
			return client.MigrateContact(ctx, scope, missing("contacts"), world.persona("prospect").AccessToken, club.Migration{
				Contact: cart.Contact,
				Club:    scope.Club,
			})
		},
		"ListOffers":  func(ctx context.Context) error { return result(client.ListOffers(ctx, scope, missing("products"))) },
		"ListOptins":  func(ctx context.Context) error { return result(client.ListOptins(ctx, scope, missing("contacts"))) },
		"UpdateOptin": func(ctx context.Context) error { return client.UpdateOptin(ctx, scope, missing("optins"), true) },
	} {
		t.Run(name, func(t *testing.T) {
			e := asError(t, call(t.Context()))
			if !errors.Is(e, club.ErrNotFound) || e.Outcome != club.Rejected || e.Status != 404 || e.Operation != name {
				t.Errorf("%v, want ErrNotFound", e)
			}
		})
	}
}
