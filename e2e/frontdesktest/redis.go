package frontdesktest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
)

// launchRedis runs a real Redis on a port of its own, with options of redis-server, the last of
// which count.
func launchRedis(ctx context.Context, options ...string) (p *Process, port int, err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, 0, errors.New("these tests need redis-server: apt-get install redis-server, or the like")
	}
	if port, err = FindPort(); err != nil {
		return nil, 0, err
	}
	p, err = Launch(ctx, "Ready to accept connections", nil, path,
		append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"}, options...)...)
	return p, port, err
}

// NewRedis runs a real Redis until the test ends, and gives its address. It
// forgets everything at its end, unless options of redis-server say otherwise.
func NewRedis(t testing.TB, options ...string) string {
	t.Helper()
	p, port, err := launchRedis(t.Context(), append([]string{"--dir", t.TempDir()}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return fmt.Sprintf("redis://127.0.0.1:%d", port)
}

// NewDurableRedis runs a real Redis that is durable enough for live mode.
func NewDurableRedis(t testing.TB, options ...string) string {
	t.Helper()
	return NewRedis(t, append([]string{"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"}, options...)...)
}

// StopRedis ends a Redis without a word to its clients.
func StopRedis(t testing.TB, url string) {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	client.ShutdownNoSave(t.Context()) // answered by closing the connection
	Eventually(t, "Redis is gone", func() bool { return client.Ping(t.Context()).Err() != nil })
}

// Redis is a real Redis for all tests of a package. Each test takes a database
// of its own, which costs nothing.
type Redis struct {
	process   *Process
	url       string
	databases atomic.Int64
}

// StartRedis runs a Redis until Stop, for TestMain.
func StartRedis() (*Redis, error) {
	const databases = "10000" // far more than any package has tests
	p, port, err := launchRedis(context.Background(), "--databases", databases)
	return &Redis{process: p, url: fmt.Sprintf("redis://127.0.0.1:%d/", port)}, err
}

// Database gives the address of a database that no test has used.
func (r *Redis) Database() string { return r.url + fmt.Sprint(r.databases.Add(1)) }

// Stop ends the server.
func (r *Redis) Stop() { r.process.Kill() }
