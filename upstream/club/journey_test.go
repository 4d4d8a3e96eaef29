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
	w := newWorld(t, "card")
	c, ctx, s := w.client, t.Context(), w.bastille

	at := must[club.Club](t)(c.GetClub(ctx, s, s.Club))
	if at.Code != "PARIS11" || at.Currency != "EUR" || at.Node != s.Node || at.Locality != "Paris" {
		t.Errorf("club %+v", at)
	}
	who := w.visitor()
	if who.Number == "" || who.Status != club.StatusTemp || who.Club != s.Club || *who.Address != paris {
		t.Errorf("contact %+v", who)
	}
	equal(t, must[club.Contact](t)(c.GetContact(ctx, s, who.IRI)), who)
	if debt := must[club.AccountStatistics](t)(c.GetAccountStatistics(ctx, s, who.IRI)).TotalRealDebt; debt != 0 {
		t.Errorf("a new contact owes %d", debt)
	}

	cart := w.cart(who.IRI, "101")
	if cart.State != "building" || cart.TotalTI != 45900 || cart.Currency != "EUR" || cart.Checkout == "" || cart.Invoice != "" ||
		len(cart.Articles) != 1 {
		t.Errorf("sale %+v", cart)
	}
	if line := cart.Articles[0]; line.Offer != w.iri("offers", "101") || line.Product != w.iri("products", "1") || line.PriceTI != 45900 ||
		line.Parent != "" {
		t.Errorf("article %+v", line)
	}
	if check := must[club.SaleCheck](t)(c.CheckSale(ctx, s, cart.IRI)); !check.Valid {
		t.Errorf("check %+v", check)
	}
	receipt := must[club.Receipt](t)(c.CreatePayment(ctx, s, cart.IRI, w.paying(cart), pass))
	if receipt.Status != 201 || receipt.Payment.Collection() != "payments" {
		t.Errorf("receipt %+v", receipt)
	}
	settled := must[club.Sale](t)(c.Money().GetSale(ctx, s, cart.IRI))
	if settled.State != "settled" || settled.Invoice == "" {
		t.Errorf("sale after payment %+v", settled)
	}
	if who := must[club.Contact](t)(c.GetContact(ctx, s, who.IRI)); who.Status != club.StatusCustomer {
		t.Errorf("the buyer is a %s", who.Status)
	}
	if books := w.Ledger(); len(books) != 1 || books[0].Amount != 45900 || !w.Audit().OK {
		t.Errorf("ledger %+v, audit %+v", books, w.Audit())
	}
	if w.calls("token") != 1 {
		t.Errorf("%d tokens for one journey", w.calls("token"))
	}
}

// TestDebitJourney adds the mandate, its signature by SMS, and lines that the club system adds automatically.
func TestDebitJourney(t *testing.T) {
	w := newWorld(t, "debit")
	c, ctx, s := w.client, t.Context(), w.bastille
	days := must[[]club.DebitDay](t)(c.ListAllowedDebitDays(ctx, s, "2027-01-06"))
	equal(t, days, []club.DebitDay{{Day: 10, Date: "2027-01-10"}, {Day: 20, Date: "2027-01-20"}, {Day: 5, Date: "2027-02-05"}})

	who := w.visitor()
	cart := w.cart(who.IRI)
	err := c.AddArticle(ctx, s, cart.IRI, club.NewArticle{Offer: w.iri("offers", "1301"), StartDate: "2027-01-16",
		RepaymentSchedule: &club.RepaymentScheduleRequest{SpecificDay: true, DebitDay: ptr(5), StartDate: "2027-02-05"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddArticle(ctx, s, cart.IRI, club.NewArticle{Offer: w.iri("offers", "301"), StartDate: "2027-01-16"}); err != nil {
		t.Fatal(err)
	}
	cart = must[club.Sale](t)(c.GetSale(ctx, s, cart.IRI))
	var added []club.Article
	for _, line := range cart.Articles {
		if line.Parent != "" {
			added = append(added, line)
		}
	}
	if len(cart.Articles) != 4 || len(added) != 2 || added[0].Offer != "" || added[1].Offer != w.iri("offers", "2501") {
		t.Errorf("articles %+v, want a prorata and an option that came on their own", cart.Articles)
	}

	w.configure(func(s *clubsim.Settings) { s.MandateRequired = true })
	check := must[club.SaleCheck](t)(c.CheckSale(ctx, s, cart.IRI))
	if check.Valid || !hasCode(check.Violations, "api.error.sale.mandate-required") {
		t.Errorf("check %+v, want the mandate asked for", check)
	}
	order := club.NewMandate{Club: s.Club, Contact: who.IRI, FamilyName: who.FamilyName, GivenName: who.GivenName, Number: who.Number,
		Address: paris, Holder: "Ada Testeur", IBAN: "FR7630006000011234567890189", BIC: "AGRIFRPP", Bank: "Banque", ValidFrom: w.day(0)}
	mandate := must[club.Mandate](t)(c.CreateMandate(ctx, s, order))
	request := must[club.SignatureRequest](t)(c.CreateSignatureRequest(ctx, s, who.IRI, mandate.IRI))
	wantViolation(t, c.ValidateSignatureRequest(ctx, s, request.IRI, "0"), "code")
	if err := c.CancelSignatureRequest(ctx, s, request.IRI); err != nil {
		t.Fatal(err)
	}
	wantCode(t, c.ValidateSignatureRequest(ctx, s, request.IRI, w.lastCode()), "api.error.signature-request.not-pending")
	request = must[club.SignatureRequest](t)(c.CreateSignatureRequest(ctx, s, who.IRI, mandate.IRI))
	if err := c.ValidateSignatureRequest(ctx, s, request.IRI, w.lastCode()); err != nil {
		t.Fatal(err)
	}
	if check := must[club.SaleCheck](t)(c.CheckSale(ctx, s, cart.IRI)); !check.Valid {
		t.Errorf("check with mandate %+v", check)
	}
	must[club.Receipt](t)(c.CreatePayment(ctx, s, cart.IRI, w.paying(cart), nil))

	order.IBAN = clubsim.RefusedIBAN
	_, err = c.CreateMandate(ctx, s, order)
	wantViolation(t, err, "iban")
	order.Holder, order.IBAN = "", ""
	_, err = c.CreateMandate(ctx, s, order)
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
	w := newWorld(t, "settle")
	c, ctx, s := w.client, t.Context(), w.bastille
	who := w.visitor()

	free := w.cart(who.IRI, "3801")
	if err := c.ValidateSale(ctx, s, free.IRI, nil); err != nil || free.TotalTI != 0 {
		t.Errorf("free sale of %d: %v", free.TotalTI, err)
	}
	later := w.cart(who.IRI, "101")
	wantCode(t, c.ValidateSale(ctx, s, later.IRI, nil), "api.error.sale.transition-not-allowed")
	if err := c.PostponeDue(ctx, s, later.IRI, w.day(30), nil); err != nil {
		t.Error(err)
	}
	if got := must[club.Sale](t)(c.GetSale(ctx, s, later.IRI)); got.State != "deferred" {
		t.Errorf("deferred sale %+v", got)
	}
	if debt := must[club.AccountStatistics](t)(c.GetAccountStatistics(ctx, s, who.IRI)); debt.TotalRealDebt != 45900 {
		t.Errorf("debt %+v", debt)
	}
	wantCode(t, c.PostponeDue(ctx, s, later.IRI, w.day(30), nil), "api.error.sale.not-editable")

	for mean, details := range map[string]club.NewPayment{
		club.MeanCash: {},
		club.MeanCard: {Cards: []club.PaymentCard{{Amount: 10000, Network: "CBGroup"}, {Amount: 4900, Network: "External"}}},
		club.MeanCheque: {Cheques: []club.Cheque{{
			Amount:             14900,
			Bank:               "Banque",
			Code:               "0000001",
			DepositDesiredDate: w.day(3),
			Owner:              "Ada Testeur",
		}}},
	} {
		desk := w.cart(who.IRI, "201")
		in := w.paying(desk)
		in.Mean, in.Cards, in.Cheques = mean, details.Cards, details.Cheques
		if _, err := c.CreatePayment(ctx, s, desk.IRI, in, nil); err != nil {
			t.Errorf("%s: %v %+v", mean, err, asError(t, err).Violations)
		}
	}
	desk := w.cart(who.IRI, "201")
	in := w.paying(desk)
	in.Mean = club.MeanCard
	_, err := c.CreatePayment(ctx, s, desk.IRI, in, nil)
	wantViolation(t, err, "paymentCards")
}

// TestPaidTwice: the club system really books a second payment, which is why
// CreatePayment never retries.
func TestPaidTwice(t *testing.T) {
	w := newWorld(t, "twice")
	cart := w.cart(w.visitor().IRI, "101")
	for range 2 {
		must[club.Receipt](t)(w.client.CreatePayment(t.Context(), w.bastille, cart.IRI, w.paying(cart), nil))
	}
	if twice := w.Audit().SalesPaidTwice; len(twice) != 1 || twice[0].SaleID != string(cart.IRI) {
		t.Errorf("audit %+v", w.Audit())
	}
}

// TestProspectJourney registers a known prospect online.
func TestProspectJourney(t *testing.T) {
	w := newWorld(t, "prospect")
	c, ctx := w.client, t.Context()
	known, temp := w.persona("prospect"), w.visitor()
	cart := w.cart(temp.IRI, "101")
	target := club.Migration{Contact: temp.IRI, Club: w.bastille.Club}
	source := club.IRI(known.ContactID)

	wantOutcome(t, c.MigrateContact(ctx, w.lumen, source, w.persona("customer").AccessToken, target), club.Rejected)
	err := c.MigrateContact(ctx, w.lumen, source, "no.token", target)
	wantOutcome(t, err, club.Refused)
	err = c.MigrateContact(ctx, w.bastille, source, known.AccessToken, target)
	if !errors.Is(err, club.ErrOutOfReach) {
		t.Errorf("from the club's own node: %v, want ErrOutOfReach", err)
	}
	if err := c.MigrateContact(ctx, w.lumen, source, known.AccessToken, target); err != nil {
		t.Fatal(err)
	}
	if err := c.UpdateSaleContact(ctx, w.bastille, cart.IRI); err != nil {
		t.Fatal(err)
	}
	got := must[club.Sale](t)(c.GetSale(ctx, w.bastille, cart.IRI))
	if got.Contact != source || got.FamilyName != known.FamilyName || got.GivenName != known.GivenName || got.Number == cart.Number {
		t.Errorf("sale after migration %+v", got)
	}
	err = c.MigrateContact(ctx, w.lumen, source, known.AccessToken, target)
	wantOutcome(t, err, club.Rejected)
}

// TestTransferJourney moves a former member to another club by SMS code.
func TestTransferJourney(t *testing.T) {
	w := newWorld(t, "transfer")
	c, ctx := w.client, t.Context()
	former, customer := club.IRI(w.persona("former").ContactID), club.IRI(w.persona("customer").ContactID)
	network := must[*club.Network](t)(c.NetworkNodes(ctx, club.Scope{ClientToken: w.ClientToken()}))
	above, ok := network.CommonAncestor(w.batignolles.Club, w.lyon.Club)
	if !ok || above != w.lumen.Node {
		t.Fatalf("common ancestor %s", above)
	}
	s := club.Scope{ClientToken: w.ClientToken(), Club: w.batignolles.Club, Node: above}

	for _, tt := range []struct {
		scope         club.Scope
		contact, club club.IRI
		want          error
	}{
		{w.lyon, former, w.lyon.Club, club.ErrOutOfReach},
		{s, former, w.batignolles.Club, club.ErrMigrationClub},
		{s, former, w.lille.Club, club.ErrMigrationClub},
		{s, customer, w.lyon.Club, club.ErrMigrationContact},
	} {
		_, err := c.CreateContactMigrationRequest(ctx, tt.scope, tt.contact, tt.club)
		if !errors.Is(err, tt.want) || club.OutcomeOf(err) != club.Rejected {
			t.Errorf("%s to %s: %v, want %v", tt.contact, tt.club, err, tt.want)
		}
	}
	request := must[club.SignatureRequest](t)(c.CreateContactMigrationRequest(ctx, s, former, w.lyon.Club))
	if err := c.ValidateSignatureRequest(ctx, s, request.IRI, w.lastCode()); err != nil {
		t.Fatal(err)
	}
	if got := must[club.Contact](t)(c.GetContact(ctx, w.lyon, former)); got.Club != w.lyon.Club {
		t.Errorf("contact after the move %+v", got)
	}
}

// TestConsents reads and changes opt-ins.
func TestConsents(t *testing.T) {
	w := newWorld(t, "consents")
	c, ctx, s := w.client, t.Context(), w.bastille
	who := w.visitor()
	optins := must[[]club.Optin](t)(c.ListOptins(ctx, s, who.IRI))
	if len(optins) != 12 {
		t.Fatalf("%d opt-ins, want four types on three channels", len(optins))
	}
	for _, o := range optins {
		if o.Authorized != (o.Type == club.OptinLegal) || o.Contact != who.IRI {
			t.Errorf("default %+v", o)
		}
		err := c.UpdateOptin(ctx, s, o.IRI, true)
		if o.Type == club.OptinLegal {
			wantOutcome(t, err, club.Rejected)
		} else if err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range must[[]club.Optin](t)(c.ListOptins(ctx, s, who.IRI)) {
		if !o.Authorized {
			t.Errorf("not given: %+v", o)
		}
	}
	all := must[[]club.Optin](t)(c.ListOptins(ctx, s, ""))
	if len(all) <= 30 || !slices.ContainsFunc(all, func(o club.Optin) bool { return o.Contact == who.IRI }) {
		t.Errorf("%d opt-ins of the club, want more than a page", len(all))
	}
}

// TestCatalogue reads the products in every context, and all offers.
func TestCatalogue(t *testing.T) {
	w := newWorld(t, "catalogue")
	c, ctx, s := w.client, t.Context(), w.bastille
	products := func(q club.ProductQuery) []club.Product {
		t.Helper()
		return must[[]club.Product](t)(c.ListProducts(ctx, s, q))
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
		{"Corporate Flex", club.ProductQuery{}, club.ProductQuery{Contact: club.IRI(w.persona("customer").ContactID)}},
		{"Replacement Badge", club.ProductQuery{Channel: club.ChannelWeb}, club.ProductQuery{Channel: "terminal"}},
		{"Summer Pass", club.ProductQuery{Date: "2027-02-01"}, club.ProductQuery{Date: "2027-07-01"}},
		{"Year Pass", club.ProductQuery{Debt: ptr(int64(999999))}, club.ProductQuery{Debt: ptr(int64(1))}},
	} {
		if slices.Contains(names(tt.without), tt.product) || !slices.Contains(names(tt.with), tt.product) {
			t.Errorf("%s does not depend on its context", tt.product)
		}
	}
	there := must[[]club.Product](t)(c.ListProducts(ctx, w.lumen, club.ProductQuery{Club: w.batignolles.Club}))
	if !slices.ContainsFunc(there, func(p club.Product) bool { return p.Name == "Pool" }) {
		t.Error("no pool in the club that has one")
	}
	w.checkOffers(all)
}

// checkOffers reads the offers of all products and looks for each form that they can have.
func (w *world) checkOffers(products []club.Product) {
	w.t.Helper()
	rhythms := map[string]bool{}
	var prorated, endless, ending, upfront, fee bool
	for _, p := range products {
		offers := must[[]club.Offer](w.t)(w.client.ListOffers(w.t.Context(), w.bastille, p.IRI))
		for _, o := range offers {
			if o.IRI == "" || o.Product.IRI != p.IRI || o.Product.Type != p.Type || o.Currency != "EUR" {
				w.t.Errorf("offer %+v", o)
			}
			rhythms[o.RhythmBilling] = true
			prorated, upfront, fee = prorated || o.IsProrated, upfront || o.IsFirstMonthPayed, fee ||
				o.RegistrationFeeTI > 0 && o.RegistrationFeeName != ""
			for _, e := range o.RepaymentSchedule.Recurrences {
				endless = endless || e.Loop == nil && e.PriceTI > 0 && e.PriceTE+e.Tax == e.PriceTI && e.TaxRate == 20
			}
			for _, e := range o.RepaymentSchedule.Occurrences {
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
