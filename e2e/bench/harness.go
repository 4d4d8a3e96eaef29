package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/frontdesktest"
)

// harness builds the binary, and starts the processes of a measurement. Measurements use it as
// tests use a *testing.T: a failure ends the measurement, and what it has started ends with it.
type harness struct {
	*frontdesktest.Scope
	dir      string  // of all files
	binary   string  // Frontdesk
	self     string  // this program, which is also the forwarder
	pinned   bool    // the server has a core to itself
	capacity float64 // the most journeys a second; zero: not measured yet
}

// newHarness builds Frontdesk as the Dockerfile does.
func newHarness(ctx context.Context, pinned bool) (*harness, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "frontdesk-bench")
	if err != nil {
		return nil, err
	}
	bench := &harness{
		Scope:  frontdesktest.NewScope(ctx),
		dir:    dir,
		binary: filepath.Join(dir, "frontdesk"),
		self:   self,
		pinned: pinned,
	}
	build := exec.CommandContext(
		ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", bench.binary, "frontdesk",
	)
	build.Dir, build.Env = frontdesktest.Root(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bench, nil
}

func (h *harness) close() { os.RemoveAll(h.dir) }

// measure runs one part of a measurement, and stops everything it started.
func (h *harness) measure(part func(*harness) []row) (rows []row, err error) {
	err = h.Run(func() { rows = part(h) })
	h.End()
	return rows, err
}

func (h *harness) must(err error) { frontdesktest.Must(h, err) }

// concurrently calls do with 0 to n-1, at most atOnce at a time, and ends the measurement when a call fails.
func (h *harness) concurrently(n, atOnce int, do func(i int)) {
	var workers errgroup.Group
	workers.SetLimit(atOnce)
	for i := range n {
		workers.Go(func() error {
			if !h.Failed() {
				do(i)
			}
			return nil
		})
	}
	workers.Wait()
	if h.Failed() {
		runtime.Goexit()
	}
}

// sleep waits, unless the run is interrupted.
func (h *harness) sleep(d time.Duration) {
	if !frontdesktest.Sleep(h.Context(), d) {
		h.Fatal(h.Context().Err())
	}
}

const pinnedArg = "pinned" // this program's first argument when it leaves the server's core free

// reexecPinned runs this program again on the other cores. It returns only with an error.
func reexecPinned(args []string) error {
	taskset, notInstalled := exec.LookPath("taskset")
	self, unknown := os.Executable()
	if err := errors.Join(notInstalled, unknown); err != nil {
		return err
	}
	last := runtime.NumCPU() - 1
	if last == 0 {
		return errors.New("there is one core")
	}
	return syscall.Exec(taskset, append([]string{"taskset", "-c", "1-" + strconv.Itoa(last), self, pinnedArg}, args...), os.Environ())
}

// start runs a program that serves at an address until the measurement ends, and waits until its output matches ready.
func (h *harness) start(at, ready string, environment []string, path string, args ...string) *frontdesktest.Process {
	p, err := frontdesktest.Launch(h.Context(), ready, environment, path, args...)
	h.must(err)
	h.Cleanup(p.Kill)
	p.URL = "http://" + at
	return p
}

func (h *harness) startServer(at, ready string, environment []string, path string, args ...string) *frontdesktest.Process {
	if h.pinned { // everything else runs on the other cores
		path, args = "taskset", append([]string{"-c", "0", path}, args...)
	}
	return h.start(at, ready, environment, path, args...)
}

// onAllCores returns a program that may use every core, although this one may not. CPU numbers start at
// 0; taskset ignores the one too many.
func (h *harness) onAllCores(path string) *exec.Cmd {
	if !h.pinned {
		return exec.CommandContext(h.Context(), path)
	}
	return exec.CommandContext(h.Context(), "taskset", "-c", "0-"+strconv.Itoa(runtime.NumCPU()), path)
}

func (h *harness) freeAddress() string { return fmt.Sprintf("127.0.0.1:%d", frontdesktest.FreePort(h)) }

const simulatorReady = "card processor at" // what the simulator prints when it listens

// upstreams runs the simulator of the club system, which is below /sim, and the sandbox processor.
func (h *harness) upstreams() *frontdesktest.Process {
	at := h.freeAddress()
	return h.start(at, simulatorReady, nil, h.binary, "sim", "--addr", at)
}

// gateway runs a gateway in test mode on the server's core, with the middleware of live
// mode: rate limits apply, and this machine is a trusted proxy that names the caller.
func (h *harness) gateway(upstreams, redisURL string, environment ...string) *frontdesktest.Process {
	at := h.freeAddress()
	log := filepath.Join(h.dir, "gateway.log")
	defer func() {
		if said, err := os.ReadFile(log); err == nil && h.Failed() {
			h.Logf("%s", said)
		}
	}()
	return h.startServer(at, frontdesktest.GatewayReady, append([]string{
		"FRONTDESK_MODE=test", "FRONTDESK_ADDR=" + at, "FRONTDESK_OPS_ADDR=127.0.0.1:0", "FRONTDESK_PUBLIC_URL=http://" + at,
		"FRONTDESK_CLUB_URL=" + upstreams + "/sim", "FRONTDESK_SANDBOX_URL=" + upstreams + "/sandbox", "FRONTDESK_REDIS_URL=" + redisURL,
		"FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1",
	}, environment...), "sh", "-c", `exec "$@" 2>>"$0"`, log, h.binary) // a file needs no reader, which would take time from the load
}

// cpu returns the CPU time of a process in seconds.
func (h *harness) cpu(pid int) float64 { return frontdesktest.CPUTime(h, pid).Seconds() }

// stolen returns the CPU time that this machine's cores wanted and did not get, in seconds (proc_stat(5)).
func (h *harness) stolen() float64 {
	proc, err := procfs.NewDefaultFS()
	h.must(err)
	machine, err := proc.Stat()
	h.must(err)
	return machine.CPUTotal.Steal
}

// memory returns what a process has in memory now (RSS), in bytes.
func (h *harness) memory(gateway *frontdesktest.Process) int {
	process, err := procfs.NewProc(gateway.PID())
	h.must(err)
	found, err := process.Stat()
	h.must(err)
	return found.ResidentMemory()
}

// fetch sends a GET request, and returns its successful response.
func (h *harness) fetch(url string, header http.Header) (http.Header, []byte) {
	return h.do(http.MethodGet, url, header, nil)
}

// client opens a connection for each request, and decompresses no responses.
var client = http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}

// do sends a request, and returns its response, which must not be an error.
func (h *harness) do(method, url string, header http.Header, body any) (http.Header, []byte) {
	response, err := (&frontdesktest.Buyer{HTTP: &client, Header: header}).Send(h.Context(), method, url, "", body)
	h.must(err)
	if response.Status > 299 && (response.Status != http.StatusNotModified || header.Get("If-None-Match") == "") {
		h.Fatalf("%s %s: status %d: %s", method, url, response.Status, response.Body)
	}
	return response.Header, response.Body
}
