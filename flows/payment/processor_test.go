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
			world := newWorld(t)
			gateway := world.Gateway()
			world.setProcessor(sandbox.Settings{CaptureBefore: before})
			payment := world.Authorised(gateway)
			if waits > 0 {
				world.FailCalls(captureCall, 1000)
			}
			if payment = world.advanceFor(gateway, payment, waits); payment.State.Final() {
				t.Fatalf("after less than %s: %s (%s)", waits, payment.State, payment.Reason)
			}
			if payment = world.advanceFor(gateway, payment, 3*time.Minute); payment.State != flows.Cancelled ||
				world.Held(payment).State != cards.Cancelled {
				t.Errorf("%s (%s), and %s at the processor", payment.State, payment.Reason, world.Held(payment).State)
			}
		})
	}
}

// TestAuthorisationEndsBehindTheBrake: a payment that the brake holds back is not captured once its authorisation ends, and its
// buyer no longer reads that the money is reserved.
func TestAuthorisationEndsBehindTheBrake(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	world.engaged(gateway)
	world.setProcessor(sandbox.Settings{CaptureBefore: "10m"})
	payment := world.Authorised(gateway)
	if payment = world.Advance(gateway, payment); !payment.OnHold {
		t.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	world.Clock.Advance(9*time.Minute + time.Second) // and the brake lets a payment pass
	payment = world.Advance(gateway, payment)
	if payment.State != flows.Cancelled || payment.View().Message != flows.MessagePaymentNotConfirmed ||
		world.Held(payment).State != cards.Cancelled {
		t.Errorf("%s (%s), shown as %+v, and %s at the processor", payment.State, payment.Reason, payment.View(), world.Held(payment).State)
	}
}

// TestCancelWhileProcessing: the processor refuses to cancel while it processes the buyer's confirmation.
func TestCancelWhileProcessing(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Started(gateway)
	world.setProcessor(sandbox.Settings{Confirmations: "processing"})
	world.Confirm(payment, goodCard)
	payment = world.Advance(gateway, payment)
	world.Clock.Advance(31 * time.Minute)
	for range 8 {
		if payment = world.Advance(gateway, payment); payment.State != flows.Cancelling {
			t.Fatalf("%s (%s)", payment.State, payment.Reason)
		}
		world.Clock.Advance(20 * time.Second)
	}
	world.settleConfirmation(payment, true)
	if payment = world.advanceFor(gateway, payment, 2*time.Minute); payment.State != flows.Cancelled ||
		world.Held(payment).State != cards.Cancelled {
		t.Errorf("%s (%s), and %s at the processor", payment.State, payment.Reason, world.Held(payment).State)
	}
}

// TestNeverCreatedBlocksNothing: the processor fails to create the payment. The buyer cancels, abandons or pays in
// another way at once.
func TestNeverCreatedBlocksNothing(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*testWorld, *testGateway, *flows.Registration) error{
		"cancel": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			return errorOf(g.Registrations.CancelPayment(w.Context(), r.ID, holderToken))
		},
		"abandon": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			return errorOf(g.Registrations.Abandon(w.Context(), r.ID, holderToken))
		},
		"another way": func(w *testWorld, g *testGateway, r *flows.Registration) error {
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
			world := newWorld(t)
			gateway := world.Gateway()
			registration := world.Registered(gateway)
			world.FailCalls(createCall, 1000)
			if _, err := gateway.Pay(t.Context(), registration.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
				t.Fatalf("started: %v", err)
			}
			view := must(t, func() (flows.View, error) {
				return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
			})
			if !slices.Contains(view.Methods, flows.ByCard) || !slices.Contains(view.Methods, flows.Deferred) {
				t.Errorf("methods: %v", view.Methods)
			}
			if err := act(world, gateway, registration); err != nil {
				t.Error(err)
			}
			if p := world.Stored(gateway, flows.NewPaymentID(registration.ID, 1)); p.State != flows.Cancelled || len(world.HeldAll()) != 0 {
				t.Errorf("%s (%s), and the processor holds %+v", p.State, p.Reason, world.HeldAll())
			}
		})
	}
}

// TestCreatedAfterAll: the response to the creation was lost. The payment is cancelled at the processor, too.
func TestCreatedAfterAll(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	r := world.Registered(gateway)
	world.storeError(createCall, "after")
	if _, err := gateway.Pay(t.Context(), r.ID); err == nil {
		t.Fatal("it was started")
	}
	if _, err := gateway.Registrations.CancelPayment(t.Context(), r.ID, holderToken); err != nil {
		t.Error(err)
	}
	if all := world.HeldAll(); len(all) != 1 || all[0].State != cards.Cancelled {
		t.Errorf("the processor holds %+v", all)
	}
}

// TestCreationRefused: the processor refuses the amount for good. The buyer reads so, and pays in another way.
func TestCreationRefused(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	problems := 0
	gateway := world.Gateway(gatewayOptions{OnProblem: func(problem string) {
		if problem == payment.ProblemCreationRefused {
			problems++
		}
	}})
	registration := world.Registered(gateway)
	world.Inject(callFault{Call: createCall, Fail: 1, Status: http.StatusBadRequest})
	p := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
	if p.State != flows.Cancelled || p.View().Message != flows.MessagePaymentCardRefused || problems != 1 {
		t.Errorf("%s (%s), %s, counted %d times", p.State, p.Reason, p.View().Message, problems)
	}
	view := must(t, func() (flows.View, error) {
		return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
	})
	if slices.Contains(view.Methods, flows.ByCard) || len(view.Methods) == 0 {
		t.Errorf("methods: %v", view.Methods)
	}
	if _, err := gateway.Pay(t.Context(), registration.ID); flows.CodeOf(err) != flows.MethodNotOffered || len(world.HeldAll()) != 0 {
		t.Errorf("again by card: %v", err)
	}
}

// TestKeyWithoutCharges: a restricted key may not read charges, with which every call shows refunds. No buyer can pay with
// it, also if the permission is taken away later, and what was reserved before continues when it is back.
func TestKeyWithoutCharges(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	refusals := 0
	gateway := world.Gateway(gatewayOptions{OnProblem: func(problem string) {
		if problem == payment.ProblemCreationRefused {
			refusals++
		}
	}})
	refused := func(made int) {
		t.Helper()
		registration := world.Registered(gateway)
		if _, err := gateway.Pay(t.Context(), registration.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
			t.Errorf("payment by card: %v", err)
		}
		if all := world.HeldAll(); len(all) != made {
			t.Errorf("the processor has %+v", all)
		}
		if p := world.Stored(gateway, flows.NewPaymentID(registration.ID, 1)); p.State != flows.Priced || p.ClientSecret != "" {
			t.Errorf("%s (%s), and the buyer can pay: %t", p.State, p.Reason, p.ClientSecret != "")
		}
	}
	world.Sandbox.ForbidCharges(true)
	refused(0)
	world.Sandbox.ForbidCharges(false)
	paid := world.Started(gateway)
	world.Confirm(paid, goodCard)
	world.Sandbox.ForbidCharges(true)
	if refused(2); refusals != 1 { // no buyer has the secret of the second one
		t.Errorf("the refused creation is counted %d times", refusals)
	}
	if _, err := gateway.Advance(t.Context(), paid.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
		t.Errorf("the reserved one without the permission: %v", err)
	}
	world.Sandbox.ForbidCharges(false)
	if paid = world.Advance(gateway, paid); paid.State != flows.Recorded {
		t.Errorf("the reserved one: %s (%s)", paid.State, paid.Reason)
	}
}

// TestEveryDeclineCounts: failed bank challenges make no charge, and a list of charges can fail. Neither stops the payment,
// and the fifth decline ends it.
func TestEveryDeclineCounts(t *testing.T) {
	t.Parallel()
	for name, unlisted := range map[string]bool{"failed challenges": false, "charges cannot be listed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Started(gateway)
			if unlisted {
				world.FailCalls("GET /sandbox/v1/charges", 1000)
			}
			for n := range flows.MaxDeclines {
				card := declinedCard
				if !unlisted {
					card = bankAsks
				}
				world.Confirm(payment, card)
				if !unlisted {
					world.answerChallenge(payment, false)
				}
				if payment = world.Advance(gateway, payment); n+1 < flows.MaxDeclines && (!payment.Declined() || payment.Declines != n+1) {
					t.Fatalf("after %d declines: %s (%s), %d counted", n+1, payment.State, payment.Reason, payment.Declines)
				}
			}
			if held, _ := world.Sandbox.Payment(payment.ProcessorID); payment.State != flows.Cancelled || held.Status != "canceled" {
				t.Errorf("%s (%s), and %s at the processor", payment.State, payment.Reason, held.Status)
			}
		})
	}
}

// TestUnreadableRecordEndsNoList: another program's payment has a status that this version does not know, or a field of
// another type. The lost payment behind it in the list is rebuilt, and each such record is counted once.
func TestUnreadableRecordEndsNoList(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	problems := 0
	gateway := world.Gateway(gatewayOptions{OnProblem: func(problem string) {
		if problem == payment.ProblemUnreadable {
			problems++
		}
	}})
	paid := world.Started(gateway)
	world.Confirm(paid, goodCard)
	world.Clock.Advance(time.Second)
	for field, value := range map[string]any{"status": "requires_reconciliation", "amount": map[string]any{"value": "4990"}} {
		foreign := must(t, func() (cards.Payment, error) {
			return world.Processor.Create(t.Context(), field, cards.NewPayment{Amount: 4990, Currency: "EUR"})
		})
		world.Sandbox.Distort(foreign.ID, field, value)
	}
	world.Wipe()
	world.rebuild(gateway)
	world.rebuild(gateway)
	if paid = world.Advance(gateway, paid); paid.State != flows.Recorded || len(world.Lines(paid)) != 1 || problems != 2 {
		t.Errorf("%s (%s), the ledger holds %+v; counted %d times", paid.State, paid.Reason, world.Lines(paid), problems)
	}
}

// TestUnreadableRecordOfOurs: the processor's record of a payment that Redis has lost cannot be decoded. Operators see the
// payment until it is readable again, which then continues, or until they end it.
func TestUnreadableRecordOfOurs(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"readable again": false, "ended": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.Started(gateway)
			world.Confirm(paid, goodCard)
			world.Sandbox.Distort(paid.ProcessorID, "last_payment_error", "never")
			world.rebuild(gateway)
			world.expectListed(gateway) // Redis has it
			world.Wipe()
			world.rebuild(gateway)
			world.expectListed(gateway, paid.ProcessorID+" unverifiable")
			detail := must(t, func() (payment.Detail, error) { return gateway.Show(t.Context(), flows.PaymentID(paid.ProcessorID)) })
			if detail.AtProcessor != nil || detail.Amount != paid.Amount || !strings.Contains(detail.Reason, "cannot be read") ||
				strings.Contains(strings.Join(detail.Advice, " "), "seal key") ||
				!slices.Equal(detail.Commands, []string{"frontdesk payments end " + paid.ProcessorID}) {
				t.Errorf("shown: %+v", detail)
			}
			if ends {
				result := must(t, func() (payment.ResolutionResult, error) {
					return gateway.EndUnverifiable(t.Context(), flows.PaymentID(paid.ProcessorID), "ada")
				})
				if len(result.Warnings) != 1 {
					t.Errorf("%+v", result)
				}
				world.expectListed(gateway)
			}
			world.Sandbox.Distort(paid.ProcessorID, "last_payment_error", nil)
			world.rebuild(gateway)
			world.expectListed(gateway)
			if ends {
				world.settleAll(gateway)
				if held, _ := world.Sandbox.Payment(paid.ProcessorID); held.Status != "requires_capture" || world.Posted() != 0 {
					t.Errorf("an ended payment is %s, and was recorded %d times", held.Status, world.Posted())
				}
				return
			}
			if paid = world.Advance(gateway, paid); paid.State != flows.Recorded || len(world.Lines(paid)) != 1 {
				t.Errorf("%s (%s), the ledger holds %+v", paid.State, paid.Reason, world.Lines(paid))
			}
		})
	}
}
