// Package ops_test runs gateways as operators do: configuration, start and stop, live
// mode, replicas, outages, metrics, logs, traces, and the operators' commands.
package ops_test

import (
	"log"
	"os"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == bareServer {
		log.Fatal(serveBare(os.Args[2], os.Args[3]))
	}
	frontdesktest.Main(m)
}
