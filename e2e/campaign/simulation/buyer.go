package simulation

import (
	"context"
	"fmt"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/flows"
	"frontdesk/upstream/cards/sandbox"
)

// The test cards.
const (
	goodCard     = "4242424242424242"
	declinedCard = "4000000000000002"
	poorCard     = "4000000000009995"
	bankAsks     = "4000002500003155"
)

func (f *journey) scheduleBuyer() {
	first := time.Duration(0)
	if f.plan.method != flows.Free && f.plan.rollbacks == 0 && !f.plan.choosesAgain && f.chance(0.2) { // a Redis that falls back forgets marks
		f.addItem(0)
		first = f.between(0, 20*time.Second)
	}
	f.pay(first)
	if f.chance(0.3) {
		f.fault(buyerPressed)
		f.pay(f.between(0, 600*time.Millisecond))
	}
	if f.chance(0.04) {
		f.after(f.between(0, 20*time.Second), f.changeCart)
	}
	if f.chance(0.08) {
		f.abandon(f.between(0, f.plan.faultWindow))
	}
	for range f.rng.IntN(5) {
		f.read(f.between(0, f.plan.faultWindow))
	}
	for range f.rng.IntN(3) {
		f.pay(f.between(time.Second, f.plan.faultWindow))
	}
	for range f.rng.IntN(3) {
		f.after(f.between(operatorsEarliest, operatorsLatest), f.operate)
	}
}

func (f *journey) pay(d time.Duration) {
	const maxRetries = 4 // after an error
	f.spawn(d, func(ctx context.Context, t *task) {
		before := f.held()
		payment, err := t.gateway.registrations.Pay(ctx, f.registration, f.token, f.startPayment())
		if t.dead.Load() {
			return // no response arrives
		}
		f.recordResponse(t, "pay", payment, err, before)
		if err != nil && f.retries < maxRetries {
			f.retries++
			f.pay(f.between(time.Second, 30*time.Second))
		}
		if err == nil && payment.HasProcessor() && payment.State == flows.Intent && !f.confirmed[payment.ProcessorID] {
			f.confirmed[payment.ProcessorID] = true
			f.payOnPage(payment.ProcessorID)
		}
	})
}

func (f *journey) startPayment() flows.StartPayment {
	way := f.plan.method
	if f.plan.mixed && f.chance(0.5) {
		way = oneOf(f, flows.ByCard, flows.Deferred, flows.InPerson)
		if f.plan.rollbacks > 0 || f.plan.choosesAgain { // the club system refuses a second deferral, and books money at the desk every time
			way = oneOf(f, flows.ByCard, flows.Deferred)
		}
	}
	switch way {
	case flows.Deferred:
		return flows.StartPayment{Method: way, DueDate: startTime.AddDate(0, 1, 0).Format(time.DateOnly)}
	case flows.InPerson:
		return flows.StartPayment{Method: way, Staff: true, Desk: &flows.Desk{Mean: "cash"}}
	default:
		return flows.StartPayment{Method: way}
	}
}

func (f *journey) read(d time.Duration) {
	f.spawn(d, func(ctx context.Context, t *task) {
		before := f.held()
		view, err := t.gateway.registrations.Get(ctx, f.registration, f.token)
		if t.dead.Load() || err == nil && view.Payment == nil {
			return
		}
		f.recordResponse(t, "look", flows.ShownPayment{Payment: view.Payment, View: view.PaymentView}, err, before)
	})
}

func (f *journey) abandon(d time.Duration) {
	f.spawn(d, func(ctx context.Context, t *task) {
		f.fault(buyerAbandoned)
		_, err := t.gateway.registrations.Abandon(ctx, f.registration, f.token)
		f.tracef("%s: abandon: %v", t.gateway.name, err)
	})
}

// addItem has the buyer add an item in another tab, and repeat that after a failure.
func (f *journey) addItem(d time.Duration) {
	f.spawn(d, func(ctx context.Context, t *task) {
		f.fault(buyerAdded)
		_, err := t.gateway.registrations.AddItem(ctx, f.registration, f.token, flows.NewItem{OfferID: "2501"})
		if t.dead.Load() {
			return
		}
		f.tracef("%s: add an item: %v", t.gateway.name, err)
		if flows.CodeOf(err) == flows.ClubSystemFailed && f.chance(0.7) {
			f.addItem(f.between(0, time.Minute))
		}
	})
}

func (f *journey) recordResponse(t *task, what string, payment flows.ShownPayment, err error, before held) {
	now := f.held()
	response := campaign.Response{Charged: overlap(before.charged, now.charged), Authorised: overlap(before.authorised, now.authorised)}
	if err != nil {
		// The edge decides which advice comes with which error. The only one about the payment itself says
		// "again" with the same key.
		f.tracef("%s: %s: error %s", t.gateway.name, what, flows.CodeOf(err))
		if f.epochs > 0 || flows.CodeOf(err) != flows.ProcessorUnavailable && flows.CodeOf(err) != flows.ClubSystemFailed {
			return
		}
		response.State, response.Retry = string(flows.CodeOf(err)), "same_key"
	} else {
		view := payment.View
		switch {
		case f.epochs > 0 && (what == "look" || !payment.HasProcessor()): // as old as what Redis remembers
			response.Charged, response.Authorised = false, false
		case f.epochs > 0: // a request to pay by card asks the processor, about this payment; paying again leads to a later one by its key
			before, now = before.of(payment.ProcessorID, f.registration), now.of(payment.ProcessorID, f.registration)
			response.Charged, response.Authorised = overlap(before.charged, now.charged), overlap(before.authorised, now.authorised)
		}
		response.State, response.Retry = view.State, view.Retry
		f.tracef("%s: %s: the buyer sees %s, retry %s (%s)", t.gateway.name, what, view.State, view.Retry, payment.State)
	}
	if f.plan.desk && response.State == string(flows.InDoubt) && f.chance(0.7) {
		f.after(f.between(0, 20*time.Second), f.settleAtDesk) // the buyer shows it to staff
	}
	f.responses = append(f.responses, response)
}

func (f *journey) payOnPage(payment string) {
	delay := f.between(500*time.Millisecond, 10*time.Second)
	act := func(what string, do func() (sandbox.Payment, error)) {
		f.after(delay, func() { f.atProcessor("the buyer: "+what, do) })
		delay += f.between(time.Second, 20*time.Second)
	}
	confirm := func(card string) {
		act("card "+card, func() (sandbox.Payment, error) { return f.sandbox.Confirm(payment, card) })
	}
	challenge := func(approve bool) {
		act(fmt.Sprint("approves: ", approve), func() (sandbox.Payment, error) { return f.sandbox.Approve(payment, approve) })
	}
	switch chosen := f.rng.IntN(20); {
	case chosen < 10:
		confirm(goodCard)
	case chosen < 11:
		act("a card whose bank takes its time", func() (sandbox.Payment, error) {
			slow := f.settings
			slow.Confirmations = "processing"
			f.configureProcessor(slow)
			defer f.configureProcessor(f.settings)
			return f.sandbox.Confirm(payment, goodCard)
		})
	case chosen < 13:
		f.fault(buyerDeclined)
		confirm(declinedCard)
		if f.chance(0.5) {
			f.pay(delay)
			delay += time.Second
		}
		confirm(goodCard)
	case chosen < 14:
		f.fault(buyerDeclined)
		confirm(declinedCard)
		confirm(poorCard)
	case chosen < 15:
		confirm(bankAsks)
		challenge(true)
	case chosen < 16:
		f.fault(buyerDeclined)
		confirm(bankAsks)
		challenge(false)
		confirm(goodCard)
	case chosen < 17:
		f.fault(buyerLeft)
	case chosen < 18:
		f.fault(buyerLate)
		delay += f.between(20*time.Minute, 70*time.Minute)
		confirm(goodCard)
		f.pay(delay)
	default:
		f.fault(buyerTwice)
		confirm(goodCard)
		confirm(goodCard)
		confirm(bankAsks)
	}
	f.read(delay)
	f.read(delay + f.between(0, 10*time.Second))
	f.read(delay + f.between(10*time.Second, time.Minute))
}
