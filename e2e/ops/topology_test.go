package ops_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/store"
)

// onTopology runs two gateways, which count requests, on a Redis of several servers.
func onTopology(t *testing.T, storage harness.Storage) (gateways []*frontdesktest.Process, client *frontdesktest.Client) {
	t.Helper()
	env := frontdesktest.Env{Upstreams: frontdesktest.NewUpstreams(t), Redis: storage.URL()}
	for range 2 {
		gateway, _ := env.Gateway(t, "FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1")
		gateways = append(gateways, gateway)
	}
	client = frontdesktest.NewClient(t, gateways[0].URL)
	client.UpstreamsURL = env.Upstreams.URL
	client.UseTransport(randomAddressTransport{http.DefaultTransport})
	return gateways, client
}

// payThrough pays for a registration, and causes trouble between the request to pay and the card.
func payThrough(t *testing.T, client *frontdesktest.Client, trouble func(registration string)) int64 {
	t.Helper()
	client = client.WithT(t)
	client.Token = ""
	registration := client.Register()
	payment := client.Pay(registration.Id)
	trouble(registration.Id)
	client.Confirm(payment, "4242424242424242")
	frontdesktest.Eventually(t, "the payment is recorded", func() bool {
		response, err := client.Try("GET", "/v1/registrations/"+registration.Id, nil)
		return err == nil && response.Status == http.StatusOK && strings.Contains(string(response.Body), `"state":"`+string(api.Recorded)+`"`)
	})
	return payment.Total.Amount
}

// expectSafe checks that a topology meets the demands of live mode.
func expectSafe(t *testing.T, storage harness.Storage, unsafe string) {
	t.Helper()
	connection, err := store.Connect(storage.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	for _, d := range store.CheckRedis(t.Context(), connection, store.CheckOptions{}, time.Now) {
		if want := d.Name() != unsafe; (d.Verdict == flows.OK) != want {
			t.Errorf("%s is %s: %s", d.Name(), d.Verdict, d.Found)
		}
	}
}

// expectOneSlot looks for the errors that a cluster returns to clients without cluster support. While a
// slot moves, the queue may be redirected back and forth: it then retries, or polls again a second
// later.
func expectOneSlot(t *testing.T, gateways []*frontdesktest.Process, moving bool) {
	t.Helper()
	for _, gateway := range gateways {
		for line := range strings.Lines(gateway.Log()) {
			redirected := strings.Contains(line, "MOVED ") || strings.Contains(line, "ASK ")
			harmless := moving && (strings.Contains(line, "Will retry") || strings.Contains(line, "queue: "))
			if strings.Contains(line, "CROSSSLOT") || redirected && !harmless {
				t.Errorf("%s logged: %s", gateway.URL, line)
			}
		}
	}
}

// TestRedisCluster runs all journeys on a cluster of six nodes. Slots that move in the middle of a
// payment change nothing for buyers.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	cluster := newRedisCluster(t)
	expectSafe(t, cluster, "")
	gateways, client := onTopology(t, cluster)
	paid := runJourneys(t, client, gateways[0])
	expectOneSlot(t, gateways, false)
	paid = append(paid, payThrough(t, client, func(id string) {
		for _, key := range []string{"fd:{" + id + "}:registration", "fd:payments:open"} {
			if err := cluster.Migrate(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
	}))
	expectOneSlot(t, gateways, true)
	frontdesktest.Eventually(t, "the gateways are ready", func() bool { return client.Do("GET", "/readyz", nil).Status == http.StatusOK })
	expectRecorded(t, client, paid)
	expectOneSlot(t, gateways, true)
}

// TestRedisSentinel kills the primary that Sentinels watch in the middle of a payment.
func TestRedisSentinel(t *testing.T) {
	t.Parallel()
	watched := harness.NewSentinelRedis(t)
	expectSafe(t, watched, "")
	gateways, c := onTopology(t, watched)
	paid := runJourneys(t, c, gateways[1])
	paid = append(paid, payThrough(t, c, func(string) { watched.FailOver() }))
	frontdesktest.Eventually(t, "the gateways are ready", func() bool { return c.Do("GET", "/readyz", nil).Status == http.StatusOK })
	expectRecorded(t, c, paid)
	promoted := watched.Client()
	defer promoted.Close()
	if err := promoted.ConfigSet(t.Context(), "appendfsync", "everysec").Err(); err != nil {
		t.Fatal(err)
	}
	expectSafe(t, watched, "redis persistence")
}

// TestClusterWithUnsafeNode checks that one primary that may lose writes makes the cluster unfit for
// real payments.
func TestClusterWithUnsafeNode(t *testing.T) {
	t.Parallel()
	cluster := newRedisCluster(t)
	odd := cluster.Nodes()[1].Client()
	defer odd.Close()
	if err := odd.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	expectSafe(t, cluster, "redis eviction")
}
