package background_test

import (
	"testing"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

type (
	gateway        = flowstest.Gateway
	gatewayOptions = flowstest.Options
)

const (
	goodCard         = flowstest.GoodCard
	holderToken      = flowstest.HolderToken
	quarterPassPrice = flowstest.QuarterPassPrice
	listCall         = flowstest.ListCall
)

var (
	bastille   = flowstest.Bastille
	visitor    = flowstest.Visitor
	newKeyring = flowstest.NewKeyring
	event      = flowstest.Event
)

// world is what the gateways of a test share, with this package's helpers.
type world struct{ *flowstest.World }

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{flowstest.NewWorld(t)}
}

// must returns the result of a call that must succeed.
func must[T any](t testing.TB, call func() (T, error)) T {
	t.Helper()
	return flowstest.Must(t, call)
}
