package docs_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestTypedExampleMeetsLaterGateway signs up with the typed example at a gateway that sends values which it has never heard of.
func TestTypedExampleMeetsLaterGateway(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	project := newNodeProject(t, frontdesktest.NewLaterGateway(t, client.URL), "client.ts", "signup.ts", "screens.ts")
	if out, err := project.compile("signup.ts"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := project.must("node", "signup.js")
	for _, shown := range []string{"Please check your cart", "pay by card", "Please complete your payment.", "Welcome!", "member 11-"} {
		if !strings.Contains(said, shown) {
			t.Errorf("the example does not show %q:\n%s", shown, said)
		}
	}
	expectOnePayment(t, client)
}
