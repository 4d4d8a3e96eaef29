package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// harness builds the binary, and starts the processes of a measurement. Measurements use
// it as tests use a testing.TB: a failure ends the measurement, and what it has started
// ends with it.
type harness struct {
	testing.TB // nil: the test kit calls only the methods below

	ctx    context.Context
	dir    string // of all files
	binary string // Frontdesk
	self   string // this program, which is also the reference servers
	pinned bool   // the server has a core to itself

	mu       sync.Mutex
	failures []error
	cleanups []func()
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
	h := &harness{ctx: ctx, dir: dir, binary: filepath.Join(dir, "frontdesk"), self: self, pinned: pinned}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "validator_novalidatefn", "-trimpath", "-ldflags=-s -w", "-o", h.binary, "frontdesk")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return h, nil
}

func (h *harness) close() { os.RemoveAll(h.dir) }

// run runs one part of a measurement, and ends what it has started.
func (h *harness) run(part func(*harness) []row) (rows []row, err error) {
	var measuring sync.WaitGroup
	measuring.Go(func() { rows = part(h) })
	measuring.Wait()
	h.cleanup()
	err = errors.Join(h.failures...)
	h.failures = nil
	return rows, err
}

// cleanup ends what was started, the last one first.
func (h *harness) cleanup() {
	for _, end := range slices.Backward(h.cleanups) {
		end()
	}
	h.cleanups = nil
}

// Helper implements testing.TB, as the methods below do.
func (h *harness) Helper() {}

// Context ends when the run is interrupted.
func (h *harness) Context() context.Context { return h.ctx }

// Failed reports whether the measurement has failed.
func (h *harness) Failed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.failures) > 0
}

// Cleanup adds a function to call at the end of the measurement, the last one first.
func (h *harness) Cleanup(end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cleanups = append(h.cleanups, end)
}

// TempDir returns a new folder.
func (h *harness) TempDir() string {
	dir, err := os.MkdirTemp(h.dir, "")
	h.must(err)
	return dir
}

// Logf shows a line.
func (h *harness) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Errorf records a failure.
func (h *harness) Errorf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures = append(h.failures, fmt.Errorf(format, args...))
}

// Fatalf records a failure, and ends the calling goroutine.
func (h *harness) Fatalf(format string, args ...any) {
	h.Errorf(format, args...)
	runtime.Goexit()
}

// Fatal is Fatalf without a format.
func (h *harness) Fatal(args ...any) { h.Fatalf("%s", fmt.Sprint(args...)) }

// must ends the measurement when there is an error.
func (h *harness) must(err error) {
	if err != nil {
		h.Fatalf("%w", err)
	}
}

// concurrently calls do with 0 to n-1, at most so many at once, and ends the measurement when one
// of them failed.
func (h *harness) concurrently(n, atOnce int, do func(i int)) {
	var workers sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			if !h.Failed() {
				do(i)
			}
		})
	}
	workers.Wait()
	if h.Failed() {
		runtime.Goexit()
	}
}

// sleep waits, unless the run is interrupted.
func (h *harness) sleep(d time.Duration) {
	select {
	case <-h.ctx.Done():
		h.Fatal(h.ctx.Err())
	case <-time.After(d):
	}
}

// serverCore is the server's. Everything else has the others.
const serverCore = "0"

// pinnedArg is this program's own first argument where it leaves the server's core alone.
const pinnedArg = "pinned"

// reexecPinned runs this program again on the other cores. It returns only with an error.
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
