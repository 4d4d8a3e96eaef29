package payment_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// TestRefundOfADisputedPayment: the buyer demands the money back from their bank while a refund is due. The processor then
// refuses the refund. Operators see why, and the gateways do not repeat it.
func TestRefundOfADisputedPayment(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{"as the double says it": "", "of the processor's list": "refund_disputed_payment"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.Authorised(gateway)
			world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: new(1)})
			world.Sandbox.Inject(sandbox.Fault{Path: "/v1/refunds", Status: http.StatusServiceUnavailable})
			if paid = world.Advance(gateway, paid); paid.State != flows.Refunding {
				t.Fatalf("%s (%s)", paid.State, paid.Reason)
			}
			world.disputeAtProcessor(paid)
			if code != "" {
				refusal := sandbox.Fault{
					Path:   "/v1/refunds",
					Status: http.StatusBadRequest,
					Type:   "invalid_request_error",
					Code:   code,
					Times:  -1,
				}
				world.Sandbox.Inject(refusal)
			}
			if paid = world.Advance(gateway, paid); paid.State != flows.Blocked || !strings.Contains(paid.Reason, "disputes") {
				t.Errorf("%s (%s)", paid.State, paid.Reason)
			}
			again := world.Sandbox.Inject(sandbox.Fault{Method: http.MethodPost, Times: -1, Status: http.StatusServiceUnavailable})
			world.rebuild(gateway)
			paid = world.advanceFor(gateway, paid, time.Minute)
			if paid.State != flows.Blocked || again.Hits() != 0 {
				t.Errorf("%s (%s), and the processor was asked %d times again", paid.State, paid.Reason, again.Hits())
			}
			world.expectListed(gateway, string(paid.ID)+" blocked")
			detail := must(t, func() (payment.Detail, error) { return gateway.Show(t.Context(), paid.ID) })
			if !detail.AtProcessor.Disputed || !strings.Contains(strings.Join(detail.Advice, " "), "Answer the dispute at the processor") {
				t.Errorf("shown: %+v", detail)
			}
			lost := flows.Decision{Operator: "ada", Reason: "the bank gave the money back", Override: true}
			must(t, func() (payment.ResolutionResult, error) {
				return gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, lost)
			})
			world.Sandbox.ClearFaults()
			world.rebuild(gateway)
			if paid = world.advanceFor(gateway, paid, time.Minute); paid.State != flows.Refunded {
				t.Errorf("%s (%s)", paid.State, paid.Reason)
			}
			world.expectListed(gateway)
		})
	}
}
