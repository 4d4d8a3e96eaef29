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
			w := newWorld(t)
			g := w.Gateway()
			p := w.Authorised(g)
			w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: new(1)})
			w.Sandbox.Inject(sandbox.Fault{Path: "/v1/refunds", Status: http.StatusServiceUnavailable})
			if p = w.Advance(g, p); p.State != flows.Refunding {
				t.Fatalf("%s (%s)", p.State, p.Reason)
			}
			w.disputeAtProcessor(p)
			if code != "" {
				refusal := sandbox.Fault{Path: "/v1/refunds", Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code, Times: -1}
				w.Sandbox.Inject(refusal)
			}
			if p = w.Advance(g, p); p.State != flows.Blocked || !strings.Contains(p.Reason, "disputes") {
				t.Errorf("%s (%s)", p.State, p.Reason)
			}
			again := w.Sandbox.Inject(sandbox.Fault{Method: http.MethodPost, Times: -1, Status: http.StatusServiceUnavailable})
			w.rebuild(g)
			p = w.advanceFor(g, p, time.Minute)
			if p.State != flows.Blocked || again.Hits() != 0 {
				t.Errorf("%s (%s), and the processor was asked %d times again", p.State, p.Reason, again.Hits())
			}
			w.expectListed(g, string(p.ID)+" blocked")
			detail := must(t, func() (payment.Detail, error) { return g.Show(t.Context(), p.ID) })
			if !detail.AtProcessor.Disputed || !strings.Contains(strings.Join(detail.Advice, " "), "Answer the dispute at the processor") {
				t.Errorf("shown: %+v", detail)
			}
			lost := flows.Decision{Operator: "ada", Reason: "the bank gave the money back", Override: true}
			must(t, func() (payment.ResolutionResult, error) {
				return g.ConfirmNotRecorded(t.Context(), p.ID, payment.Refund, lost)
			})
			w.Sandbox.ClearFaults()
			w.rebuild(g)
			if p = w.advanceFor(g, p, time.Minute); p.State != flows.Refunded {
				t.Errorf("%s (%s)", p.State, p.Reason)
			}
			w.expectListed(g)
		})
	}
}
