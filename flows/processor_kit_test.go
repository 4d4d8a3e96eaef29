package flows_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// processorName is the processor's name in Redis.
const processorName = "stripe"

// call is a request of the gateways to another system: its method, and its path as a pattern of path.Match.
type call struct{ method, pattern string }

// The calls to the processor.
var (
	accountCall  = call{"GET", "/sandbox/v1/account"}
	chargesCall  = call{"GET", "/sandbox/v1/charges"}
	listCall     = call{"GET", "/sandbox/v1/payment_intents"}
	getCall      = call{"GET", "/sandbox/v1/payment_intents/*"}
	createCall   = call{"POST", "/sandbox/v1/payment_intents"}
	captureCall  = call{"POST", "/sandbox/v1/payment_intents/*/capture"}
	cancelCall   = call{"POST", "/sandbox/v1/payment_intents/*/cancel"}
	refundCall   = call{"POST", "/sandbox/v1/refunds"} // the payment is in its body
	metadataCall = call{"POST", "/sandbox/v1/payment_intents/*"}
)

// processorError is the body of an error, as the processor writes it.
const processorError = `{"error":{"type":"invalid_request_error","message":"The test refuses this."}}`

// of returns the call about one payment.
func (c call) of(p *flows.Payment) call {
	c.pattern = strings.Replace(c.pattern, "*", p.ProcessorID, 1)
	return c
}

func (c call) matches(r *http.Request) bool {
	match, _ := path.Match(c.pattern, r.URL.Path)
	probe := c == listCall && r.URL.Query().Get("limit") == "1" // a gateway's check of what its key may read
	return match && r.Method == c.method && !probe
}

// openProcessor mounts the processor, which the gateways reach at one address and the test itself at another. It has an
// account of its own, which reports its events to the world.
func (w *world) openProcessor(mux *http.ServeMux, theirs, own string) {
	w.Helper()
	w.sandbox = sandbox.New(sandbox.Config{
		Now: w.clock.Now, BaseURL: theirs + "/sandbox", Deliver: w.receive,
		Accounts: []sandbox.Account{{ID: "acct_" + uuid.NewString(), Endpoints: []sandbox.Endpoint{{URL: "https://club.example/v1/webhooks/card"}}}},
	})
	mux.Handle("/sandbox/", w.sandbox)
	w.processor = w.processorAt(own, cards.Config{})
	w.Cleanup(w.sandbox.Close)
}

// processorAt returns a client of the processor at an address; with says what else differs from the default.
func (w *world) processorAt(address string, with cards.Config) *cards.Client {
	w.Helper()
	with.SecretKey, with.WebhookSecrets = w.sandbox.SecretKey, []string{w.sandbox.WebhookSecret}
	with.URL, with.Now = address+"/sandbox", w.clock.Now
	return must(w, func() (*cards.Client, error) { return cards.New(with) })
}

// receive keeps an event of the processor. No gateway gets it before a test hands it over.
func (w *world) receive(d sandbox.Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deliveries = append(w.deliveries, d)
}

// eventOf returns the processor's latest event of a type about a payment, as a gateway reads it.
func (w *world) eventOf(p *flows.Payment, kind string) cards.Event {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range slices.Backward(w.deliveries) {
		if d.Payment == p.ProcessorID && d.Type == kind {
			header := http.Header{cards.SignatureHeader: {d.Signature}}
			return must(w, func() (cards.Event, error) { return w.processor.Webhook(header, d.Body) })
		}
	}
	w.Fatalf("the processor has sent no %s", kind)
	return cards.Event{}
}

// lost starts a gateway for which the processor has none of the payments, as with the key of another part of the account.
func (w *world) lost() *gateway {
	w.Helper()
	there := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.address})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, createCall.pattern+"/") && !refundCall.matches(r) {
			there.ServeHTTP(rw, r)
			return
		}
		rw.WriteHeader(http.StatusNotFound)
		_, _ = rw.Write([]byte(`{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such payment_intent."}}`))
	}))
	w.Cleanup(server.Close)
	return w.gateway(gatewayOptions{processor: server.Listener.Addr().String()})
}

// denyAccount makes a world's processor refuse to say which account it is, as to a restricted key.
func denyAccount(w *world) {
	w.setFaultInjector(&faultInjector{call: accountCall, fail: 100, status: http.StatusForbidden})
}

// setProcessor replaces the processor's settings.
func (w *world) setProcessor(settings sandbox.Settings) {
	w.Helper()
	if err := w.sandbox.Configure("demo", settings); err != nil {
		w.Fatal(err)
	}
}

// storeError has the next such call fail with a server error that the processor stores under its key, with or without
// an effect, and replays for a day.
func (w *world) storeError(c call, mode string) {
	w.injectFault(c, func() { w.setProcessor(sandbox.Settings{Errors: mode}) }, func() { w.setProcessor(sandbox.Settings{}) })
}

// resetProcessor makes the processor forget everything.
func (w *world) resetProcessor() { w.sandbox.Reset("") }

// held returns the payment as the processor has it.
func (w *world) held(p *flows.Payment) cards.Payment {
	w.Helper()
	return must(w, func() (cards.Payment, error) { return w.processor.Get(w.Context(), p.ProcessorID) })
}

// heldAll returns all payments that the processor has, newest first.
func (w *world) heldAll() []sandbox.Payment { return w.sandbox.Payments() }

// listed counts reads of the processor's list.
func (w *world) listed() int { return int(w.lists.Load()) }

// confirm enters a card at the processor, as the buyer does.
func (w *world) confirm(p *flows.Payment, card string) {
	w.Helper()
	must(w, func() (sandbox.Payment, error) { return w.sandbox.Confirm(p.ProcessorID, card) })
}

// answerChallenge approves or refuses a payment on the page of the buyer's bank.
func (w *world) answerChallenge(p *flows.Payment, approved bool) {
	w.Helper()
	must(w, func() (sandbox.Payment, error) { return w.sandbox.Approve(p.ProcessorID, approved) })
}

// settleConfirmation ends the processing of a confirmation, as the bank does.
func (w *world) settleConfirmation(p *flows.Payment, succeeded bool) {
	w.Helper()
	must(w, func() (sandbox.Payment, error) { return w.sandbox.Approve(p.ProcessorID, succeeded) })
}

// settleRefund ends a refund that is pending, or makes one fail that had succeeded, as the bank does.
func (w *world) settleRefund(p *flows.Payment, succeeded bool) {
	w.Helper()
	status := map[bool]string{true: "succeeded", false: "failed"}[succeeded]
	must(w, func() (sandbox.Payment, error) { return w.sandbox.SettleRefund(p.ProcessorID, status) })
}

// disputeAtProcessor demands the money back, as the buyer does at their bank.
func (w *world) disputeAtProcessor(p *flows.Payment) {
	w.Helper()
	must(w, func() (sandbox.Payment, error) { return w.sandbox.Dispute(p.ProcessorID) })
}

func (w *world) captureAtProcessor(p *flows.Payment) {
	w.Helper()
	must(w, func() (cards.Payment, error) {
		return w.processor.Capture(w.Context(), uuid.NewString(), p.ProcessorID, p.Amount)
	})
}

func (w *world) cancelAtProcessor(p *flows.Payment) {
	w.Helper()
	must(w, func() (cards.Payment, error) {
		return w.processor.Cancel(w.Context(), uuid.NewString(), p.ProcessorID)
	})
}

func (w *world) refundAtProcessor(p *flows.Payment, amount int64) {
	w.Helper()
	must(w, func() (cards.Payment, error) {
		return w.processor.Refund(w.Context(), uuid.NewString(), p.ProcessorID, amount)
	})
}

// tamper changes the processor's copy of a payment, which only the gateway should change.
func (w *world) tamper(p *flows.Payment) {
	w.Helper()
	w.note(p, "fd_amount", "1")
}

// note writes entries to the processor's metadata of a payment, which holds its journal.
func (w *world) note(p *flows.Payment, entries ...string) {
	w.Helper()
	metadata := map[string]string{}
	for i := 0; i < len(entries); i += 2 {
		metadata[entries[i]] = entries[i+1]
	}
	must(w, func() (cards.Payment, error) {
		return w.processor.UpdateMetadata(w.Context(), uuid.NewString(), p.ProcessorID, metadata)
	})
}
