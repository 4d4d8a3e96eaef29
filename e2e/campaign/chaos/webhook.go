package chaos

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v85/webhook"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// Payments must be completed without webhooks, which only save time. A delivery must have a recent signature.
const (
	completedLate   = "a paid registration was not completed within a minute, although only the webhooks failed"
	forgeryAccepted = "a forged or stale delivery was accepted"
)

const (
	webhookBuyers   = 8           // at once
	completionTime  = time.Minute // of a paid registration whose webhook got lost
	lookEvery       = time.Second // between two looks at the sale; added to the allowed time
	foreignPayments = 10          // of other merchants at the same processor
)

// Webhook drops, doubles, delays and reorders the processor's webhooks, and sends the gateways false
// ones, while buyers pay and leave for good. Every paid registration must still be completed.
func Webhook() campaign.Campaign {
	return campaign.Campaign{
		Name: "webhook",
		Description: "The processor's webhooks are dropped, duplicated, late, reordered, replayed, forged, untrue, " +
			"about foreign payments and far too long, and buyers leave once they have paid.",
		Faults:    slices.Concat(deliveryFaults, attacks),
		Mutations: []string{"no-sweep", "trusted-webhook", "unsigned-webhook"},
		Short:     campaign.Options{Count: 60},
		Long:      campaign.Options{Count: 1500},
		Drive:     onHarness(2, durableRedis, breakWebhooks),
	}
}

func breakWebhooks(run *run) {
	ctx, faults := run.scope.Context(), startWebhookFaults(run)
	defer faults.close()
	operator := frontdesktest.Buyer{HTTP: http.DefaultClient, Upstreams: run.Upstreams.URL}
	settings := sandbox.Settings{WebhookURL: faults.server.URL}
	frontdesktest.Must(run.scope, operator.Do(ctx, http.MethodPut, run.Upstreams.URL+"/sandbox/settings", settings, nil))
	run.createForeignPayments(&operator)
	limited, cancel := run.options.Context(ctx)
	defer cancel()
	var all sync.WaitGroup
	for range webhookBuyers {
		all.Go(func() {
			for journey := run.nextJourney(); journey != nil && limited.Err() == nil; journey = run.nextJourney() {
				if !journey.Register(ctx) || !journey.Pay(ctx) {
					continue
				}
				faults.sendFalseEvents(ctx, journey)
				journey.Confirm(ctx)
				all.Go(func() { run.awaitCompletion(ctx, journey.Registration()) })
			}
		})
	}
	all.Wait()
	run.settleAndCheck()
}

// awaitCompletion waits until the sale of a paid registration is booked, although its buyer never returns. An overdue
// one is a violation.
func (r *run) awaitCompletion(ctx context.Context, registration string) {
	sale, paidAt := r.Sale(registration), time.Now()
	completed := func() bool { // an open sale is recognised without a copy of the whole ledger
		seen, _ := r.Upstreams.Sim.Sale(sale)
		return seen.State != "building" && r.Booked(sale)
	}
	for !completed() && frontdesktest.Sleep(ctx, lookEvery) {
		if waited := time.Since(paidAt); waited > completionTime+lookEvery && !completed() {
			r.record.AddViolations(campaign.Violation{Invariant: completedLate, Seed: r.options.Seed, Registration: registration,
				Detail: fmt.Sprintf("paid %s ago", waited.Round(time.Second))})
			return
		}
	}
}

// createForeignPayments pays other merchants at the same processor, whose events arrive here as well.
func (r *run) createForeignPayments(buyer *frontdesktest.Buyer) {
	processor := frontdesktest.ProcessorClient(r.Upstreams.URL)
	for i := range foreignPayments {
		metadata := map[string]string{"shop": "another"}
		if i%2 == 0 { // the same account, another environment
			metadata = map[string]string{"fd_registration": uuid.NewString(), "fd_generation": "1", "fd_environment": "live"}
		}
		p, err := processor.Create(r.scope.Context(), uuid.NewString(), cards.NewPayment{Amount: 100, Currency: "EUR", Metadata: metadata})
		frontdesktest.Must(r.scope, err)
		frontdesktest.Must(r.scope, buyer.Confirm(r.scope.Context(), p.ID, frontdesktest.ApprovedCard))
	}
}

// The faults of a delivery.
const (
	dropped   = "delivery dropped"
	doubled   = "delivery doubled"
	delayed   = "delivery late"
	reordered = "delivery overtaken by a later one"
	replayed  = "delivery replayed"
)

// False and foreign deliveries.
const (
	forged       = "forged delivery"
	unsigned     = "unsigned delivery"
	stale        = "delivery signed ten minutes ago"
	falseEvent   = "signed delivery that is not true"
	foreignEvent = "delivery of a foreign payment"
	oversized    = "oversized delivery"
)

var (
	deliveryFaults = []string{dropped, doubled, delayed, reordered, replayed}
	attacks        = []string{forged, unsigned, stale, falseEvent, foreignEvent, oversized}
)

// maxDelay is the longest delay of a late delivery: longer than a payment takes, and shorter than a test waits.
const maxDelay = 3 * time.Second

// webhookFaults receives the processor's webhooks and delivers them to the gateways with faults.
type webhookFaults struct {
	*run
	server *httptest.Server
	held   chan *delivery // one that waits to be overtaken

	mu         sync.Mutex
	rng        *rand.Rand
	deliveries sync.WaitGroup
	ctx        context.Context
	stop       context.CancelFunc
}

// delivery is a webhook as the processor sent it.
type delivery struct {
	signature string
	body      []byte
}

func startWebhookFaults(run *run) *webhookFaults {
	f := &webhookFaults{run: run, held: make(chan *delivery, 1), rng: rand.New(rand.NewPCG(run.options.Seed, 4))}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.server = httptest.NewServer(http.HandlerFunc(f.accept))
	return f
}

func (f *webhookFaults) close() {
	f.stop()
	f.server.Close()
	f.deliveries.Wait()
	deliveryClient.CloseIdleConnections()
}

func (f *webhookFaults) intN(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rng.IntN(n)
}

func (f *webhookFaults) anyGateway() *harness.Gateway {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.RandomGateway(f.rng)
}

// accept takes a delivery, whatever becomes of it.
func (f *webhookFaults) accept(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.WriteHeader(http.StatusNoContent)
	delivery := &delivery{r.Header.Get(cards.SignatureHeader), body}
	if !bytes.Contains(body, []byte(`"fd_environment":"test"`)) {
		f.deliver(foreignEvent, delivery, 0)
		return
	}
	switch f.intN(8) {
	case 0, 1:
		f.record.AddFault(dropped)
	case 2:
		f.deliver(doubled, delivery, 0)
		f.deliver("", delivery, 0)
	case 3:
		f.deliver(delayed, delivery, maxDelay)
	case 4:
		f.reorder(delivery)
	case 5:
		f.deliver("", delivery, 0)
		f.deliver(replayed, delivery, maxDelay)
	case 6:
		f.deliver("", delivery, 0)
		f.attack(delivery)
	default:
		f.deliver("", delivery, 0)
	}
}

// deliver posts a delivery to some gateway after a random delay, and counts the kind once it arrived.
func (f *webhookFaults) deliver(kind string, delivery *delivery, limit time.Duration) {
	delay := time.Duration(f.intN(int(limit) + 1))
	f.deliveries.Go(func() {
		frontdesktest.Sleep(f.ctx, delay)
		if status := f.post(delivery); kind != "" && status != 0 {
			f.record.AddFault(kind)
		}
	})
}

// reorder holds a delivery back until the next one has been posted.
func (f *webhookFaults) reorder(delivery *delivery) {
	select {
	case f.held <- delivery:
	case first := <-f.held:
		f.deliveries.Go(func() {
			f.post(delivery)
			f.post(first)
			f.record.AddFault(reordered)
		})
	}
}

// attack derives false deliveries from a true one. None of them may be accepted.
func (f *webhookFaults) attack(original *delivery) {
	now := time.Now()
	for kind, untrue := range map[string]*delivery{
		forged:    {signature("whsec_guessed", now, original.body), original.body},
		unsigned:  {"", original.body},
		stale:     {signature(sandbox.DemoWebhookSecret, now.Add(-10*time.Minute), original.body), original.body},
		oversized: {signature(sandbox.DemoWebhookSecret, now, original.body), append(bytes.Clone(original.body), strings.Repeat(" ", 1<<20)...)},
	} {
		f.deliveries.Go(func() {
			status := f.post(untrue)
			if status == 0 && kind != oversized { // a gateway that stops reading may close the connection
				return
			}
			f.record.AddFault(kind)
			if status >= 200 && status < 300 {
				f.record.AddViolations(campaign.Violation{Invariant: forgeryAccepted, Detail: fmt.Sprintf("%s: %original", kind, status)})
			}
		})
	}
}

// sendFalseEvents sends the gateways events with the processor's own signature, which say that a
// payment is captured, cancelled and refunded before the buyer has done anything.
func (f *webhookFaults) sendFalseEvents(ctx context.Context, journey *harness.Journey) {
	if f.intN(4) != 0 {
		return
	}
	payments := f.Upstreams.Cards.Payments()
	i := slices.IndexFunc(payments, func(p sandbox.Payment) bool { return p.ID == journey.ProcessorID() })
	for _, event := range []string{"payment_intent.succeeded", "payment_intent.canceled", "charge.refunded"} {
		if sendEvent(ctx, f.anyGateway(), event, payments[i]) != 0 {
			f.record.AddFault(falseEvent)
		}
	}
}

func (f *webhookFaults) post(d *delivery) int { return post(f.ctx, f.anyGateway(), d) }

var deliveryClient = http.Client{Timeout: 10 * time.Second} // a gateway responds in milliseconds

// post delivers a webhook to a gateway, and returns the status of the response; 0 when none came.
func post(ctx context.Context, gateway *harness.Gateway, delivery *delivery) int {
	processor := frontdesktest.Buyer{HTTP: &deliveryClient, Header: http.Header{}}
	if delivery.signature != "" {
		processor.Header.Set(cards.SignatureHeader, delivery.signature)
	}
	response, err := processor.Send(ctx, http.MethodPost, gateway.URL+"/v1/webhooks/card", "", string(delivery.body))
	if err != nil {
		return 0
	}
	return response.Status
}

func sendEvent(ctx context.Context, gateway *harness.Gateway, kind string, payment sandbox.Payment) int {
	body := frontdesktest.CardEvent(kind, payment)
	return post(ctx, gateway, &delivery{signature(sandbox.DemoWebhookSecret, time.Now(), body), body})
}

// signature returns the processor's signature of a body. It signs as Stripe does.
func signature(secret string, at time.Time, body []byte) string {
	return fmt.Sprintf("t=%d,v1=%x", at.Unix(), webhook.ComputeSignature(at, body, secret))
}
