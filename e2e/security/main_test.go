// Package security_test attacks a gateway as docs/explanation/security.md lists it: each item of
// the OWASP API Security Top 10, and what threatens a site. Start reading at
// TestSecurityPage.
package security_test

import (
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }
