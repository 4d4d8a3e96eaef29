package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
)

// Journey is one buyer from the first request to the last response. The buyer reloads, retries with the
// same key, opens a second tab, changes gateways, and pays again only when asked to.
type Journey struct {
	Due       int64  // of the cart that the buyer saw, minor units
	State     string // of the payment, in the last response; empty: no payment
	Forgotten bool   // the gateway no longer knows the registration
	Done      bool   // the state is an end

	// What else happened, to be read when the journey is over.
	Strangers     int           // requests of strangers that were answered
	SettledAtDesk bool          // staff settled the sale
	Slowest       time.Duration // the longest time that a response, or its absence, took
	TurnedAway    int           // requests about the registration that were refused because of others

	buyer   *frontdesktest.Buyer
	name    string         // given name of the buyer, which no other buyer spells so
	start   map[string]any // the request that starts the registration
	again   bool           // the buyer began again with another key, which may make another contact
	harness *Harness
	random  *rand.Rand

	mu          sync.Mutex
	processorID string // of the payment that the buyer sees
	responses   []campaign.Response
	trace       []string
	began       time.Time
	generations int
	served      []string // requests of strangers that were not refused
}

const (
	maxAttempts                 = 60      // of a request: half a minute of a service that does not respond
	maxKeyInUse                 = 3       // "in progress" responses before a reload of the page makes a new key
	maxPayments                 = 3       // that a buyer starts when asked to try again
	maxTraceLines, maxResponses = 60, 200 // bound the memory of a buyer who waits a long time
)

// NewJourney returns a buyer at the start. The seed determines what the buyer does.
func (h *Harness) NewJourney(seed uint64) *Journey {
	return &Journey{
		harness: h,
		buyer:   &frontdesktest.Buyer{HTTP: &h.HTTP, Upstreams: h.Upstreams.URL},
		random:  rand.New(rand.NewPCG(seed, 1)),
		began:   time.Now(),
	}
}

// Registration is the id of the registration; empty before there is one.
func (j *Journey) Registration() string { return j.buyer.ID }

// Run registers, pays and waits for a moment. A journey that is not done then is
// continued later, as a buyer comes back.
func (j *Journey) Run(ctx context.Context, wait time.Duration) {
	if !j.Register(ctx) {
		return
	}
	defer j.Others(ctx)()
	if j.Pay(ctx) {
		j.Confirm(ctx)
		j.Watch(ctx, wait)
	}
}

// Register starts the registration, and reports whether that worked.
func (j *Journey) Register(ctx context.Context) bool {
	start, person := j.harness.NewRegistration()
	return j.register(ctx, start, person.GivenName)
}

// RegisterAgain starts the registration of another journey's buyer, for the same offer, and reports whether that worked.
func (j *Journey) RegisterAgain(ctx context.Context, first *Journey) bool {
	start, person := maps.Clone(first.start), maps.Clone(first.start["person"].(map[string]any))
	person["givenName"] = strings.ToUpper(first.name)
	start["person"] = person
	return j.register(ctx, start, strings.ToUpper(first.name))
}

func (j *Journey) register(ctx context.Context, start map[string]any, name string) bool {
	j.start, j.name = start, name
	response, ok := j.submit(ctx, "/v1/registrations", start)
	var registration api.Registration
	if !ok || json.Unmarshal(response.Body, &registration) != nil || registration.Token == nil {
		return false
	}
	j.buyer.ID, j.buyer.Token, j.buyer.Cart = registration.Id, *registration.Token, registration.Cart.Revision
	j.Due = registration.Cart.DueNow.Amount
	return true
}

// ByCard is the body of a payment by card, for the cart that the buyer saw.
func (j *Journey) ByCard() map[string]string { return j.buyer.ByCard() }

// Pay asks for the payment, sometimes in two tabs, and reports whether the buyer may go to the processor.
func (j *Journey) Pay(ctx context.Context) bool {
	if j.random.IntN(4) == 0 {
		var other sync.WaitGroup
		g, key := j.harness.RandomGateway(j.random), uuid.NewString()
		other.Go(func() { j.Ask(ctx, g, http.MethodPost, "/payment", key, j.ByCard()) })
		defer other.Wait()
	}
	if _, ok := j.submit(ctx, j.buyer.Path()+"/payment", j.ByCard()); !ok {
		j.reload(ctx)
	}
	return j.ProcessorID() != ""
}

// ProcessorID is the processor's id of the payment that the buyer was sent to; empty before there is one.
func (j *Journey) ProcessorID() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.processorID
}

// submit sends a request until there is a final response, each time at some gateway, and
// reports whether it is a success.
func (j *Journey) submit(ctx context.Context, path string, body any) (*frontdesktest.Response, bool) {
	key, inUse := uuid.NewString(), 0
	for range maxAttempts {
		response, err := j.send(ctx, j.harness.RandomGateway(j.random), http.MethodPost, path, key, body)
		switch {
		case err != nil:
		case response.Status < 300:
			return response, true
		case response.Code() == string(api.KeyInUse):
			inUse++
			if inUse == maxKeyInUse {
				key, inUse, j.again = uuid.NewString(), 0, j.again || j.buyer.ID == ""
			}
		case response.Status < 500 && response.Code() != string(api.Conflict):
			return nil, false
		}
		pause := time.Duration(50+j.random.IntN(200)) * time.Millisecond
		if err == nil && response.Code() == string(api.Overloaded) {
			pause += response.RetryAfter()
		}
		if !frontdesktest.Sleep(ctx, pause) {
			break
		}
	}
	return nil, false
}

// Ask sends one request about the registration, to the path below it, and remembers
// what the response says of the payment.
func (j *Journey) Ask(ctx context.Context, gateway *Gateway, method, below, key string, body any) (*frontdesktest.Response, error) {
	return j.send(ctx, gateway, method, j.buyer.Path()+below, key, body)
}

func (j *Journey) send(ctx context.Context, gateway *Gateway, method, path, key string, body any) (*frontdesktest.Response, error) {
	began := time.Now()
	response, err := j.buyer.Send(ctx, method, gateway.URL+path, key, body)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Slowest = max(j.Slowest, time.Since(began))
	result := "no response"
	if err == nil {
		result = j.record(began, path, response)
		if j.buyer.ID != "" && response.Code() == string(api.Overloaded) {
			j.TurnedAway++
		}
	}
	j.note(fmt.Sprintf("%s %s at %s: %s", method, path, gateway.URL, result))
	return response, err
}

// record keeps what a response says of the payment, and gives a line for the trace.
func (j *Journey) record(began time.Time, where string, response *frontdesktest.Response) string {
	payment := paymentIn(response)
	if payment == nil {
		return fmt.Sprint(response.Status, " ", response.Code())
	}
	j.State = string(payment.State)
	j.processorID = cmp.Or(frontdesktest.PaymentID(*payment), j.processorID)
	if len(j.responses) < maxResponses {
		j.responses = append(j.responses,
			campaign.Response{State: j.State, Retry: retries[payment.PayAgain], Charged: j.harness.charged(j.processorID, began)})
	}
	return fmt.Sprintf("%d payment %s, retry %s", response.Status, payment.State, payment.PayAgain)
}

// retries are the words of the invariants for whether a buyer is asked to pay again.
var retries = map[api.PayAgain]string{
	api.PayAgainNo: "never", api.PayAgainSameRequest: "same_key", api.PayAgainNewRequest: "new",
}

// note keeps a line of the trace, unless it repeats the one before.
func (j *Journey) note(line string) {
	repeated := len(j.trace) > 0 && strings.HasSuffix(j.trace[len(j.trace)-1], line)
	if !repeated && len(j.trace) < maxTraceLines {
		j.trace = append(j.trace, fmt.Sprintf("%7s %s", time.Since(j.began).Round(time.Millisecond), line))
	}
}

func paymentIn(response *frontdesktest.Response) *api.Payment {
	var registration api.Registration
	if response.Status > 299 || json.Unmarshal(response.Body, &registration) != nil {
		return nil
	}
	return registration.Payment
}

// Confirm enters a card at the processor, sometimes a bad one first, sometimes twice. The following
// responses show what the processor's page refused.
func (j *Journey) Confirm(ctx context.Context) {
	switch j.random.IntN(10) {
	case 0:
		j.EnterCard(ctx, frontdesktest.DeclinedCard)
	case 1:
		j.EnterCard(ctx, frontdesktest.ApprovedCard)
	}
	j.EnterCard(ctx, frontdesktest.ApprovedCard)
}

// EnterCard enters one card on the processor's page of the payment. A refusal is not an error: the page
// shows it to the buyer, who goes back.
func (j *Journey) EnterCard(ctx context.Context, card string) error {
	err := j.buyer.Confirm(ctx, j.ProcessorID(), card)
	if refused, ok := errors.AsType[*frontdesktest.StatusError](err); ok && refused.Status < 500 {
		return nil
	}
	return err
}

// Watch reloads until the payment has ended, or until the wait is over. It starts a cancelled payment again.
func (j *Journey) Watch(ctx context.Context, wait time.Duration) {
	ends := []string{"recorded", "in_doubt", "refunded"}
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
			j.Done = j.State == "" && j.generations >= maxPayments // a registration that was abandoned
		case j.State == "requires_action" || j.State == "declined":
			j.Confirm(ctx)
		}
		if !frontdesktest.Sleep(ctx, time.Duration(100+j.random.IntN(200))*time.Millisecond) {
			return
		}
	}
}

func (j *Journey) reload(ctx context.Context) {
	if j.buyer.ID == "" {
		return
	}
	response, err := j.Ask(ctx, j.harness.RandomGateway(j.random), http.MethodGet, "", "", nil)
	j.Forgotten = j.Forgotten || err == nil && response.Status == http.StatusNotFound
}

// A stranger asks for one in strangers registrations. The club's staff settle the sale of one in staff.
const strangers, staff = 5, 5

const (
	othersTime = 3 * time.Second        // until others act: about as long as a payment takes
	deskTime   = 300 * time.Millisecond // from the registration until staff act: most buyers have not paid by then, and some have
	deskMean   = club.MeanCash          // how buyers pay at the desk; no gateway books it here
	building   = "building"             // the state of a sale that nothing has settled
)

// Others starts the stranger and the staff of the registration, and returns a function that waits for them.
func (j *Journey) Others(ctx context.Context) (wait func()) {
	var others sync.WaitGroup
	act := func(oneIn int, latest time.Duration, what func(context.Context, *Gateway)) {
		pause, g := time.Duration(j.random.Int64N(int64(latest))), j.harness.RandomGateway(j.random)
		if j.random.IntN(oneIn) == 0 {
			others.Go(func() {
				if frontdesktest.Sleep(ctx, pause) {
					what(ctx, g)
				}
			})
		}
	}
	act(strangers, othersTime, j.askAsStranger)
	act(staff, deskTime, func(ctx context.Context, _ *Gateway) { j.settleAtDesk(ctx) })
	return others.Wait
}

// settleAtDesk has staff take cash for the sale in the club system's own screens, once its payment has begun and if it
// is still open there.
func (j *Journey) settleAtDesk(ctx context.Context) {
	sale := ""
	begun := time.Now() // on a busy machine, the payment begins later
	for sale == "" && time.Since(begun) < othersTime && frontdesktest.Sleep(ctx, 100*time.Millisecond) {
		sale = j.harness.Sale(j.buyer.ID)
	}
	if seen, ok := j.harness.Upstreams.Sim.Sale(sale); !ok || seen.State != building {
		return
	}
	_, err := frontdesktest.PayAtDesk(ctx, j.harness.desk, j.harness.scope, club.IRI(sale))
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		j.SettledAtDesk = true
	}
	j.note(fmt.Sprintf("the desk settles %s: %v", sale, err))
}

// askAsStranger sends the requests of a stranger with the registration's address and a token of their own.
func (j *Journey) askAsStranger(ctx context.Context, gateway *Gateway) {
	stranger := frontdesktest.Buyer{HTTP: &j.harness.HTTP, ID: j.buyer.ID, Token: "x" + j.buyer.Token[1:]}
	if stranger.Token == j.buyer.Token {
		stranger.Token = "y" + j.buyer.Token[1:]
	}
	for _, request := range []struct {
		method, below, key string
		body               any
	}{{http.MethodGet, "", "", nil}, {http.MethodPost, "/payment", uuid.NewString(), j.ByCard()}, {http.MethodDelete, "", "", nil}} {
		response, err := stranger.Send(ctx, request.method, gateway.URL+stranger.Path()+request.below, request.key, request.body)
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
