package journey_test

import (
	"net/http"
	"sync"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// longCatalogue is how many products these worlds show: three pages of the club system.
const longCatalogue = 90

// countCalls counts the calls to the club system by operation, without those for tokens.
func countCalls(s frontdesktest.Env) map[string]int {
	counts := map[string]int{}
	for _, request := range s.Upstreams.Sim.Requests() {
		if request.Operation != "token" {
			counts[request.Operation]++
		}
	}
	return counts
}

// lengthen gives the world a catalogue of three pages, and delays every response.
func lengthen(t *testing.T, env frontdesktest.Env) {
	t.Helper()
	own := 41 // products that a visitor of the website is shown in club 11
	if err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.ExtraProducts = longCatalogue - own }); err != nil {
		t.Fatal(err)
	}
	if err := env.Upstreams.Sim.SetFaults([]clubsim.Fault{{Kind: "delay", DelayMs: 50}}); err != nil {
		t.Fatal(err)
	}
}

// catalogueCalls are the calls of one complete reading.
var catalogueCalls = map[string]int{"listNetworkNodes": 1, "getClub": 1, "listProducts": 3, "listOffers": longCatalogue}

// expectReadings requires at least one complete reading, and at most the given number.
func expectReadings(t *testing.T, s frontdesktest.Env, most int) {
	t.Helper()
	calls := countCalls(s)
	for operation, one := range catalogueCalls {
		if n := calls[operation]; n < one || n > most*one {
			t.Errorf("%s was called %d times, want %d to %d", operation, n, one, most*one)
		}
	}
}

// concurrently sends many visitors to gateways for the same catalogue at the same moment. It returns
// how many products each one got; -1 for no response.
func concurrently(visitors int, clients ...*frontdesktest.Client) []int {
	shown := make([]int, visitors)
	var all sync.WaitGroup
	for i := range visitors {
		all.Go(func() {
			shown[i] = -1
			response, err := clients[i%len(clients)].Try("GET", "/v1/clubs/11/products?cursor=60", nil)
			if err != nil || response.Status != http.StatusOK {
				return
			}
			var page api.ProductList
			response.Into(http.StatusOK, &page)
			shown[i] = len(page.Items)
		})
	}
	all.Wait()
	return shown
}

// TestColdCatalogueOnThreeGateways checks that visitors who ask three gateways at once for an unread
// catalogue cause at most one reading per gateway, because gateways do not wait for each other. A
// gateway that comes later takes the shared copy.
func TestColdCatalogueOnThreeGateways(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	var clients []*frontdesktest.Client
	for range 3 {
		_, c := env.Gateway(t)
		clients = append(clients, c)
	}
	lengthen(t, env)
	for i, products := range concurrently(60, clients...) {
		if products != 30 {
			t.Errorf("visitor %d is shown %d products", i, products)
		}
	}
	expectReadings(t, env, len(clients))

	before := countCalls(env)
	_, late := env.Gateway(t)
	for i, products := range concurrently(20, late) {
		if products != 30 {
			t.Errorf("visitor %d of the later gateway is shown %d products", i, products)
		}
	}
	after := countCalls(env)
	for operation := range catalogueCalls {
		if after[operation] != before[operation] {
			t.Errorf("the later gateway called %s %d times", operation, after[operation]-before[operation])
		}
	}
}

// TestCatalogueReaderDies checks that visitors of the other gateways still see the catalogue when a
// gateway dies while it reads.
func TestCatalogueReaderDies(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	reader, first := env.Gateway(t)
	_, second := env.Gateway(t)
	_, third := env.Gateway(t)
	lengthen(t, env)
	reached := env.Upstreams.HoldResponses(http.MethodGet, "/offers")
	var left sync.WaitGroup
	left.Go(func() { concurrently(1, first) })
	frontdesktest.Receive(t, reached, "the catalogue is being read")
	left.Go(func() {
		for i, products := range concurrently(20, second, third) {
			if products != 30 {
				t.Errorf("visitor %d is shown %d products after the reader has died", i, products)
			}
		}
	})
	reader.Kill()
	env.Upstreams.Release()
	left.Wait()
	expectReadings(t, env, 3) // at most one at each gateway, including the one that died
}

// TestColdCatalogueWithoutRedis checks that each gateway reads once on its own.
func TestColdCatalogueWithoutRedis(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, first := env.Gateway(t)
	_, second := env.Gateway(t)
	lengthen(t, env)
	frontdesktest.StopRedis(t, env.Redis)
	for i, products := range concurrently(20, first, second) {
		if products != 30 {
			t.Errorf("visitor %d is shown %d products", i, products)
		}
	}
	if asked := countCalls(env)["listProducts"]; asked != 6 {
		t.Errorf("two gateways without Redis have asked for %d pages", asked)
	}
}

// TestCatalogueCacheHeaders checks that shared caches may keep public responses, but no personal ones.
func TestCatalogueCacheHeaders(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, client := s.Gateway(t)
	client.UpstreamsURL = s.Upstreams.URL
	const everybodys = "public, max-age=60, s-maxage=60, stale-while-revalidate=60, stale-if-error=600"
	for _, path := range []string{
		"/v1/clubs", "/v1/clubs/11", "/v1/clubs/11/products", "/v1/clubs/11/offers/901",
		"/v1/clubs/11/offers/901/schedule", "/v1/clubs/11/debit-days", "/v1/config",
	} {
		for range 2 { // from memory, too
			if got := client.Do("GET", path, nil).Header.Get("Cache-Control"); got != everybodys {
				t.Errorf("%s may be kept by %q", path, got)
			}
		}
		own := client.WithT(t)
		own.Token = client.Persona("customer").IdentityToken
		if got := own.Do("GET", path, nil).Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("a personal %s may be cached by %q", path, got)
		}
	}
	for path, status := range map[string]int{
		"/v1/clubs/999/products":    http.StatusNotFound,
		"/v1/clubs/11/products?x=1": http.StatusUnprocessableEntity,
	} {
		if response := client.Do("GET", path, nil); response.Status != status || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: status %d, kept by %q", path, response.Status, response.Header.Get("Cache-Control"))
		}
	}
}

// TestMockChangesShowImmediately checks that in mock mode a developer's change shows with the next
// request.
func TestMockChangesShowImmediately(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	total := func() (n int) {
		for cursor := ""; ; {
			var page api.ProductList
			client.Do("GET", "/v1/clubs/11/products"+cursor, nil).Into(http.StatusOK, &page)
			n += len(page.Items)
			if page.Next == nil {
				return n
			}
			cursor = "?cursor=" + *page.Next
		}
	}
	own := total()
	client.Control("PUT", "settings", `{"extraProducts": 40}`).Into(http.StatusOK, nil)
	if n := total(); n != own+40 {
		t.Errorf("%d products are shown instead of %d", n, own+40)
	}
	client.Control("POST", "reset", nil).Into(http.StatusNoContent, nil)
	if n := total(); n != own {
		t.Errorf("after a reset %d products are shown instead of %d", n, own)
	}
}
