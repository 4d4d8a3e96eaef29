package rig

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/e2e/campaign"
)

// Harness is a running Frontdesk with everything around it.
type Harness struct {
	Gateways  []*Gateway
	Upstreams *Upstreams
	Storage   Storage

	charges *chargeLog
	http    http.Client
	club    string // where everybody registers
	offer   string // what everybody buys
	persons atomic.Uint64
}

// Config is what a rig needs.
type Config struct {
	Gateway  string  // path of the binary
	Replicas int     // zero: 3
	Storage  Storage // running; the rig's Close ends it
	// Environment has more variables of the gateways, beside those that tell them where they stand.
	Environment []string
}

// callTime is how long a buyer waits for an answer before they press again: longer than a
// gateway's longest call to the outside world.
const callTime = 40 * time.Second

// New starts the outside world and the gateways.
func New(ctx context.Context, cfg Config) (r *Harness, err error) {
	r = &Harness{Storage: cfg.Storage, charges: newChargeLog()}
	r.http = http.Client{Timeout: callTime, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if cfg.Storage == nil {
		return r, errNoStorage
	}
	if r.Upstreams, err = newUpstreams(ctx, cfg.Gateway); err != nil {
		return r, err
	}
	if cfg.Replicas == 0 {
		cfg.Replicas = 3
	}
	for range cfg.Replicas {
		door, err := newFaultProxy(r.Upstreams.URL, r.charges)
		if err != nil {
			return r, err
		}
		g, err := newGateway(cfg.Gateway, door, cfg.Storage.URL(), cfg.Environment...)
		if err != nil {
			door.close()
			return r, err
		}
		r.Gateways = append(r.Gateways, g)
		if err := g.Start(ctx); err != nil {
			return r, err
		}
	}
	return r, r.chooseOffer(ctx)
}

// Close kills everything that was started.
func (r *Harness) Close() {
	for _, g := range r.Gateways {
		g.Kill()
		g.proxy.close()
	}
	if r.Upstreams != nil {
		r.Upstreams.now.Kill()
	}
	if r.Storage != nil {
		r.Storage.Kill()
	}
	r.http.CloseIdleConnections()
}

// BreakAt lays a trap behind the doors of all gateways and waits until one went off. It
// tells which gateway it was, or nil when none did within the time; act is called in
// the moment itself, while the request waits.
func (r *Harness) BreakAt(ctx context.Context, deed Operation, phase Phase, within time.Duration, act func(*Gateway)) *Gateway {
	sprung := make(chan *Gateway, 1)
	var first sync.Once
	traps := make([]*Breakpoint, len(r.Gateways))
	for i, g := range r.Gateways {
		traps[i] = &Breakpoint{Operation: deed, Phase: phase, OnHit: func() {
			first.Do(func() {
				act(g)
				sprung <- g
			})
		}}
		g.proxy.add(traps[i])
	}
	late := time.NewTimer(within)
	defer late.Stop()
	defer func() {
		for i, g := range r.Gateways {
			g.proxy.remove(traps[i])
		}
	}()
	select {
	case g := <-sprung:
		return g
	case <-late.C:
	case <-ctx.Done():
	}
	first.Do(func() { sprung <- nil }) // from here on nothing goes off
	return <-sprung
}

// chooseOffer finds a club and an offer that can be paid by card at once.
func (r *Harness) chooseOffer(ctx context.Context) error {
	var clubs struct{ Items []struct{ ID string } }
	if err := r.read(ctx, "/v1/clubs", &clubs); err != nil {
		return err
	}
	if len(clubs.Items) == 0 {
		return fmt.Errorf("the outside world has no club")
	}
	r.club = clubs.Items[0].ID
	var products struct {
		Items []struct {
			Offers []struct {
				ID       string
				DueNow   struct{ Amount int64 }
				Needs    []string
				Prorated bool
			}
		}
	}
	if err := r.read(ctx, "/v1/clubs/"+r.club+"/products?type=subscription", &products); err != nil {
		return err
	}
	for _, product := range products.Items {
		for _, offer := range product.Offers {
			if offer.DueNow.Amount > 0 && len(offer.Needs) == 1 && !offer.Prorated {
				r.offer = offer.ID
				return nil
			}
		}
	}
	return fmt.Errorf("no offer can be paid by card at once")
}

func (r *Harness) read(ctx context.Context, path string, into any) error {
	answer, err := r.call(ctx, r.Gateways[0], http.MethodGet, path, "", "", nil)
	if err != nil {
		return err
	}
	return answer.decode(into)
}

// Club is where everybody registers.
func (r *Harness) Club() string { return r.club }

// randomGateway picks a gateway.
func (r *Harness) randomGateway(random *rand.Rand) *Gateway {
	return r.Gateways[random.IntN(len(r.Gateways))]
}

// newPerson is somebody whose details can be recognised wherever they turn up.
func (r *Harness) newPerson() map[string]any {
	c := campaign.NewCanary(r.persons.Add(1))
	return map[string]any{"givenName": c.GivenName, "familyName": c.FamilyName, "email": c.Email, "mobile": c.Mobile, "birthDate": "1990-05-17",
		"address": map[string]string{"street": c.Street, "postalCode": "75011", "city": "Paris", "country": "FR"}}
}
