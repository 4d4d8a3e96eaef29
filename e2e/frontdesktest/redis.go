package frontdesktest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync/atomic"
)

// Redis is a real Redis for all tests of a package. Each test takes a database
// of its own, which costs nothing.
type Redis struct {
	cmd       *exec.Cmd
	port      int
	databases atomic.Int64
}

const (
	// databases is far more than any package has tests.
	databases = 10_000
	// firstPort and ports are a range from which no system hands out ports by
	// itself, so that nothing else takes the one that was chosen.
	firstPort, ports = 20_000, 12_000
	// startTries: somebody else's Redis may have the same port.
	startTries = 20
)

// StartRedis runs a Redis until Stop, for TestMain.
func StartRedis() (*Redis, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errors.New("these tests need redis-server: apt-get install redis-server, or the like")
	}
	for range startTries {
		r := &Redis{port: firstPort + rand.IntN(ports)}
		r.cmd = exec.Command(path, "--port", fmt.Sprint(r.port), "--bind", "127.0.0.1", "--databases", fmt.Sprint(databases),
			"--save", "", "--appendonly", "no")
		if err = r.start(); err == nil {
			return r, nil
		}
	}
	return nil, err
}

// start runs the server, and waits until it is ready or gone.
func (r *Redis) start() error {
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	said := bufio.NewScanner(stdout)
	for said.Scan() {
		if strings.Contains(said.Text(), "Ready to accept connections") {
			go io.Copy(io.Discard, stdout) // keeps the pipe from filling up; ends with the server
			return nil
		}
	}
	return fmt.Errorf("redis-server did not start on port %d: %w", r.port, r.cmd.Wait())
}

// Database gives the address of a database that nobody has used.
func (r *Redis) Database() string {
	return fmt.Sprintf("redis://127.0.0.1:%d/%d", r.port, r.databases.Add(1))
}

// Stop ends the server.
func (r *Redis) Stop() {
	r.cmd.Process.Kill() //nolint:errcheck // it is gone either way
	r.cmd.Wait()         //nolint:errcheck // killed is what it was
}
