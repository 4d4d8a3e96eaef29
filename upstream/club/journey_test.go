package club_test

import (
	"errors"
	"slices"
	"testing"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestCardJourney is the documented flow: contact, debt, catalogue, sale,
// articles, check, payment.
func TestCardJourney(t *testing.T) {
	world := newWorld(t, "card")
	client, ctx, scope := world.client, t.Context(), world.bastille

	at := must[club.Club](t)(client.GetClub(ctx, scope, scope.Club))
	if at.Code != "PARIS11" || at.Currency != "EUR" || at.Node != scope.Node || at.Locality != "Paris" {
		t.Errorf("club %+v", at)
	}
	who := world.visitor()
	if who.Number == "" || who.Status != club.StatusTemp || who.Club != scope.Club || *who.Address != paris {
		t.Errorf("contact %+v", who)
	}
	equal(t, must[club.Contact](t)(client.GetContact(ctx, scope, who.IRI)), who)
	if debt := must[club.AccountStatistics](t)(client.GetAccountStatistics(ctx, scope, who.IRI)).TotalRealDebt; debt != 0 {
		t.Errorf("a new contact owes %d", debt)
	}

	cart := world.cart(who.IRI, "101")
	if cart.State != "building" || cart.TotalTI != 45900 || cart.Currency != "EUR" || cart.Checkout == "" || bool(cart.Invoiced) ||
		len(cart.Articles) != 1 {
		t.Errorf("sale %+v", cart)
	}
	if line := cart.Articles[0]; line.Offer != world.iri("offers", "101") || line.Product != world.iri("products", "1") ||
		line.PriceTI != 45900 ||
		line.Parent != "" {
		t.Errorf("article %+v", line)
	}
	if check := must[club.SaleCheck](t)(client.CheckSale(ctx, scope, cart.IRI)); !check.Valid {
		t.Errorf("check %+v", check)
	}
	receipt := must[club.Receipt](t)(client.CreatePayment(ctx, scope, cart.IRI, world.paying(cart), pass))
	if receipt.Status != 201 || receipt.Payment.Collection() != "payments" {
		t.Errorf("receipt %+v", receipt)
	}
	settled := must[club.Sale](t)(client.Money().GetSale(ctx, scope, cart.IRI))
	if settled.State != "settled" || !bool(settled.Invoiced) {
		t.Errorf("sale after payment %+v", settled)
	}
	if who := must[club.Contact](t)(client.GetContact(ctx, scope, who.IRI)); who.Status != club.StatusCustomer {
		t.Errorf("the buyer is a %s", who.Status)
	}
	if books := world.Ledger(); len(books) != 1 || books[0].Amount != 45900 || !world.Audit().OK {
		t.Errorf("ledger %+v, audit %+v", books, world.Audit())
	}
	if world.calls("token") != 1 {
		t.Errorf("%d tokens for one journey", world.calls("token"))
	}
}

// TestDebitJourney adds the mandate, its signature by SMS, and lines that the club system adds automatically.
func TestDebitJourney(t *testing.T) {
	world := newWorld(t, "debit")
	client, ctx, scope := world.client, t.Context(), world.bastille
	days := must[[]club.DebitDay](t)(client.ListAllowedDebitDays(ctx, scope, "2027-01-06"))
	equal(t, days, []club.DebitDay{{Day: 10, Date: "2027-01-10"}, {Day: 20, Date: "2027-01-20"}, {Day: 5, Date: "2027-02-05"}})

	who := world.visitor()
	cart := world.cart(who.IRI)
	err := client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{Offer: world.iri("offers", "1301"), StartDate: "2027-01-16",
		RepaymentSchedule: &club.RepaymentScheduleRequest{SpecificDay: true, DebitDay: ptr(5), StartDate: "2027-02-05"}})
	if err != nil {
		t.Fatal(err)
	}
	err = client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{Offer: world.iri("offers", "301"), StartDate: "2027-01-16"})
	if err != nil {
		t.Fatal(err)
	}
	cart = must[club.Sale](t)(client.GetSale(ctx, scope, cart.IRI))
	var added []club.Article
	for _, line := range cart.Articles {
		if line.Parent != "" {
			added = append(added, line)
		}
	}
	if len(cart.Articles) != 4 || len(added) != 2 || added[0].Offer != "" || added[1].Offer != world.iri("offers", "2501") {
		t.Errorf("articles %+v, want a prorata and an option that came on their own", cart.Articles)
	}

	world.configure(func(s *clubsim.Settings) { s.MandateRequired = true })
	check := must[club.SaleCheck](t)(client.CheckSale(ctx, scope, cart.IRI))
	if check.Valid || !hasCode(check.Violations, "api.error.sale.mandate-required") {
		t.Errorf("check %+v, want the mandate asked for", check)
	}
	order := club.NewMandate{
		Club:       scope.Club,
		Contact:    who.IRI,
		FamilyName: who.FamilyName,
		GivenName:  who.GivenName,
		Number:     who.Number,
		Address:    paris,
		Holder:     "Ada Testeur",
		IBAN:       "FR7630006000011234567890189",
		BIC:        "AGRIFRPP",
		Bank:       "Banque",
		ValidFrom:  world.day(0),
	}
	mandate := must[club.Mandate](t)(client.CreateMandate(ctx, scope, order))
	request := must[club.SignatureRequest](t)(client.CreateSignatureRequest(ctx, scope, who.IRI, mandate.IRI))
	_, err = client.ValidateSignatureRequest(ctx, scope, request.IRI, "0")
	wantViolation(t, err, "code")
	if err := client.CancelSignatureRequest(ctx, scope, request.IRI); err != nil {
		t.Fatal(err)
	}
	wantCode(t, result(client.ValidateSignatureRequest(ctx, scope, request.IRI, world.lastCode())), "api.error.signature-request.not-pending")
	request = must[club.SignatureRequest](t)(client.CreateSignatureRequest(ctx, scope, who.IRI, mandate.IRI))
	if _, err := client.ValidateSignatureRequest(ctx, scope, request.IRI, world.lastCode()); err != nil {
		t.Fatal(err)
	}
	if check := must[club.SaleCheck](t)(client.CheckSale(ctx, scope, cart.IRI)); !check.Valid {
		t.Errorf("check with mandate %+v", check)
	}
	must[club.Receipt](t)(client.CreatePayment(ctx, scope, cart.IRI, world.paying(cart), nil))

	order.IBAN = clubsim.RefusedIBAN
	_, err = client.CreateMandate(ctx, scope, order)
	wantViolation(t, err, "iban")
	order.Holder, order.IBAN = "", ""
	_, err = client.CreateMandate(ctx, scope, order)
	wantViolation(t, err, "holder")
	wantViolation(t, err, "iban")
}

func (w *world) lastCode() string {
	w.t.Helper()
	messages := w.SMS()
	if len(messages) == 0 {
		w.t.Fatal("no SMS was sent")
	}
	return messages[len(messages)-1].Code
}

func hasCode(violations []club.Violation, code string) bool {
	return slices.ContainsFunc(violations, func(v club.Violation) bool { return v.Code == code })
}

// TestOtherWaysToSettle covers deferred, free and in-person settlement.
func TestOtherWaysToSettle(t *testing.T) {
	world := newWorld(t, "settle")
	client, ctx, scope := world.client, t.Context(), world.bastille
	who := world.visitor()

	free := world.cart(who.IRI, "3801")
	if err := client.ValidateSale(ctx, scope, free.IRI, nil); err != nil || free.TotalTI != 0 {
		t.Errorf("free sale of %d: %v", free.TotalTI, err)
	}
	later := world.cart(who.IRI, "101")
	wantCode(t, client.ValidateSale(ctx, scope, later.IRI, nil), "api.error.sale.transition-not-allowed")
	if err := client.PostponeDue(ctx, scope, later.IRI, world.day(30), nil); err != nil {
		t.Error(err)
	}
	if got := must[club.Sale](t)(client.GetSale(ctx, scope, later.IRI)); got.State != "deferred" {
		t.Errorf("deferred sale %+v", got)
	}
	if debt := must[club.AccountStatistics](t)(client.GetAccountStatistics(ctx, scope, who.IRI)); debt.TotalRealDebt != 45900 {
		t.Errorf("debt %+v", debt)
	}
	wantCode(t, client.PostponeDue(ctx, scope, later.IRI, world.day(30), nil), "api.error.sale.not-editable")

	for mean, details := range map[string]club.NewPayment{
		club.MeanCash: {},
		club.MeanCard: {Cards: []club.PaymentCard{{Amount: 10000, Network: "CBGroup"}, {Amount: 4900, Network: "External"}}},
		club.MeanCheque: {Cheques: []club.Cheque{{
			Amount:             14900,
			Bank:               "Banque",
			Code:               "0000001",
			DepositDesiredDate: world.day(3),
			Owner:              "Ada Testeur",
		}}},
	} {
		desk := world.cart(who.IRI, "201")
		in := world.paying(desk)
		in.Mean, in.Cards, in.Cheques = mean, details.Cards, details.Cheques
		if _, err := client.CreatePayment(ctx, scope, desk.IRI, in, nil); err != nil {
			t.Errorf("%s: %v %+v", mean, err, asError(t, err).Violations)
		}
	}
	desk := world.cart(who.IRI, "201")
	in := world.paying(desk)
	in.Mean = club.MeanCard
	_, err := client.CreatePayment(ctx, scope, desk.IRI, in, nil)
	wantViolation(t, err, "paymentCards")
}

// TestPaidTwice: the club system really books a second payment, which is why
// CreatePayment never retries.
func TestPaidTwice(t *testing.T) {
	world := newWorld(t, "twice")
	cart := world.cart(world.visitor().IRI, "101")
	for range 2 {
		must[club.Receipt](t)(world.client.CreatePayment(t.Context(), world.bastille, cart.IRI, world.paying(cart), nil))
	}
	if twice := world.Audit().SalesPaidTwice; len(twice) != 1 || twice[0].SaleID != string(cart.IRI) {
		t.Errorf("audit %+v", world.Audit())
	}
}

// TestProspectJourney registers a known prospect online.
func TestProspectJourney(t *testing.T) {
	world := newWorld(t, "prospect")
	client, ctx := world.client, t.Context()
	known, temp := world.persona("prospect"), world.visitor()
	cart := world.cart(temp.IRI, "101")
	target := club.Migration{Contact: temp.IRI, Club: world.bastille.Club}
	source := club.IRI(known.ContactID)

	wantOutcome(t, client.MigrateContact(ctx, world.lumen, source, world.persona("customer").AccessToken, target), club.Rejected)
	err := client.MigrateContact(ctx, world.lumen, source, "no.token", target)
	wantOutcome(t, err, club.Refused)
	err = client.MigrateContact(ctx, world.bastille, source, known.AccessToken, target)
	if !errors.Is(err, club.ErrOutOfReach) {
		t.Errorf("from the club's own node: %v, want ErrOutOfReach", err)
	}
	if err := client.MigrateContact(ctx, world.lumen, source, known.AccessToken, target); err != nil {
		t.Fatal(err)
	}
	if err := client.UpdateSaleContact(ctx, world.bastille, cart.IRI); err != nil {
		t.Fatal(err)
	}
	got := must[club.Sale](t)(client.GetSale(ctx, world.bastille, cart.IRI))
	if got.Contact != source || got.FamilyName != known.FamilyName || got.GivenName != known.GivenName || got.Number == cart.Number {
		t.Errorf("sale after migration %+v", got)
	}
	err = client.MigrateContact(ctx, world.lumen, source, known.AccessToken, target)
	wantOutcome(t, err, club.Rejected)
}

// TestTransferJourney moves a former member to another club by SMS code.
func TestTransferJourney(t *testing.T) {
	world := newWorld(t, "transfer")
	client, ctx := world.client, t.Context()
	former, customer := club.IRI(world.persona("former").ContactID), club.IRI(world.persona("customer").ContactID)
	network := must[*club.Network](t)(client.NetworkNodes(ctx, club.Scope{ClientToken: world.ClientToken()}))
	above, ok := network.CommonAncestor(world.batignolles.Club, world.lyon.Club)
	if !ok || above != world.lumen.Node {
		t.Fatalf("common ancestor %s", above)
	}
	scope := club.Scope{ClientToken: world.ClientToken(), Club: world.batignolles.Club, Node: above}

	for _, tt := range []struct {
		scope         club.Scope
		contact, club club.IRI
		want          error
	}{
		{world.lyon, former, world.lyon.Club, club.ErrOutOfReach},
		{scope, former, world.batignolles.Club, club.ErrMigrationClub},
		{scope, former, world.lille.Club, club.ErrMigrationClub},
		{scope, customer, world.lyon.Club, club.ErrMigrationContact},
	} {
		scopes := club.MigrationScopes{Above: tt.scope, Destination: tt.scope, Source: tt.scope}
		_, err := client.CreateContactMigrationRequest(ctx, scopes, tt.contact, tt.club)
		if !errors.Is(err, tt.want) || club.OutcomeOf(err) != club.Rejected {
			t.Errorf("%s to %s: %v, want %v", tt.contact, tt.club, err, tt.want)
		}
	}
	scopes := club.MigrationScopes{Above: scope}
	request := must[club.SignatureRequest](t)(client.CreateContactMigrationRequest(ctx, scopes, former, world.lyon.Club))
	if _, err := client.ValidateSignatureRequest(ctx, scope, request.IRI, world.lastCode()); err != nil {
		t.Fatal(err)
	}
	if got := must[club.Contact](t)(client.GetContact(ctx, world.lyon, former)); got.Club != world.lyon.Club {
		t.Errorf("contact after the move %+v", got)
	}
}

// TestConsents reads and changes opt-ins.
func TestConsents(t *testing.T) {
	w := newWorld(t, "consents")
	client, ctx, scope := w.client, t.Context(), w.bastille
	who := w.visitor()
	optins := must[[]club.Optin](t)(client.ListOptins(ctx, scope, who.IRI))
	if len(optins) != 12 {
		t.Fatalf("%d opt-ins, want four types on three channels", len(optins))
	}
	for _, o := range optins {
		if o.Authorized != (o.Type == club.OptinLegal) || o.Contact != who.IRI {
			t.Errorf("default %+v", o)
		}
		err := client.UpdateOptin(ctx, scope, o.IRI, true)
		if o.Type == club.OptinLegal {
			wantOutcome(t, err, club.Rejected)
		} else if err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range must[[]club.Optin](t)(client.ListOptins(ctx, scope, who.IRI)) {
		if !o.Authorized {
			t.Errorf("not given: %+v", o)
		}
	}
	all := must[[]club.Optin](t)(client.ListOptins(ctx, scope, ""))
	if len(all) <= 30 || !slices.ContainsFunc(all, func(o club.Optin) bool { return o.Contact == who.IRI }) {
		t.Errorf("%d opt-ins of the club, want more than a page", len(all))
	}
}

// TestCatalogue reads the products in every context, and all offers.
func TestCatalogue(t *testing.T) {
	world := newWorld(t, "catalogue")
	client, ctx, s := world.client, t.Context(), world.bastille
	products := func(q club.ProductQuery) []club.Product {
		t.Helper()
		return must[[]club.Product](t)(client.ListProducts(ctx, s, q))
	}
	names := func(q club.ProductQuery) (names []string) {
		for _, p := range products(q) {
			names = append(names, p.Name)
		}
		return names
	}
	all := products(club.ProductQuery{})
	if len(all) <= 30 {
		t.Errorf("%d products, want more than a page", len(all))
	}
	var kinds []string
	for _, p := range all {
		if p.IRI == "" || p.Name == "" || p.Description == "" || len(p.Behaviors) == 0 {
			t.Errorf("product %+v", p)
		}
		kinds = append(kinds, p.Type)
	}
	slices.Sort(kinds)
	for _, kind := range []string{
		"subscription", "subscription_option", "badge", "counter", "package", "countermark", "test_session", "regular",
	} {
		if only := products(club.ProductQuery{Type: kind}); len(only) == 0 || !slices.Contains(kinds, kind) {
			t.Errorf("no products of type %s", kind)
		}
	}
	for _, tt := range []struct {
		product string
		without club.ProductQuery
		with    club.ProductQuery
	}{
		{"Student Year", club.ProductQuery{}, club.ProductQuery{ContactTags: []string{"gym", "student"}}},
		{"Corporate Flex", club.ProductQuery{}, club.ProductQuery{Contact: club.IRI(world.persona("customer").ContactID)}},
		{"Replacement Badge", club.ProductQuery{Channel: club.ChannelWeb}, club.ProductQuery{Channel: "terminal"}},
		{"Summer Pass", club.ProductQuery{Date: "2027-02-01"}, club.ProductQuery{Date: "2027-07-01"}},
		{"Year Pass", club.ProductQuery{Debt: ptr(int64(999999))}, club.ProductQuery{Debt: ptr(int64(1))}},
	} {
		if slices.Contains(names(tt.without), tt.product) || !slices.Contains(names(tt.with), tt.product) {
			t.Errorf("%s does not depend on its context", tt.product)
		}
	}
	there := must[[]club.Product](t)(client.ListProducts(ctx, world.lumen, club.ProductQuery{Club: world.batignolles.Club}))
	if !slices.ContainsFunc(there, func(p club.Product) bool { return p.Name == "Pool" }) {
		t.Error("no pool in the club that has one")
	}
	world.checkOffers(all)
}

// checkOffers reads the offers of all products and looks for each form that they can have.
func (w *world) checkOffers(products []club.Product) {
	w.t.Helper()
	rhythms := map[string]bool{}
	var prorated, endless, ending, upfront, fee bool
	for _, p := range products {
		offers := must[[]club.Offer](w.t)(w.client.ListOffers(w.t.Context(), w.bastille, p.IRI))
		for _, offer := range offers {
			if offer.IRI == "" || offer.Product.IRI != p.IRI || offer.Product.Type != p.Type || offer.Currency != "EUR" {
				w.t.Errorf("offer %+v", offer)
			}
			rhythms[offer.RhythmBilling] = true
			prorated, upfront, fee = prorated || offer.IsProrated, upfront || offer.IsFirstMonthPayed, fee ||
				offer.RegistrationFeeTI > 0 && offer.RegistrationFeeName != ""
			for _, e := range offer.RepaymentSchedule.Recurrences {
				endless = endless || e.Loop == nil && e.PriceTI > 0 && e.PriceTE+e.Tax == e.PriceTI && e.TaxRate == 20
			}
			for _, e := range offer.RepaymentSchedule.Occurrences {
				ending = ending || e.Loop != nil && e.Interval != "" && e.Offset != ""
			}
		}
		if len(offers) == 0 {
			w.t.Errorf("no offer for %s", p.Name)
		}
	}
	if len(rhythms) < 4 || !prorated || !endless || !ending || !upfront || !fee {
		w.t.Errorf("forms of offers not seen: rhythms %v, prorated %v, endless %v, ending %v, upfront %v, fee %v",
			rhythms, prorated, endless, ending, upfront, fee)
	}
}
