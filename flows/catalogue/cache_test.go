package catalogue_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// asked counts the requests to the club system by operation.
func (w *world) asked() map[string]int {
	counts := map[string]int{}
	for _, request := range w.Sim.Requests() {
		counts[request.Operation]++
	}
	return counts
}

// browse reads a catalogue and returns the names of its products.
func browse(t *testing.T, g *gateway, query catalogue.ProductQuery) []string {
	t.Helper()
	products, _, err := g.Catalogue.Products(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(products))
	for i, product := range products {
		names[i] = product.Name
	}
	return names
}

// withdraw removes the offer of the quarter pass, so that tests can tell a fresh catalogue from a cached one.
func (w *world) withdraw() {
	w.Helper()
	if err := w.Sim.Configure(func(s *clubsim.Settings) { s.WithdrawnOffers = []int{201} }); err != nil {
		w.Fatal(err)
	}
}

// shows reports whether a gateway still shows the quarter pass.
func (w *world) shows(g *gateway) bool {
	w.Helper()
	_, err := g.Catalogue.Offer(w.Context(), web, "201")
	if err != nil && flows.CodeOf(err) != flows.OfferNotAvailable {
		w.Fatal(err)
	}
	return err == nil
}

// TestGatewaysShareTheCache: a gateway shows what another gateway has read, without reading it again.
func TestGatewaysShareTheCache(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	first, second := world.Gateway(), world.Gateway()
	names := browse(t, first, web)
	before := world.asked()
	if again := browse(t, second, web); !slices.Equal(again, names) {
		t.Errorf("the second gateway shows %v, the first %v", again, names)
	}
	one := must(t, func() (catalogue.Offer, error) { return first.Catalogue.Offer(t.Context(), web, "901") })
	two := must(t, func() (catalogue.Offer, error) { return second.Catalogue.Offer(t.Context(), web, "901") })
	if one.DueNow != two.DueNow || !reflect.DeepEqual(one.Billing, two.Billing) {
		t.Errorf("the same offer is %+v and %+v", one, two)
	}
	here := must(t, func() (catalogue.Club, error) { return first.Catalogue.Club(t.Context(), "demo", "11") })
	there := must(t, func() (catalogue.Club, error) { return second.Catalogue.Club(t.Context(), "demo", "11") })
	if here.Code != there.Code || here.Scope != there.Scope || !slices.Equal(here.Path, there.Path) {
		t.Errorf("the same club is %+v and %+v", here, there)
	}
	if after := world.asked(); len(after) != len(before) || after["listOffers"] != before["listOffers"] ||
		after["listProducts"] != before["listProducts"] {
		t.Errorf("the first gateway made the calls %v, and with the second they are %v", before, after)
	}
}

// TestUnreadableCopies: a copy that another version wrote in its own format is read again and replaced by a
// readable one.
func TestUnreadableCopies(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	names, keys := browse(t, world.Gateway(), web), newKeyring(t, "one")
	for _, copied := range world.Redis.Keys(t.Context(), "fd:{*}:copy").Val() {
		world.Redis.HSet(t.Context(), copied, "body", keys.Seal(copied, []byte("another format")))
	}
	world.Clock.Advance(time.Second)
	before := world.asked()["listProducts"]
	for range 2 {
		if again := browse(t, world.Gateway(), web); !slices.Equal(again, names) {
			t.Errorf("a gateway that cannot read the copy shows %v", again)
		}
		if asked := world.asked()["listProducts"]; asked != 2*before {
			t.Errorf("the products were asked for %d times instead of %d", asked, 2*before)
		}
	}
}

// TestCataloguesAreSeparate: catalogues that differ in any parameter are cached separately, within a gateway
// and across gateways.
func TestCataloguesAreSeparate(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	first := world.Gateway()
	customer := flows.Buyer{Contact: "/demo/contacts/1001", Club: "/demo/clubs/11"}
	debtor := flows.Buyer{Contact: "/demo/contacts/1002", Club: "/demo/clubs/11", Debt: 12400}
	queries := map[string]catalogue.ProductQuery{"a visitor": web}
	vary := func(name string, change func(*catalogue.ProductQuery)) {
		query := web
		change(&query)
		queries[name] = query
	}
	vary("a customer", func(q *catalogue.ProductQuery) { q.Buyer = customer })
	vary("a debtor", func(q *catalogue.ProductQuery) { q.Buyer = debtor })
	vary("a debtor whose debt is paid", func(q *catalogue.ProductQuery) { q.Buyer = debtor; q.Buyer.Debt = 0 })
	vary("a student", func(q *catalogue.ProductQuery) {
		q.Buyer = flows.Buyer{Contact: "/demo/contacts/1001", Club: "/demo/clubs/11", Tags: "/demo/contact_tags/1"}
	})
	vary("another club", func(q *catalogue.ProductQuery) { q.ClubID = "12" })
	vary("a terminal", func(q *catalogue.ProductQuery) { q.Channel = "terminal" })
	vary("a category", func(q *catalogue.ProductQuery) { q.Type = "badge" })
	vary("next summer", func(q *catalogue.ProductQuery) { q.Date = world.Clock.Now().AddDate(1, 0, 0).Format("2006") + "-07-14" })
	vary("another organisation", func(q *catalogue.ProductQuery) { q.ClientToken = "demo-other" })
	shown := map[string][]string{}
	for name, query := range queries {
		shown[name] = browse(t, first, query)
	}
	second := world.Gateway()
	for range 2 { // from Redis, then from memory
		for name, query := range queries {
			if again := browse(t, second, query); !slices.Equal(again, shown[name]) {
				t.Errorf("%s is shown %v by one gateway, and %v by another", name, shown[name], again)
			}
		}
	}
	for _, name := range []string{"a customer", "a debtor", "another club", "a terminal", "a category", "next summer"} {
		if slices.Equal(shown[name], shown["a visitor"]) {
			t.Errorf("%s is shown what a visitor is: the test cannot fail", name)
		}
	}
	if kept := len(world.Redis.Keys(t.Context(), "fd:{*}:copy").Val()); kept < len(queries) {
		t.Errorf("Redis keeps %d copies of %d catalogues", kept, len(queries))
	}
	for _, key := range world.Redis.Keys(t.Context(), "*").Val() {
		if text := key + world.Redis.HGet(t.Context(), key, "body").Val(); strings.Contains(text, "contacts") || strings.Contains(text, "Pass") {
			t.Errorf("Redis reveals %q", text)
		}
		if left := world.Redis.PTTL(t.Context(), key).Val(); left <= 0 || left > 10*time.Minute {
			t.Errorf("%s is kept for %s", key, left)
		}
	}
}

// TestStaleWhileRefreshing: for ten minutes a catalogue is shown at once and refreshed in the background. After that
// visitors wait for the current one.
func TestStaleWhileRefreshing(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	if !world.shows(gateway) {
		t.Fatal("the offer is not there from the beginning")
	}
	world.withdraw()
	world.Clock.Advance(59 * time.Second)
	if asked := world.asked()["listProducts"]; !world.shows(gateway) || world.asked()["listProducts"] != asked {
		t.Error("within a minute it was read again")
	}
	world.Clock.Advance(2 * time.Second)
	if !world.shows(gateway) {
		t.Error("after a minute a visitor waited for a refresh")
	}
	frontdesktest.Eventually(t, "the catalogue is refreshed in the background", func() bool { return !world.shows(gateway) })

	if err := world.Sim.Configure(func(s *clubsim.Settings) { s.WithdrawnOffers = []int{} }); err != nil {
		t.Fatal(err)
	}
	world.Clock.Advance(10 * time.Minute)
	if !world.shows(gateway) {
		t.Error("after ten minutes the old catalogue is shown, although the club system responds")
	}
}

// TestHangingClubSystem: while every reading of the club system hangs, gateways show the old catalogue at once: the one
// that has read it, and one that has just started. The clock of its bubble moves only while every goroutine waits.
func TestHangingClubSystem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		simulator := clubsim.New(clubsim.Config{Now: time.Now})
		defer simulator.Close()
		memory := miniredis.NewMiniRedis() // on a pipe: the sockets of the tests' Redis would hold the bubble's clock
		defer memory.Close()
		connection := redis.NewClient(&redis.Options{
			Dialer: func(context.Context, string, string) (net.Conn, error) { return memory.Dial() },
		})
		defer connection.Close()
		line, copies := &hangingLine{to: simulator}, store.New(store.Config{Redis: connection, Keys: newKeyring(t, "one")})
		start := func() *gateway {
			client := club.New(club.Config{
				BaseURL:      "http://club.test",
				ClientID:     clubsim.DemoClientID,
				ClientSecret: clubsim.DemoClientSecret,
				GatewayKey:   clubsim.DemoGatewayKey,
				Transport:    line,
				Now:          time.Now,
			})
			log := slog.New(slog.DiscardHandler)
			return &gateway{Catalogue: catalogue.New(catalogue.Config{Club: client, Shared: copies, Now: time.Now, Log: log})}
		}
		clubs := func(g *gateway) int {
			all, _, err := g.Catalogue.Clubs(t.Context(), "demo")
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		g := start()
		names, listed := browse(t, g, web), clubs(g)
		line.hangs.Store(true)
		for range 3 {
			<-time.After(3 * time.Minute)
			before := line.hung.Load()
			for name, one := range map[string]*gateway{"the gateway that read it": g, "a gateway that has just started": start()} {
				asked := time.Now()
				if again := browse(t, one, web); !slices.Equal(again, names) || clubs(one) != listed {
					t.Errorf("%s shows %v", name, again)
				}
				if _, version, err := one.Catalogue.Products(t.Context(), web); err != nil || !version.Stale(time.Now()) {
					t.Errorf("%s does not call it stale: %v", name, err)
				}
				if waited := time.Since(asked); waited > 0 {
					t.Errorf("%s shows it after %s", name, waited)
				}
			}
			synctest.Wait()
			if line.hung.Load() == before {
				t.Error("no reading hangs behind them")
			}
		}
		<-time.After(time.Minute) // until the readings end
	})
}

// hangingLine carries requests to a club system, or hangs until their senders give up.
type hangingLine struct {
	to    http.Handler
	hangs atomic.Bool
	hung  atomic.Int32
}

func (l *hangingLine) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.hangs.Load() {
		l.hung.Add(1)
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	received := r.Clone(r.Context())
	if received.Body == nil {
		received.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	l.to.ServeHTTP(recorder, received)
	return recorder.Result(), nil
}

// TestStaleWhileTheClubSystemFails: for ten minutes gateways show the old catalogue, even those that start
// during the outage. After that visitors get the error.
func TestStaleWhileTheClubSystemFails(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	names := browse(t, gateway, web)
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET"}, Kind: "error_before", Status: 500})
	for n := 1; n <= 3; n++ {
		world.Clock.Advance(3 * time.Minute)
		if again := browse(t, gateway, web); !slices.Equal(again, names) {
			t.Errorf("while the club system fails %v is shown", again)
		}
		if !world.stale(gateway) {
			t.Error("an old catalogue is not called stale")
		}
		frontdesktest.Eventually(t, "network and products were read in vain", func() bool {
			return strings.Count(world.Journal.String(), "catalogue not refreshed") >= 2*n
		})
	}
	asked := world.asked()["listNetworkNodes"]
	for range 10 {
		browse(t, gateway, web)
	}
	if more := world.asked()["listNetworkNodes"] - asked; more > 0 {
		t.Errorf("a failing club system gets %d more calls at once", more)
	}
	if again := browse(t, world.Gateway(), web); !slices.Equal(again, names) {
		t.Errorf("a new gateway shows %v", again)
	}
	world.Clock.Advance(2 * time.Minute)
	if _, _, err := gateway.Catalogue.Products(t.Context(), web); flows.CodeOf(err) != flows.ClubSystemFailed {
		t.Errorf("after eleven minutes: %v", err)
	}
	world.Fault()
	if again := browse(t, gateway, web); !slices.Equal(again, names) || world.stale(gateway) {
		t.Errorf("once it works again %v is shown, stale: %t", again, world.stale(gateway))
	}
}

// stale reports whether a gateway marks its catalogue as stale.
func (w *world) stale(g *gateway) bool {
	w.Helper()
	_, version, err := g.Catalogue.Products(w.Context(), web)
	if err != nil {
		w.Fatal(err)
	}
	return version.Stale(w.Clock.Now())
}

// TestCachedOnly: without waiting for the club system, visitors get an old catalogue, refreshed once for all, or the one
// of another gateway. A request for an uncached one is refused.
func TestCachedOnly(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	instance := world.Gateway()
	names := browse(t, instance, web)
	world.Clock.Advance(3 * time.Minute)
	ctx := catalogue.CachedOnly(t.Context(), &flows.Error{Code: flows.Overloaded})
	fresh := world.Gateway()
	for name, one := range map[string]*gateway{"the gateway that read it": instance, "a gateway that has just started": fresh} {
		products, _, err := one.Catalogue.Products(ctx, web)
		if err != nil || len(products) != len(names) {
			t.Errorf("%s: %d products, %v", name, len(products), err)
		}
	}
	frontdesktest.Eventually(t, "the catalogue is refreshed", func() bool {
		_, version, err := instance.Catalogue.Products(ctx, web)
		return err == nil && version.Fresh(world.Clock.Now())
	})
	before := world.asked()["listProducts"]
	other := web
	other.Date = world.Clock.Now().AddDate(0, 0, 9).Format(time.DateOnly)
	if _, _, err := instance.Catalogue.Products(ctx, other); flows.CodeOf(err) != flows.Overloaded {
		t.Errorf("a catalogue that is not cached: %v", err)
	}
	if more := world.asked()["listProducts"] - before; more > 0 {
		t.Errorf("%d calls", more)
	}
}

// TestReaderLeaves: a visitor who leaves while the catalogue is read does not wait for it. The reading continues
// for the others.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	hold := func() (reached chan struct{}, release func()) {
		reached, held := make(chan struct{}), make(chan struct{})
		release = sync.OnceFunc(func() { close(held) })
		t.Cleanup(release)
		world.InjectFault("GET /sim/demo/products", func() { close(reached); <-held }, nil)
		return reached, release
	}
	reached, release := hold()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, _, err := gateway.Catalogue.Products(ctx, web)
		left <- err
	}()
	frontdesktest.Receive(t, reached, "the catalogue is being read")
	leave()
	if err := frontdesktest.Receive(t, left, "the visitor has left"); flows.CodeOf(err) != flows.ClubSystemUnavailable {
		t.Errorf("who left gets %v", err)
	}
	release()
	names, asked := browse(t, gateway, web), world.asked()["listProducts"]
	if again := browse(t, world.Gateway(), web); !slices.Equal(again, names) || world.asked()["listProducts"] != asked {
		t.Errorf("the reading was not completed: %v and %v", names, again)
	}

	world.Clock.Advance(3 * time.Minute)
	_, release = hold()
	if old, _, err := gateway.Catalogue.Products(ctx, web); err != nil || len(old) != len(names) {
		t.Errorf("who left gets %d older products, %v", len(old), err)
	}
	release()
}

// TestCatalogueOfAnotherDay: the cached catalogue of one day is not shown on the next.
func TestCatalogueOfAnotherDay(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	now := world.Clock.Now().UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	world.Clock.Advance(midnight.Sub(now) - time.Second)
	if !world.shows(gateway) {
		t.Fatal("the offer is not there from the beginning")
	}
	world.withdraw()
	world.Clock.Advance(30 * time.Second) // the offers were read 30 seconds ago
	if world.shows(gateway) {
		t.Error("yesterday's catalogue is shown today")
	}
}

// TestWithoutRedis: each gateway has its own cache.
func TestWithoutRedis(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway(flowstest.Options{RedisURL: "redis://127.0.0.1:1/0"})
	names := browse(t, g, web)
	asked := w.asked()
	if again := browse(t, g, web); !slices.Equal(again, names) || w.asked()["listProducts"] != asked["listProducts"] {
		t.Error("without Redis a catalogue is not cached")
	}
}

// TestInvalidate: all entries of one organisation are read again, and none of any other.
func TestInvalidate(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	other := web
	other.ClientToken = "demo-other"
	browse(t, gateway, other)
	if !world.shows(gateway) {
		t.Fatal("the offer is not there from the beginning")
	}
	world.withdraw()
	gateway.Catalogue.Invalidate("demo")
	if world.shows(gateway) {
		t.Error("an invalidated offer is shown")
	}
	if _, err := gateway.Catalogue.Offer(t.Context(), other, club.IRI("/demo-other/offers/201").ID()); err != nil {
		t.Error("another organisation was invalidated as well")
	}
}
