// Package frontdesktest is the test kit: it runs the real binary, the upstreams that it depends on, and
// a real Redis, and sends HTTP requests to them as a front end would. Its Client validates every
// response against openapi.yaml.
//
// Start reading at NewGateway for several gateways on one Redis, and at NewMock for the one process
// that front-end developers run. Benchmarks and campaigns, which have no test, use a Scope instead, and a
// Buyer instead of a Client.
package frontdesktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// Binary returns the path of Frontdesk, which is built once for all tests of a package, with the race
// detector where the tests have it.
var Binary = shared(func(t TB) string {
	if info, _ := debug.ReadBuildInfo(); slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return Build(t, "frontdesk", "-race")
	}
	return Build(t, "frontdesk")
})

// Build compiles a package of the project, and returns the path of the program. It is removed when the test ends.
func Build(t TB, pkg string, flags ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), filepath.Base(pkg))
	args := slices.Concat([]string{"build", "-o", path}, flags, []string{pkg})
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return path
}

// Main runs the tests of a package that uses the kit, and removes what the kit
// has built and shares: func TestMain(m *testing.M) { frontdesktest.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	packageScope.End()
	os.Exit(code)
}

// Root is the folder of the project: the nearest one with a go.mod, from the working folder upwards.
func Root() string {
	folder, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil || folder == filepath.Dir(folder) {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}

// Process is a program that was started, until it is killed or ends.
type Process struct {
	URL string // where the program serves; empty unless it is known

	t        TB // nil outside of tests
	cmd      *exec.Cmd
	out, log *output
	stopping atomic.Bool // whether the test has asked the process to end
	ended    chan struct{}
	err      error // how it ended; set when ended is closed
}

// Launch starts a program in a process group, and waits until its output matches ready, a regular expression. A nil
// environment means this program's own. If the program ends early, the error contains its output.
func Launch(ctx context.Context, ready string, environment []string, path string, args ...string) (*Process, error) {
	process := &Process{cmd: exec.Command(path, args...), out: &output{}, log: &output{}, ended: make(chan struct{})}
	process.cmd.Env = environment
	process.cmd.Stdout, process.cmd.Stderr = process.out, process.log
	process.cmd.WaitDelay = time.Second                           // a grandchild may hold the pipe open
	process.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // grandchildren are killed with it
	if err := process.cmd.Start(); err != nil {
		close(process.ended)
		return process, err
	}
	go func() {
		process.err = process.cmd.Wait()
		close(process.ended)
	}()
	expression := regexp.MustCompile(ready)
	isReady := func() bool {
		return expression.MatchString(process.out.String()) || expression.MatchString(process.log.String())
	}
	err := Within(ctx, "it is ready", Patience, func() bool { return isReady() || process.hasEnded() })
	if err == nil && !isReady() {
		err = errors.New("it ended")
	}
	if err != nil {
		process.Kill()
		return process, fmt.Errorf("%s did not start: %w\n%s%s", path, err, process.out, process.log)
	}
	return process, nil
}

// GatewayReady matches the address that the binary prints when it listens.
const GatewayReady = `http://localhost:\d+|listens on 127\.0\.0\.1:\d+`

// GatewayURL returns the address in the line that contains it. If a line contains two, the first is a proxy's.
func GatewayURL(out string) string {
	address := regexp.MustCompile(GatewayReady)
	for line := range strings.Lines(out) {
		if found := address.FindAllString(line, -1); found != nil {
			return strings.NewReplacer("localhost", "127.0.0.1", "listens on ", "http://").Replace(found[len(found)-1])
		}
	}
	return ""
}

// Start runs the binary with an environment of its own until the test ends.
func Start(t TB, environment ...string) *Process {
	t.Helper()
	process := TryStart(t, environment...)
	if process.URL == "" {
		t.Fatalf("frontdesk did not start:\n%s", process.log)
	}
	go func() {
		<-process.ended
		if !process.stopping.Load() {
			fmt.Fprintf(os.Stderr, "%s: a gateway has crashed:\n%s", t.Name(), process.Log())
			crashes.Store(t.Name(), true)
		}
	}()
	return process
}

// TryStart is Start for a binary that may refuse to start: then the process has no URL, and its log gives the reason.
func TryStart(t TB, environment ...string) *Process {
	t.Helper()
	environment = append([]string{"FRONTDESK_ADDR=127.0.0.1:0", "FRONTDESK_OPS_ADDR=127.0.0.1:0"}, environment...)
	p, _ := Launch(t.Context(), GatewayReady, environment, Binary(t)) // the log has the reason of a failure
	p.URL = GatewayURL(p.out.String())
	p.EndWith(t)
	return p
}

// EndWith kills the process when the test ends, and shows its log if the test failed.
func (p *Process) EndWith(t TB) {
	p.t = t
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("log of %s %s:\n%s", p.cmd, p.URL, p.log)
		}
	})
}

// OpsAddress returns the address at which the process serves operators.
func (p *Process) OpsAddress() string {
	p.t.Helper()
	return p.AddressOf("operators")
}

// AddressOf returns the address at which the process serves operators or, in live mode, metrics. The log
// has it, as text or as JSON.
func (p *Process) AddressOf(served string) string {
	p.t.Helper()
	found := regexp.MustCompile(served + ` are served",? ?"?address"?[=:]"?([^\s",}]+)`).FindStringSubmatch(p.Log())
	if found == nil {
		p.t.Fatalf("%s serves no %s:\n%s", p.URL, served, p.Log())
	}
	return found[1]
}

// NewMock runs mock mode: everything in one process.
func NewMock(t TB) *Process { return Start(t) }

// NewGateway runs a gateway in test mode, on upstreams and a Redis.
func NewGateway(t TB, upstreams *Upstreams, redisURL string) *Process {
	t.Helper()
	p, _ := Env{upstreams, redisURL}.Gateway(t)
	return p
}

// Kill ends the process and its children as a power cut would, and waits until they are gone. It does
// nothing for a nil process.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	p.stopping.Store(true)
	if !p.hasEnded() {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended meanwhile
	}
	<-p.ended
}

// Terminate asks the process to end, and does not wait.
func (p *Process) Terminate() {
	p.stopping.Store(true)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Errorf("SIGTERM: %v", err)
	}
}

// Stop asks the process to end, and returns how it ended.
func (p *Process) Stop() error {
	p.Terminate()
	return p.Wait()
}

// Wait waits until the process ends, and returns how it ended: with an error if it still runs after Patience.
func (p *Process) Wait() error {
	select {
	case <-p.ended:
		return p.err
	case <-time.After(Patience):
		return fmt.Errorf("it did not end within %s", Patience)
	}
}

func (p *Process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// PID is the process's id in the system.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// CPUTime returns the CPU time that a process has used. It adds up the nanoseconds of all threads, because the process's
// own sum counts hundredths of a second (proc(5)). It works on Linux alone.
func CPUTime(t TB, pid int) (sum time.Duration) {
	t.Helper()
	threads, err := procfs.AllThreads(pid)
	Must(t, err)
	for _, thread := range threads {
		ran, err := thread.Schedstat()
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) { // a thread may have ended
			Must(t, err)
		}
		sum += time.Duration(ran.RunningNanoseconds)
	}
	if sum == 0 {
		t.Fatalf("process %d has no CPU time", pid)
	}
	return sum
}

// State is how the process ended; nil while it runs.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Log is what the process has written to stderr so far.
func (p *Process) Log() string { return p.log.String() }

// Output is what the process has written to stdout so far.
func (p *Process) Output() string { return p.out.String() }

// claimedPorts keeps the UDP sockets of FreePort open for as long as this program runs.
var claimedPorts sync.Map

// FreePort returns a free port of a range from which no system assigns ports, so that a killed process finds
// its port free again. A UDP socket on the same number marks it as taken until this program ends.
func FreePort(t TB) int {
	t.Helper()
	const firstPort, ports = 12_000, 20_000
	for {
		port := firstPort + rand.IntN(ports)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		claim, err := net.ListenPacket("udp", address)
		if err == nil {
			var listener net.Listener
			if listener, err = net.Listen("tcp", address); err == nil {
				claimedPorts.Store(port, claim)
				Must(t, listener.Close())
				return port
			}
			claim.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}

// output collects what a process writes while a test reads it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns everything that was written.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
