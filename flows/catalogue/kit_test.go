package catalogue_test

import (
	"testing"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

type gateway = flowstest.Gateway

var (
	bastille   = flowstest.Bastille
	newKeyring = flowstest.NewKeyring
)

// world is what the gateways of a test share, with this package's helpers.
type world struct{ *flowstest.World }

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{flowstest.NewWorldOf(t, clubsim.Demo())}
}

// must returns the result of a call that must succeed.
func must[T any](t testing.TB, call func() (T, error)) T {
	t.Helper()
	return flowstest.Must(t, call)
}
