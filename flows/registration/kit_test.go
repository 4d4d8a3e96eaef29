package registration_test

import (
	"testing"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

type (
	gateway        = flowstest.Gateway
	gatewayOptions = flowstest.Options
	callFault      = flowstest.CallFault
)

const (
	goodCard         = flowstest.GoodCard
	declinedCard     = flowstest.DeclinedCard
	holderToken      = flowstest.HolderToken
	quarterPassPrice = flowstest.QuarterPassPrice
)

var (
	bastille   = flowstest.Bastille
	visitor    = flowstest.Visitor
	badge      = flowstest.Badge
	newKeyring = flowstest.NewKeyring
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

// errorOf is the error of a call that also returns something else.
func errorOf[T any](_ T, err error) error { return err }
