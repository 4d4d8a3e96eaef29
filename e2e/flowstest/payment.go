package flowstest

import (
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// Started makes a registration and starts its payment, which then waits for the buyer.
func (w *World) Started(gateway *Gateway) *flows.Payment {
	w.Helper()
	r := w.Registered(gateway)
	p := Must(w, func() (*flows.Payment, error) { return gateway.Pay(w.Context(), r.ID) })
	if p.State != flows.Intent {
		w.Fatalf("the payment is %s", p.State)
	}
	return p
}

// Abandoned makes a started payment that is cancelled because the buyer did not pay in time.
func (w *World) Abandoned(gateway *Gateway) *flows.Payment {
	w.Helper()
	payment := w.Started(gateway)
	w.Clock.Advance(31 * time.Minute)
	payment = w.Advance(gateway, payment)
	if payment.State != flows.Cancelled {
		w.Fatalf("the payment is %s (%s)", payment.State, payment.Reason)
	}
	return payment
}

// Authorised makes a started payment for which the buyer has entered a valid card.
func (w *World) Authorised(gateway *Gateway) *flows.Payment {
	w.Helper()
	p := w.Started(gateway)
	w.Confirm(p, GoodCard)
	return p
}

// Doubtful makes a payment whose recording failed once: with error_before the club system did nothing, with
// drop_after it booked the payment.
func (w *World) Doubtful(gateway *Gateway, kind string) *flows.Payment {
	w.Helper()
	p := w.Authorised(gateway)
	return w.DoubtAgain(gateway, p, kind)
}

// DoubtAgain has a payment fail to be recorded, as Doubtful does.
func (w *World) DoubtAgain(gateway *Gateway, payment *flows.Payment, kind string) *flows.Payment {
	w.Helper()
	w.Fault(clubsim.Fault{Match: Recording, Kind: kind, Status: 503, Times: new(1)})
	payment = w.Advance(gateway, payment)
	w.Fault()
	if payment.State != flows.InDoubt {
		w.Fatalf("the payment is %s (%s)", payment.State, payment.Reason)
	}
	return payment
}

// Settle lets a gateway advance a payment, as the sweeper would over an hour without further faults.
func (w *World) Settle(gateway *Gateway, payment *flows.Payment) *flows.Payment {
	w.Helper()
	last, doubts := w.Stored(gateway, payment.ID), 0
	for range 40 {
		if last.State == flows.Sending {
			w.ExpireLease(last)
		}
		last = w.Advance(gateway, last)
		if last.State == flows.InDoubt {
			doubts++
		}
		if last.State.Final() || last.State == flows.Blocked || doubts == 3 {
			break
		}
		w.Clock.Advance(90 * time.Second)
	}
	return last
}

// ExpectSound checks what must be true of every payment once it has settled.
func (w *World) ExpectSound(payment *flows.Payment) {
	w.Helper()
	lines, held := w.Lines(payment), w.Held(payment)
	kept := held.Captured - held.Refunded
	if len(lines) > 1 {
		w.Errorf("the visitor's payment was recorded %d times", len(lines))
	}
	switch payment.State {
	case flows.Recorded:
		if len(lines) != 1 || int64(lines[0].Amount) != payment.Amount || kept != payment.Amount {
			w.Errorf("recorded, but the ledger holds %+v and the processor keeps %d", lines, kept)
		}
	case flows.Refunded, flows.Cancelled:
		if len(lines) != 0 || kept != 0 {
			w.Errorf("%s, but the ledger holds %+v and the processor keeps %d", payment.State, lines, kept)
		}
	case flows.InDoubt, flows.Blocked:
		if view := payment.View(); view.Retry != "never" {
			w.Errorf("%s, and the buyer sees %+v", payment.State, view)
		}
	default:
		if kept != 0 {
			w.Errorf("the money is taken and the payment is forgotten in %s", payment.State)
		}
	}
	if audit := w.Sim.Audit(); !audit.OK {
		w.Errorf("the audit finds %+v", audit)
	}
}

// Duplicate creates a payment at the processor a second time, as a request does that was delayed until the
// processor had forgotten its key.
func (w *World) Duplicate(payment *flows.Payment) *flows.Payment {
	w.Helper()
	metadata := w.Held(payment).Metadata
	maps.DeleteFunc(metadata, func(key, _ string) bool { return strings.ContainsAny(key, "123456789") }) // the journal of claims
	held := Must(w, func() (cards.Payment, error) {
		created := cards.NewPayment{Amount: payment.Amount, Currency: payment.Currency, Metadata: metadata}
		return w.Processor.Create(w.Context(), uuid.NewString(), created)
	})
	twin := *payment
	twin.ProcessorID = held.ID
	return &twin
}
