package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/rig"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// completedLate: a webhook only makes things faster.
const completedLate = "a paid registration was not completed within a minute, although nobody failed but the post"

// forgeryAccepted: what is not signed by the processor, just now, is not taken.
const forgeryAccepted = "a forged or stale delivery was taken"

const (
	// webhookBuyers is how many buyers are there at once.
	webhookBuyers = 8
	// webhookShort and webhookLong are how many buyers come.
	webhookShort, webhookLong = 60, 1500
	// completionTime is how long a paid registration may take when its webhook got lost.
	completionTime = time.Minute
	// pollEvery is how often the books are looked at, which is added to what is allowed.
	lookEvery = time.Second
	// foreignPayments is how many payments of somebody else are at the same processor.
	foreignPayments = 10
)

// Webhook lets the processor's webhooks be dropped, doubled, late and overtaken, and
// sends the gateways false ones, while buyers pay and leave without looking back: what
// is paid has to be completed all the same.
func Webhook() campaign.Campaign {
	return campaign.Campaign{
		Name:        "webhook",
		Description: "The processor's webhooks are dropped, doubled, late, overtaken, replayed, forged, lying, of foreign payments and far too long, and buyers leave once they have paid.",
		Faults:      append(append([]string{}, deliveryFaults...), attacks...),
		Mutations:   []string{"no-sweep", "trusted-webhook", "unsigned-webhook"},
		Long:        campaign.Options{Count: webhookLong}, Run: runWebhook,
	}
}

func runWebhook(ctx context.Context, o campaign.Options) (*campaign.Report, error) {
	if o.Count == 0 {
		o.Count = webhookShort
	}
	r, _, end, err := newDurableHarness(ctx, o, rig.Config{Replicas: 2})
	if err != nil {
		return nil, err
	}
	defer end()
	record := campaign.NewRecorder("webhook", o)
	office, err := startWebhookFaults(r, record, o.Seed)
	if err != nil {
		return nil, err
	}
	defer office.close()
	if err := r.Upstreams.Set(ctx, sandbox.Settings{WebhookURL: office.url()}); err != nil {
		return nil, err
	}
	w := &departingBuyers{rig: r, record: record, faults: office, o: o, paid: map[string]time.Time{}}
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	err = settleAndCheck(ctx, r, w.journeys, record, o.Seed, false)
	return record.Report(), err
}

// departingBuyers are buyers who pay and never look back.
type departingBuyers struct {
	rig    *rig.Harness
	record *campaign.Recorder
	faults *webhookFaults
	o      campaign.Options

	mu       sync.Mutex
	journeys []*rig.Journey
	paid     map[string]time.Time // by registration
}

func (w *departingBuyers) run(ctx context.Context) error {
	if err := w.createForeignPayments(ctx); err != nil {
		return err
	}
	limited, cancel := w.o.Context(ctx)
	defer cancel()
	var all sync.WaitGroup
	for range webhookBuyers {
		all.Go(func() {
			for j := w.next(); j != nil && limited.Err() == nil; j = w.next() {
				if !j.Register(ctx) || !j.Pay(ctx) {
					continue
				}
				w.faults.sendFalseEvents(ctx, j)
				j.Confirm(ctx)
				w.mu.Lock()
				w.paid[j.Registration] = time.Now()
				w.mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	return w.awaitCompletion(ctx, done)
}

// next is the next buyer; nil when enough have come.
func (w *departingBuyers) next() *rig.Journey {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.journeys) >= w.o.Count {
		return nil
	}
	j := w.rig.NewJourney(w.o.Seed + uint64(len(w.journeys)))
	w.journeys = append(w.journeys, j)
	return j
}

// awaitCompletion looks into the books until everything that was paid is there, or has been missing
// for too long.
func (w *departingBuyers) awaitCompletion(ctx context.Context, came <-chan struct{}) error {
	late := map[string]bool{}
	for {
		wait(ctx, lookEvery)
		booked, err := w.rig.Booked(ctx)
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		w.mu.Lock()
		open := 0
		for registration, at := range w.paid {
			switch waited := time.Since(at); {
			case booked[registration] || late[registration]:
			case waited > completionTime+lookEvery:
				late[registration] = true
				w.record.AddViolations(campaign.Violation{Invariant: completedLate, Seed: w.o.Seed, Registration: registration,
					Detail: fmt.Sprintf("paid %s ago", waited.Round(time.Second))})
			default:
				open++
			}
		}
		w.mu.Unlock()
		select {
		case <-came:
			if open == 0 {
				return nil
			}
		default:
		}
	}
}

// createForeignPayments pay somebody else at the same processor, whose events come here as well.
func (w *departingBuyers) createForeignPayments(ctx context.Context) error {
	processor := sandbox.New(sandbox.Config{URL: w.rig.Upstreams.URL + "/sandbox", Now: time.Now})
	for i := range foreignPayments {
		metadata := map[string]string{"shop": "another"}
		if i%2 == 0 { // the same account, another environment
			metadata = map[string]string{"fd_registration": uuid.NewString(), "fd_generation": "1", "fd_environment": "live"}
		}
		p, err := processor.Create(ctx, uuid.NewString(), cards.NewPayment{Amount: 100, Currency: "EUR", Metadata: metadata})
		if err != nil {
			return err
		}
		if err := w.rig.Upstreams.Confirm(ctx, p.ID, "4242424242424242"); err != nil {
			return err
		}
	}
	return nil
}
