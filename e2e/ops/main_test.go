// Package ops_test runs gateways as operators do: configuration, start and stop, live
// mode, replicas, outages, metrics, logs, traces, and the operators' commands.
package ops_test

import (
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }
