package flows_test

import (
	"fmt"
	"testing"

	"frontdesk/flows"
)

func ExamplePaymentID_Split() {
	id := flows.NewPaymentID("0b54d7e2-3a9c", 2)
	registration, generation := id.Split()
	fmt.Println(id, registration, generation)
	// Output: 0b54d7e2-3a9c-2 0b54d7e2-3a9c 2
}

func TestPaymentID(t *testing.T) {
	t.Parallel()
	for _, id := range []flows.PaymentID{"", "-", "a", "a-", "a-0", "a--1", "a-b", "a-1b", "-1x", "a-99999999999999999999"} {
		if registration, generation := id.Split(); generation > 0 && flows.NewPaymentID(registration, generation) != id {
			t.Errorf("%q is split into %q and %d", id, registration, generation)
		} else if generation < 0 || generation == 0 && registration != "" {
			t.Errorf("%q names generation %d of %q", id, generation, registration)
		}
	}
}

// TestView checks what the buyer sees in each state. A buyer who follows retry never pays twice.
func TestView(t *testing.T) {
	t.Parallel()
	for state, want := range map[flows.PaymentState]struct{ state, retry string }{
		flows.Priced:     {"processing", "same_key"},
		flows.Intent:     {"requires_action", "never"},
		flows.Authorised: {"processing", "never"},
		flows.Capturing:  {"processing", "never"},
		flows.Captured:   {"processing", "never"},
		flows.Sending:    {"processing", "never"},
		flows.Recorded:   {"recorded", "never"},
		flows.Cancelling: {"processing", "never"},
		flows.Cancelled:  {"cancelled", "new"},
		flows.RefundDue:  {"processing", "never"},
		flows.Refunding:  {"processing", "never"},
		flows.Refunded:   {"refunded", "new"},
		flows.InDoubt:    {"in_doubt", "never"},
		flows.Blocked:    {"in_doubt", "never"},
	} {
		p := flows.Payment{State: state, DeclineCode: "", ClientSecret: "secret"}
		view := p.View()
		if view.State != want.state || view.Retry != want.retry || view.Message == "" {
			t.Errorf("%s: %+v", state, view)
		}
		if leads := view.ClientSecret != ""; leads != (state == flows.Intent) {
			t.Errorf("%s leads to the processor: %+v", state, view)
		}
	}
	declined := flows.Payment{State: flows.Intent, DeclineCode: "card_declined", ClientSecret: "secret"}
	view := declined.View()
	if view.State != "declined" || view.Retry != "new" || view.DeclineCode != "card_declined" || view.ClientSecret == "" {
		t.Errorf("declined: %+v", view)
	}
	if len(flows.PaymentStates) != 14 {
		t.Error("a state was added that this test does not know")
	}
}
