package chaos

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// completedLate: payments must be completed without webhooks, which only save time.
const completedLate = "a paid registration was not completed within a minute, although only the webhooks failed"

// forgeryAccepted: a delivery without a recent signature of the processor must be refused.
const forgeryAccepted = "a forged or stale delivery was accepted"

const (
	webhookBuyers   = 8           // at once
	completionTime  = time.Minute // of a paid registration whose webhook got lost
	lookEvery       = time.Second // between two reads of the ledger; added to the allowed time
	foreignPayments = 10          // of other merchants at the same processor
)

// Webhook drops, doubles, delays and reorders the processor's webhooks, and sends the gateways false
// ones, while buyers pay and leave for good. Every paid registration must still be completed.
func Webhook() campaign.Campaign {
	return campaign.Campaign{
		Name:        "webhook",
		Description: "The processor's webhooks are dropped, duplicated, late, reordered, replayed, forged, untrue, about foreign payments and far too long, and buyers leave once they have paid.",
		Faults:      slices.Concat(deliveryFaults, attacks),
		Mutations:   []string{"no-sweep", "trusted-webhook", "unsigned-webhook"},
		Short:       campaign.Options{Count: 60},
		Long:        campaign.Options{Count: 1500},
		Drive:       onHarness(2, durableRedis, breakWebhooks),
	}
}

func breakWebhooks(r *run) {
	ctx, faults := r.Context(), startWebhookFaults(r)
	defer faults.close()
	operator := frontdesktest.Buyer{HTTP: http.DefaultClient}
	frontdesktest.Must(r, operator.Do(ctx, http.MethodPut, r.Upstreams.URL+"/sandbox/settings", sandbox.Settings{WebhookURL: faults.server.URL}, nil))
	r.createForeignPayments(&operator)
	limited, cancel := r.options.Context(ctx)
	defer cancel()
	d := &departingBuyers{run: r, paid: map[string]time.Time{}}
	for range webhookBuyers {
		d.paying.Go(func() {
			for j := r.nextJourney(); j != nil && limited.Err() == nil; j = r.nextJourney() {
				if !j.Register(ctx) || !j.Pay(ctx) {
					continue
				}
				faults.sendFalseEvents(ctx, j)
				j.Confirm(ctx)
				d.leave(j.Registration())
			}
		})
	}
	d.awaitCompletion()
	r.settleAndCheck()
}

// departingBuyers pay and never return.
type departingBuyers struct {
	*run
	paying sync.WaitGroup
	mu     sync.Mutex
	paid   map[string]time.Time // by registration
}

func (d *departingBuyers) leave(registration string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paid[registration] = time.Now()
}

// awaitCompletion reads the ledger until the last buyer has left and every paid registration is booked
// or overdue.
func (d *departingBuyers) awaitCompletion() {
	var allLeft atomic.Bool
	go func() {
		d.paying.Wait()
		allLeft.Store(true)
	}()
	for frontdesktest.Sleep(d.Context(), lookEvery) {
		if last := allLeft.Load(); d.missing() == 0 && last {
			return
		}
	}
}

// missing counts the paid registrations that are not booked yet. An overdue one is reported as a
// violation and then dropped.
func (d *departingBuyers) missing() int {
	booked := d.Booked()
	d.mu.Lock()
	defer d.mu.Unlock()
	for registration, at := range d.paid {
		waited := time.Since(at)
		if late := waited > completionTime+lookEvery; late && !booked[registration] {
			d.record.AddViolations(campaign.Violation{Invariant: completedLate, Seed: d.options.Seed, Registration: registration,
				Detail: fmt.Sprintf("paid %s ago", waited.Round(time.Second))})
			delete(d.paid, registration)
		} else if booked[registration] {
			delete(d.paid, registration)
		}
	}
	return len(d.paid)
}

// createForeignPayments pays other merchants at the same processor, whose events arrive here as well.
func (r *run) createForeignPayments(buyer *frontdesktest.Buyer) {
	url := r.Upstreams.URL + "/sandbox"
	processor := sandbox.New(sandbox.Config{URL: url, Now: time.Now})
	for i := range foreignPayments {
		metadata := map[string]string{"shop": "another"}
		if i%2 == 0 { // the same account, another environment
			metadata = map[string]string{"fd_registration": uuid.NewString(), "fd_generation": "1", "fd_environment": "live"}
		}
		p, err := processor.Create(r.Context(), uuid.NewString(), cards.NewPayment{Amount: 100, Currency: "EUR", Metadata: metadata})
		frontdesktest.Must(r, err)
		frontdesktest.Must(r, buyer.Confirm(r.Context(), url+"/payments/"+p.ID, frontdesktest.ApprovedCard))
	}
}
