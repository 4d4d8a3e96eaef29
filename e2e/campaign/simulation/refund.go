package simulation

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards/sandbox"
)

// scheduleRefunds has the processor refuse refunds, or keep them pending, for some time. Afterwards the banks
// settle what is pending, and return some of the money that had arrived.
func (f *journey) scheduleRefunds() {
	if f.plan.refunds == sandbox.RefundsNormal {
		return
	}
	f.atProcessor(http.MethodPut, "/settings", fmt.Sprintf(`{"refunds":%q}`, f.plan.refunds))
	for range 4 {
		f.after(f.between(0, 2*operatorsLatest), func() { f.settleRefunds(0.5) })
	}
	f.after(operatorsLatest, func() {
		f.atProcessor(http.MethodPut, "/settings", `{}`)
		f.operate()
	})
	f.after(2*operatorsLatest, func() {
		f.settleRefunds(1)
		f.operate()
	})
}

// settleRefunds has the banks settle each refund. It succeeds with the given probability.
func (f *journey) settleRefunds(likely float64) {
	for _, p := range f.cardPayments() {
		succeeded := f.chance(likely)
		switch {
		case p.Refunding == 0 && (succeeded || p.Refunded == 0):
			continue
		case !succeeded:
			f.fault(refundFailed)
			f.returned[p.ID] = p.Refunded > 0 // no gateway can know before the processor tells it
		}
		f.atProcessor(http.MethodPost, "/payments/"+p.ID+"/settle-refund", fmt.Sprintf(`{"succeeded":%t}`, succeeded))
	}
}

func (f *journey) refundAgain(ctx context.Context, t *task, p *flows.Payment) {
	_, err := t.gateway.payments.ConfirmNotRecorded(ctx, p.ID, payment.Refund, flows.Decision{Operator: "op", Reason: "the balance suffices now"})
	if t.dead.Load() {
		return
	}
	f.tracef("%s: %s %s: %v", t.gateway.name, opRefundAgain, p.ID, err)
	if err == nil {
		f.fault(opRefundAgain)
	}
}

// atProcessor does something at the processor for neither the gateway nor the buyer.
func (f *journey) atProcessor(method, path, body string) {
	r, err := http.NewRequest(method, processorURL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer := f.process(r)
	f.tracef("the processor: %s %s: %d", path, body, answer.StatusCode)
}
