package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/campaign"
)

// Journey is one buyer's way from the first request to what they were told last. The buyer is
// impatient and polite: they reload, press again with the same key when no answer
// comes, open a second tab, come back at another gateway, and pay again only when
// they are told that they can.
type Journey struct {
	Registration string
	Due          int64  // of the cart that they saw, minor units
	State        string // of the payment, as they were told last; empty: of none
	Forgotten    bool   // the gateway no longer knows the registration
	Done         bool   // the state is an end

	rig    *Harness
	random *rand.Rand
	token  string

	mu          sync.Mutex
	processorID string // of the payment that they see
	responses   []campaign.Response
	trace       []string
	began       time.Time
	generations int
}

// The figures of a buyer.
const (
	// maxAttempts is how often a buyer presses until they give up for good: half a minute of
	// a service that does not answer.
	maxAttempts = 60
	// maxKeyInUse is how often a buyer is told that their first request is still running until
	// they reload the page, which makes a new key.
	maxKeyInUse = 3
	// maxPayments is how many payments a buyer begins when told to try again.
	maxPayments = 3
	// maxTraceLines and maxRequests bound the memory of a buyer who waits for long.
	maxTraceLines, keptAnswers = 60, 200
)

// The cards of the sandbox that buyers use.
const (
	goodCard     = "4242424242424242"
	declinedCard = "4000000000000002"
)

// NewJourney makes a buyer who has done nothing yet. The seed decides what they do.
func (r *Harness) NewJourney(seed uint64) *Journey {
	return &Journey{rig: r, random: rand.New(rand.NewPCG(seed, 1)), began: time.Now()}
}

// Run registers, pays and waits for a moment. A journey that is not over then is
// followed later, as a buyer comes back.
func (j *Journey) Run(ctx context.Context, wait time.Duration) {
	if j.Register(ctx) && j.Pay(ctx) {
		j.Confirm(ctx)
		j.Watch(ctx, wait)
	}
}

// Register starts the registration, and tells whether that worked.
func (j *Journey) Register(ctx context.Context) bool {
	body := map[string]any{"clubId": j.rig.club, "person": j.rig.newPerson(),
		"items": []map[string]string{{"offerId": j.rig.offer, "startDate": time.Now().AddDate(0, 0, 1).Format(time.DateOnly)}}}
	reply, ok := j.submit(ctx, "/v1/registrations", body)
	var registration Registration
	if !ok || reply.decode(&registration) != nil || registration.Token == "" {
		return false
	}
	j.Registration, j.token, j.Due = registration.ID, registration.Token, registration.Cart.DueNow.Amount
	return true
}

// Pay asks for the payment, sometimes in two tabs, and tells whether the buyer may go
// to the processor.
func (j *Journey) Pay(ctx context.Context) bool {
	if j.random.IntN(4) == 0 {
		var other sync.WaitGroup
		g, key := j.rig.randomGateway(j.random), uuid.NewString()
		other.Go(func() { j.ask(ctx, g, http.MethodPost, j.path()+"/payment", key, card) })
		defer other.Wait()
	}
	_, ok := j.submit(ctx, j.path()+"/payment", card)
	if !ok {
		j.reload(ctx)
	}
	return j.currentPayment() != ""
}

// card is the body of the wish to pay.
var card = map[string]string{"method": "card"}

func (j *Journey) path() string { return "/v1/registrations/" + j.Registration }

// ProcessorID is the processor's id of the payment that the buyer was sent to; empty
// before there is one.
func (j *Journey) ProcessorID() string { return j.currentPayment() }

// currentPayment is the processor's id of the payment that the buyer was sent to.
func (j *Journey) currentPayment() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.processorID
}

// submit sends a request until it is answered for good, each time at some gateway, and
// tells whether the answer is a success.
func (j *Journey) submit(ctx context.Context, path string, body any) (reply Response, ok bool) {
	key, running := uuid.NewString(), 0
	for range maxAttempts {
		reply, err := j.ask(ctx, j.rig.randomGateway(j.random), http.MethodPost, path, key, body)
		switch {
		case err == nil && reply.Status < 300:
			return reply, true
		case err == nil && reply.Code() == "key_in_use":
			if running++; running == maxKeyInUse {
				key, running = uuid.NewString(), 0
			}
		case err == nil && reply.Status < 500 && reply.Code() != "conflict":
			return reply, false
		}
		if !sleep(ctx, time.Duration(50+j.random.IntN(200))*time.Millisecond) {
			break
		}
	}
	return reply, false
}

// Ask sends one request about the registration, to the path below it, and remembers
// what the buyer was told.
func (j *Journey) Ask(ctx context.Context, g *Gateway, method, below, key string, body any) (Response, error) {
	return j.ask(ctx, g, method, j.path()+below, key, body)
}

// ask sends one request, and remembers what it was answered about the payment.
func (j *Journey) ask(ctx context.Context, g *Gateway, method, path, key string, body any) (Response, error) {
	began := time.Now()
	reply, err := j.rig.call(ctx, g, method, path, j.token, key, body)
	j.remember(began, g, method, path, reply, err)
	return reply, err
}

func (j *Journey) remember(began time.Time, g *Gateway, method, where string, reply Response, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := fmt.Sprintf("%7s %s %s at %s: ", time.Since(j.began).Round(time.Millisecond), method, where, g.URL)
	if err != nil {
		j.note(line + "no answer")
		return
	}
	payment := paymentIn(where, reply)
	if payment == nil {
		j.note(fmt.Sprintf("%s%d %s", line, reply.Status, reply.Code()))
		return
	}
	j.note(fmt.Sprintf("%s%d payment %s, retry %s", line, reply.Status, payment.State, payment.Retry))
	j.State = payment.State
	if payment.Card.RedirectURL != "" {
		j.processorID = path.Base(payment.Card.RedirectURL)
	}
	if len(j.responses) < keptAnswers {
		j.responses = append(j.responses, campaign.Response{State: payment.State, Retry: payment.Retry, Charged: j.rig.charges.charged(j.processorID, began)})
	}
}

// note keeps a line of the trace, unless it says what the one before said.
func (j *Journey) note(line string) {
	const stamp = 8 // the time before each line
	same := len(j.trace) > 0 && len(line) > stamp && len(j.trace[len(j.trace)-1]) > stamp && j.trace[len(j.trace)-1][stamp:] == line[stamp:]
	if !same && len(j.trace) < maxTraceLines {
		j.trace = append(j.trace, line)
	}
}

// paymentIn finds the payment in an answer; nil when there is none.
func paymentIn(where string, reply Response) *Payment {
	if reply.Status > 299 {
		return nil
	}
	if path.Base(where) == "payment" {
		payment := &Payment{}
		if json.Unmarshal(reply.Body, payment) != nil {
			return nil
		}
		return payment
	}
	var registration Registration
	if json.Unmarshal(reply.Body, &registration) != nil {
		return nil
	}
	return registration.Payment
}

// Confirm enters a card at the processor, sometimes a bad one first, sometimes twice.
func (j *Journey) Confirm(ctx context.Context) {
	dice := j.random.IntN(10)
	if dice == 0 {
		j.rig.Upstreams.Confirm(ctx, j.currentPayment(), declinedCard) // the page stays; what follows shows what came of it
	}
	if dice == 1 {
		j.rig.Upstreams.Confirm(ctx, j.currentPayment(), goodCard)
	}
	j.rig.Upstreams.Confirm(ctx, j.currentPayment(), goodCard)
}

// ends are the states after which a buyer stops looking.
var ends = []string{"recorded", "in_doubt", "refunded"}

// Watch reloads until the payment has come to its end, or for so long. A payment that
// was given up is begun again.
func (j *Journey) Watch(ctx context.Context, wait time.Duration) {
	until := time.Now().Add(wait)
	for !j.Done && !j.Forgotten && time.Now().Before(until) {
		j.reload(ctx)
		switch {
		case slices.Contains(ends, j.State) || j.State == "cancelled" && j.generations >= maxPayments:
			j.Done = true
			return
		case j.State == "cancelled" || j.State == "":
			j.generations++
			if j.Pay(ctx) {
				j.Confirm(ctx)
			}
			j.Done = j.State == "" && j.generations >= maxPayments // a registration that was given up
		case j.State == "requires_action" || j.State == "declined":
			j.Confirm(ctx)
		}
		if !sleep(ctx, time.Duration(100+j.random.IntN(200))*time.Millisecond) {
			return
		}
	}
}

// reload looks at the registration.
func (j *Journey) reload(ctx context.Context) {
	if j.Registration == "" {
		return
	}
	reply, err := j.ask(ctx, j.rig.randomGateway(j.random), http.MethodGet, j.path(), "", nil)
	if err != nil {
		return
	}
	if reply.Status == http.StatusNotFound {
		j.Forgotten = true
	}
}
