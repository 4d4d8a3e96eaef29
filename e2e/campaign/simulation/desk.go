package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	before := f.entries()
	_, err = client.CreatePayment(context.Background(), scope, club.IRI(f.sale), club.NewPayment{
		Contact: sale.Contact, FamilyName: sale.FamilyName, GivenName: sale.GivenName, Number: sale.Number,
		Amount: sale.TotalTI, Mean: club.MeanCash, Club: scope.Club, ClubCode: sale.ClubCode, Checkout: sale.Checkout,
	}, func() error { return nil })
	if err != nil {
		f.tracef("the desk: %v", err)
		return
	}
	for _, id := range f.entries() {
		if !slices.Contains(before, id) {
			f.desk, f.deskAt = append(f.desk, id), f.Now()
		}
	}
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

// entries returns the ids of all payments in the club system's ledger.
func (f *journey) entries() (ids []string) {
	for _, entry := range f.sim.Ledger() {
		ids = append(ids, entry.ID)
	}
	return ids
}

func (f *journey) scope() club.Scope {
	return club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}
}
