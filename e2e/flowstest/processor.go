package flowstest

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// The calls to the processor that tests of several packages name.
const (
	ListCall    Call = "GET /sandbox/v1/payment_intents"
	GetCall     Call = "GET /sandbox/v1/payment_intents/*"
	CaptureCall Call = "POST /sandbox/v1/payment_intents/*/capture"
	RefundCall  Call = "POST /sandbox/v1/refunds" // the payment is in its body
)

// openProcessor mounts the processor. The gateways reach it at gatewaysURL, and the test itself at testURL. It has an account of
// its own, which reports its events to the world.
func (w *World) openProcessor(mux *http.ServeMux, gatewaysURL, testURL string) {
	w.Helper()
	w.Sandbox = sandbox.New(sandbox.Config{
		Now:     w.Clock.Now,
		BaseURL: gatewaysURL + "/sandbox",
		Deliver: w.receive,
		Accounts: []sandbox.Account{{
			ID:        "acct_" + uuid.NewString(),
			Endpoints: []sandbox.Endpoint{{URL: "https://club.example/v1/webhooks/card"}},
		}},
	})
	mux.Handle("/sandbox/", w.Sandbox)
	w.Processor = w.processorAt(testURL, cards.Config{})
	w.Cleanup(w.Sandbox.Close)
}

// processorAt returns a client of the processor at an address; with says what else differs from the default.
func (w *World) processorAt(address string, with cards.Config) *cards.Client {
	w.Helper()
	with.SecretKey, with.WebhookSecrets = w.Sandbox.SecretKey, []string{w.Sandbox.WebhookSecret}
	with.URL, with.Now = address+"/sandbox", w.Clock.Now
	return Must(w, func() (*cards.Client, error) { return cards.New(with) })
}

// receive keeps an event of the processor. No gateway gets it before a test hands it over.
func (w *World) receive(d sandbox.Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deliveries = append(w.deliveries, d)
}

// EventOf returns the processor's latest event of a type about a payment, as a gateway reads it.
func (w *World) EventOf(payment *flows.Payment, kind string) cards.Event {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range slices.Backward(w.deliveries) {
		if d.Payment == payment.ProcessorID && d.Type == kind {
			header := http.Header{cards.SignatureHeader: {d.Signature}}
			return Must(w, func() (cards.Event, error) { return w.Processor.Webhook(header, d.Body) })
		}
	}
	w.Fatalf("the processor has sent no %s", kind)
	return cards.Event{}
}

// Held returns the payment as the processor has it.
func (w *World) Held(payment *flows.Payment) cards.Payment {
	w.Helper()
	return Must(w, func() (cards.Payment, error) { return w.Processor.Get(w.Context(), payment.ProcessorID) })
}

// HeldAll returns all payments that the processor has, newest first.
func (w *World) HeldAll() []sandbox.Payment { return w.Sandbox.Payments() }

// Listed counts reads of the processor's list.
func (w *World) Listed() int { return int(w.lists.Load()) }

// Confirm enters a card at the processor, as the buyer does.
func (w *World) Confirm(payment *flows.Payment, card string) {
	w.Helper()
	Must(w, func() (sandbox.Payment, error) { return w.Sandbox.Confirm(payment.ProcessorID, card) })
}

// SettleRefund ends a refund that is pending, or makes one fail that had succeeded, as the bank does.
func (w *World) SettleRefund(payment *flows.Payment, succeeded bool) {
	w.Helper()
	status := "failed"
	if succeeded {
		status = "succeeded"
	}
	Must(w, func() (sandbox.Payment, error) { return w.Sandbox.SettleRefund(payment.ProcessorID, status) })
}
