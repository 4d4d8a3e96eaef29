package simulation

import (
	"bytes"
	"context"
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
	"frontdesk/upstream/cards/sandbox"
)

// processorURL has no listener: calls are handed over without a network.
const processorURL = "http://processor.example/sandbox"

var errNoAnswer = errors.New("simulation: no answer") // the error of a call without a response

// openProcessor replaces the processor by an empty one, whose ids the seed decides.
func (s *env) openProcessor(seed uint64) {
	if s.sandbox != nil {
		s.sandbox.Close()
	}
	endpoint := sandbox.Endpoint{URL: "https://gateway.example/v1/webhooks/card", Events: cards.WebhookEndpoint{}.Missing()}
	s.sandbox = sandbox.New(sandbox.Config{
		Now:      s.Now,
		Seed:     seed,
		BaseURL:  processorURL,
		Deliver:  s.receive,
		Accounts: []sandbox.Account{{Endpoints: []sandbox.Endpoint{endpoint}}},
	})
}

// processorTransport carries the calls of all gateways to the processor.
type processorTransport struct{ *env }

func (p processorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	task := taskOf(r.Context())
	if task == nil {
		return p.process(r)
	}
	task.journey.noteLateCapture(r, task)
	if r.Method == http.MethodPost {
		task.overtake()
	}
	if !task.interleave() {
		return nil, errDead
	}
	if task.dies(func() { _, _ = p.process(r) }) {
		return nil, errDead
	}
	response, err := p.withFaults(r, task)
	if !task.interleave() { // anything may also happen between the response and its consequences
		return nil, errDead
	}
	return response, err
}

func (p processorTransport) withFaults(r *http.Request, t *task) (*http.Response, error) {
	journey, write := t.journey, r.Method == http.MethodPost
	if journey.plan.capturesDown && strings.HasSuffix(r.URL.Path, "/capture") {
		journey.fault(cardsDown)
		return page(http.StatusServiceUnavailable), nil
	}
	if write && journey.chance(journey.plan.held) {
		journey.fault(cardsHeld)
		release, pause := p.hold(r), journey.between(50*time.Millisecond, oneOf(journey, time.Second, 10*time.Second))
		if journey.chance(0.5) {
			journey.after(pause, func() { _, _ = release() })
			return nil, errNoAnswer
		}
		t.yield(pause)
		return release()
	}
	if !journey.chance(journey.plan.cards) {
		response, err := p.process(r)
		if kind := conflicts[response.StatusCode]; kind != "" {
			journey.fault(kind)
		}
		return response, err
	}
	kind := oneOf(journey, cardsError, cardsLost, cardsSlow, cardsLate, cardsStored, cardsMissing, cardsTooMany)
	if kind == cardsMissing && !namesPayment(r) {
		kind = cardsError
	}
	if kind == cardsStored && !write {
		kind = cardsError // a read has no key
	}
	journey.fault(kind)
	switch kind {
	case cardsMissing:
		return p.refuse(r, sandbox.Fault{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "resource_missing"})
	case cardsTooMany:
		return p.refuse(r, sandbox.Fault{Status: http.StatusTooManyRequests, Type: "invalid_request_error", Code: "rate_limit"})
	case cardsStored: // and replayed for a day
		failing := journey.settings
		failing.Errors = oneOf(journey, "before", "after")
		p.configureProcessor(failing)
		defer p.configureProcessor(journey.settings)
		return p.process(r)
	case cardsError:
		status := oneOf(journey, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable)
		if journey.chance(0.3) {
			return page(status), nil
		}
		return p.refuse(r, sandbox.Fault{Status: status, Stage: oneOf(journey, sandbox.Before, sandbox.After)})
	case cardsLost:
		_, _ = p.process(r)
		return nil, errNoAnswer
	case cardsSlow:
		t.yield(journey.between(time.Second, 10*time.Second))
		return p.process(r)
	default:
		body, _ := io.ReadAll(r.Body)
		later := r.Clone(context.Background())
		journey.after(journey.between(time.Second, 5*time.Minute), func() {
			later.Body = io.NopCloser(bytes.NewReader(body))
			journey.tracef("a late request to the processor arrives: %s %s", later.Method, later.URL.Path)
			_, _ = p.process(later)
		})
		return nil, errNoAnswer
	}
}

// conflicts are what the processor answers to a call that meets another one in progress.
var conflicts = map[int]string{http.StatusConflict: cardsKeyInUse, http.StatusTooManyRequests: cardsLocked}

// namesPayment reports whether a call is about a payment that exists.
func namesPayment(r *http.Request) bool {
	path := strings.TrimPrefix(r.URL.Path, "/sandbox/v1")
	return strings.HasPrefix(path, "/payment_intents/") || path == "/refunds"
}

// page is the response of something in front of the processor.
func page(status int) *http.Response {
	recorder := httptest.NewRecorder()
	recorder.WriteHeader(status)
	recorder.Body.WriteString("<html><body>Please try again later.</body></html>")
	return recorder.Result()
}

// refuse has the processor answer an error, which it does not store under the call's key.
func (s *env) refuse(r *http.Request, fault sandbox.Fault) (*http.Response, error) {
	s.sandbox.Inject(fault)
	return s.process(r)
}

// hold begins a write that the processor ends once it is released. Until then the processor refuses other calls with its key, and
// other writes to its payment.
func (s *env) hold(r *http.Request) (release func() (*http.Response, error)) {
	held, done := make(chan struct{}), make(chan struct{})
	fault := s.sandbox.Inject(sandbox.Fault{Stage: sandbox.During, Hold: held})
	var response *http.Response
	var err error
	go func() {
		defer close(done)
		response, err = s.process(r)
	}()
	select {
	case <-fault.Reached():
	case <-done: // a replay, or a call that meets another one
	}
	return func() (*http.Response, error) {
		close(held)
		<-done
		return response, err
	}
}

// process returns the processor's response, once the processor has handed over the events of the call. The time of the call does not
// end: only the machine can be slow here.
func (s *env) process(r *http.Request) (*http.Response, error) {
	response, err := s.sandbox.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if r.Method != http.MethodGet {
		s.current.Load().afterChange()
	}
	return response, err
}

// configureProcessor replaces the processor's settings.
func (s *env) configureProcessor(settings sandbox.Settings) {
	if err := s.sandbox.Configure("demo", settings); err != nil {
		panic(err) // a bug in the simulation
	}
}

// receive keeps an event, until the call or the step is over that caused it.
func (s *env) receive(event sandbox.Delivery) {
	f := s.current.Load()
	f.deliveries = append(f.deliveries, event)
}

// sendDeliveries schedules the webhooks of the latest changes.
func (f *journey) sendDeliveries() {
	for _, sent := range f.deliveries {
		send := func(d time.Duration) {
			f.spawn(d, func(ctx context.Context, t *task) {
				event, err := f.processor.Webhook(http.Header{cards.SignatureHeader: {sent.Signature}}, sent.Body)
				if err == nil {
					err = t.gateway.payments.HandleEvent(ctx, event)
				}
				f.tracef("%s: webhook %s: %v", t.gateway.name, sent.Type, err)
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
	for _, payment := range f.sandbox.Payments() {
		charged := payment.Captured > payment.Refunded && !f.returned[payment.ID]
		if charged {
			now.charged = append(now.charged, payment.ID)
		}
		if charged || payment.State == cards.Authorised {
			now.authorised = append(now.authorised, payment.ID)
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
	return held{
		charged:    slices.DeleteFunc(slices.Clone(h.charged), isOther),
		authorised: slices.DeleteFunc(slices.Clone(h.authorised), isOther),
	}
}

func overlap(before, now []string) bool {
	return slices.ContainsFunc(before, func(id string) bool { return slices.Contains(now, id) })
}

// afterChange notes what a call or a step may have changed at the processor. A bank that takes its time decides later.
func (f *journey) afterChange() {
	f.noteCaptures()
	f.noteReleases()
	for _, payment := range f.sandbox.Payments() {
		if !payment.Processing || f.deciding[payment.ID] {
			continue
		}
		f.fault(bankSlow)
		f.deciding[payment.ID] = true
		approved := !f.chance(0.2)
		f.after(f.between(time.Second, 5*time.Minute), func() {
			delete(f.deciding, payment.ID)
			f.atProcessor(fmt.Sprint("the bank decides: ", approved), func() (sandbox.Payment, error) {
				return f.sandbox.Approve(payment.ID, approved)
			})
		})
	}
}

// scheduleProcessor has banks take their time about captures. It has the processor refuse refunds, or keep them pending, for some
// time; afterwards the banks settle what is pending, and return some of the money that had arrived.
func (f *journey) scheduleProcessor() {
	f.settings.Captures = f.plan.captures
	f.configureProcessor(f.settings)
	if f.plan.refunds == "" {
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
		f.setRefunds("")
		f.operate()
	})
	f.after(2*operatorsLatest, func() {
		f.settleRefunds(1)
		f.operate()
	})
}

func (f *journey) setRefunds(mode string) {
	f.settings.Refunds = mode
	f.configureProcessor(f.settings)
	f.tracef("the processor's refunds: %q", mode)
}

// settleRefunds has the banks settle each refund. It succeeds with the given probability.
func (f *journey) settleRefunds(likely float64) {
	for _, payment := range f.sandbox.Payments() {
		succeeded := f.chance(likely)
		switch {
		case payment.Refunding == 0 && (succeeded || payment.Refunded == 0):
			continue
		case succeeded:
			f.settleRefund(payment.ID, "succeeded")
		default:
			f.fault(refundFailed)
			f.returned[payment.ID] = payment.Refunded > 0 // no gateway can know before the processor tells it
			f.settleRefund(payment.ID, "failed")
		}
	}
}

func (f *journey) settleRefund(id, status string) {
	f.atProcessor("the refund "+status, func() (sandbox.Payment, error) { return f.sandbox.SettleRefund(id, status) })
}

// refundByHand has staff refund a recorded payment in the processor's own pages. Often the gateways get no event.
func (f *journey) refundByHand() {
	for _, payment := range f.storedPayments() {
		kept := func(held sandbox.Payment) bool {
			return held.ID == payment.ProcessorID && held.State == cards.Captured && held.Refunded == 0
		}
		if payment.State != flows.Recorded || len(f.booked()) == 0 || !slices.ContainsFunc(f.sandbox.Payments(), kept) {
			continue
		}
		r, err := http.NewRequest(http.MethodPost, processorURL+"/v1/refunds", strings.NewReader("payment_intent="+payment.ProcessorID))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+f.sandbox.SecretKey)
		response, err := f.process(r)
		if err != nil || response.StatusCode == http.StatusTooManyRequests { // a gateway's write locks the payment
			f.after(time.Second, f.refundByHand)
			return
		}
		if response.StatusCode != http.StatusOK {
			panic(response.Status) // a bug in the simulation: nothing else fails for staff
		}
		f.fault(refundedByHand)
		f.byHand = append(f.byHand, payment.ProcessorID)
		if f.chance(0.5) {
			f.fault(hookLost)
			f.deliveries = nil
		}
		return
	}
}

// atProcessor has the buyer or a bank do what no gateway can do. The processor refuses what has become impossible, and the
// simulation ignores that.
func (f *journey) atProcessor(what string, do func() (sandbox.Payment, error)) {
	p, err := do()
	f.afterChange()
	f.tracef("%s: %s, %v", what, p.Status, err)
}
