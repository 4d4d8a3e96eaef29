package mock_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

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
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/sim/demo/_control/settings", "", http.StatusOK},
		{"PUT", "/sim/demo-a/_control/settings", `{"pageSize":10}`, http.StatusOK},
		{"POST", "/sim/demo-b/_control/reset", "", http.StatusNoContent},
		{"POST", "/sim/demo-c/_control/", "do=reset", http.StatusSeeOther},
		{"GET", "/sandbox/payments", "", http.StatusOK},
		{"GET", "/sandboxes", "", http.StatusTeapot},
		{"GET", "//sim/demo", "", http.StatusTeapot},
	} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if recorder.Code != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, recorder.Code, c.status)
		}
	}
	if got := strings.Join(changed, " "); got != "demo-a demo-b demo-c" {
		t.Errorf("changed worlds: %s", got)
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
