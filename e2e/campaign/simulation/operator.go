package simulation

import (
	"context"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// Operators look at payments in doubt as soon as they may decide, or well after.
const (
	operatorsEarliest = 15 * time.Minute
	operatorsLatest   = 50 * time.Minute
)

// operate has an operator decide on payments in doubt or blocked, by the club system's ledger at that
// moment: the one thing that an operator can see and the gateways cannot.
func (f *journey) operate() {
	for _, p := range f.storedPayments() {
		switch p.State {
		case flows.InDoubt:
			f.spawn(0, f.anyGateway(), "operator", func(ctx context.Context, t *task) { f.decide(ctx, t, p) })
		case flows.Blocked:
			f.spawn(0, f.anyGateway(), "operator", func(ctx context.Context, t *task) { f.refundAgain(ctx, t, p) })
		}
	}
}

func (f *journey) decide(ctx context.Context, t *task, p *flows.Payment) {
	holds := f.settledByUs()
	if p.HasProcessor() {
		holds = len(f.booked()) > 0 // else another method or staff settled the sale, and the card's money goes back
	}
	byOthers := len(f.desk) > 0 || !holds && f.applied()
	word := flows.Decision{Operator: "op", Reason: "I looked", Override: byOthers}
	var err error
	var what string
	if holds {
		what = opRecorded
		_, err = t.gateway.payments.ConfirmRecorded(ctx, p.ID, word)
	} else {
		then := payment.SendAgain
		what = opAgain
		switch {
		case p.HasProcessor() && (byOthers || f.chance(0.5)):
			then, what = payment.Refund, opRefund
		case !p.HasProcessor() && (byOthers || f.chance(0.5)):
			then, what = payment.GiveUp, opGaveUp
		}
		_, err = t.gateway.payments.ConfirmNotRecorded(ctx, p.ID, then, word)
	}
	if t.dead.Load() {
		return
	}
	f.tracef("%s: %s %s: %v", t.gateway.name, what, p.ID, err)
	if err == nil {
		f.fault(what)
	}
	if err != nil && flows.CodeOf(err) == flows.TooEarly {
		f.after(f.between(time.Minute, operatorsEarliest), f.operate)
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

// applied reports whether the club system has settled the sale, for any payer and by any method.
func (f *journey) applied() bool {
	sale, ok := f.sim.Sale(f.sale)
	return ok && sale.State != "building" || len(f.booked()) > 0
}

// settledByUs reports whether Frontdesk settled the sale.
func (f *journey) settledByUs() bool {
	return len(f.booked())+len(f.settlements) > 0 || f.applied() && len(f.desk) == 0
}

// booked returns the payments that the club system booked for the sale, except those of its staff.
func (f *journey) booked() []int64 { return f.amounts(false) }

func (f *journey) amounts(byStaff bool) (amounts []int64) {
	for _, entry := range f.sim.Ledger() {
		if entry.SaleID == f.sale && slices.Contains(f.desk, entry.ID) == byStaff {
			amounts = append(amounts, int64(entry.Amount))
		}
	}
	return amounts
}
