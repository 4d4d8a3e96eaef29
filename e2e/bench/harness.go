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
	"strings"
	"syscall"

	"frontdesk/e2e/campaign/rig"
)

// harness is where measurements run: the built binary, and the processes that were started.
type harness struct {
	ctx     context.Context
	dir     string // of everything that is written
	binary  string // Frontdesk
	self    string // this program, which serves what is compared with
	pinned  bool   // the server's core is left to it
	started []interface{ Kill() }
}

// newHarness builds Frontdesk as the Dockerfile does. apart: this program keeps off the server's core.
func newHarness(ctx context.Context, apart bool) (*harness, error) {
	dir, err := os.MkdirTemp("", "frontdesk-bench")
	if err != nil {
		return nil, err
	}
	h := &harness{ctx: ctx, dir: dir, pinned: apart, binary: filepath.Join(dir, "frontdesk")}
	if h.self, err = os.Executable(); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "validator_novalidatefn", "-trimpath", "-ldflags=-s -w", "-o", h.binary, "frontdesk")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return h, nil
}

// clear ends what a measurement has started.
func (h *harness) clear() {
	for _, one := range h.started {
		one.Kill()
	}
	h.started = nil
}

func (h *harness) close() {
	h.clear()
	os.RemoveAll(h.dir)
}

// serverCore is the server's; the others are everybody else's.
const serverCore = "0"

// pinnedArg is this program's own first argument where it leaves the server's core alone.
const pinnedArg = "apart"

// reexecPinned begins this program anew on the other cores. It comes back only with an error.
func reexecPinned(args []string) error {
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	last := runtime.NumCPU() - 1
	if last == 0 {
		return errors.New("there is one core")
	}
	return syscall.Exec(taskset, append([]string{"taskset", "-c", "1-" + strconv.Itoa(last), self, pinnedArg}, args...), os.Environ())
}

// start runs a program beside the load, until the measurement ends.
func (h *harness) start(ready string, environment []string, path string, args ...string) (*rig.Process, error) {
	return h.keep(rig.Start(h.ctx, ready, environment, path, args...))
}

// serve runs a program on the server's core, until the measurement ends.
func (h *harness) serve(ready string, environment []string, path string, args ...string) (*rig.Process, error) {
	if h.pinned {
		path, args = "taskset", append([]string{"-c", serverCore, path}, args...)
	}
	return h.keep(rig.Start(h.ctx, ready, environment, path, args...))
}

// onAllCores is a program that may use every core, though this one may not: the number of
// those that it may use is that of the last one.
func (h *harness) onAllCores(path string) *exec.Cmd {
	if !h.pinned {
		return exec.CommandContext(h.ctx, path)
	}
	return exec.CommandContext(h.ctx, "taskset", "-c", "0-"+strconv.Itoa(runtime.NumCPU()), path)
}

func (h *harness) keep(p *rig.Process, err error) (*rig.Process, error) {
	if err == nil {
		h.started = append(h.started, p)
	}
	return p, err
}

// address is a free one of this machine.
func address() (string, error) {
	port, err := rig.FreePort()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// redis runs a Redis that keeps every write before it acknowledges it, as live mode asks.
func (h *harness) redis() (*rig.Redis, error) {
	server, err := rig.NewRedis(h.ctx, h.dir, rig.FsyncAlways)
	if err == nil {
		h.started = append(h.started, server)
	}
	return server, err
}

// upstreams runs the simulator of the club system and the sandbox processor, and gives
// its address. The simulator is below /sim.
func (h *harness) upstreams() (url string, err error) {
	at, err := address()
	if err != nil {
		return "", err
	}
	_, err = h.start("sandbox card processor at", nil, h.binary, "sim", "--addr", at)
	return "http://" + at, err
}

// gateway is a gateway under measurement.
type gateway struct {
	*rig.Process
	url string // of the API, without /v1
	ops string // of /metrics and /debug/pprof
}

// gateway runs a gateway in test mode on the server's core, with the middleware of live
// mode: requests are counted, and this machine is the proxy that says for whom.
func (h *harness) gateway(outside, redisURL string, environment ...string) (*gateway, error) {
	at, err := address()
	if err != nil {
		return nil, err
	}
	ops, err := address()
	if err != nil {
		return nil, err
	}
	g := &gateway{url: "http://" + at, ops: "http://" + ops}
	log := filepath.Join(h.dir, "gateway.log")
	g.Process, err = h.serve("mode) is at", append([]string{
		"FRONTDESK_MODE=test", "FRONTDESK_ADDR=" + at, "FRONTDESK_OPS_ADDR=" + ops, "FRONTDESK_PUBLIC_URL=" + g.url,
		"FRONTDESK_CLUB_URL=" + outside + "/sim", "FRONTDESK_SANDBOX_URL=" + outside + "/sandbox", "FRONTDESK_REDIS_URL=" + redisURL,
		"FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1",
	}, environment...), "sh", "-c", `exec "$@" 2>>"$0"`, log, h.binary) // a file has no reader, who would take time from the load
	if err != nil {
		said, _ := os.ReadFile(log) // where there is none, it has not come so far
		err = fmt.Errorf("%w\n%s", err, said)
	}
	return g, err
}

// reference runs a server to compare with on the server's core, and gives its address.
// See reference.go for the names.
func (h *harness) reference(name string, args ...string) (*rig.Process, string, error) {
	at, err := address()
	if err != nil {
		return nil, "", err
	}
	p, err := h.serve("reference is at", nil, h.self, append([]string{"reference", name, at}, args...)...)
	return p, "http://" + at, err
}

// referenceTo runs one whose first argument is a file with these bytes.
func (h *harness) referenceTo(name string, content []byte) (*rig.Process, string, error) {
	file := filepath.Join(h.dir, name+".json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, "", err
	}
	return h.reference(name, file)
}

// cpu is the processor time that a process has used so far, in seconds: of all its threads,
// in nanoseconds, since the process's own sum counts hundredths of a second (proc(5)).
func cpu(p *rig.Process) (float64, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.PID()))
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return 0, err
		}
		ran, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseFloat(ran, 64)
		if err != nil {
			return 0, err
		}
		sum += n / 1e9
	}
	if sum == 0 {
		return 0, fmt.Errorf("/proc/%d/task tells of no time", p.PID())
	}
	return sum, nil
}

// memory is what a process holds in memory now (RSS), in bytes.
func memory(p *rig.Process) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kilobytes, found := strings.CutPrefix(line, "VmRSS:"); found {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmRSS", p.PID())
}

// fetch is a whole answer with status 200.
func fetch(ctx context.Context, url string, header http.Header) (http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header = header
	return do(request)
}
