package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

// processorURL has no listener: requests are handed over without a network.
const processorURL = "http://processor.example/sandbox"

var errNoAnswer = errors.New("simulation: no answer") // the error of a request without a response

type processorTransport struct{ *env }

func (p processorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t := taskOf(r.Context())
	if t == nil {
		return p.process(r), nil
	}
	if !t.interleave() {
		return nil, errDead
	}
	if t.dies(func() { p.process(r) }) {
		return nil, errDead
	}
	answer, err := p.withFaults(r, t)
	if !t.interleave() { // anything may also happen between the response and its consequences
		return nil, errDead
	}
	return answer, err
}

func (p processorTransport) withFaults(r *http.Request, t *task) (*http.Response, error) {
	f := t.journey
	if !f.chance(f.plan.cards) {
		return p.process(r), nil
	}
	kind := oneOf(f, cardsError, cardsLost, cardsSlow, cardsLate, cardsStored, cardsMissing)
	if _, existing := strings.CutPrefix(r.URL.Path, "/sandbox/payments/"); kind == cardsMissing && !existing {
		kind = cardsError
	}
	if kind == cardsStored && r.Method == http.MethodGet {
		kind = cardsError // a read has no key
	}
	f.fault(kind)
	switch kind {
	case cardsMissing:
		recorder := httptest.NewRecorder()
		recorder.WriteHeader(http.StatusNotFound)
		recorder.Body.WriteString(`{"error":{"type":"not_found","code":"payment_not_found","message":"There is no such payment."}}`)
		return recorder.Result(), nil
	case cardsStored: // and replayed for a day
		defer p.configureSandbox(oldsandbox.Settings{Refunds: f.refunds})
		p.configureSandbox(oldsandbox.Settings{Refunds: f.refunds, Errors: oneOf(f, oldsandbox.ErrorsBefore, oldsandbox.ErrorsAfter)})
		return p.process(r), nil
	case cardsError:
		recorder := httptest.NewRecorder()
		recorder.WriteHeader(oneOf(f, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable))
		return recorder.Result(), nil
	case cardsLost:
		p.process(r)
		return nil, errNoAnswer
	case cardsSlow:
		t.yield(f.between(time.Second, 10*time.Second))
		return p.process(r), nil
	default:
		body, _ := io.ReadAll(r.Body)
		later := r.Clone(context.Background())
		f.after(f.between(time.Second, 5*time.Minute), func() {
			later.Body = io.NopCloser(bytes.NewReader(body))
			f.tracef("a late request to the processor arrives: %s %s", later.Method, later.URL.Path)
			p.process(later)
		})
		return nil, errNoAnswer
	}
}

// process returns the processor's response, once the processor has posted the webhook for it.
func (s *env) process(r *http.Request) *http.Response {
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, "/sandbox")
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	const deliveryTimeout = time.Minute // far more than a webhook takes on a busy machine
	before := s.paymentsFingerprint()
	recorder := httptest.NewRecorder()
	s.sandbox.ServeHTTP(recorder, inner)
	if r.Method != http.MethodGet && s.paymentsFingerprint() != before {
		select {
		case letter := <-s.webhooks: // each change of a payment has one webhook
			f := s.current.Load()
			f.deliveries = append(f.deliveries, letter)
			f.noteCaptures()
		case <-time.After(deliveryTimeout):
			panic("the processor tells nothing of a change") // a bug in the simulation
		}
	}
	return recorder.Result()
}

// configureSandbox replaces the sandbox's settings.
func (s *env) configureSandbox(settings oldsandbox.Settings) {
	body, err := json.Marshal(settings)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPut, "/settings", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	s.sandbox.ServeHTTP(httptest.NewRecorder(), r)
}

// paymentsFingerprint returns one value for the state of all payments, as far as events report it.
func (s *env) paymentsFingerprint() (all string) {
	for _, p := range s.sandbox.Payments() {
		if p.State == "requires_action" {
			continue // a payment has no webhook before its buyer has acted
		}
		all += fmt.Sprint(p.ID, p.State, p.DeclineCode, p.Refunding, p.FailedRefunds, ";")
	}
	return all
}

// delivery is a webhook on its way.
type delivery struct {
	header http.Header
	body   []byte
}

type webhookRecorder chan delivery

func (b webhookRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b <- delivery{r.Header.Clone(), body}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// sendDeliveries schedules the webhooks of the latest changes.
func (f *journey) sendDeliveries() {
	for _, letter := range f.deliveries {
		send := func(d time.Duration) {
			f.spawn(d, func(ctx context.Context, t *task) {
				event, err := t.gateway.processor.Webhook(letter.header, letter.body)
				if err == nil {
					err = t.gateway.payments.HandleEvent(ctx, event)
				}
				f.tracef("%s: webhook %s: %v", t.gateway.name, event.Type, err)
			})
		}
		if !f.chance(f.plan.webhooks) {
			send(f.between(50*time.Millisecond, time.Second))
			continue
		}
		kind := oneOf(f, hookLost, hookTwice, hookLate)
		f.fault(kind)
		switch kind {
		case hookTwice:
			send(f.between(50*time.Millisecond, time.Second))
			send(f.between(50*time.Millisecond, time.Minute))
		case hookLate: // and thereby out of order
			send(f.between(5*time.Second, 4*time.Minute))
		}
	}
	f.deliveries = nil
}

// held is the buyer's money that is charged or authorised at one moment.
type held struct {
	// charged names what was taken and not given back: the processor's payments, and the registration once
	// Frontdesk settled its sale by any method.
	charged    []string
	authorised []string // the processor's payments that the buyer authorised, and that were not cancelled since
}

func (f *journey) held() (now held) {
	for _, p := range f.sandbox.Payments() {
		charged := p.Captured > p.Refunded && !f.returned[p.ID]
		if charged {
			now.charged = append(now.charged, p.ID)
		}
		if charged || p.State == cards.Authorised {
			now.authorised = append(now.authorised, p.ID)
		}
	}
	if f.settledByUs() {
		now.charged = append(now.charged, f.registration)
	}
	return now
}

// of is what is held of some payments or of the registration.
func (h held) of(ids ...string) held {
	isOther := func(id string) bool { return !slices.Contains(ids, id) }
	return held{charged: slices.DeleteFunc(slices.Clone(h.charged), isOther), authorised: slices.DeleteFunc(slices.Clone(h.authorised), isOther)}
}

func overlap(before, now []string) bool {
	return slices.ContainsFunc(before, func(id string) bool { return slices.Contains(now, id) })
}

// scheduleRefunds has the processor refuse refunds, or keep them pending, for some time. Afterwards the banks
// settle what is pending, and return some of the money that had arrived.
func (f *journey) scheduleRefunds() {
	if f.plan.refunds == oldsandbox.RefundsNormal {
		if f.chance(0.1) {
			f.after(f.between(f.plan.faultWindow, operatorsLatest), f.refundByHand)
		}
		return
	}
	f.setRefunds(f.plan.refunds)
	for range 4 {
		f.after(f.between(0, 2*operatorsLatest), func() { f.settleRefunds(0.5) })
	}
	f.after(operatorsLatest, func() {
		f.setRefunds(oldsandbox.RefundsNormal)
		f.operate()
	})
	f.after(2*operatorsLatest, func() {
		f.settleRefunds(1)
		f.operate()
	})
}

func (f *journey) setRefunds(mode oldsandbox.RefundMode) {
	f.refunds = mode
	f.configureSandbox(oldsandbox.Settings{Refunds: mode})
	f.tracef("the processor's refunds: %q", mode)
}

// settleRefunds has the banks settle each refund. It succeeds with the given probability.
func (f *journey) settleRefunds(likely float64) {
	for _, p := range f.sandbox.Payments() {
		succeeded := f.chance(likely)
		switch {
		case p.Refunding == 0 && (succeeded || p.Refunded == 0):
			continue
		case !succeeded:
			f.fault(refundFailed)
			f.returned[p.ID] = p.Refunded > 0 // no gateway can know before the processor tells it
		}
		f.atProcessor("the processor", http.MethodPost, "/payments/"+p.ID+"/settle-refund", fmt.Sprintf(`{"succeeded":%t}`, succeeded))
	}
}

// refundByHand has staff refund a recorded payment in the processor's own pages. Often the gateways are not told.
func (f *journey) refundByHand() {
	for _, p := range f.storedPayments() {
		kept := func(held oldsandbox.Payment) bool {
			return held.ID == p.ProcessorID && held.State == cards.Captured && held.Refunded == 0
		}
		if p.State != flows.Recorded || len(f.booked()) == 0 || !slices.ContainsFunc(f.sandbox.Payments(), kept) {
			continue
		}
		f.fault(refundedByHand)
		f.byHand = append(f.byHand, p.ProcessorID)
		if _, err := f.gateways[0].processor.Refund(context.Background(), "by hand", p.ProcessorID, p.Amount); err != nil {
			panic(err) // a bug in the simulation: nothing fails for staff
		}
		if f.chance(0.5) {
			f.fault(hookLost)
			f.deliveries = nil
		}
		return
	}
}

// atProcessor has the buyer or the processor itself do what no gateway can do. The processor refuses what
// has become impossible, and the simulation ignores that.
func (f *journey) atProcessor(who, method, path, body string) {
	r, err := http.NewRequest(method, processorURL+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer := f.process(r)
	f.tracef("%s: %s %s: %d", who, path, body, answer.StatusCode)
}
