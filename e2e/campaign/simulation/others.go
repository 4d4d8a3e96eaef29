package simulation

import (
	"context"
	"fmt"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// scheduleDesk has the club's staff settle the sale at some moment: while the buyer pays, while things
// fail, or while operators decide.
func (f *journey) scheduleDesk() {
	if f.plan.desk {
		f.after(f.between(0, oneOf(f, 40*time.Second, f.plan.faultWindow, operatorsLatest)), f.settleAtDesk)
	}
}

// settleAtDesk has staff take cash for the sale in the club system's own screens, if it is still open there.
func (f *journey) settleAtDesk() {
	if f.applied() {
		return
	}
	client, scope := f.clubClient(), f.scope()
	sale, err := client.GetSale(context.Background(), scope, club.IRI(f.sale))
	if err != nil {
		panic(err) // a bug in the simulation: nothing fails for staff
	}
	receipt, err := client.CreatePayment(context.Background(), scope, club.IRI(f.sale), club.NewPayment{
		Contact: sale.Contact, FamilyName: sale.FamilyName, GivenName: sale.GivenName, Number: sale.Number,
		Amount: sale.TotalTI, Mean: club.MeanCash, Club: scope.Club, ClubCode: sale.ClubCode, Checkout: sale.Checkout,
	}, nil)
	if err != nil {
		f.tracef("the desk: %v", err)
		return
	}
	f.desk, f.deskAt = append(f.desk, string(receipt.Payment)), f.Now()
	f.fault(deskSettled)
}

// sellOnCredit has staff sell the buyer something else on credit first.
func (f *journey) sellOnCredit() error {
	ctx, client, scope := context.Background(), f.clubClient(), f.scope()
	cart, err := client.GetSale(ctx, scope, club.IRI(f.sale))
	if err != nil {
		return fmt.Errorf("the sale was not read: %w", err)
	}
	sale, err := client.CreateSale(ctx, scope, club.NewSale{Contact: cart.Contact, Club: cart.Club, ClubCode: cart.ClubCode,
		FamilyName: cart.FamilyName, GivenName: cart.GivenName, Number: cart.Number, Address: cart.Address})
	if err == nil {
		err = client.AddArticle(ctx, scope, sale.IRI, club.NewArticle{Offer: "/demo/offers/2501"})
	}
	if err == nil {
		err = client.PostponeDue(ctx, scope, sale.IRI, f.Now().AddDate(0, 0, 14).Format(time.DateOnly), nil)
	}
	if err != nil {
		return fmt.Errorf("nothing was sold on credit: %w", err)
	}
	return nil
}

func (f *journey) scope() club.Scope {
	return club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}
}

// scheduleStranger has a stranger with the registration's address request it repeatedly.
func (f *journey) scheduleStranger() {
	if !f.plan.stranger {
		return
	}
	for range 1 + f.rng.IntN(5) {
		f.spawn(f.between(0, f.plan.faultWindow), f.anyGateway(), "stranger", f.askAsStranger)
	}
}

// askAsStranger sends requests for what only the holder may have, with a token that was never issued.
func (f *journey) askAsStranger(ctx context.Context, t *task) {
	forged := "x" + f.token[1:]
	if forged == f.token {
		forged = "y" + f.token[1:]
	}
	what := oneOf(f, "pay", "abandon", "look")
	f.fault(strangerAsked)
	var err error
	switch what {
	case "pay":
		_, err = t.gateway.registrations.Pay(ctx, f.registration, forged, flows.StartPayment{Method: flows.ByCard})
	case "abandon":
		_, err = t.gateway.registrations.Abandon(ctx, f.registration, forged)
	default:
		_, err = t.gateway.registrations.Get(ctx, f.registration, forged)
	}
	f.tracef("%s: a stranger: %s: %v", t.gateway.name, what, err)
	if err == nil {
		f.served = append(f.served, what)
	}
}
