package flowstest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/registration"
	"frontdesk/upstream/club"
)

// Visitor is a person whose details resemble no other text.
var Visitor = flows.Person{
	GivenName:  "Wilhelmine",
	FamilyName: "Featherstonehaugh",
	BirthDate:  "1987-02-03",
	Email:      "w.featherstonehaugh@example.com",
	Mobile:     "+33698765432",
	Street:     "7 passage du Grand-Cerf",
	PostalCode: "75002",
	City:       "Paris",
	Country:    "FR",
}

// Badge is an offer that can be combined with any other and takes no date.
var Badge = flows.NewItem{OfferID: "2501"}

// Registered makes a registration with a cart that can be paid by card.
func (w *World) Registered(gateway *Gateway) *flows.Registration {
	w.Helper()
	return w.RegisteredFor(gateway, QuarterPass, QuarterPassPrice)
}

// RegisteredFor makes a registration with an offer in its cart.
func (w *World) RegisteredFor(gateway *Gateway, offer club.IRI, price int64) *flows.Registration {
	w.Helper()
	ctx := w.Context()
	home := &club.Address{Country: "FR", Locality: "Paris", PostalCode: "75011", Street: "12 rue des Lilas"}
	contact := Must(w, func() (club.Contact, error) {
		return w.Club.CreateContact(ctx, Bastille, club.NewContact{
			FamilyName: "Martin",
			GivenName:  "Ada",
			BirthDate:  "1990-05-17",
			Email:      "ada@example.com",
			Mobile:     "+33612345678",
			Club:       Bastille.Club,
			Status:     club.StatusTemp,
			Address:    home,
		})
	})
	sale := Must(w, func() (club.Sale, error) {
		return w.Club.CreateSale(ctx, Bastille, club.NewSale{
			Contact:    contact.IRI,
			Club:       Bastille.Club,
			ClubCode:   "PARIS11",
			FamilyName: contact.FamilyName,
			GivenName:  contact.GivenName,
			Number:     contact.Number,
			Address:    home,
		})
	})
	start := w.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	if err := w.Club.AddArticle(ctx, Bastille, sale.IRI, club.NewArticle{Offer: offer, StartDate: start}); err != nil {
		w.Fatal(err)
	}
	if w.Mute {
		sale.State = ""
	}
	hash := sha256.Sum256([]byte(HolderToken))
	now := w.Clock.Now()
	registration := &flows.Registration{
		ID:          uuid.NewString(),
		State:       flows.Open,
		ClientToken: "demo",
		TokenHash:   hex.EncodeToString(hash[:]),
		ClubID:      "11",
		Channel:     "web",
		Contact:     &flows.Contact{IRI: contact.IRI, Number: contact.Number, Status: contact.Status, Masked: Visitor.Masked()},
		Sale:        sale.IRI,
		SaleState:   sale.State,
		Items:       []flows.Item{{NewItem: flows.NewItem{ID: uuid.NewString(), OfferID: offer.ID(), StartDate: start}, Offer: offer}},
		Cart:        flows.Cart{Currency: "EUR", Total: price, Valid: true, Lines: []flows.Line{{Offer: offer, Price: price}}},
		CreatedAt:   now,
		ExpiresAt:   now.Add(20 * time.Hour),
	}
	number, _ := strconv.Atoi(offer.ID()) // of the product, and two digits
	shown := map[string]flows.ShownOffer{offer.ID(): {Product: club.NewIRI("demo", "products", strconv.Itoa(number/100))}}
	registration.Offers = Must(w, func() (map[string]flows.ShownOffer, error) {
		return gateway.Catalogue.RereadOffers(ctx, catalogue.Club{Scope: Bastille}, catalogue.ProductQuery{}, shown)
	})
	if err := gateway.Store.SaveRegistration(ctx, registration); err != nil {
		w.Fatal(err)
	}
	return registration
}

// Visited makes a registration as a visitor starts it, and returns the visitor's token.
func (w *World) Visited(gateway *Gateway) (flows.View, string) {
	w.Helper()
	start := w.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	view, token, err := gateway.Registrations.Start(w.Context(), registration.StartRequest{
		ClientToken: "demo",
		ClubID:      "11",
		Channel:     "web",
		Person:      &Visitor,
		Items:       []flows.NewItem{{OfferID: "201", StartDate: start}},
	})
	if err != nil {
		w.Fatal(err)
	}
	return view, token
}

// AddItem adds an item to the cart of one of Registered's registrations.
func (w *World) AddItem(gateway *Gateway, registration *flows.Registration, item flows.NewItem) (flows.View, error) {
	return gateway.Registrations.AddItem(w.Context(), registration.ID, HolderToken, item)
}

// ExpectSettledCart checks that a registration can only be abandoned.
func (w *World) ExpectSettledCart(view flows.View) {
	w.Helper()
	if view.Phase != flows.Open || view.Cart.Valid || len(view.Cart.Problems) != 1 || view.Cart.Problems[0].Code != "settled" {
		w.Errorf("it is %s, with the cart %+v", view.Phase, view.Cart)
	}
	if !slices.Equal(view.Actions, []string{"abandon"}) || len(view.Methods) != 0 {
		w.Errorf("offered: %v by %v", view.Actions, view.Methods)
	}
	if view.Payment != nil && view.PaymentView.Retry != "never" {
		w.Errorf("the payment is %+v", view.PaymentView)
	}
	refunded := view.Payment != nil && view.Payment.State == flows.Refunded
	if message := view.CurrentMessage(); message != flows.MessageSettlementWithStaff && !refunded {
		w.Errorf("the visitor is told %s", message)
	}
}
