package ops_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"go.yaml.in/yaml/v4"

	"frontdesk/e2e/frontdesktest"
)

// composition is the part of compose.yaml that is used here.
type composition struct {
	Services map[string]container
	Networks map[string]struct {
		IPAM struct{ Config []struct{ Subnet string } }
	}
}

type container struct {
	Image       string
	User        string
	Command     []string
	Environment map[string]string
	Volumes     []string
	Ports       []string
	Tmpfs       []string
	Networks    yaml.Node // a list of names, or a mapping by name
	NetworkMode string    `yaml:"network_mode"`
	ReadOnly    bool      `yaml:"read_only"`
	CapDrop     []string  `yaml:"cap_drop"`
	SecurityOpt []string  `yaml:"security_opt"`
	Restart     string
	StopGrace   time.Duration `yaml:"stop_grace_period"`
	DependsOn   yaml.Node     `yaml:"depends_on"`
	Healthcheck struct {
		Test     []string
		Interval time.Duration
		Timeout  time.Duration
		Disable  bool
	}
}

// compose reads compose.yaml. An unknown field is an error.
func compose(t *testing.T) (c composition) {
	t.Helper()
	text, err := os.Open(filepath.Join(frontdesktest.Root(), "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	whole := struct {
		Name        string
		Hardened    yaml.Node      `yaml:"x-hardened"`
		Gateway     yaml.Node      `yaml:"x-gateway"`
		Volumes     map[string]any `yaml:"volumes"`
		composition `yaml:",inline"`
	}{}
	decoder := yaml.NewDecoder(text)
	decoder.KnownFields(true)
	if err := decoder.Decode(&whole); err != nil {
		t.Fatalf("compose.yaml: %v", err)
	}
	return whole.composition
}

// replicas runs the parts of compose.yaml as processes of this machine: with the same configuration,
// except for addresses and folders.
type replicas struct {
	*frontdesktest.Client // a front end before the proxy
	t                     *testing.T
	file                  composition
	addresses             *strings.Replacer
	gateways              map[string]*frontdesktest.Process
	proxy                 *frontdesktest.Process
	redis                 string
}

// The gateways' names in compose.yaml's addresses.
const gatewayA, gatewayB = "gateway-a", "gateway-b"

// inMemory returns a folder in memory, where there is enough: a Redis that waits a second for a busy disk fails requests, and
// these tests are not about disks. It holds less than 100 MB.
func inMemory(t *testing.T) string {
	t.Helper()
	const memory, enough = "/dev/shm", 512 << 20
	var space syscall.Statfs_t
	if err := syscall.Statfs(memory, &space); err != nil || space.Bavail*uint64(space.Bsize) < enough { // #nosec G115 -- never negative
		return t.TempDir()
	}
	folder, err := os.MkdirTemp(memory, "frontdesk-redis-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

func newReplicas(t *testing.T) *replicas {
	t.Helper()
	r := &replicas{t: t, file: compose(t), gateways: map[string]*frontdesktest.Process{}}
	local := func() string { return fmt.Sprintf("127.0.0.1:%d", frontdesktest.FreePort(t)) }
	proxy, outside, store, folder := local(), local(), local(), t.TempDir()
	addresses := map[string]string{
		"localhost:8080":       "localhost" + proxy[strings.IndexByte(proxy, ':'):],
		"listen 8080":          "listen " + proxy,
		"proxy:8081":           outside,
		"127.0.0.1:8081":       outside,
		gatewayA + ":8080":     local(),
		gatewayB + ":8080":     local(),
		"172.30.55.10":         "127.0.0.1",
		"redis:6379":           store,
		"port 6379":            "port " + store[strings.IndexByte(store, ':')+1:] + "\nbind 127.0.0.1",
		"dir /data":            "dir " + inMemory(t),
		"/tmp/":                folder + "/",
		"/usr/local/etc/redis": folder,
	}
	var pairs []string
	for from, to := range addresses {
		pairs = append(pairs, from, to)
	}
	r.addresses = strings.NewReplacer(pairs...)
	r.redis = r.addresses.Replace(r.file.Services[gatewayA].Environment["FRONTDESK_REDIS_URL"])

	r.startRedis(folder)
	r.startUpstreams(outside)
	for _, name := range []string{gatewayA, gatewayB} {
		r.start(name)
	}
	r.startProxy(folder, proxy)
	r.Client = frontdesktest.NewClient(t, "http://"+proxy)
	r.UpstreamsURL = r.URL // the proxy forwards to it
	frontdesktest.Eventually(t, "the proxy leads to a gateway", func() bool {
		response, err := r.Try("GET", "/healthz", nil)
		return err == nil && response.Status == http.StatusOK
	})
	return r
}

// writeConfig writes one of the configuration files to a folder of this machine.
func (r *replicas) writeConfig(folder, name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs/compose", name))
	if err != nil {
		r.t.Fatal(err)
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(r.addresses.Replace(string(text))), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *replicas) startRedis(folder string) {
	r.t.Helper()
	acl, err := os.OpenFile(r.writeConfig(folder, "users.acl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	defer acl.Close()
	fmt.Fprintf(acl, "user administrator on #%x ~* &* +@all\n", sha256.Sum256([]byte(administratorPassword)))
	server := startProgram(r.t, "redis-server", nil, "redis-server", r.writeConfig(folder, "redis.conf"))
	frontdesktest.Eventually(r.t, "Redis is ready", func() bool { return strings.Contains(server.Output(), "Ready to accept connections") })
}

func (r *replicas) startUpstreams(at string) {
	r.t.Helper()
	c := r.file.Services["outside"]
	environment := append(r.environment(c), "FRONTDESK_SIM_ADDR="+at) // there, every address of its own container
	outside := startProgram(r.t, "frontdesk", environment, frontdesktest.Binary(r.t), c.Command...)
	frontdesktest.Eventually(
		r.t, "the outside world is there",
		func() bool { return strings.Contains(outside.Output(), "sandbox card processor at") },
	)
}

func (r *replicas) environment(c container) (environment []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		environment = append(environment, name+"="+r.addresses.Replace(c.Environment[name]))
	}
	return environment
}

// start starts a gateway, and waits until it is ready.
func (r *replicas) start(name string) *frontdesktest.Process {
	r.t.Helper()
	environment := append(r.environment(r.file.Services[name]), "FRONTDESK_ADDR="+r.addresses.Replace(name+":8080"))
	gateway := frontdesktest.Start(r.t, environment...)
	r.gateways[name] = gateway
	ready := frontdesktest.NewClient(r.t, gateway.URL)
	frontdesktest.Eventually(r.t, name+" is ready", func() bool { return ready.Do("GET", "/readyz", nil).Status == http.StatusOK })
	return gateway
}

func (r *replicas) startProxy(folder, at string) {
	r.t.Helper()
	more := "daemon off;"
	if os.Geteuid() == 0 {
		more += " user root;" // its workers could not enter the test's folder
	}
	r.proxy = startProgram(r.t, "nginx", nil, "nginx", "-c", r.writeConfig(folder, "nginx.conf"), "-p", folder, "-e", "stderr", "-g", more)
	r.runHealthCheck("http://" + at + "/readyz")
}

// healthCheckLoop finds how often the health check asks, in the list of its loop.
var healthCheckLoop = regexp.MustCompile(`^for i in ((?:\d+ ?)+);`)

// runHealthCheck does what the health check of the proxy's container does, which tells nginx which
// replica is ready.
func (r *replicas) runHealthCheck(address string) {
	r.t.Helper()
	check := r.file.Services["proxy"].Healthcheck
	loop := healthCheckLoop.FindStringSubmatch(check.Test[1])
	if loop == nil || !strings.Contains(check.Test[1], "/readyz") {
		r.t.Fatalf("the proxy's health check is %q", check.Test)
	}
	ends := make(chan struct{})
	var asking sync.WaitGroup
	r.t.Cleanup(func() { close(ends); asking.Wait() })
	asking.Go(func() {
		every := time.NewTicker(check.Interval)
		defer every.Stop()
		for {
			select {
			case <-ends:
				return
			case <-every.C:
			}
			for range strings.Fields(loop[1]) {
				if response, err := http.Get(address); err == nil {
					response.Body.Close()
				}
			}
		}
	})
}

// administrator is a Redis user with all permissions. compose.yaml has none.
func (r *replicas) administrator() *redis.Client {
	r.t.Helper()
	options, err := redis.ParseURL(r.redis)
	if err != nil {
		r.t.Fatal(err)
	}
	options.Username, options.Password, options.DisableIdentity = "administrator", administratorPassword, true
	client := redis.NewClient(options)
	r.t.Cleanup(func() { client.Close() })
	return client
}

const administratorPassword = "of this test alone"

// startProgram runs a program, and everything that it starts, until the test ends. install names the
// package that has it.
func startProgram(t testing.TB, install string, environment []string, name string, args ...string) *frontdesktest.Process {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name) // Debian keeps servers there, outside the usual PATH
	}
	if err != nil {
		t.Fatalf("this test needs %s: apt-get install %s, or the like", name, install)
	}
	p, err := frontdesktest.Launch(t.Context(), "", environment, path, args...)
	if err != nil {
		t.Fatal(err)
	}
	p.EndWith(t)
	return p
}
