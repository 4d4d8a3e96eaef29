package club_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// A sale, from the cart to the payment, in a simulated club system.
func Example() {
	sim := clubsim.New(clubsim.Config{Now: time.Now})
	defer sim.Close()
	server := httptest.NewServer(sim)
	defer server.Close()

	ctx := context.Background()
	client := club.New(club.Config{
		BaseURL:      server.URL,
		ClientID:     clubsim.DemoClientID,
		GatewayKey:   clubsim.DemoGatewayKey,
		ClientSecret: clubsim.DemoClientSecret,
		Now:          time.Now,
	})
	scope := club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}

	contact, err := client.CreateContact(ctx, scope, club.NewContact{
		FamilyName: "Testeur", GivenName: "Ada", Club: scope.Club, Status: club.StatusTemp,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cart, err := client.CreateSale(ctx, scope, club.NewSale{
		Contact:    contact.IRI,
		Club:       scope.Club,
		ClubCode:   "PARIS11",
		FamilyName: contact.FamilyName,
		GivenName:  contact.GivenName,
		Number:     contact.Number,
		Address:    &club.Address{Country: "FR", Locality: "Paris", PostalCode: "75011", Street: "1 rue de la Paix"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{Offer: "/demo/offers/4201"}); err != nil {
		fmt.Println(err)
		return
	}
	check, err := client.CheckSale(ctx, scope, cart.IRI)
	if err != nil || !check.Valid {
		fmt.Println(check, err)
		return
	}
	money := client.Money()
	cart, err = money.GetSale(ctx, scope, cart.IRI) // again, because articles may have been added
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = money.CreatePayment(ctx, scope, cart.IRI, club.NewPayment{
		Contact:    contact.IRI,
		FamilyName: contact.FamilyName,
		GivenName:  contact.GivenName,
		Number:     contact.Number,
		Amount:     cart.TotalTI,
		Mean:       club.MeanCBWeb,
		Club:       cart.Club,
		ClubCode:   cart.ClubCode,
		Checkout:   cart.Checkout,
	}, nil)
	switch club.OutcomeOf(err) {
	case club.Accepted:
		fmt.Println("recorded", cart.TotalTI, "cents")
	case club.NotSent, club.Refused:
		fmt.Println("nothing happened, it may be tried again:", err)
	case club.Rejected:
		fmt.Println("it will never be accepted:", err)
	case club.Unknown:
		fmt.Println("it may have been recorded, and must not be sent again:", err)
	}
	// Output: recorded 900 cents
}
