package payment_test

import (
	"testing"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

type (
	testGateway    = flowstest.Gateway
	gatewayOptions = flowstest.Options
	call           = flowstest.Call
	callFault      = flowstest.CallFault
	move           = flowstest.Move
)

const (
	goodCard         = flowstest.GoodCard
	declinedCard     = flowstest.DeclinedCard
	holderToken      = flowstest.HolderToken
	quarterPass      = flowstest.QuarterPass
	quarterPassPrice = flowstest.QuarterPassPrice
	listCall         = flowstest.ListCall
	getCall          = flowstest.GetCall
	captureCall      = flowstest.CaptureCall
	refundCall       = flowstest.RefundCall
)

var (
	bastille       = flowstest.Bastille
	visitor        = flowstest.Visitor
	badge          = flowstest.Badge
	recording      = flowstest.Recording
	newKeyring     = flowstest.NewKeyring
	redisKey       = flowstest.RedisKey
	event          = flowstest.Event
	simulatorsRule = flowstest.SimulatorsRule
)

// world is what the gateways of a test share, with this package's helpers.
type testWorld struct{ *flowstest.World }

func newWorld(t *testing.T) *testWorld {
	t.Helper()
	return &testWorld{flowstest.NewWorld(t)}
}

// must returns the result of a call that must succeed.
func must[T any](t testing.TB, call func() (T, error)) T {
	t.Helper()
	return flowstest.Must(t, call)
}

// errorOf is the error of a call that also returns something else.
func errorOf[T any](_ T, err error) error { return err }
