package payment_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// TestAuthorisationThatEndsEarlier: the processor holds the authorisation for less than an hour, and does not cancel the payment
// when that is over. Nothing is captured then.
func TestAuthorisationThatEndsEarlier(t *testing.T) {
	t.Parallel()
	for before, waits := range map[string]time.Duration{"10m": 8 * time.Minute, "2h": 59 * time.Minute, "none": 59 * time.Minute, "-1m": 0} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			w.setProcessor(sandbox.Settings{CaptureBefore: before})
			p := w.Authorised(g)
			if waits > 0 {
				w.FailCalls(captureCall, 1000)
			}
			if p = w.advanceFor(g, p, waits); p.State.Final() {
				t.Fatalf("after less than %s: %s (%s)", waits, p.State, p.Reason)
			}
			if p = w.advanceFor(g, p, 3*time.Minute); p.State != flows.Cancelled || w.Held(p).State != cards.Cancelled {
				t.Errorf("%s (%s), and %s at the processor", p.State, p.Reason, w.Held(p).State)
			}
		})
	}
}

// TestAuthorisationEndsBehindTheBrake: a payment that the brake holds back is not captured once its authorisation ends, and its
// buyer no longer reads that the money is reserved.
func TestAuthorisationEndsBehindTheBrake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	w.engaged(g)
	w.setProcessor(sandbox.Settings{CaptureBefore: "10m"})
	p := w.Authorised(g)
	if p = w.Advance(g, p); !p.OnHold {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	w.Clock.Advance(9*time.Minute + time.Second) // and the brake lets a payment pass
	p = w.Advance(g, p)
	if p.State != flows.Cancelled || p.View().Message != flows.MessagePaymentNotConfirmed || w.Held(p).State != cards.Cancelled {
		t.Errorf("%s (%s), shown as %+v, and %s at the processor", p.State, p.Reason, p.View(), w.Held(p).State)
	}
}

// TestCancelWhileProcessing: the processor refuses to cancel while it processes the buyer's confirmation.
func TestCancelWhileProcessing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Started(g)
	w.setProcessor(sandbox.Settings{Confirmations: "processing"})
	w.Confirm(p, goodCard)
	p = w.Advance(g, p)
	w.Clock.Advance(31 * time.Minute)
	for range 8 {
		if p = w.Advance(g, p); p.State != flows.Cancelling {
			t.Fatalf("%s (%s)", p.State, p.Reason)
		}
		w.Clock.Advance(20 * time.Second)
	}
	w.settleConfirmation(p, true)
	if p = w.advanceFor(g, p, 2*time.Minute); p.State != flows.Cancelled || w.Held(p).State != cards.Cancelled {
		t.Errorf("%s (%s), and %s at the processor", p.State, p.Reason, w.Held(p).State)
	}
}

// TestNeverCreatedBlocksNothing: the processor fails to create the payment. The buyer cancels, abandons or pays in
// another way at once.
func TestNeverCreatedBlocksNothing(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*world, *gateway, *flows.Registration) error{
		"cancel": func(w *world, g *gateway, r *flows.Registration) error {
			return errorOf(g.Registrations.CancelPayment(w.Context(), r.ID, holderToken))
		},
		"abandon": func(w *world, g *gateway, r *flows.Registration) error {
			return errorOf(g.Registrations.Abandon(w.Context(), r.ID, holderToken))
		},
		"another way": func(w *world, g *gateway, r *flows.Registration) error {
			due := w.Clock.Now().AddDate(0, 0, 14).Format(time.DateOnly)
			p, err := g.PayWith(w.Context(), r.ID, holderToken, flows.StartPayment{Method: flows.Deferred, DueDate: due})
			if err == nil && (p.Method != flows.Deferred || p.State != flows.Recorded) {
				w.Errorf("%s by %s (%s)", p.State, p.Method, p.Reason)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			r := w.Registered(g)
			w.FailCalls(createCall, 1000)
			if _, err := g.Pay(t.Context(), r.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
				t.Fatalf("started: %v", err)
			}
			view := must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, holderToken) })
			if !slices.Contains(view.Methods, flows.ByCard) || !slices.Contains(view.Methods, flows.Deferred) {
				t.Errorf("methods: %v", view.Methods)
			}
			if err := act(w, g, r); err != nil {
				t.Error(err)
			}
			if p := w.Stored(g, flows.NewPaymentID(r.ID, 1)); p.State != flows.Cancelled || len(w.HeldAll()) != 0 {
				t.Errorf("%s (%s), and the processor holds %+v", p.State, p.Reason, w.HeldAll())
			}
		})
	}
}

// TestCreatedAfterAll: the response to the creation was lost. The payment is cancelled at the processor, too.
func TestCreatedAfterAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	r := w.Registered(g)
	w.storeError(createCall, "after")
	if _, err := g.Pay(t.Context(), r.ID); err == nil {
		t.Fatal("it was started")
	}
	if _, err := g.Registrations.CancelPayment(t.Context(), r.ID, holderToken); err != nil {
		t.Error(err)
	}
	if all := w.HeldAll(); len(all) != 1 || all[0].State != cards.Cancelled {
		t.Errorf("the processor holds %+v", all)
	}
}

// TestCreationRefused: the processor refuses the amount for good. The buyer reads so, and pays in another way.
func TestCreationRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	problems := 0
	g := w.Gateway(gatewayOptions{OnProblem: func(problem string) {
		if problem == payment.ProblemCreationRefused {
			problems++
		}
	}})
	r := w.Registered(g)
	w.Inject(callFault{Call: createCall, Fail: 1, Status: http.StatusBadRequest})
	p := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), r.ID) })
	if p.State != flows.Cancelled || p.View().Message != flows.MessagePaymentCardRefused || problems != 1 {
		t.Errorf("%s (%s), %s, counted %d times", p.State, p.Reason, p.View().Message, problems)
	}
	view := must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, holderToken) })
	if slices.Contains(view.Methods, flows.ByCard) || len(view.Methods) == 0 {
		t.Errorf("methods: %v", view.Methods)
	}
	if _, err := g.Pay(t.Context(), r.ID); flows.CodeOf(err) != flows.MethodNotOffered || len(w.HeldAll()) != 0 {
		t.Errorf("again by card: %v", err)
	}
}

// TestKeyWithoutCharges: a restricted key may not read charges, with which every call shows refunds. No buyer can pay with
// it, also if the permission is taken away later, and what was reserved before continues when it is back.
func TestKeyWithoutCharges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refusals := 0
	g := w.Gateway(gatewayOptions{OnProblem: func(problem string) {
		if problem == payment.ProblemCreationRefused {
			refusals++
		}
	}})
	refused := func(made int) {
		t.Helper()
		r := w.Registered(g)
		if _, err := g.Pay(t.Context(), r.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
			t.Errorf("payment by card: %v", err)
		}
		if all := w.HeldAll(); len(all) != made {
			t.Errorf("the processor has %+v", all)
		}
		if p := w.Stored(g, flows.NewPaymentID(r.ID, 1)); p.State != flows.Priced || p.ClientSecret != "" {
			t.Errorf("%s (%s), and the buyer can pay: %t", p.State, p.Reason, p.ClientSecret != "")
		}
	}
	w.Sandbox.ForbidCharges(true)
	refused(0)
	w.Sandbox.ForbidCharges(false)
	p := w.Started(g)
	w.Confirm(p, goodCard)
	w.Sandbox.ForbidCharges(true)
	if refused(2); refusals != 1 { // no buyer has the secret of the second one
		t.Errorf("the refused creation is counted %d times", refusals)
	}
	if _, err := g.Advance(t.Context(), p.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
		t.Errorf("the reserved one without the permission: %v", err)
	}
	w.Sandbox.ForbidCharges(false)
	if p = w.Advance(g, p); p.State != flows.Recorded {
		t.Errorf("the reserved one: %s (%s)", p.State, p.Reason)
	}
}

// TestEveryDeclineCounts: failed bank challenges make no charge, and a list of charges can fail. Neither stops the payment,
// and the fifth decline ends it.
func TestEveryDeclineCounts(t *testing.T) {
	t.Parallel()
	for name, unlisted := range map[string]bool{"failed challenges": false, "charges cannot be listed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Started(g)
			if unlisted {
				w.FailCalls("GET /sandbox/v1/charges", 1000)
			}
			for n := range flows.MaxDeclines {
				card := declinedCard
				if !unlisted {
					card = bankAsks
				}
				w.Confirm(p, card)
				if !unlisted {
					w.answerChallenge(p, false)
				}
				if p = w.Advance(g, p); n+1 < flows.MaxDeclines && (!p.Declined() || p.Declines != n+1) {
					t.Fatalf("after %d declines: %s (%s), %d counted", n+1, p.State, p.Reason, p.Declines)
				}
			}
			if held, _ := w.Sandbox.Payment(p.ProcessorID); p.State != flows.Cancelled || held.Status != "canceled" {
				t.Errorf("%s (%s), and %s at the processor", p.State, p.Reason, held.Status)
			}
		})
	}
}

// TestUnreadableRecordEndsNoList: another program's payment has a status that this version does not know, or a field of
// another type. The lost payment behind it in the list is rebuilt, and each such record is counted once.
func TestUnreadableRecordEndsNoList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	problems := 0
	g := w.Gateway(gatewayOptions{OnProblem: func(problem string) {
		if problem == payment.ProblemUnreadable {
			problems++
		}
	}})
	p := w.Started(g)
	w.Confirm(p, goodCard)
	w.Clock.Advance(time.Second)
	for field, value := range map[string]any{"status": "requires_reconciliation", "amount": map[string]any{"value": "4990"}} {
		foreign := must(t, func() (cards.Payment, error) {
			return w.Processor.Create(t.Context(), field, cards.NewPayment{Amount: 4990, Currency: "EUR"})
		})
		w.Sandbox.Distort(foreign.ID, field, value)
	}
	w.Wipe()
	w.rebuild(g)
	w.rebuild(g)
	if p = w.Advance(g, p); p.State != flows.Recorded || len(w.Lines(p)) != 1 || problems != 2 {
		t.Errorf("%s (%s), the ledger holds %+v; counted %d times", p.State, p.Reason, w.Lines(p), problems)
	}
}

// TestUnreadableRecordOfOurs: the processor's record of a payment that Redis has lost cannot be decoded. Operators see the
// payment until it is readable again, which then continues, or until they end it.
func TestUnreadableRecordOfOurs(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"readable again": false, "ended": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Started(g)
			w.Confirm(p, goodCard)
			w.Sandbox.Distort(p.ProcessorID, "last_payment_error", "never")
			w.rebuild(g)
			w.expectListed(g) // Redis has it
			w.Wipe()
			w.rebuild(g)
			w.expectListed(g, p.ProcessorID+" unverifiable")
			detail := must(t, func() (payment.Detail, error) { return g.Show(t.Context(), flows.PaymentID(p.ProcessorID)) })
			if detail.AtProcessor != nil || detail.Amount != p.Amount || !strings.Contains(detail.Reason, "cannot be read") ||
				strings.Contains(strings.Join(detail.Advice, " "), "seal key") ||
				!slices.Equal(detail.Commands, []string{"frontdesk payments end " + p.ProcessorID}) {
				t.Errorf("shown: %+v", detail)
			}
			if ends {
				result := must(t, func() (payment.ResolutionResult, error) {
					return g.EndUnverifiable(t.Context(), flows.PaymentID(p.ProcessorID), "ada")
				})
				if len(result.Warnings) != 1 {
					t.Errorf("%+v", result)
				}
				w.expectListed(g)
			}
			w.Sandbox.Distort(p.ProcessorID, "last_payment_error", nil)
			w.rebuild(g)
			w.expectListed(g)
			if ends {
				w.settleAll(g)
				if held, _ := w.Sandbox.Payment(p.ProcessorID); held.Status != "requires_capture" || w.Posted() != 0 {
					t.Errorf("an ended payment is %s, and was recorded %d times", held.Status, w.Posted())
				}
				return
			}
			if p = w.Advance(g, p); p.State != flows.Recorded || len(w.Lines(p)) != 1 {
				t.Errorf("%s (%s), the ledger holds %+v", p.State, p.Reason, w.Lines(p))
			}
		})
	}
}
