package frontdesktest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisServer is a redis-server with its files, which outlive its processes. It ends with the test. To kill
// it is like a power cut, except that the system still writes its files.
type RedisServer struct {
	*Process // the current or the last one
	Port     int
	t        TB
	dir      string // of this server; its files are below
	options  []string
}

// How Redis persists what it acknowledges.
const (
	FsyncAlways   = "always"   // every write is on the disk before it is acknowledged
	FsyncEverySec = "everysec" // a second of acknowledged writes may be lost with the machine
)

// NewRedisServer starts a redis-server that keeps its files, with options of redis-server if there are any.
func NewRedisServer(t TB, fsync string, options ...string) *RedisServer {
	t.Helper()
	return launchRedis(t, append([]string{"--appendonly", "yes", "--appendfsync", fsync}, options...)...)
}

func launchRedis(t TB, options ...string) *RedisServer {
	t.Helper()
	r := &RedisServer{Port: FreePort(t), t: t, dir: t.TempDir(), options: options}
	t.Cleanup(func() { r.Kill() }) // the process at that time
	r.Start()
	return r
}

// Start starts the server on the contents of its files, with more options if there are any.
func (r *RedisServer) Start(more ...string) {
	r.t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		r.t.Fatal("redis-server is missing: apt-get install redis-server, or the like")
	}
	Must(r.t, os.MkdirAll(r.files(), 0o700))
	// A server that may not write, as on a full disk, gets an error instead of a signal that would end it.
	const ignoreXFSZ = `trap "" XFSZ; exec "$0" "$@"`
	args := slices.Concat(
		[]string{"-c", ignoreXFSZ, "redis-server", "--port", fmt.Sprint(r.Port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
			"--dir", r.files(), "--repl-diskless-sync-delay", "0"},
		r.options,
		more,
	)
	var err error
	r.Process, err = Launch(r.t.Context(), "Ready to accept connections", nil, "sh", args...)
	Must(r.t, err)
}

// Copy keeps a copy of its files as they are now.
func (r *RedisServer) Copy() error {
	if err := os.RemoveAll(r.copy()); err != nil {
		return err
	}
	return os.CopyFS(r.copy(), os.DirFS(r.files()))
}

// Restore replaces the files with the copy. The server must be dead.
func (r *RedisServer) Restore() error {
	if err := r.Empty(); err != nil {
		return err
	}
	return os.CopyFS(r.files(), os.DirFS(r.copy()))
}

// Empty removes its files. The server must be dead.
func (r *RedisServer) Empty() error { return os.RemoveAll(r.files()) }

// Client opens a client that does not wait long and never retries.
func (r *RedisServer) Client() redis.UniversalClient {
	return redis.NewClient(&redis.Options{Addr: r.Address(), DialTimeout: time.Second, ReadTimeout: 2 * time.Second, MaxRetries: -1})
}

// URL returns its address for gateways.
func (r *RedisServer) URL() string { return "redis://" + r.Address() }

// Address returns its host and port.
func (r *RedisServer) Address() string { return fmt.Sprintf("127.0.0.1:%d", r.Port) }

func (r *RedisServer) files() string { return filepath.Join(r.dir, "now") }
func (r *RedisServer) copy() string  { return filepath.Join(r.dir, "copy") }

// NewRedis runs a real Redis until the test ends, and returns its address. It persists nothing, unless
// options of redis-server say otherwise.
func NewRedis(t TB, options ...string) string {
	t.Helper()
	return launchRedis(t, options...).URL()
}

// NewDurableRedis runs a real Redis that is durable enough for live mode.
func NewDurableRedis(t TB, options ...string) string {
	t.Helper()
	return NewRedis(t, append([]string{"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"}, options...)...)
}

// RedisClient connects to a Redis until the test ends.
func RedisClient(t TB, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	Must(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// FlushRedis makes a Redis forget everything.
func FlushRedis(t TB, url string) {
	t.Helper()
	Must(t, RedisClient(t, url).FlushAll(t.Context()).Err())
}

// ExpireLease ends the lease of a registration's payment, as if its gateway had been silent for too long.
func ExpireLease(t TB, redisURL, registration string) {
	t.Helper()
	Must(t, RedisClient(t, redisURL).HSet(t.Context(), "fd:{"+registration+"}:payment:1", "lease", 0).Err())
}

// StopRedis ends a Redis without notifying its clients.
func StopRedis(t TB, url string) {
	t.Helper()
	client := RedisClient(t, url)
	client.ShutdownNoSave(t.Context()) // answered by closing the connection
	Eventually(t, "Redis is gone", func() bool { return client.Ping(t.Context()).Err() != nil })
}

var (
	// sharedRedis has far more databases than any package has tests.
	sharedRedis   = shared(func(t TB) *RedisServer { return launchRedis(t, "--databases", "10000") })
	usedDatabases atomic.Int64
)

// NewDatabase returns the address of an unused database in a real Redis that all tests of a package share. It
// costs less than a Redis.
func NewDatabase(t TB) string {
	t.Helper()
	return fmt.Sprintf("%s/%d", sharedRedis(t).URL(), usedDatabases.Add(1))
}
