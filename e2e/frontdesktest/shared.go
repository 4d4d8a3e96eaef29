package frontdesktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// packageTB owns what the tests of a package share. It stands in for the test where
// the kit asks for one, and cleans up when the last test is done.
type packageTB struct {
	testing.TB // none: whatever is not below fails what is being made

	mu       sync.Mutex
	cleanups []func()
}

// packageScope is there once for all tests of a package, as their process is.
var packageScope packageTB

func (s *packageTB) Context() context.Context { return context.Background() }
func (s *packageTB) Helper()                  {}
func (s *packageTB) Failed() bool             { return false } // each test tells of its own part of a log
func (s *packageTB) Logf(string, ...any)      {}
func (s *packageTB) Fatal(args ...any)        { panic(errors.New(fmt.Sprint(args...))) }
func (s *packageTB) Fatalf(format string, args ...any) {
	panic(fmt.Errorf(format, args...))
}

func (s *packageTB) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (s *packageTB) Cleanup(end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, end)
}

// end takes down what was shared, the latest first.
func (s *packageTB) end() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}

// shared makes something once for all tests of a package, when the first of them asks.
func shared[T any](start func(testing.TB) T) func(testing.TB) T {
	once := sync.OnceValues(func() (made T, err error) {
		defer func() {
			if trouble := recover(); trouble != nil {
				err = fmt.Errorf("%v", trouble)
			}
		}()
		return start(&packageScope), nil
	})
	return func(t testing.TB) T {
		t.Helper()
		made, err := once()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

var sharedMock = shared(NewMock)

// NewWorld gives a front end of a world of its own, in the one process in mock
// mode that the tests of a package share. Its world is as the simulator makes it;
// the sandbox card processor and its settings are everybody's.
func NewWorld(t testing.TB) (*Client, *Process) {
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
