package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/rig"
	"frontdesk/upstream/cards/sandbox"
)

// differentPayments: whoever presses, at whichever gateway and with whichever key, is led to
// the one payment that there is.
const differentPayments = "callers at the same moment were told of different payments"

// What callers do at the same moment.
const (
	sameKey          = "payment asked for with one key"
	freshKey         = "payment asked for with a key of one's own"
	registrationRead = "registration looked at"
	webhookSent      = "webhook about the payment"
	abandoned        = "registration abandoned"
	cardEntered      = "card entered"
)

const (
	// callers at the same moment, over all gateways.
	callers = 64
	// racesShort and racesLong are the registrations that are raced for.
	racesShort, racesLong = 12, 400
)

// Race lets 64 callers at once do everything to one payment, over three gateways: twice
// for each registration, when it is created and when its card was entered.
func Race() campaign.Campaign {
	return campaign.Campaign{
		Name:        "race",
		Description: "64 callers at once, over three gateways, ask for one payment with the same key and with others, look at it, send its webhooks, enter the card and abandon it.",
		Faults:      []string{sameKey, freshKey, registrationRead, webhookSent, abandoned, cardEntered},
		Mutations:   []string{"key-per-attempt"},
		Long:        campaign.Options{Count: racesLong}, Run: runRace,
	}
}

func runRace(ctx context.Context, o campaign.Options) (*campaign.Report, error) {
	if o.Count == 0 {
		o.Count = racesShort
	}
	r, _, end, err := newDurableHarness(ctx, o, rig.Config{})
	if err != nil {
		return nil, err
	}
	defer end()
	record := campaign.NewRecorder("race", o)
	limited, cancel := o.Context(ctx)
	defer cancel()
	var journeys []*rig.Journey
	for i := 0; i < o.Count && limited.Err() == nil; i++ {
		j := r.NewJourney(o.Seed + uint64(i))
		journeys = append(journeys, j)
		if j.Register(ctx) {
			c := &contention{rig: r, journey: j, record: record, o: o, random: rand.New(rand.NewPCG(o.Seed, uint64(i))), key: uuid.NewString(), payments: map[string]int{}}
			c.run(ctx, i)
		}
	}
	err = settleAndCheck(ctx, r, journeys, record, o.Seed, false)
	return record.Report(), err
}

// contention is the race for one registration.
type contention struct {
	rig     *rig.Harness
	journey *rig.Journey
	record  *campaign.Recorder
	o       campaign.Options
	random  *rand.Rand
	key     string // that many use

	mu       sync.Mutex
	payments map[string]int // that callers were told of
}

// run lets the callers loose twice. In one race of four somebody also gives up.
func (c *contention) run(ctx context.Context, n int) {
	first, second := []string{sameKey, freshKey, registrationRead, webhookSent}, []string{sameKey, freshKey, registrationRead, registrationRead, webhookSent, webhookSent, cardEntered}
	switch n % 8 {
	case 3:
		first = append(first, abandoned)
	case 7:
		second = append(second, abandoned)
	}
	c.wave(ctx, first)
	c.mu.Lock()
	if len(c.payments) > 1 {
		c.record.AddViolations(campaign.Violation{Invariant: differentPayments, Seed: c.o.Seed, Registration: c.journey.Registration, Detail: fmt.Sprint(c.payments)})
	}
	c.mu.Unlock()
	if c.journey.ProcessorID() == "" {
		c.journey.Watch(ctx, time.Millisecond) // those who raced told the buyer nothing
	}
	c.wave(ctx, second)
}

// wave starts all callers at the same moment, and waits until they have their answers.
func (c *contention) wave(ctx context.Context, deeds []string) {
	gun := make(chan struct{})
	var all sync.WaitGroup
	for i := range callers {
		deed, g := deeds[i%len(deeds)], c.rig.Gateways[c.random.IntN(len(c.rig.Gateways))]
		all.Go(func() {
			<-gun
			if c.do(ctx, deed, g) {
				c.record.AddFault(deed)
			}
		})
	}
	close(gun)
	all.Wait()
}

// do does what one caller does, and tells whether there was an answer.
func (c *contention) do(ctx context.Context, deed string, g *rig.Gateway) bool {
	switch deed {
	case registrationRead:
		_, err := c.journey.Ask(ctx, g, http.MethodGet, "", "", nil)
		return err == nil
	case abandoned:
		_, err := c.journey.Ask(ctx, g, http.MethodDelete, "", "", nil)
		return err == nil
	case cardEntered:
		return c.rig.Upstreams.Confirm(ctx, c.journey.ProcessorID(), "4242424242424242") == nil
	case webhookSent:
		return c.sendWebhook(ctx, g)
	}
	key := c.key
	if deed == freshKey {
		key = uuid.NewString()
	}
	reply, err := c.journey.Ask(ctx, g, http.MethodPost, "/payment", key, map[string]string{"method": "card"})
	var payment rig.Payment
	if err == nil && reply.Status < 300 && json.Unmarshal(reply.Body, &payment) == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.payments[payment.ID]++
	}
	return err == nil
}

// sendWebhook sends an event of the payment, signed as the processor does.
func (c *contention) sendWebhook(ctx context.Context, g *rig.Gateway) bool {
	body, err := json.Marshal(map[string]any{"id": "evt_" + uuid.NewString(), "type": sandbox.EventAuthorised, "createdAt": time.Now(),
		"data": map[string]any{"payment": map[string]any{"id": "pay_of_the_race", "metadata": map[string]string{
			"fd_registration": c.journey.Registration, "fd_generation": "1", "fd_environment": "test"}}}})
	if err != nil {
		return false
	}
	return deliver(ctx, http.DefaultClient, g, signed(sandbox.DemoWebhookSecret, time.Now(), body), body) == http.StatusNoContent
}
