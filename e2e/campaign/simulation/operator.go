package simulation

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// Operators look at what is in doubt once they may decide, or well after.
const (
	operatorsEarliest = 15 * time.Minute
	operatorsLatest   = 50 * time.Minute
)

// operate has an operator decide on whatever is in doubt, by what the club system's
// books say at that moment: the one thing that an operator can see and the gateways cannot.
func (f *journey) operate() {
	for _, p := range f.storedPayments() {
		if p.State == flows.InDoubt {
			f.spawn(0, f.anyGateway(), "operator", func(ctx context.Context, t *task) { f.decide(ctx, t, p) })
		}
	}
}

func (f *journey) decide(ctx context.Context, t *task, p *flows.Payment) {
	word := flows.Decision{Operator: "op", Reason: "I looked"}
	var err error
	var what string
	if f.applied() {
		what = opRecorded
		_, err = t.gateway.payments.ConfirmRecorded(ctx, p.ID, word)
	} else {
		then := payment.SendAgain
		what = opAgain
		switch {
		case f.chance(0.5) && p.HasProcessor():
			then, what = payment.Refund, opRefund
		case f.chance(0.5) && !p.HasProcessor():
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

// applied tells whether the club system has settled the sale, in whatever way.
func (f *journey) applied() bool {
	sale, ok := f.sim.Sale(f.sale)
	return ok && sale.State != "building" || len(f.booked()) > 0
}

// booked are the payments that the club system booked for the sale.
func (f *journey) booked() (amounts []int64) {
	for _, entry := range f.sim.Ledger() {
		if entry.SaleID == f.sale {
			amounts = append(amounts, int64(entry.Amount))
		}
	}
	return amounts
}
