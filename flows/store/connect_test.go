package store_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/store"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]redis.Options{
		"redis://127.0.0.1":                         {Addr: "127.0.0.1:6379"},
		"redis://127.0.0.1:7000/3":                  {Addr: "127.0.0.1:7000", DB: 3},
		"redis://ada:p%40ss@[::1]:7000":             {Addr: "[::1]:7000", Username: "ada", Password: "p@ss"},
		"redis://:secret@redis.example":             {Addr: "redis.example:6379", Password: "secret"},
		"rediss://redis.example":                    {Addr: "redis.example:6379"},
		"redis+sentinel://a,b:7000/main?db=2":       {Addr: "FailoverClient", DB: 2},
		"rediss+sentinel://:secret@[::1]:7000/main": {Addr: "FailoverClient", Password: "secret"},
	} {
		client, ok := connect(t, address).(*redis.Client)
		if !ok {
			t.Errorf("%s: not a client of one primary", address)
			continue
		}
		got := client.Options()
		if got.Addr != want.Addr || got.DB != want.DB || got.Username != want.Username || got.Password != want.Password ||
			(got.TLSConfig != nil) != strings.HasPrefix(address, "rediss") || got.MaxRetries != 0 || !got.ContextTimeoutEnabled {
			t.Errorf("%s: %+v", address, got)
		}
	}
	for address, want := range map[string][]string{
		"redis+cluster://a":                    {"a:6379"},
		"rediss+cluster://ada:x@a:7000,b,[::]": {"a:7000", "b:6379", "[::]:6379"},
	} {
		client, ok := connect(t, address).(*redis.ClusterClient)
		if !ok || !slices.Equal(client.Options().Addrs, want) || client.Options().ClusterStateReloadInterval > time.Second ||
			(client.Options().TLSConfig != nil) != strings.HasPrefix(address, "rediss") {
			t.Errorf("%s: %+v", address, client)
		}
	}
}

// TestManyAtOnce: Redis runs as many commands at once as visitors need, however few cores there are.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const many = 60
	address := frontdesktest.NewDatabase(t)
	busy, control := connect(t, address), connect(t, address)
	var working sync.WaitGroup
	defer working.Wait()
	for range many {
		working.Go(func() { busy.BLPop(t.Context(), time.Minute, "released") })
	}
	frontdesktest.Eventually(t, "all of them are at work", func() bool {
		return strings.Contains(control.Info(t.Context(), "clients").Val(), fmt.Sprintf("\nblocked_clients:%d\r", many))
	})
	for range many {
		control.RPush(t.Context(), "released", "")
	}
}

func connect(t *testing.T, address string) redis.UniversalClient {
	t.Helper()
	client, err := store.Connect(address)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	for address, why := range map[string]string{
		"":                                     "not a redis://",
		"secret:6379":                          "not a redis://",
		"http://secret":                        "not a redis://",
		"sentinel://secret/main":               "not a redis://",
		"redis+ring://secret":                  "is unknown",
		"redis://":                             "host is missing",
		"redis://secret:0":                     "between 1 and 65535",
		"redis://secret:70000":                 "between 1 and 65535",
		"redis://secret:x":                     "between 1 and 65535",
		"redis://::1":                          "in brackets",
		"redis://a,secret":                     "several hosts",
		"redis://secret/x":                     "database",
		"redis://secret/-1":                    "database",
		"redis://secret?db=1":                  "parameter",
		"redis://:sec%ret@a":                   "percent-encoded",
		"redis://:sec#ret@a":                   "written %23",
		"redis+sentinel://secret":              "primary's name",
		"redis+sentinel://secret/":             "primary's name",
		"redis+sentinel://secret/a/b":          "primary's name",
		"redis+sentinel://secret,/main":        "host is missing",
		"redis+sentinel://secret/main?db=x":    "database",
		"redis+sentinel://secret/main?dbs=1":   "parameter",
		"redis+cluster://secret/1":             "no databases",
		"redis+cluster://secret,,b":            "host is missing",
		"redis+cluster://secret?max_retries=3": "parameter",
	} {
		_, err := store.Connect(address)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want something about %q", address, err, why)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret") {
			t.Errorf("%s: the error repeats it: %v", address, err)
		}
	}
}

// TestCluster runs the store on a cluster of one node, which refuses every script and every command whose keys
// are in different slots.
func TestCluster(t *testing.T) {
	t.Parallel()
	redis := newClusterFixture(t)
	r, payment := redis.started()
	if err := redis.Commit(t.Context(), to(payment, flows.Intent)); err != nil {
		t.Fatal(err)
	}
	if _, read, err := redis.Registration(t.Context(), r.ID); err != nil || read.State != flows.Intent {
		t.Errorf("read %+v (%v)", read, err)
	}
	due, err := redis.Due(t.Context(), flows.OpenLane, payment.CreatedAt.Add(1e12), 1e9, 5)
	if err != nil || !slices.Contains(due, payment.ID) {
		t.Errorf("due are %v (%v)", due, err)
	}
	first := attempt{"body", "first"}
	redis.begin(first)
	redis.keep(first)
	if err := redis.Schedule(t.Context(), payment, payment.CreatedAt); err != nil {
		t.Error(err)
	}
	if first, err := redis.Once(t.Context(), "something", 1e9); err != nil || !first {
		t.Errorf("once: %v (%v)", first, err)
	}
	found := store.CheckRedis(t.Context(), connect(t, redis.url), store.CheckOptions{}, time.Now)
	expectChecks(t, found, map[string]flows.Verdict{"redis persistence": flows.Unsafe}, "cluster")
}

// newClusterFixture starts a node that has all slots.
func newClusterFixture(t *testing.T) *fixture {
	t.Helper()
	port := frontdesktest.FreePort(t)
	cmd := exec.Command("redis-server", "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(frontdesktest.FreePort(t)), "--dir", t.TempDir())
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for said := bufio.NewScanner(stdout); said.Scan() && !strings.Contains(said.Text(), "Ready to accept connections"); {
	}
	go io.Copy(io.Discard, stdout) // keeps the pipe from filling up
	node := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", port)})
	t.Cleanup(func() { node.Close() })
	if err := node.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "the cluster is up", func() bool {
		return strings.Contains(node.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	b := &fixture{TB: t, redis: node, url: fmt.Sprintf("redis+cluster://127.0.0.1:%d", port)}
	b.Store = store.New(store.Config{Redis: connect(t, b.url), Keys: keysOf(t, "one")})
	return b
}
