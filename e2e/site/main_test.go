// Package site_test drives the signup site in a real Chromium, as visitors do, and
// asserts on what the club system and the card processor hold afterwards. Start
// reading at siteVisitor in visitor_test.go.
package site_test

import (
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }
