package frontdesktest

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// packageScope owns what the tests of a package share, until the last one ends.
var packageScope = NewScope(context.Background())

// shared makes something once for all tests of a package, when the first one asks for it.
func shared[T any](start func(testing.TB) T) func(testing.TB) T {
	once := sync.OnceValues(func() (made T, err error) {
		err = packageScope.Run(func() { made = start(packageScope) })
		return made, err
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

// NewWorld returns a front end of its own world, in the one mock mode process that the tests of a
// package share. Its world starts as the simulator makes it. All worlds share the sandbox card
// processor and its settings.
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
