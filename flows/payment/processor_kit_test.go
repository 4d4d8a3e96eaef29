package payment_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// bankAsks is a card whose bank asks the buyer to approve the payment.
const bankAsks = "4000002500003155"

// The calls to the processor that only the machine makes.
const (
	createCall   call = "POST /sandbox/v1/payment_intents"
	cancelCall   call = "POST /sandbox/v1/payment_intents/*/cancel"
	metadataCall call = "POST /sandbox/v1/payment_intents/*"
)

// lost starts a gateway for which the processor has none of the payments, as with the key of another part of the account.
func (w *testWorld) lost() *testGateway {
	w.Helper()
	there := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.Address})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/sandbox/v1/payment_intents/") && !refundCall.Matches(r) {
			there.ServeHTTP(rw, r)
			return
		}
		rw.WriteHeader(http.StatusNotFound)
		_, _ = rw.Write([]byte(`{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such payment_intent."}}`))
	}))
	w.Cleanup(server.Close)
	return w.Gateway(gatewayOptions{Processor: server.Listener.Addr().String()})
}

// setProcessor replaces the processor's settings.
func (w *testWorld) setProcessor(settings sandbox.Settings) {
	w.Helper()
	if err := w.Sandbox.Configure("demo", settings); err != nil {
		w.Fatal(err)
	}
}

// storeError has the next such call fail with a server error that the processor stores under its key, with or without
// an effect, and replays for a day.
func (w *testWorld) storeError(c call, mode string) {
	w.InjectFault(c, func() { w.setProcessor(sandbox.Settings{Errors: mode}) }, func() { w.setProcessor(sandbox.Settings{}) })
}

// resetProcessor makes the processor forget everything.
func (w *testWorld) resetProcessor() { w.Sandbox.Reset("") }

// answerChallenge approves or refuses a payment on the page of the buyer's bank.
func (w *testWorld) answerChallenge(p *flows.Payment, approved bool) {
	w.Helper()
	must(w, func() (sandbox.Payment, error) { return w.Sandbox.Approve(p.ProcessorID, approved) })
}

// settleConfirmation ends the processing of a confirmation, as the bank does.
func (w *testWorld) settleConfirmation(p *flows.Payment, succeeded bool) {
	w.Helper()
	must(w, func() (sandbox.Payment, error) { return w.Sandbox.Approve(p.ProcessorID, succeeded) })
}

// disputeAtProcessor demands the money back, as the buyer does at their bank.
func (w *testWorld) disputeAtProcessor(p *flows.Payment) {
	w.Helper()
	must(w, func() (sandbox.Payment, error) { return w.Sandbox.Dispute(p.ProcessorID) })
}

func (w *testWorld) captureAtProcessor(p *flows.Payment) {
	w.Helper()
	must(w, func() (cards.Payment, error) {
		return w.Processor.Capture(w.Context(), uuid.NewString(), p.ProcessorID, p.Amount)
	})
}

func (w *testWorld) cancelAtProcessor(p *flows.Payment) {
	w.Helper()
	must(w, func() (cards.Payment, error) {
		return w.Processor.Cancel(w.Context(), uuid.NewString(), p.ProcessorID)
	})
}

func (w *testWorld) refundAtProcessor(p *flows.Payment, amount int64) {
	w.Helper()
	must(w, func() (cards.Payment, error) {
		return w.Processor.Refund(w.Context(), uuid.NewString(), p.ProcessorID, amount)
	})
}

// tamper changes the processor's copy of a payment, which only the gateway should change.
func (w *testWorld) tamper(p *flows.Payment) {
	w.Helper()
	w.note(p, "fd_amount", "1")
}

// note writes entries to the processor's metadata of a payment, which holds its journal.
func (w *testWorld) note(payment *flows.Payment, entries ...string) {
	w.Helper()
	metadata := map[string]string{}
	for i := 0; i < len(entries); i += 2 {
		metadata[entries[i]] = entries[i+1]
	}
	must(w, func() (cards.Payment, error) {
		return w.Processor.UpdateMetadata(w.Context(), uuid.NewString(), payment.ProcessorID, metadata)
	})
}
