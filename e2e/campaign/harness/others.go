package harness

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
)

// A stranger asks for one in strangers registrations. The club's staff settle the sale of one in staff.
const strangers, staff = 5, 5

const (
	othersTime = 3 * time.Second        // until others act: about as long as a payment takes
	deskTime   = 300 * time.Millisecond // from the registration until staff act: most buyers have not paid by then, and some have
	deskMean   = club.MeanCash          // how buyers pay at the desk; no gateway books it here
)

// Others starts the stranger and the staff of the registration, and returns a function that waits for
// them.
func (j *Journey) Others(ctx context.Context) (wait func()) {
	var others sync.WaitGroup
	if j.random.IntN(strangers) == 0 {
		pause := time.Duration(j.random.Int64N(int64(othersTime)))
		g := j.harness.RandomGateway(j.random)
		others.Go(func() {
			if frontdesktest.Sleep(ctx, pause) {
				j.askAsStranger(ctx, g)
			}
		})
	}
	if j.random.IntN(staff) == 0 {
		pause := time.Duration(j.random.Int64N(int64(deskTime)))
		others.Go(func() {
			if frontdesktest.Sleep(ctx, pause) {
				j.settleAtDesk(ctx)
			}
		})
	}
	return others.Wait
}

// settleAtDesk has staff take cash for the sale in the club system's own screens, once its payment has begun and if it
// is still open there.
func (j *Journey) settleAtDesk(ctx context.Context) {
	sale := ""
	for begun := time.Now(); sale == "" && time.Since(begun) < othersTime && frontdesktest.Sleep(ctx, 100*time.Millisecond); { // on a busy machine, the payment begins later
		for _, p := range j.harness.Upstreams.Cards.Payments() {
			if p.Metadata["fd_registration"] == j.buyer.ID {
				sale = p.Metadata["fd_sale"]
			}
		}
	}
	if seen, ok := j.harness.Upstreams.Sim.Sale(sale); !ok || seen.State != "building" {
		return
	}
	scope, client := j.harness.scope, j.harness.desk
	open, err := client.GetSale(ctx, scope, club.IRI(sale))
	if err == nil {
		_, err = client.CreatePayment(ctx, scope, open.IRI, club.NewPayment{
			Contact: open.Contact, FamilyName: open.FamilyName, GivenName: open.GivenName, Number: open.Number,
			Amount: open.TotalTI, Mean: deskMean, Club: open.Club, ClubCode: open.ClubCode, Checkout: open.Checkout,
		}, nil)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		j.SettledAtDesk = true
	}
	j.note(fmt.Sprintf("the desk settles %s: %v", sale, err))
}

// askAsStranger sends the requests of a stranger with the registration's address and a token of
// their own.
func (j *Journey) askAsStranger(ctx context.Context, g *Gateway) {
	stranger := frontdesktest.Buyer{HTTP: &j.harness.HTTP, ID: j.buyer.ID, Token: "x" + j.buyer.Token[1:]}
	if stranger.Token == j.buyer.Token {
		stranger.Token = "y" + j.buyer.Token[1:]
	}
	for _, request := range []struct {
		method, below string
		body          any
	}{{http.MethodGet, "", nil}, {http.MethodPost, "/payment", byCard}, {http.MethodDelete, "", nil}} {
		key := ""
		if request.method == http.MethodPost {
			key = uuid.NewString()
		}
		response, err := stranger.Send(ctx, request.method, g.URL+stranger.Path()+request.below, key, request.body)
		if err != nil {
			continue
		}
		j.mu.Lock()
		j.Strangers++
		if response.Status < 300 {
			j.served = append(j.served, request.method+" "+request.below)
		}
		j.mu.Unlock()
	}
}
