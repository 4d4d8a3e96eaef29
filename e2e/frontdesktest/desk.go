package frontdesktest

import (
	"context"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// DemoClub returns a client of the simulator at an address, with the credentials of the demo organisation.
func DemoClub(upstreams string) *club.Client {
	return club.New(club.Config{
		BaseURL:      upstreams + "/sim",
		ClientID:     clubsim.DemoClientID,
		ClientSecret: clubsim.DemoClientSecret,
		GatewayKey:   clubsim.DemoGatewayKey,
		Now:          time.Now,
	})
}

// PayAtDesk takes cash for a sale in the club system, as staff do in its own screens. The gateway knows nothing of it.
func PayAtDesk(ctx context.Context, client *club.Client, scope club.Scope, id club.IRI) (club.Receipt, error) {
	sale, err := client.GetSale(ctx, scope, id)
	if err != nil {
		return club.Receipt{}, err
	}
	return client.CreatePayment(ctx, scope, id, club.NewPayment{
		Contact:    sale.Contact,
		FamilyName: sale.FamilyName,
		GivenName:  sale.GivenName,
		Number:     sale.Number,
		Amount:     sale.TotalTI,
		Mean:       club.MeanCash,
		Club:       sale.Club,
		ClubCode:   sale.ClubCode,
		Checkout:   sale.Checkout,
	}, nil)
}
