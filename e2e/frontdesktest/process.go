// Package frontdesktest is the test kit: it runs the real binary, the outside
// world that it stands in front of, and a real Redis, and speaks HTTP to them
// as a front end would. Its Client holds every answer against openapi.yaml.
//
// Start reading at NewGateway for several gateways on one Redis, and at NewMock
// for the one process that front-end developers run.
package frontdesktest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// patience is how long a condition may take before a test gives up: far more
// than anything takes on an idle machine, since the machines are shared.
const patience = 60 * time.Second

// built is the folder of the binary, once there is one.
var built string

// binary builds Frontdesk once for all tests of a package, with the race
// detector where the tests have it.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "frontdesk")
	if err != nil {
		return "", err
	}
	built = dir
	args := []string{"build", "-o", dir + "/frontdesk"}
	if raceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "frontdesk")...)
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir + "/frontdesk", nil
})

// Main runs the tests of a package that uses the kit, and removes what the kit
// has built and shares: func TestMain(m *testing.M) { frontdesktest.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	packageScope.end()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// Binary gives the path of the binary, for tests that run it in their own way.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Root is the folder of the project.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Process is a running binary.
type Process struct {
	URL string // where it listens, as it said itself
	t   testing.TB
	cmd *exec.Cmd
	log *syncBuffer
	end chan error
}

// listenAddress is the address in what the binary says when it starts; where there are two,
// it is the last one, and the first is a proxy's.
var listenAddress = regexp.MustCompile(`http://localhost:\d+|listens on 127\.0\.0\.1:\d+`)

// Start runs the binary with an environment of its own until the test ends.
func Start(t testing.TB, environment ...string) *Process {
	t.Helper()
	p := TryStart(t, environment...)
	if p.URL == "" {
		t.Fatalf("frontdesk did not start:\n%s", p.log)
	}
	return p
}

// TryStart is Start that may end in vain: then the process has no URL, and its log says why.
func TryStart(t testing.TB, environment ...string) *Process {
	t.Helper()
	p := &Process{t: t, cmd: exec.Command(Binary(t)), log: &syncBuffer{}, end: make(chan error, 1)}
	p.cmd.Env = append([]string{"FRONTDESK_ADDR=127.0.0.1:0", "FRONTDESK_OPS_ADDR=127.0.0.1:0"}, environment...)
	p.cmd.Stderr = p.log
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", p.URL, p.log)
		}
	})
	lines := bufio.NewScanner(stdout)
	for p.URL == "" && lines.Scan() {
		for _, found := range listenAddress.FindAllString(lines.Text(), -1) {
			p.URL = strings.NewReplacer("localhost", "127.0.0.1", "listens on ", "http://").Replace(found)
		}
	}
	go func() {
		io.Copy(io.Discard, stdout) // keeps the pipe from filling up
		p.end <- p.cmd.Wait()
		close(p.end)
	}()
	if p.URL == "" {
		<-p.end
	}
	return p
}

// opsAddress is where operators are served, in the log.
var opsAddress = regexp.MustCompile(`operators are served",? ?"?address"?[=:]"?([^\s",}]+)`)

// OpsAddress gives the address at which the process serves operators.
func (p *Process) OpsAddress() string {
	p.t.Helper()
	found := opsAddress.FindStringSubmatch(p.Log())
	if found == nil {
		p.t.Fatalf("%s serves no operators:\n%s", p.URL, p.Log())
	}
	return found[1]
}

// NewMock runs mock mode: everything in one process.
func NewMock(t testing.TB) *Process { return Start(t) }

// NewGateway runs a gateway in test mode, in front of an outside world and on a Redis.
func NewGateway(t testing.TB, outside *Upstreams, redisURL string) *Process {
	t.Helper()
	return Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim",
		"FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox", "FRONTDESK_REDIS_URL="+redisURL)
}

// Kill ends the process as a power cut would.
func (p *Process) Kill() {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("kill: %v", err)
	}
	<-p.end
}

// Stop asks the process to end, and gives its verdict once it did.
func (p *Process) Stop() error {
	p.Terminate()
	return <-p.end
}

// Terminate asks the process to end, and waits for nothing.
func (p *Process) Terminate() {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Errorf("SIGTERM: %v", err)
	}
}

// Wait gives the verdict of a process that was asked to end.
func (p *Process) Wait() error { return <-p.end }

// PeakMemory is the most memory, in bytes, that a process held until it ended, as
// the system has counted it; 0 where it does not count, or before the end.
func (p *Process) PeakMemory() int64 {
	if p.cmd.ProcessState == nil {
		return 0
	}
	usage, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss // in bytes there, in KiB elsewhere
	}
	return usage.Maxrss << 10
}

// Log is what the process has logged so far.
func (p *Process) Log() string { return p.log.String() }

// NewRedis runs a real Redis until the test ends, and gives its address. It
// forgets everything at its end, unless options of redis-server say otherwise.
func NewRedis(t testing.TB, options ...string) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("these tests need redis-server: apt-get install redis-server, or the like")
	}
	port := FreePort(t)
	log := &syncBuffer{}
	cmd := exec.Command(path, append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, options...)...)
	cmd.Stdout = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	Eventually(t, "Redis is ready", func() bool { return strings.Contains(log.String(), "Ready to accept connections") })
	return fmt.Sprintf("redis://127.0.0.1:%d", port)
}

// NewDurableRedis runs a real Redis on which live mode may rest.
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

// FreePort is a port of this machine that nobody listens on, of the range from which
// the system hands out none. No other test is given it until this one has ended: a
// socket of UDP on the same number, which nothing here uses, says that it is taken.
func FreePort(t testing.TB) int {
	t.Helper()
	for {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(ports))
		claim, err := net.ListenPacket("udp", address)
		if err == nil {
			var listener net.Listener
			if listener, err = net.Listen("tcp", address); err == nil {
				t.Cleanup(func() { claim.Close() })
				listener.Close()
				return listener.Addr().(*net.TCPAddr).Port
			}
			claim.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}

// Eventually waits for a condition, and fails the test when it does not come.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !inTime(condition) {
		t.Fatalf("did not happen within %s: %s", patience, what)
	}
}

// inTime waits for a condition, and tells whether it came.
func inTime(condition func() bool) bool { return within(patience, condition) }

func within(limit time.Duration, condition func() bool) bool {
	deadline := time.After(limit)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline:
			return false
		case <-ticker.C:
		}
	}
	return true
}

// syncBuffer collects what a process says while a test reads it.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
