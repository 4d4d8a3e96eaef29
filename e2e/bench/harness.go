package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// harness builds the binary, and starts the processes of a measurement. Measurements use it as
// tests use a testing.TB: a failure ends the measurement, and what it has started ends with it.
type harness struct {
	*frontdesktest.Scope
	dir    string // of all files
	binary string // Frontdesk
	self   string // this program, which is also the reference servers
	pinned bool   // the server has a core to itself
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
	h := &harness{Scope: frontdesktest.NewScope(ctx), dir: dir, binary: filepath.Join(dir, "frontdesk"), self: self, pinned: pinned}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "validator_novalidatefn", "-trimpath", "-ldflags=-s -w", "-o", h.binary, "frontdesk")
	build.Dir, build.Env = frontdesktest.Root(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return h, nil
}

func (h *harness) close() { os.RemoveAll(h.dir) }

// measure runs one part of a measurement, and stops everything it started.
func (h *harness) measure(part func(*harness) []row) (rows []row, err error) {
	err = h.Run(func() { rows = part(h) })
	h.End()
	return rows, err
}

// must ends the measurement when there is an error.
func (h *harness) must(err error) { frontdesktest.Must(h, err) }

// concurrently calls do with 0 to n-1, at most atOnce at a time, and ends the measurement when a call
// fails.
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
	if !frontdesktest.Sleep(h.Context(), d) {
		h.Fatal(h.Context().Err())
	}
}

// serverCore is reserved for the server. Everything else runs on the other cores.
const serverCore = "0"

// pinnedArg is this program's first argument when it leaves the server's core free.
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
