package ops_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/api"
)

// concurrentVisitors is how many visitors are in a journey at any moment: enough for requests to be in
// progress whenever a gateway stops, on a shared machine.
const concurrentVisitors = 4

// TestRollingRestart restarts each gateway of compose.yaml twice, as an upgrade does, while visitors
// register and pay. No visitor notices: no request fails, nothing is sent twice, and each payment is
// recorded once.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	replicas := newReplicas(t)
	wire := &noRetryTransport{Transport: &http.Transport{MaxIdleConnsPerHost: concurrentVisitors}}
	t.Cleanup(wire.CloseIdleConnections)
	done := make(chan struct{})
	var visitors sync.WaitGroup
	var paid paidAmounts
	for range concurrentVisitors {
		visitors.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				c := replicas.WithT(t)
				c.UseTransport(wire)
				registration := c.Register()
				payment := c.Pay(registration.Id)
				c.Confirm(payment, "4242424242424242")
				c.AwaitPayment(registration.Id, api.Recorded)
				paid.add(payment.Total.Amount)
			}
		})
	}
	for _, name := range []string{gatewayA, gatewayB, gatewayA, gatewayB} {
		before := len(paid.all())
		if err := replicas.gateways[name].Stop(); err != nil {
			t.Errorf("%s ended with %v:\n%s", name, err, replicas.gateways[name].Log())
		}
		if len(paid.all()) == before {
			t.Errorf("no payment while %s stopped", name)
		}
		replicas.start(name)
	}
	close(done)
	visitors.Wait()
	if failed := wire.failed.Load(); failed > 0 {
		t.Errorf("%d requests of %d failed", failed, wire.sent.Load())
	}
	expectRecorded(t, replicas.Client, paid.all())
	t.Logf("%d requests, %d payments", wire.sent.Load(), len(paid.all()))
}

// paidAmounts collects what visitors paid, in cents.
type paidAmounts struct {
	mu    sync.Mutex
	cents []int64
}

func (a *paidAmounts) add(cents int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cents = append(a.cents, cents)
}

func (a *paidAmounts) all() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cents
}

// noRetryTransport is a front end's transport that never retries, unlike Go's with an Idempotency-Key.
// It counts failures.
type noRetryTransport struct {
	*http.Transport
	sent, failed atomic.Int64
}

func (o *noRetryTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.GetBody = nil
	o.sent.Add(1)
	response, err := o.Transport.RoundTrip(request)
	if err != nil || response.StatusCode >= http.StatusInternalServerError {
		o.failed.Add(1)
	}
	return response, err
}
