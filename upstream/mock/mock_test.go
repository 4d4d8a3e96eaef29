package mock_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/mock"
)

// TestWrap: the simulator and the sandbox serve their paths, the next handler serves all others, and a control
// request reports the world that it changed.
func TestWrap(t *testing.T) {
	t.Parallel()
	world := mock.New(mock.Config{Now: time.Now, PublicURL: "http://localhost"})
	t.Cleanup(world.Close)
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	var changed []string
	handler := world.Wrap(next, func(clientToken string) { changed = append(changed, clientToken) })
	for _, test := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/sim/demo/_control/settings", "", http.StatusOK},
		{"PUT", "/sim/demo-a/_control/settings", `{"pageSize":10}`, http.StatusOK},
		{"PUT", "/sim/demo-f/_control/faults", `[]`, http.StatusOK},
		{"POST", "/sim/demo-b/_control/reset", "", http.StatusNoContent},
		{"POST", "/sim/demo-c/_control/", "do=reset", http.StatusSeeOther},
		{"PUT", "/sim/demo-d/_control/catalogue", "clubs: [{name: A}]", http.StatusNoContent},
		{"GET", "/sandbox/payments", "", http.StatusOK},
		{"GET", "/sandboxes", "", http.StatusTeapot},
		{"GET", "//sim/demo", "", http.StatusTeapot},
	} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
		if recorder.Code != test.status {
			t.Errorf("%s %s: status %d, want %d", test.method, test.path, recorder.Code, test.status)
		}
	}
	if got := strings.Join(changed, " "); got != "demo-a demo-f demo-b demo-c demo-d" {
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
		world.Handler().ServeHTTP(recorder, request)
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

// TestRedis: keys expire as the injected clock ticks.
func TestRedis(t *testing.T) {
	t.Parallel()
	ticks := make(chan time.Time)
	world := mock.New(mock.Config{Now: time.Now, After: func(time.Duration) <-chan time.Time { return ticks }})
	t.Cleanup(world.Close)
	group, ctx := errgroup.WithContext(t.Context())
	url, err := world.StartRedis(ctx, group)
	if err != nil {
		t.Fatal(err)
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Set(ctx, "key", "value", 2*time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{1, 0} { // the second tick is received after the first has passed
		ticks <- time.Time{}
		ticks <- time.Time{}
		if got := client.Exists(ctx, "key").Val(); want == 0 && got != 0 {
			t.Errorf("after four seconds the key exists")
		}
	}
}
