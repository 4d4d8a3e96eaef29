package ops_test

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// TestOwnEventsSurviveKill kills a gateway while payments are recorded. Another one announces each payment and each registration, also
// those that were recorded and not announced yet.
func TestOwnEventsSurviveKill(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	to := newSubscriber(t, "crm", 204)
	doomed, client := env.Gateway(t, subscribe(t, to.config("registration.*", "payment.*")))
	var want []string
	for range 8 {
		registration := client.Register()
		payment := client.Pay(registration.Id)
		client.Confirm(payment, "4242424242424242")
		want = append(want, flows.OwnEventID(flows.PaymentRecorded, payment.Id), flows.OwnEventID(flows.RegistrationCompleted, registration.Id))
	}
	frontdesktest.Eventually(t, "a payment is recorded", func() bool { return len(env.Upstreams.Sim.Ledger()) > 0 })
	doomed.Kill()
	early := len(to.ids())
	_, _ = env.Gateway(t, subscribe(t, to.config("registration.*", "payment.*")))
	verify := newVerifier(t, env)
	to.await("every event", func([]delivered) bool {
		verify()
		return len(to.ids()) >= len(want)
	})
	for _, id := range want {
		if !to.ids()[id] {
			t.Errorf("%s is missing", id)
		}
	}
	bodies := map[string]string{}
	for _, d := range to.deliveries() {
		if first := bodies[d.id]; first != "" && first != d.text {
			t.Errorf("%s is delivered as %s and as %s", d.id, first, d.text)
		}
		bodies[d.id] = d.text
	}
	t.Logf("%d of %d events were delivered before the kill", early, len(want))
}

// newVerifier returns a function that makes the recorded payments due that gateways verify a minute later.
func newVerifier(t *testing.T, env frontdesktest.Env) func() {
	t.Helper()
	options, err := redis.ParseURL(env.Redis)
	frontdesktest.Must(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	const list = "fd:{fd:payments:open}:unverified"
	return func() {
		waiting := client.ZRange(t.Context(), list, 0, -1).Val()
		for payment := range slices.Values(waiting) {
			client.ZAddXX(t.Context(), list, redis.Z{Score: 1, Member: payment})
		}
	}
}
