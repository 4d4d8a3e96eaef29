// Package security_test carries out the attacks that docs/explanation/security.md lists: each item
// of the OWASP API Security Top 10, and the threats to a website. Start reading at TestSecurityPage.
package security_test

import (
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }
