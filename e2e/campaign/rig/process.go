// Package rig runs Frontdesk as it is operated, for the campaigns to break: several
// gateways, each the real binary, on a real Redis or on one that Sentinels watch,
// before a process that is the outside world; buyers who drive journeys over HTTP;
// and the accounts that are held against each other in the end. It injects no fault
// by itself and knows no campaign.
//
// Start reading at New in rig.go, then at Buyer.
package rig

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// startTime is what a process may take to be ready; the slowest takes a tenth of a
	// second on an idle machine, and the machines are shared.
	startTime = 20 * time.Second
	// keptLog is the end of a process's log that is shown when something is wrong.
	keptLog = 64 << 10
	// firstPort and ports are a range from which no system hands out ports by itself,
	// so that a process that was killed finds its port free.
	firstPort, ports = 12_000, 8_000
)

// Process is a program that was started, until it is killed or ends.
type Process struct {
	cmd   *exec.Cmd
	log   *logTail
	ended chan struct{}
}

// Start runs a program with an environment and arguments, and waits until it says on
// stdout or stderr that it is ready, in the words of ready.
func Start(ctx context.Context, ready string, environment []string, path string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(path, args...), log: &logTail{ready: ready, told: make(chan struct{})}, ended: make(chan struct{})}
	p.cmd.Env = environment
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.WaitDelay = time.Second // a grandchild that holds the pipe open is none of ours
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait() // killed is what it was
		close(p.ended)
	}()
	late := time.NewTimer(startTime)
	defer late.Stop()
	select {
	case <-p.log.told:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("%s did not start:\n%s", path, p.log)
	case <-ctx.Done():
		p.Kill()
		return nil, ctx.Err()
	case <-late.C:
		p.Kill()
		return nil, fmt.Errorf("%s was not ready after %s:\n%s", path, startTime, p.log)
	}
}

// Kill ends it as a power cut would, and waits until it is gone.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	p.cmd.Process.Kill() // it is gone either way
	<-p.ended
}

// PID is the number that the system knows it by.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log is the end of what it has said so far.
func (p *Process) Log() string { return p.log.String() }

// logTail keeps the end of what a process says, and notices when it is ready.
type logTail struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready string
	told  chan struct{}
	seen  bool
}

// Write implements io.Writer.
func (t *logTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	if !t.seen && strings.Contains(t.text.String(), t.ready) {
		t.seen = true
		close(t.told)
	}
	if extra := t.text.Len() - keptLog; extra > keptLog { // in steps, to stay cheap
		t.text.Next(extra)
	}
	return len(p), nil
}

// String is what it said last.
func (t *logTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// FreePort finds a port on which nobody listens.
func FreePort() (int, error) {
	for range 100 {
		port := firstPort + rand.IntN(ports)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			listener.Close()
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port is free from %d to %d", firstPort, firstPort+ports)
}

// sleep waits, or less when the context ends, and tells whether it did not.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// WaitUntil asks again and again until something is so. It is an error when it is not
// within the time.
func WaitUntil(ctx context.Context, what string, within time.Duration, so func() bool) error {
	const every = 10 * time.Millisecond // soon enough, and cheap beside what is asked
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !so() {
		if !sleep(ctx, every) {
			return fmt.Errorf("did not happen within %s: %s", within, what)
		}
	}
	return nil
}

var _ io.Writer = (*logTail)(nil)
