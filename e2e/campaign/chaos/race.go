package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// differentPayments: every caller, at any gateway and with any key, must get the same payment.
const differentPayments = "simultaneous callers received different payments"

// boughtTwice: of one buyer's registrations for the same offer, only one may be paid without a question.
const boughtTwice = "a buyer began to pay for the same offer twice without being asked"

// The actions of simultaneous callers.
const (
	sameKey          = "payment requested with one key"
	freshKey         = "payment requested with a separate key"
	registrationRead = "registration looked at"
	webhookSent      = "webhook about the payment"
	abandoned        = "registration abandoned"
	cardEntered      = "card entered"
	secondTab        = "payment requested for the same buyer's other registration"
)

const callers = 64 // how many callers act at the same moment, over all gateways

// Race has 64 callers at once do everything to one payment, over three gateways: twice for each
// registration, when it is created and after its card was entered. In one race of four the buyer also registers in a second tab.
func Race() campaign.Campaign {
	return campaign.Campaign{
		Name: "race",
		Description: "64 concurrent callers, over three gateways, request one payment with the same key and with others, read it, send its " +
			"webhooks, enter the card and abandon it. Some of them pay for the same offer in a second tab.",
		Faults:    []string{sameKey, freshKey, registrationRead, webhookSent, abandoned, cardEntered, secondTab},
		Mutations: []string{"key-per-attempt", "repeats-of-a-minute"},
		Short:     campaign.Options{Count: 12},
		Long:      campaign.Options{Count: 400},
		Drive:     onHarness(3, durableRedis, race),
	}
}

func race(run *run) {
	ctx := run.scope.Context()
	limited, cancel := run.options.Context(ctx)
	defer cancel()
	for i := 0; limited.Err() == nil; i++ {
		j := run.nextJourney()
		if j == nil {
			break
		}
		if j.Register(ctx) {
			c := &contention{run: run, journey: j, key: uuid.NewString(), payments: map[string]int{}}
			c.race(ctx, i)
		}
	}
	run.settleAndCheck()
}

// contention is the race for one registration.
type contention struct {
	*run
	journey *harness.Journey
	other   *harness.Journey // of the same buyer, for the same offer; nil: none
	key     string           // that many callers use

	mu       sync.Mutex
	payments map[string]int // by the id that callers received
	others   int            // payments of the other registration that callers received
}

// race starts all callers twice. In one race of four the registration is also abandoned, in one the buyer has two.
func (c *contention) race(ctx context.Context, n int) {
	first := []string{sameKey, freshKey, registrationRead, webhookSent}
	second := []string{sameKey, freshKey, registrationRead, registrationRead, webhookSent, webhookSent, cardEntered}
	if n%4 == 1 {
		if other := c.nextJourney(); other != nil && other.RegisterAgain(ctx, c.journey) {
			c.other, first = other, append(first, secondTab, secondTab)
		}
	}
	switch n % 8 {
	case 3:
		first = append(first, abandoned)
	case 7:
		second = append(second, abandoned)
	}
	c.startCallers(ctx, first)
	if len(c.payments) > 1 {
		c.violates(differentPayments)
	}
	if c.others > 0 {
		if len(c.payments) > 0 {
			c.violates(boughtTwice)
		}
		c.journey = c.other
	}
	if c.journey.ProcessorID() == "" {
		c.journey.Watch(ctx, time.Millisecond) // the buyer saw no response of the callers
	}
	c.startCallers(ctx, second)
}

func (c *contention) violates(invariant string) {
	c.record.AddViolations(campaign.Violation{
		Invariant: invariant, Seed: c.options.Seed, Registration: c.journey.Registration(), Detail: fmt.Sprint(c.payments),
	})
}

// startCallers starts all callers at the same moment, and waits for their responses.
func (c *contention) startCallers(ctx context.Context, actions []string) {
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range callers {
		action, g := actions[i%len(actions)], c.RandomGateway(c.random)
		all.Go(func() {
			<-start
			if c.act(ctx, action, g) == nil {
				c.record.AddFault(action)
			}
		})
	}
	close(start)
	all.Wait()
}

// act does what one caller does. It fails when no response comes.
func (c *contention) act(ctx context.Context, action string, gateway *harness.Gateway) error {
	switch action {
	case registrationRead:
		_, err := c.journey.Ask(ctx, gateway, http.MethodGet, "", "", nil)
		return err
	case abandoned:
		_, err := c.journey.Ask(ctx, gateway, http.MethodDelete, "", "", nil)
		return err
	case cardEntered:
		return c.journey.EnterCard(ctx, frontdesktest.ApprovedCard)
	case webhookSent:
		payment := sandbox.Payment{ID: "pi_of_the_race", Status: "requires_capture", Metadata: map[string]string{
			"fd_registration": c.journey.Registration(),
			"fd_generation":   "1",
			"fd_environment":  "test",
			"fd_sale":         "/demo/sales/1", // only its organisation counts
		}}
		if status := sendEvent(ctx, gateway, "payment_intent.amount_capturable_updated", payment); status != http.StatusNoContent {
			return fmt.Errorf("status %d", status)
		}
		return nil
	}
	journey, key := c.journey, c.key
	if action != sameKey {
		key = uuid.NewString()
	}
	if action == secondTab {
		journey = c.other
	}
	response, err := journey.Ask(ctx, gateway, http.MethodPost, "/payment", key, journey.ByCard())
	var paying api.Registration
	if err == nil && response.Status < 300 && json.Unmarshal(response.Body, &paying) == nil && paying.Payment != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if action == secondTab {
			c.others++
		} else {
			c.payments[paying.Payment.Id]++
		}
	}
	return err
}
