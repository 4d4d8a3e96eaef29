package cards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// TestStates walks a payment through what can happen to it.
func TestStates(t *testing.T) {
	t.Parallel()
	must := func(p *pair, _ any, err error) {
		p.t.Helper()
		if err != nil {
			p.t.Fatal(err)
		}
	}
	enter := func(card string) func(*pair, string) {
		return func(p *pair, id string) { _, err := p.double.Confirm(id, card); must(p, nil, err) }
	}
	answer := func(approved bool) func(*pair, string) {
		return func(p *pair, id string) { _, err := p.double.Approve(id, approved); must(p, nil, err) }
	}
	capture := func(p *pair, id string) { _, err := p.Capture(p.t.Context(), "capture", id, 4990); must(p, nil, err) }
	cancel := func(p *pair, id string) { _, err := p.Cancel(p.t.Context(), "cancel", id); must(p, nil, err) }
	expire := func(p *pair, id string) { _, err := p.double.Expire(id); must(p, nil, err) }
	refund := func(amount int64) func(*pair, string) {
		return func(p *pair, id string) {
			_, err := p.Refund(p.t.Context(), fmt.Sprint("refund", amount), id, amount)
			must(p, nil, err)
		}
	}
	type steps []func(*pair, string)
	for name, test := range map[string]struct {
		do   steps
		want cards.Payment
	}{
		"new":                  {nil, cards.Payment{State: cards.RequiresAction}},
		"declined":             {steps{enter(declinedCard)}, cards.Payment{State: cards.Declined, DeclineCode: "generic_decline"}},
		"without funds":        {steps{enter(poorCard)}, cards.Payment{State: cards.Declined, DeclineCode: "insufficient_funds"}},
		"with an expired card": {steps{enter(expiredCard)}, cards.Payment{State: cards.Declined, DeclineCode: "expired_card"}},
		"with a real card":     {steps{enter("4111111111111111")}, cards.Payment{State: cards.Declined, DeclineCode: "test_mode_live_card"}},
		"challenged":           {steps{enter(challengeCard)}, cards.Payment{State: cards.RequiresAction}},
		"challenge refused": {steps{enter(challengeCard), answer(false)},
			cards.Payment{State: cards.Declined, DeclineCode: "payment_intent_authentication_failure"}},
		"challenge approved":    {steps{enter(challengeCard), answer(true)}, cards.Payment{State: cards.Authorised}},
		"authorised":            {steps{enter(goodCard)}, cards.Payment{State: cards.Authorised}},
		"declined, then not":    {steps{enter(declinedCard), enter(goodCard)}, cards.Payment{State: cards.Authorised}},
		"cancelled at once":     {steps{cancel}, cards.Payment{State: cards.Cancelled}},
		"cancelled when held":   {steps{enter(goodCard), cancel}, cards.Payment{State: cards.Cancelled}},
		"declined and given up": {steps{enter(declinedCard), cancel}, cards.Payment{State: cards.Cancelled}},
		"expired":               {steps{enter(goodCard), expire}, cards.Payment{State: cards.Cancelled}},
		"captured":              {steps{enter(goodCard), capture}, cards.Payment{State: cards.Captured, Captured: 4990}},
		"refunded in part": {steps{enter(goodCard), capture, refund(990)},
			cards.Payment{State: cards.Captured, Captured: 4990, Refunded: 990}},
		"refunded": {steps{enter(goodCard), capture, refund(4990)},
			cards.Payment{State: cards.Refunded, Captured: 4990, Refunded: 4990}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			made := p.created("create")
			for _, step := range test.do {
				step(p, made.ID)
			}
			held := p.get(made.ID)
			got := cards.Payment{State: held.State, DeclineCode: held.DeclineCode, Captured: held.Captured, Refunded: held.Refunded}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if held.Amount != 4990 || held.Currency != "EUR" || held.Metadata["fd_registration"] != "r1" || held.ID != made.ID {
				t.Errorf("the payment changed: %+v", held)
			}
		})
	}
}

// TestCapturing: while the bank decides, an authorised charge tells a capture from a card, also after a declined one.
func TestCapturing(t *testing.T) {
	t.Parallel()
	for settings, want := range map[sandbox.Settings]bool{{Captures: "processing"}: true, {Confirmations: "processing"}: false} {
		pair := newPair(t)
		made := pair.confirmed("create", declinedCard)
		if err := pair.double.Configure("demo", settings); err != nil {
			t.Fatal(err)
		}
		if _, err := pair.double.Confirm(made.ID, goodCard); err != nil {
			t.Fatal(err)
		}
		if held := pair.get(made.ID); held.Capturing {
			t.Errorf("before a capture: %+v", held)
		}
		taken, err := pair.Capture(t.Context(), "capture", made.ID, 4990)
		if want != (err == nil) || want != taken.Capturing {
			t.Errorf("%+v: the capture's response is %+v, %v", settings, taken, err)
		}
		if held := pair.get(made.ID); held.State != cards.Processing || held.Capturing != want {
			t.Errorf("%+v: %+v", settings, held)
		}
		if _, err := pair.double.Approve(made.ID, true); err != nil {
			t.Fatal(err)
		}
		if held := pair.get(made.ID); held.Capturing {
			t.Errorf("once the bank has decided: %+v", held)
		}
	}
}

// TestCaptureBefore: the processor says until when it holds an authorisation, and of nothing else.
func TestCaptureBefore(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	now := pair.clock.Now()
	for before, want := range map[string]time.Time{
		"": now.Add(7 * 24 * time.Hour), "10m": now.Add(10 * time.Minute), "-1m": now.Add(-time.Minute), "none": {},
	} {
		pair.with(sandbox.Settings{CaptureBefore: before})
		made := pair.confirmed("create:"+before, goodCard)
		page, err := pair.List(t.Context(), time.Time{}, "")
		if held := pair.get(made.ID); err != nil || !held.CaptureBefore.Equal(want) || !page.Payments[0].CaptureBefore.Equal(want) {
			t.Errorf("%s: %s, in the list %+v (%v), want %s", before, held.CaptureBefore, page.Payments[0], err, want)
		}
		if taken, err := pair.Capture(t.Context(), "capture:"+before, made.ID, 4990); err != nil || !taken.CaptureBefore.IsZero() {
			t.Errorf("%s: captured: %+v, %v", before, taken, err)
		}
	}
}

// TestOtherStatuses covers the statuses that occur only with other payment methods.
func TestOtherStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]cards.State{
		"processing": cards.Processing, "requires_confirmation": cards.RequiresAction, "succeeded": cards.Captured, "of_the_future": "", "": "",
	} {
		client := canned(t, http.StatusOK, `{"id":"pi_1","object":"payment_intent","amount":500,"currency":"jpy","status":"`+status+`"}`)
		held, err := client.Get(t.Context(), "pi_1")
		if held.State != want || (err == nil) != (want != "") || isOutcome(err) {
			t.Errorf("%q: %+v, %v", status, held, err)
		}
		if err == nil && (held.Amount != 500 || held.Currency != "JPY") {
			t.Errorf("whole yen became %d %s", held.Amount, held.Currency)
		}
	}
}

func TestAnswerAboutAnotherPayment(t *testing.T) {
	t.Parallel()
	client := canned(t, http.StatusOK, `{"id":"pi_other","object":"payment_intent","status":"succeeded"}`)
	for verb, call := range callsOf(client) {
		if held, err := call(t.Context(), "k", "pi_1"); err == nil || isOutcome(err) || held.ID != "" {
			t.Errorf("%s got another payment: %+v, %v", verb, held, err)
		}
	}
}

// TestChargeMustBeExpanded: a payment whose refunds and method of payment cannot be seen is not read, so no step follows from it.
func TestChargeMustBeExpanded(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	made := p.confirmed("c", goodCard)
	p.double.Distort(made.ID, "latest_charge", "ch_1")
	read, err := p.Get(t.Context(), made.ID)
	if err == nil || isOutcome(err) || read.State != "" || !strings.Contains(err.Error(), "not one of the processor's API") {
		t.Errorf("read as %+v, %v", read, err)
	}
}
