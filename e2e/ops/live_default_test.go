package ops_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// TestLiveDefaults: without a word of the operator, live mode asks a buyer before the same purchase, and does not believe
// that a 429 with limit headers means that nothing was done: the payment is in doubt, and is not sent again.
func TestLiveDefaults(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	process, client := live.Start(t)
	live.Processor.SetWebhooks(sandbox.Normal, process.URL+"/v1/webhooks/card")
	pay := func(r api.Registration, more map[string]any) *frontdesktest.Response {
		body := map[string]any{"method": "card", "cart": r.Cart.Revision}
		maps.Copy(body, more)
		return client.RequestPayment(r.Id, body)
	}
	confirm := func(r api.Registration) {
		for _, held := range live.Processor.Payments() {
			if held.Metadata["fd_registration"] != r.Id {
				continue
			}
			if _, err := live.Processor.Confirm(held.ID, "4242424242424242"); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := client.Register()
	pay(first, nil).Into(http.StatusCreated, nil)
	confirm(first)
	frontdesktest.Eventually(t, "the club system has the payment", func() bool { return len(live.Upstreams.Sim.Ledger()) > 0 })
	client.Await(first.Id, api.Completed)

	second := client.Register()
	pay(second, nil).Problem(api.PossibleDuplicatePurchase)
	if held := live.Processor.Payments(); len(held) != 1 {
		t.Errorf("without a yes the processor has %d payments", len(held))
	}
	frontdesktest.Env{Upstreams: live.Upstreams}.SetFaults(t,
		clubsim.Fault{
			Match:   frontdesktest.RecordPayment,
			Kind:    "too_many",
			Limit:   "spike_arrest",
			DelayMs: 100,
			Times:   frontdesktest.Times(1),
		})
	pay(second, map[string]any{"again": true}).Into(http.StatusCreated, nil)
	confirm(second)
	recordings := func() (sent int) {
		for _, request := range live.Upstreams.Sim.Requests() {
			if request.Method == http.MethodPost && strings.HasSuffix(request.Path, "/payments") {
				sent++
			}
		}
		return sent
	}
	frontdesktest.Eventually(t, "the second recording is sent", func() bool { return recordings() == 2 }) // reads are limited in live mode
	client.AwaitPayment(second.Id, api.InDoubt)
	if sent, ledger := recordings(), live.Upstreams.Sim.Ledger(); sent != 2 || len(ledger) != 1 {
		t.Errorf("%d recordings were sent for two payments, and the ledger holds %+v", sent, ledger)
	}
}
