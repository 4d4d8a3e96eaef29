package mock_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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
