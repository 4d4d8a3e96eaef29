// Package flowstest composes the services of gateways in a test's process, for the tests of the services' packages. Real
// ones are around them: the club system's simulator, the card processor's double and Redis. A test begins with NewWorld and
// World.Gateway; the other files have helpers that the tests of several packages use. Tests of a whole process use
// frontdesktest.
package flowstest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// Two cards of the processor, and the token of the holder of Registered's registrations.
const (
	GoodCard     = "4242424242424242"
	DeclinedCard = "4000000000000002"
	HolderToken  = "the-holder's-token"
)

// Bastille is where the tests' visitors register.
var Bastille = club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}

// QuarterPass is an offer that is paid by card at once. Its price is in cents.
const (
	QuarterPass      = club.IRI("/demo/offers/201")
	QuarterPassPrice = 14900
)

// products are those whose offers tests name, and those that the demo's persons have bought.
var products = []int{1, 2, 9, 10, 12, 16, 25, 28, 38, 40, 45}

// smallCatalogue is the demo's with few products, because a start reads the offers of all of them, in each world.
var smallCatalogue = sync.OnceValues(func() (*clubsim.Catalogue, error) {
	file := clubsim.Demo().CatalogueFile
	file.Products = nil
	for _, product := range clubsim.Demo().Products {
		if slices.Contains(products, product.ID) {
			file.Products = append(file.Products, product)
		}
	}
	return clubsim.ParseCatalogue(file.Encode())
})

// World is what the gateways of a test share: the club system, the card processor, Redis and the clock.
type World struct {
	*testing.T
	Clock     *frontdesktest.Clock
	Sim       *clubsim.World
	Sandbox   *sandbox.Server
	Processor *cards.Client // the test's own access to the processor
	Club      *club.Client  // the test's own access to the club system
	Redis     *redis.Client // the test's own access to Redis
	Address   string        // of the club system and the processor, as the gateways reach them
	Journal   *Journal      // the log of the gateways
	Mute      bool          // the club system does not report the state of a sale
	Reads     atomic.Int32  // reads of a single payment at the processor

	redisURL   string
	lists      atomic.Int32 // reads of the processor's list of payments
	mu         sync.Mutex
	callFault  *CallFault
	deliveries []sandbox.Delivery // of the processor
}

// NewWorld makes a world for one test, with few of the demo's products.
func NewWorld(t *testing.T) *World {
	t.Helper()
	return NewWorldOf(t, Must(t, smallCatalogue))
}

// NewWorldOf makes a world for one test, with the catalogue that it is about.
func NewWorldOf(t *testing.T, catalogue *clubsim.Catalogue) *World {
	t.Helper()
	world := &World{T: t, Clock: frontdesktest.NewClock(time.Now()), redisURL: frontdesktest.NewDatabase(t), Journal: &Journal{}}
	simulator := clubsim.New(clubsim.Config{Now: world.Clock.Now, Catalogue: catalogue})
	world.Sim = simulator.World(clubsim.DemoClientToken)
	mux := http.NewServeMux()
	server, own := httptest.NewServer(world.withFaults(mux)), httptest.NewServer(mux)
	world.Address = server.Listener.Addr().String()
	mux.Handle("/sim/", http.StripPrefix("/sim", simulator))
	world.openProcessor(mux, server.URL, own.URL)
	world.Club = world.clubClient(own.Listener.Addr().String(), oneAttempt)
	options, err := redis.ParseURL(world.redisURL)
	if err != nil {
		t.Fatal(err)
	}
	world.Redis = redis.NewClient(options)
	t.Cleanup(func() {
		for _, s := range []*httptest.Server{server, own} {
			s.CloseClientConnections()
			defer s.Close()
		}
		simulator.Close()
		world.Redis.Close()
		if t.Failed() {
			t.Logf("log of the gateways:\n%s", world.Journal)
		}
	})
	return world
}

// Must returns the result of a call that must succeed.
func Must[T any](t testing.TB, call func() (T, error)) T {
	t.Helper()
	got, err := call()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// pause passes time at once: no test waits for a gateway that repeats a commit.
func (w *World) pause(d time.Duration) <-chan time.Time {
	w.Clock.Advance(d)
	over := make(chan time.Time, 1)
	over <- w.Clock.Now()
	return over
}
