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

// newServer returns a server whose worlds have gateways that say which world they serve and what they forget.
func newServer(t *testing.T, change func(*mock.Config)) (server *mock.Server, forgotten func() string) {
	t.Helper()
	var mu sync.Mutex
	var names []string
	cfg := mock.Config{Now: time.Now, After: time.After, PublicURL: "http://localhost", Gateway: func(at mock.Place) (*mock.Gateway, error) {
		return &mock.Gateway{
			Public:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(at.World + " " + at.RedisURL)) }),
			Run:      func(ctx context.Context) error { <-ctx.Done(); return nil },
			Close:    func() {},
			NextWork: func(context.Context) (time.Duration, bool, error) { return 0, false, nil },
			ForgetCaches: func() {
				mu.Lock()
				defer mu.Unlock()
				names = append(names, at.World)
			},
		}, nil
	}}
	change(&cfg)
	server = mock.New(cfg)
	t.Cleanup(server.Close)
	return server, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(names, " ")
	}
}

// get sends a request for a world and returns the body of its response.
func get(server *mock.Server, world string) string {
	request := httptest.NewRequest("GET", "/v1/config", nil)
	request.Header.Set("X-Frontdesk-World", world)
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, request)
	return recorder.Body.String()
}

// clientOf returns a client of a world's Redis.
func clientOf(t *testing.T, server *mock.Server, world string) *redis.Client {
	t.Helper()
	_, url, _ := strings.Cut(get(server, world), " ")
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestPaths: the simulator and the sandbox serve their paths, the gateway of the world serves all others, and forgets what it has cached
// when a control request changes its world.
func TestPaths(t *testing.T) {
	t.Parallel()
	server, forgotten := newServer(t, func(*mock.Config) {})
	for _, world := range []string{"demo-a", "demo-b", "demo-c", "demo-d", "demo-f"} {
		get(server, world)
	}
	for _, test := range []struct{ method, path, body, says string }{
		{"GET", "/sim/demo/_control/settings", "", "pageSize"},
		{"PUT", "/sim/demo-a/_control/settings", `{"pageSize":10}`, "pageSize"},
		{"PUT", "/sim/demo-f/_control/faults", `[]`, "items"},
		{"POST", "/sim/demo-b/_control/reset", "", ""},
		{"POST", "/sim/demo-c/_control/", "do=reset", ""},
		{"PUT", "/sim/demo-d/_control/catalogue", "clubs: [{name: A}]", ""},
		{"GET", "/sandbox/payments", "", "["},
		{"GET", "/sandboxes", "", "demo "},
		{"GET", "//sim/demo", "", "demo "},
	} {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
		if recorder.Code >= 400 || !strings.Contains(recorder.Body.String(), test.says) {
			t.Errorf("%s %s: %d %s", test.method, test.path, recorder.Code, recorder.Body)
		}
	}
	if got := forgotten(); got != "demo-a demo-f demo-b demo-c demo-d" {
		t.Errorf("changed worlds: %s", got)
	}
}

// TestResetOfAWorld checks that a reset of a demo world, by a program or by the simulator's page, also removes its payments at the
// card processor and its settings there, and no other world's.
func TestResetOfAWorld(t *testing.T) {
	t.Parallel()
	world := mock.New(mock.Config{Now: time.Now, PublicURL: "http://localhost"})
	t.Cleanup(world.Close)
	send := func(method, path, kind, body string) string {
		t.Helper()
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Content-Type", kind)
		request.Header.Set("Authorization", "Bearer "+sandbox.DemoSecretKey)
		recorder := httptest.NewRecorder()
		world.ServeHTTP(recorder, request)
		if recorder.Code >= 400 {
			t.Fatalf("%s %s: %d %s", method, path, recorder.Code, recorder.Body)
		}
		return recorder.Body.String()
	}
	const form, worlds = "application/x-www-form-urlencoded", "demo demo-a demo-b"
	for _, name := range strings.Fields(worlds) {
		send("POST", "/sandbox/v1/payment_intents", form, "amount=4990&currency=eur&metadata[fd_sale]=/"+name+"/sales/1")
		send("PUT", "/sandbox/settings?world="+name, "application/json", `{"webhooks":"drop"}`)
	}
	holds := func() (names []string) {
		for _, name := range strings.Fields(worlds) {
			if strings.Contains(send("GET", "/sandbox/payments?world="+name, "", ""), "/"+name+"/sales/1") {
				names = append(names, name)
			}
		}
		return names
	}
	for _, reset := range []struct{ path, body, left string }{
		{"/sim/demo-a/_control/reset", "", "demo demo-b"},
		{"/sim/demo-b/_control/", "do=reset", "demo"},
		{"/sim/demo/_control/reset", "", ""},
	} {
		send("POST", reset.path, form, reset.body)
		if got := strings.Join(holds(), " "); got != reset.left {
			t.Errorf("after %s the processor holds payments of %q, want %q", reset.path, got, reset.left)
		}
	}
	if settings := send("GET", "/sandbox/settings?world=demo-a", "", ""); !strings.Contains(settings, "normal") {
		t.Errorf("settings after the reset: %s", settings)
	}
}

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

// TestUnwritableStateIsRefused: mock mode does not begin to keep worlds where it cannot write.
func TestUnwritableStateIsRefused(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t, func(cfg *mock.Config) { cfg.State = "/proc/self" }) // root may write everywhere else
	if err := server.Load(); err == nil {
		t.Error("it loads")
	}
}

// TestStateHasOneProcess: two servers would overwrite each other's worlds, so the second one is refused until the first one has ended.
func TestStateHasOneProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	on := func() *mock.Server {
		server, _ := newServer(t, func(cfg *mock.Config) { cfg.State = folder })
		return server
	}
	first, second := on(), on()
	if err := first.Load(); err != nil {
		t.Fatal(err)
	}
	if err := second.Load(); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("the second server: %v", err)
	}
	second.Close()
	first.Close()
	if err := on().Load(); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

// control sends a control request for a world, and returns the status and the body of its response.
func control(server *mock.Server, method, world, name, body string) (status int, got string) {
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, httptest.NewRequest(method, "/sim/"+world+"/_control/"+name, strings.NewReader(body)))
	return recorder.Code, recorder.Body.String()
}

// TestDamagedRecords: a snapshot with a record that Redis does not take is refused with the record's key and changes nothing, and a file
// of the folder that has it is named.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t, func(*mock.Config) {})
	clientOf(t, server, "demo-damaged").Set(t.Context(), "key", "value", 0)
	_, snapshot := control(server, "GET", "demo-damaged", "state", "")
	of := func(records string) string {
		return strings.Replace(snapshot, `"gateway":[{"key":"key","kind":"string","values":["dmFsdWU="]}]`, `"gateway":[`+records+`]`, 1)
	}
	for _, records := range []string{
		`{"key":"of-no-kind","kind":"none","values":["YQ=="]}`,
		`{"key":"without-value","kind":"string","values":[]}`,
		`{"key":"two-strings","kind":"string","values":["YQ==","YQ=="]}`,
		`{"key":"two-strings","kind":"string","values":["YQ==","Tlg="]}`, // NX is an option of SET
		`{"key":"field-alone","kind":"hash","values":["YQ=="]}`,
		`{"key":"no-score","kind":"zset","values":["YQ==","YQ=="]}`,
		`{"key":"score-alone","kind":"zset","values":["MQ=="]}`,
		`{"key":"with-option","kind":"zset","values":["Tlg=","MQ==","YQ=="]}`,
		`{"key":"without-entries","kind":"stream","values":["YQ==","YQ=="]}`,
		`{"key":"too-few","kind":"stream","values":["YQ==","YQ=="],"entries":[{"id":"1-1","fields":4}]}`,
		`{"key":"too-many","kind":"stream","values":["YQ==","YQ==","YQ==","YQ=="],"entries":[{"id":"1-1","fields":2}]}`,
		`{"key":"negative","kind":"stream","values":["YQ==","YQ=="],"entries":[{"id":"1-1","fields":-2},{"id":"1-2","fields":2}]}`,
		`{"key":"out-of-order","kind":"stream","values":["YQ==","YQ==","YQ==","YQ=="],` +
			`"entries":[{"id":"2-1","fields":2},{"id":"1-1","fields":2}]}`,
		`{"key":"twice","kind":"string","values":["YQ=="]},{"key":"twice","kind":"string","values":["YQ=="]}`,
		`{"key":"after-the-end","kind":"string","values":["YQ=="],"until":"99999-01-01T00:00:00Z"}`,
	} {
		key := strings.Split(records, `"`)[3]
		status, refusal := control(server, "PUT", "demo-damaged", "state", of(records))
		if status != http.StatusBadRequest || !strings.Contains(refusal, key) && key != "after-the-end" {
			t.Errorf("%s: %d %s", key, status, refusal)
		}
		if held := clientOf(t, server, "demo-damaged").Get(t.Context(), "key").Val(); held != "value" {
			t.Fatalf("%s: Redis holds %q", key, held)
		}
	}
	last := of(`{"key":"for-ages","kind":"string","values":["YQ=="],"until":"9999-12-31T23:59:59Z"}`)
	if status, refusal := control(server, "PUT", "demo-damaged", "state", last); status != http.StatusNoContent {
		t.Errorf("the last day: %d %s", status, refusal)
	}
	if status, kept := control(server, "GET", "demo-damaged", "state", ""); status != http.StatusOK || !strings.Contains(kept, "for-ages") {
		t.Errorf("a snapshot with the last day: %d", status)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "demo-damaged.json")
	frontdesktest.Must(t, os.WriteFile(path, []byte(of(`{"key":"no-score","kind":"zset","values":["YQ==","YQ=="]}`)), 0o600))
	started, _ := newServer(t, func(cfg *mock.Config) { cfg.State = folder })
	if err := started.Load(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no-score") {
		t.Errorf("the file: %v", err)
	}
}

// TestFilesOfWorlds: worlds whose names differ in case alone, or have dots where Windows allows none, are kept in files that every file
// system tells apart. What a crash has left of a file that was being written goes.
func TestFilesOfWorlds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	worlds := []string{"demo", "demo-a", "demo-A", "demo-con.", "demo-1.JSON", "demo-_A.a-", "demo-" + strings.Repeat("A", 123)}
	left := filepath.Join(folder, ".new-123")
	frontdesktest.Must(t, os.WriteFile(left, []byte(`{"ver`), 0o600))
	start := func() *mock.Server {
		server, _ := newServer(t, func(cfg *mock.Config) { cfg.State = folder })
		frontdesktest.Must(t, server.Load())
		return server
	}
	first := start()
	for i, world := range worlds {
		control(first, "PUT", world, "settings", fmt.Sprintf(`{"pageSize":%d}`, i+1))
	}
	first.Close()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		names[strings.ToLower(file.Name())] = true
		if strings.HasSuffix(file.Name(), ".") || strings.HasPrefix(file.Name(), ".new-") {
			t.Errorf("the folder has the file %s", file.Name())
		}
	}
	if want := len(worlds) + len([]string{".lock"}); len(names) != want {
		t.Errorf("%d names of files, want %d: %v", len(names), want, names)
	}
	second := start()
	for i, world := range worlds {
		if _, settings := control(second, "GET", world, "settings", ""); !strings.Contains(settings, fmt.Sprintf(`"pageSize":%d,`, i+1)) {
			t.Errorf("%s: %s", world, settings)
		}
	}
}

// TestSandboxCallKeepsItsWorld: a call of the sandbox writes the file of the world that it was about, and other worlds are not compared
// with their files: what their Redis got without a request is not there.
func TestSandboxCallKeepsItsWorld(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ticks := make(chan time.Time)
	var later atomic.Int64
	server, _ := newServer(t, func(cfg *mock.Config) {
		cfg.State, cfg.After = folder, func(time.Duration) <-chan time.Time { return ticks }
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	frontdesktest.Must(t, server.Load())
	go server.Run(t.Context()) //nolint:errcheck // the test's end ends it
	pass := func() {
		t.Helper()
		later.Add(int64(time.Minute))
		for range 2 { // the first tick is over when the second is received
			select {
			case ticks <- time.Time{}:
			case <-time.After(frontdesktest.Patience):
				t.Fatal("nobody waits for the tick")
			}
		}
	}
	worlds := map[string]bool{"demo-called": true, "demo-idle": false}
	for world := range worlds {
		control(server, "PUT", world, "settings", `{"pageSize":9}`)
	}
	pass()
	for world := range worlds {
		clientOf(t, server, world).Set(t.Context(), "unnoticed", "value", 0)
	}
	request := httptest.NewRequest("POST", "/sandbox/v1/payment_intents",
		strings.NewReader("amount=4990&currency=eur&metadata[fd_sale]=/demo-called/sales/1"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer "+sandbox.DemoSecretKey)
	recorder := httptest.NewRecorder()
	if server.ServeHTTP(recorder, request); recorder.Code != http.StatusOK {
		t.Fatal(recorder.Body)
	}
	pass()
	for world, compared := range worlds {
		file, err := os.ReadFile(filepath.Join(folder, world+".json"))
		if err != nil || strings.Contains(string(file), "unnoticed") != compared {
			t.Errorf("%s: %v %s", world, err, file)
		}
	}
}
