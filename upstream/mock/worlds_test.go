package mock_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/mock"
)

// TestRedisHasTheClockOfItsWorld: what it holds expires with the clock of its own world, by ticks or when that clock is moved, and TIME is
// that clock's.
func TestRedisHasTheClockOfItsWorld(t *testing.T) {
	t.Parallel()
	ticks := make(chan time.Time)
	server, _ := newServer(t, func(cfg *mock.Config) { cfg.After = func(time.Duration) <-chan time.Time { return ticks } })
	go server.Run(t.Context()) //nolint:errcheck // the test's end ends it
	for _, world := range []string{"demo", "demo-moved"} {
		client := clientOf(t, server, world)
		client.Set(t.Context(), "key", "value", time.Hour)
		client.Set(t.Context(), "brief", "value", 300*time.Millisecond)
		client.XAdd(t.Context(), &redis.XAddArgs{Stream: "stream", ID: "1-1", Values: []string{"field", "1-2"}})
		client.XAdd(t.Context(), &redis.XAddArgs{Stream: "stream", ID: "1-3", Values: []string{"field", "\xff\x00", "other", ""}})
		client.ZAdd(t.Context(), "asynq:{events}:scheduled", redis.Z{Score: 10_000, Member: "job"})
	}
	for range 3 { // the last one is received after the second has passed
		select {
		case ticks <- time.Time{}:
		case <-time.After(frontdesktest.Patience):
			t.Fatal("nobody waits for the tick")
		}
	}
	recorder := httptest.NewRecorder()
	advance := httptest.NewRequest("PUT", "/sim/demo-moved/_control/clock", strings.NewReader(`{"advance":"PT2H"}`))
	server.ServeHTTP(recorder, advance)
	if recorder.Code != http.StatusOK {
		t.Fatal(recorder.Body)
	}
	for world, want := range map[string]struct {
		keys  int64
		ahead time.Duration
		job   float64
	}{"demo": {1, 0, 10_000}, "demo-moved": {0, 2 * time.Hour, 2800}} {
		client := clientOf(t, server, world)
		if keys := client.Exists(t.Context(), "key", "brief").Val(); keys != want.keys {
			t.Errorf("%s has %d keys, want %d", world, keys, want.keys)
		}
		if ahead := time.Until(client.Time(t.Context()).Val()); (ahead - want.ahead).Abs() > time.Minute {
			t.Errorf("the clock of %s is %s ahead", world, ahead)
		}
		if at := client.ZScore(t.Context(), "asynq:{events}:scheduled", "job").Val(); math.Abs(at-want.job) > 1 {
			t.Errorf("a job of %s waits until %f", world, at)
		}
		entries := client.XRange(t.Context(), "stream", "-", "+").Val()
		if len(entries) != 2 || entries[0].Values["field"] != "1-2" || entries[1].Values["field"] != "\xff\x00" || entries[1].ID != "1-3" {
			t.Errorf("the stream of %s is %v", world, entries)
		}
	}
}

// TestUnusedWorldsGo: after a day without a request a world is deleted, and the default one is not.
func TestUnusedWorldsGo(t *testing.T) {
	t.Parallel()
	ticks := make(chan time.Time)
	var later atomic.Int64
	server, _ := newServer(t, func(cfg *mock.Config) {
		cfg.After = func(time.Duration) <-chan time.Time { return ticks }
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	go server.Run(t.Context()) //nolint:errcheck // the test's end ends it
	settings := func(method, world, body string) string {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, httptest.NewRequest(method, "/sim/"+world+"/_control/settings", strings.NewReader(body)))
		return recorder.Body.String()
	}
	pass := func(passed time.Duration) {
		t.Helper()
		later.Add(int64(passed))
		tickTwice(t, ticks)
	}
	for _, world := range []string{"demo", "demo-unused", "demo-used"} {
		get(server, world)
		settings("PUT", world, `{"pageSize":9}`)
	}
	pass(20 * time.Hour)
	get(server, "demo-used")
	pass(5 * time.Hour)
	for world, stays := range map[string]bool{"demo": true, "demo-unused": false, "demo-used": true} {
		if stayed := strings.Contains(settings("GET", world, ""), `"pageSize":9`); stayed != stays {
			t.Errorf("%s has stayed: %t", world, stayed)
		}
	}
	if got := get(server, "demo-used"); !strings.HasPrefix(got, "demo-used ") {
		t.Errorf("a world that rested answers %q", got)
	}
}

// TestUnusedWorldsRest: the gateway of a world ends after seconds without a request, unless background work is due or it is the default
// world's. It starts again when background work is due, and after the clock was moved.
func TestUnusedWorldsRest(t *testing.T) {
	t.Parallel()
	ticks := make(chan time.Time)
	var later atomic.Int64
	var mu sync.Mutex
	runs, works := map[string]int{}, map[string]time.Duration{"demo-busy": 0, "demo-waits": time.Hour}
	server, _ := newServer(t, func(cfg *mock.Config) {
		cfg.After = func(time.Duration) <-chan time.Time { return ticks }
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		gateway := cfg.Gateway
		cfg.Gateway = func(at mock.Place) (*mock.Gateway, error) {
			made, err := gateway(at)
			made.Run = func(ctx context.Context) error {
				mu.Lock()
				runs[at.World]++
				mu.Unlock()
				<-ctx.Done()
				mu.Lock()
				runs[at.World]--
				mu.Unlock()
				return nil
			}
			made.NextWork = func(context.Context) (time.Duration, bool, error) {
				in, waits := works[at.World]
				return in, waits, nil
			}
			return made, err
		}
	})
	go server.Run(t.Context()) //nolint:errcheck // the test's end ends it
	pass := func(passed time.Duration) { later.Add(int64(passed)) }
	expect := func(when, want string) { // with further ticks, as a world may be between running and resting at one
		t.Helper()
		tickTwice(t, ticks)
		running := func() string {
			mu.Lock()
			defer mu.Unlock()
			var names []string
			for name, n := range runs {
				if n > 0 {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return strings.Join(names, " ")
		}
		frontdesktest.Eventually(t, when+" these run: "+want+"; but: "+running(), func() bool {
			tickTwice(t, ticks)
			return running() == want
		})
	}
	const all = "demo demo-busy demo-idle demo-waits"
	for _, world := range strings.Fields(all) {
		get(server, world)
	}
	pass(5 * time.Second)
	expect("after 5 s", all)
	pass(15 * time.Second)
	expect("after 20 s", "demo demo-busy")
	pass(time.Hour)
	expect("after an hour", "demo demo-busy demo-waits")
	pass(time.Minute)
	expect("a minute later", "demo demo-busy")
	if got := get(server, "demo-idle"); !strings.HasPrefix(got, "demo-idle ") {
		t.Errorf("a world that rested answers %q", got)
	}
	expect("when it is used again", "demo demo-busy demo-idle")
}

// TestClockMovesBackOverLocks: what Redis holds for seconds does not stay for the hours by which a clock goes back, and the rest does.
func TestClockMovesBackOverLocks(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t, func(*mock.Config) {})
	client := clientOf(t, server, "demo-back")
	client.Set(t.Context(), "lock", "value", time.Minute)
	client.Set(t.Context(), "record", "value", time.Hour)
	back := fmt.Sprintf(`{"now":%q}`, time.Now().Add(-5*time.Hour).Format(time.RFC3339))
	if status, got := control(server, "PUT", "demo-back", "clock", back); status != http.StatusOK {
		t.Fatal(got)
	}
	client = clientOf(t, server, "demo-back")
	if left := client.TTL(t.Context(), "lock").Val(); left <= 0 || left > time.Minute {
		t.Errorf("the lock stays for %s", left)
	}
	if left := client.TTL(t.Context(), "record").Val(); left < 5*time.Hour {
		t.Errorf("the record stays for %s", left)
	}
}

// TestRedisAgesThoughTicksAreLate: keys of Redis expire by the time that has passed, not by the number of ticks.
func TestRedisAgesThoughTicksAreLate(t *testing.T) {
	t.Parallel()
	ticks := make(chan time.Time)
	var later atomic.Int64
	server, _ := newServer(t, func(cfg *mock.Config) {
		cfg.After = func(time.Duration) <-chan time.Time { return ticks }
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	go server.Run(t.Context()) //nolint:errcheck // the test's end ends it
	client := clientOf(t, server, "demo")
	client.Set(t.Context(), "brief", "value", 10*time.Second)
	client.Set(t.Context(), "long", "value", time.Hour)
	later.Add(int64(time.Minute))
	tickTwice(t, ticks)
	if brief, long := client.Exists(t.Context(), "brief").Val(), client.Exists(t.Context(), "long").Val(); brief != 0 || long != 1 {
		t.Errorf("after a minute there are %d keys for 10 s and %d for an hour", brief, long)
	}
}

// tickTwice has a server tick, and returns when the first tick is over.
func tickTwice(t *testing.T, ticks chan<- time.Time) {
	t.Helper()
	for range 2 {
		select {
		case ticks <- time.Time{}:
		case <-time.After(frontdesktest.Patience):
			t.Fatal("nobody waits for the tick")
		}
	}
}

// TestRequestsFinishBeforeAReset: a request that is in progress when its world is reset is answered, and an open stream does not delay it.
func TestRequestsFinishBeforeAReset(t *testing.T) {
	t.Parallel()
	entered, release := make(chan string, 2), make(chan struct{})
	server, _ := newServer(t, func(cfg *mock.Config) {
		gateway := cfg.Gateway
		cfg.Gateway = func(at mock.Place) (*mock.Gateway, error) {
			made, err := gateway(at)
			made.Public = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				entered <- r.URL.Path
				select {
				case <-r.Context().Done():
					w.WriteHeader(http.StatusServiceUnavailable)
				case <-release:
				}
			})
			return made, err
		}
	})
	var waiting sync.WaitGroup
	for path, want := range map[string]int{"/v1/registrations/one": http.StatusOK, "/v1/registrations/one/events": 0} {
		waiting.Go(func() {
			recorder := httptest.NewRecorder()
			server.ServeHTTP(recorder, httptest.NewRequest("GET", path, nil))
			if want != 0 && recorder.Code != want {
				t.Errorf("GET %s: status %d", path, recorder.Code)
			}
		})
	}
	for range 2 {
		select {
		case <-entered:
		case <-time.After(frontdesktest.Patience):
			t.Fatal("the gateway got no request")
		}
	}
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	if status, body := control(server, "POST", "demo", "reset", ""); status != http.StatusNoContent {
		t.Errorf("the reset: status %d %s", status, body)
	}
	waiting.Wait()
}

// TestCardPageIsThePayments: a card page that another site leads to is served by its payment's world, whatever the browser's cookie says.
func TestCardPageIsThePayments(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t, func(*mock.Config) {})
	body := "amount=4990&currency=eur&metadata[fd_sale]=/demo-paid/sales/1&metadata[fd_registration]=one"
	request := httptest.NewRequest("POST", "/sandbox/v1/payment_intents", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer "+sandbox.DemoSecretKey)
	server.ServeHTTP(httptest.NewRecorder(), request)
	for path, want := range map[string]string{
		"/pay/one-1/proof": "demo-paid ", "/pay/two-1/proof": "demo-cookie ", "/pay/": "demo-cookie ", "/pay/-/": "demo-cookie ",
	} {
		recorder, request := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		request.AddCookie(&http.Cookie{Name: "frontdesk-world", Value: "demo-cookie"})
		if server.ServeHTTP(recorder, request); !strings.HasPrefix(recorder.Body.String(), want) {
			t.Errorf("%s is served by %q", path, recorder.Body)
		}
	}
}

// TestWorldIsDeletedTwice: of several deletions at once each succeeds, and a payment in another world does not bring the world's file back.
func TestWorldIsDeletedTwice(t *testing.T) {
	t.Parallel()
	ticks, folder := make(chan time.Time), t.TempDir()
	server, _ := newServer(t, func(cfg *mock.Config) {
		cfg.State, cfg.After = folder, func(time.Duration) <-chan time.Time { return ticks }
	})
	go server.Run(t.Context()) //nolint:errcheck // the test's end ends it
	send := func(method, path, body string) int {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Authorization", "Bearer "+sandbox.DemoSecretKey)
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, request)
		return recorder.Code
	}
	for range 50 {
		get(server, "demo-deleted")
		var deletions sync.WaitGroup
		for range 4 {
			deletions.Go(func() {
				if got := get(server, "demo-deleted"); !strings.HasPrefix(got, "demo-deleted ") {
					t.Errorf("a request during deletions: %q", got)
				}
			})
			deletions.Go(func() {
				if status := send("DELETE", "/sim/demo-deleted/_control/", ""); status != http.StatusNoContent {
					t.Errorf("a deletion: status %d", status)
				}
			})
		}
		deletions.Wait()
	}
	const payment = "amount=4990&currency=eur&metadata[fd_sale]=/demo/sales/1"
	if status := send("POST", "/sandbox/v1/payment_intents", payment); status != http.StatusOK {
		t.Errorf("the payment: status %d", status)
	}
	for range 3 {
		select {
		case ticks <- time.Time{}:
		case <-time.After(frontdesktest.Patience):
			t.Fatal("nobody waits for the tick")
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "demo-deleted.json")); !os.IsNotExist(err) {
		t.Errorf("the file of the deleted world: %v", err)
	}
}
