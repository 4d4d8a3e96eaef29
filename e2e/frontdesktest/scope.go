package frontdesktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// TB is what the kit needs of whatever runs it: a *testing.T, a *testing.B or a Scope.
type TB interface {
	Name() string
	Context() context.Context
	TempDir() string
	Cleanup(end func())
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
}

// Scope is a TB outside of a test. It owns what the tests of a package share, and what a benchmark or a campaign starts.
type Scope struct {
	ctx      context.Context
	mu       sync.Mutex
	failures []error
	cleanups []func()
}

// NewScope opens a scope until End.
func NewScope(ctx context.Context) *Scope { return &Scope{ctx: ctx} }

// Must fails the test on an error.
func Must(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Run runs a function that uses the scope as a test uses its TB, and returns its failures.
func (s *Scope) Run(do func()) error {
	var running sync.WaitGroup
	running.Go(func() {
		defer func() {
			if mistake := recover(); mistake != nil {
				s.End() // the program ends now
				panic(mistake)
			}
		}()
		do()
	})
	running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(s.failures...)
	s.failures = nil
	return err
}

// End runs the cleanups, the last one first.
func (s *Scope) End() {
	for _, end := range slices.Backward(s.cleanups) {
		end()
	}
	s.cleanups = nil
}

// Context implements TB, as the methods below do.
func (s *Scope) Context() context.Context { return s.ctx }

// Name is empty: the scope belongs to no single test.
func (s *Scope) Name() string { return "" }

// Helper does nothing.
func (s *Scope) Helper() {}

// Failed reports whether the function that runs has failed.
func (s *Scope) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.failures) > 0
}

// Cleanup adds a function for End.
func (s *Scope) Cleanup(end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, end)
}

// TempDir creates a folder that is removed at the end.
func (s *Scope) TempDir() string {
	dir, err := os.MkdirTemp("", "frontdesk")
	Must(s, err)
	s.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Logf writes a line to stderr.
func (s *Scope) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Errorf records a failure.
func (s *Scope) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, fmt.Errorf(format, args...))
}

// Fatalf records a failure, and ends the goroutine.
func (s *Scope) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	runtime.Goexit()
}

// Fatal records a failure, and ends the goroutine.
func (s *Scope) Fatal(args ...any) { s.Fatalf("%s", fmt.Sprint(args...)) }

// packageScope owns what the tests of a package share, until the last one ends.
var packageScope = NewScope(context.Background())

// shared makes something once for all tests of a package, when the first one asks for it.
func shared[T any](start func(TB) T) func(TB) T {
	once := sync.OnceValues(func() (made T, err error) {
		own := NewScope(packageScope.Context()) // with failures of its own
		err = own.Run(func() { made = start(own) })
		packageScope.Cleanup(own.End)
		return made, err
	})
	return func(t TB) T {
		t.Helper()
		made, err := once()
		Must(t, err)
		return made
	}
}

var sharedMock = shared(NewMock)

// NewWorld returns a front end of its own world, in the one mock mode process that the tests of a package share. Its
// world starts as the simulator makes it. All worlds share the sandbox card processor and its settings.
func NewWorld(t TB) (*Client, *Process) {
	t.Helper()
	process := *sharedMock(t)
	process.t = t
	begun := len(process.Log())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of %s, other tests' lines among it:\n%s", process.URL, process.Log()[begun:])
		}
	})
	c := NewClient(t, process.URL)
	c.World = "demo-" + uuid.NewString()
	return c, &process
}
