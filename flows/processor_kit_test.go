package flows_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

// processorName is the processor's name in Redis.
const processorName = "sandbox"

// call is a request of the gateways to another system: its method, and its path as a pattern of path.Match.
type call struct{ method, pattern string }

// The calls to the processor.
var (
	accountCall  = call{"GET", "/sandbox/account"}
	listCall     = call{"GET", "/sandbox/payments"}
	getCall      = call{"GET", "/sandbox/payments/*"}
	createCall   = call{"POST", "/sandbox/payments"}
	captureCall  = call{"POST", "/sandbox/payments/*/capture"}
	cancelCall   = call{"POST", "/sandbox/payments/*/cancel"}
	refundCall   = call{"POST", "/sandbox/payments/*/refund"}
	metadataCall = call{"POST", "/sandbox/payments/*/metadata"}
)

// processorRefusal is the body of a response in which the processor refuses a call for good.
const processorRefusal = `{"error":{"type":"invalid_request"}}`

// of returns the call about one payment.
func (c call) of(p *flows.Payment) call {
	c.pattern = strings.Replace(c.pattern, "*", p.ProcessorID, 1)
	return c
}

func (c call) matches(r *http.Request) bool {
	match, _ := path.Match(c.pattern, r.URL.Path)
	return match && r.Method == c.method
}

// openProcessor mounts the processor, which the gateways reach at one address and the test itself at another.
func (w *world) openProcessor(mux *http.ServeMux, theirs, own string) {
	w.sandbox = oldsandbox.NewServer(oldsandbox.ServerConfig{Now: w.clock.Now, BaseURL: theirs + "/sandbox"})
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", w.sandbox))
	w.processor = w.processorAt(own)
	w.Cleanup(w.sandbox.Close)
}

// processorAt returns a client of the processor at an address.
func (w *world) processorAt(address string) *oldsandbox.Client {
	return oldsandbox.New(oldsandbox.Config{URL: address + "/sandbox", Now: w.clock.Now})
}

// lost starts a gateway for which the processor has none of the payments, as with the key of another part of the account.
func (w *world) lost() *gateway {
	w.Helper()
	there := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.address})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/sandbox/payments/") {
			there.ServeHTTP(rw, r)
			return
		}
		rw.WriteHeader(http.StatusNotFound)
		_, _ = rw.Write([]byte(`{"error":{"type":"not_found","code":"payment_not_found","message":"There is no such payment."}}`))
	}))
	w.Cleanup(server.Close)
	return w.gateway(gatewayOptions{processor: server.Listener.Addr().String()})
}

// denyAccount makes a world's processor refuse to say which account it is, as to a restricted key.
func denyAccount(w *world) {
	w.setFaultInjector(&faultInjector{call: accountCall, fail: 100, status: http.StatusForbidden})
}

// setProcessor replaces the processor's settings.
func (w *world) setProcessor(settings string) {
	r := httptest.NewRequest(http.MethodPut, "/settings", strings.NewReader(settings))
	r.Header.Set("Content-Type", "application/json")
	response := httptest.NewRecorder()
	if w.sandbox.ServeHTTP(response, r); response.Code != http.StatusOK {
		w.Errorf("settings %s: %d %s", settings, response.Code, response.Body)
	}
}

// storeError has the next such call fail with a server error that the processor stores under its key, with or without
// an effect, and replays for a day.
func (w *world) storeError(c call, mode string) {
	w.injectFault(c, func() { w.setProcessor(`{"errors":"` + mode + `"}`) }, func() { w.setProcessor(`{}`) })
}

// resetProcessor makes the processor forget everything.
func (w *world) resetProcessor() { w.sandbox.Reset() }

// held returns the payment as the processor has it.
func (w *world) held(p *flows.Payment) cards.Payment {
	w.Helper()
	return must(w, func() (cards.Payment, error) { return w.processor.Get(w.Context(), p.ProcessorID) })
}

// heldAll returns all payments that the processor has, newest first.
func (w *world) heldAll() []oldsandbox.Payment { return w.sandbox.Payments() }

// listed counts reads of the processor's list.
func (w *world) listed() int { return int(w.lists.Load()) }

// confirm enters a card at the processor, as the buyer does.
func (w *world) confirm(p *flows.Payment, card string) {
	w.Helper()
	w.act(p, "confirm", fmt.Sprintf(`{"card":%q}`, card))
}

// approve answers the bank's challenge, as the buyer does.
func (w *world) approve(p *flows.Payment) {
	w.Helper()
	w.act(p, "challenge", `{"approve":true}`)
}

// settleConfirmation ends the processing of a confirmation, as the bank does.
func (w *world) settleConfirmation(p *flows.Payment, succeeded bool) {
	w.Helper()
	w.act(p, "settle-confirmation", fmt.Sprintf(`{"succeeded":%t}`, succeeded))
}

// settleRefund ends a refund that is pending, or makes one fail that had succeeded, as the bank does.
func (w *world) settleRefund(p *flows.Payment, succeeded bool) {
	w.Helper()
	w.act(p, "settle-refund", fmt.Sprintf(`{"succeeded":%t}`, succeeded))
}

// disputeAtProcessor demands the money back, as the buyer does at their bank.
func (w *world) disputeAtProcessor(p *flows.Payment) {
	w.Helper()
	w.act(p, "dispute", "{}")
}

// act performs an action at the processor that the gateway cannot perform.
func (w *world) act(p *flows.Payment, what, body string) {
	w.Helper()
	answer, err := http.Post("http://"+w.address+"/sandbox/payments/"+p.ProcessorID+"/"+what, "application/json", strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		w.Fatalf("%s: status %d: %s", what, answer.StatusCode, text)
	}
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
