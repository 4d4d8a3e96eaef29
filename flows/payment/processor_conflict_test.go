package payment_test

import (
	"net/http"
	"sync"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// onConflict calls a function when the processor refuses a call because another one is in progress.
type onConflict func()

// RoundTrip sends the request.
func (call onConflict) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusConflict {
		call()
	}
	return response, err
}

// TestTwoGatewaysCreateOnePayment: the second one finds the creation in progress at the processor. Both buyers' tabs get
// the one payment.
func TestTwoGatewaysCreateOnePayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	first := world.Gateway()
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	second := world.Gateway(gatewayOptions{Cards: cards.Config{HTTPClient: &http.Client{Transport: onConflict(release)}}})
	held := world.Sandbox.Inject(sandbox.Fault{Method: http.MethodPost, Path: "/v1/payment_intents", Stage: sandbox.During, Hold: hold})
	registration := world.Registered(first)
	var slow sync.WaitGroup
	slow.Go(func() {
		if p, err := first.Pay(t.Context(), registration.ID); err != nil || p.State != flows.Intent {
			t.Errorf("the first gateway: %+v, %v", p, err)
		}
	})
	frontdesktest.Receive(t, held.Reached(), "the first creation is held")
	p, err := second.Pay(t.Context(), registration.ID)
	release()
	slow.Wait()
	if all := world.HeldAll(); err != nil || p.State != flows.Intent || len(all) != 1 || p.ProcessorID != all[0].ID {
		t.Errorf("the second gateway: %+v, %v; the processor has %+v", p, err, all)
	}
}
