package payment_test

import (
	"fmt"
	"slices"
	"testing"

	"frontdesk/flows"
)

// atProcessor lists the states that a payment can have at the processor, and how to reach each.
var atProcessor = map[string]func(*testWorld, *flows.Payment){
	"waiting":    func(*testWorld, *flows.Payment) {},
	"declined":   func(w *testWorld, p *flows.Payment) { w.Confirm(p, declinedCard) },
	"authorised": func(w *testWorld, p *flows.Payment) { w.Confirm(p, goodCard) },
	"cancelled":  func(w *testWorld, p *flows.Payment) { w.cancelAtProcessor(p) },
	"captured":   func(w *testWorld, p *flows.Payment) { w.Confirm(p, goodCard); w.captureAtProcessor(p) },
	"captured, claimed by another": func(w *testWorld, p *flows.Payment) {
		w.Confirm(p, goodCard)
		w.captureAtProcessor(p)
		w.note(p, "fd_post_1", "another")
	},
	"captured, released": func(w *testWorld, p *flows.Payment) {
		w.Confirm(p, goodCard)
		w.captureAtProcessor(p)
		w.note(p, "fd_post_1", postOfTheTest, "fd_release_1", postOfTheTest)
	},
	"captured, accepted": func(w *testWorld, p *flows.Payment) {
		w.Confirm(p, goodCard)
		w.captureAtProcessor(p)
		w.note(p, "fd_post_1", postOfTheTest, "fd_done_1", postOfTheTest)
	},
	"partly refunded": func(w *testWorld, p *flows.Payment) {
		w.Confirm(p, goodCard)
		w.captureAtProcessor(p)
		w.refundAtProcessor(p, 1)
	},
	"refunded": func(w *testWorld, p *flows.Payment) {
		w.Confirm(p, goodCard)
		w.captureAtProcessor(p)
		w.refundAtProcessor(p, p.Amount)
	},
	"tampered with": func(w *testWorld, p *flows.Payment) { w.Confirm(p, goodCard); w.tamper(p) },
	"forgotten":     func(w *testWorld, _ *flows.Payment) { w.resetProcessor() },
}

const postOfTheTest = "the post of the test"

// walks has for each state two states at the processor that decide where its money goes. Every other pair is walked in the tests of the
// protocol.
var walks = map[flows.PaymentState][2]string{
	flows.Priced:     {"authorised", "captured"},
	flows.Intent:     {"authorised", "captured"},
	flows.Authorised: {"authorised", "captured"},
	flows.Capturing:  {"authorised", "captured"},
	flows.Captured:   {"captured, released", "captured, claimed by another"},
	flows.Sending:    {"captured", "captured, accepted"},
	flows.Cancelling: {"authorised", "captured"},
	flows.RefundDue:  {"captured, released", "captured, accepted"},
	flows.Refunding:  {"captured, released", "partly refunded"},
	flows.Refunded:   {"refunded", "captured, released"},
	flows.Cancelled:  {"cancelled", "captured"},
	flows.InDoubt:    {"captured, accepted", "forgotten"},
	flows.Recorded:   {"captured, accepted", "refunded"},
	flows.Blocked:    {"captured", "tampered with"},
}

// TestStateByEvent combines every state of a payment with states at the processor, and lets time pass.
func TestStateByEvent(t *testing.T) {
	t.Parallel()
	for _, state := range flows.PaymentStates {
		for _, there := range walks[state] {
			t.Run(string(state)+", "+there, func(t *testing.T) {
				t.Parallel()
				newWorld(t).walk(state, there, atProcessor[there])
			})
		}
	}
}

func (w *testWorld) walk(state flows.PaymentState, there string, bring func(*testWorld, *flows.Payment)) {
	gateway := w.Gateway()
	payment := w.Started(gateway)
	bring(w, payment)
	payment = w.Put(gateway, payment.ID, state, func(next *flows.Payment) {
		claimed := []flows.PaymentState{flows.Sending, flows.Recorded, flows.RefundDue, flows.Refunding, flows.Refunded, flows.InDoubt}
		if slices.Contains(claimed, state) || state == flows.Captured && there == "captured, released" {
			next.Claim, next.AttemptID = 1, postOfTheTest
		}
		if state == flows.Refunding {
			next.Claim, next.AttemptID = 2, "the refund of the test" // a refund has its own claim
		}
	})
	before := w.books(payment)
	w.Journal.Forget() // the walk checks only what follows
	end := w.Settle(gateway, payment)
	after := w.books(payment)

	moves := w.Journal.MovesOf(payment.ID)
	at := state
	for _, move := range moves {
		if move.From != move.To && !move.From.CanBecome(move.To) {
			w.Errorf("forbidden: %s → %s", move.From, move.To)
		}
		if move.From != at {
			w.Errorf("an unrecorded change: %s → %s", at, move.From)
		}
		at = move.To
	}
	if changed := end.Version > payment.Version; at != end.State || changed != (len(moves) > 0) {
		w.Errorf("version %d is %s, but %d recorded changes led from version %d to %s", end.Version, end.State, len(moves), payment.Version, at)
	}
	if !slices.Contains([]flows.PaymentState{flows.Recorded, flows.Cancelled, flows.Refunded, flows.InDoubt, flows.Blocked}, end.State) {
		w.Errorf("it did not come to rest: %s (%s)", end.State, end.Reason)
	}
	w.expectBooks(state, there, end, before, after)
}

// books are the money movements that other systems see.
type books struct {
	posts              int
	captured, refunded int64
}

func (w *testWorld) books(p *flows.Payment) books {
	held, _ := w.Processor.Get(w.Context(), p.ProcessorID) // a forgotten payment has zero amounts
	return books{w.Posted(), held.Captured, held.Refunded}
}

// expectBooks checks what the machine did with the money.
func (w *testWorld) expectBooks(from flows.PaymentState, there string, end *flows.Payment, before, after books) {
	early := slices.Contains([]flows.PaymentState{flows.Priced, flows.Intent, flows.Authorised, flows.Capturing}, from)
	recordable := early && (there == "authorised" || there == "captured") ||
		from == flows.Captured && (there == "captured" || there == "captured, released")
	if recorded := after.posts == 1; after.posts > 1 || recorded != recordable {
		w.Errorf("%d calls to record it, from %s with the money %s", after.posts, from, there)
	}
	if recordable != (end.State == flows.Recorded) && there != "captured, accepted" && from != flows.Recorded {
		w.Errorf("it ended %s (%s)", end.State, end.Reason)
	}
	refunds := from == flows.RefundDue || from == flows.Refunding
	if back := after.refunded > before.refunded; back != (refunds && there == "captured, released") {
		w.Errorf("refunded %d and then %d, from %s", before.refunded, after.refunded, from)
	}
	if after.captured > before.captured && !early {
		w.Errorf("captured from %s", from)
	}
	if over := after.captured > after.refunded; over && !from.Final() {
		w.expectNeverAgain(end)
	}
	gaveUp := from == flows.Refunded || from == flows.Cancelled
	held := gaveUp && after.captured > 0 && after.refunded < after.captured // the processor holds money
	if held != (gaveUp && end.State == flows.Blocked) {
		w.Errorf("%s, and the processor holds %+v: it ended %s (%s)", from, after, end.State, end.Reason)
	}
	if from.Final() && !held && (end.State != from || after != before) {
		w.Errorf("%s became %s: %+v, then %+v", from, end.State, before, after)
	}
}

// expectNeverAgain checks that a buyer whose money is kept is not sent to pay.
func (w *testWorld) expectNeverAgain(p *flows.Payment) {
	w.Helper()
	if view := p.View(); view.Retry != "never" {
		w.Errorf("the money is kept and the buyer sees %s", fmt.Sprintf("%+v", view))
	}
}
