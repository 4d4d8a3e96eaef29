package payment_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// TestOperatorWhileTheBankDecides: while a bank decides about a card or about a capture, an operator finds the payment by its state
// and its age, and can decide nothing: it is not known yet whether there is money. What the bank decides then counts.
func TestOperatorWhileTheBankDecides(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		begin func(*testWorld, *testGateway) *flows.Payment
		state flows.PaymentState
	}{
		"about a card": {func(w *testWorld, g *testGateway) *flows.Payment {
			p := w.Started(g)
			w.setProcessor(sandbox.Settings{Confirmations: "processing"})
			w.Confirm(p, goodCard)
			return w.Advance(g, p)
		}, flows.Intent},
		"about a capture": {(*testWorld).beingCaptured, flows.Capturing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := test.begin(world, gateway)
			since := paid.StateSince()
			world.setProcessor(sandbox.Settings{})
			decided := false
			world.InjectFault(getCall, func() { // an operator decides while a gateway reads the payment
				decided = true
				refusal := "The payment is " + string(test.state)
				world.expectRefusal(gateway, paid, errorOf(gateway.ConfirmRecorded(t.Context(), paid.ID, ada)), flows.NotDecidable, refusal)
				for _, then := range []payment.Resolution{payment.SendAgain, payment.Refund, payment.Cancel} {
					world.expectRefusal(gateway, paid, errorOf(gateway.ConfirmNotRecorded(t.Context(), paid.ID, then, ada)), flows.NotDecidable, refusal)
				}
			}, nil)
			world.Clock.Advance(20 * time.Minute)
			if paid = world.Advance(gateway, paid); !decided {
				t.Error("no operator decided")
			}
			page := must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{State: test.state}) })
			counts := must(t, func() (map[flows.PaymentState]store.StateCount, error) { return gateway.Counts(t.Context()) })
			old := counts[test.state]
			if len(page.Items) != 1 || page.Items[0].ID != paid.ID || old.Payments != 1 || !old.Oldest.Equal(since.Truncate(time.Millisecond)) {
				t.Errorf("listed %+v, counted %+v, want since %s", page.Items, old, since)
			}
			world.settleConfirmation(paid, true)
			if paid = world.advanceFor(gateway, paid, time.Minute); paid.State != flows.Recorded || len(world.Lines(paid)) != 1 {
				t.Errorf("%s (%s), the ledger holds %+v", paid.State, paid.Reason, world.Lines(paid))
			}
		})
	}
}

// TestCaptureThatIsNeverDecided: a payment whose bank never decides stays as it is for days, is found by its state, and is
// counted as old as it is, which an alert is about.
func TestCaptureThatIsNeverDecided(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	paid := world.beingCaptured(gateway)
	since := paid.StateSince()
	for range 6 {
		world.Clock.Advance(12 * time.Hour)
		world.rebuild(gateway)
		paid = world.Advance(gateway, paid)
	}
	counts := must(t, func() (map[flows.PaymentState]store.StateCount, error) { return gateway.Counts(t.Context()) })
	page := must(t, func() (payment.Page, error) {
		return gateway.List(t.Context(), payment.ListOptions{State: flows.Capturing})
	})
	if old := counts[flows.Capturing]; paid.State != flows.Capturing || world.captures(paid) != 1 || len(page.Items) != 1 ||
		!old.Oldest.Equal(since.Truncate(time.Millisecond)) {
		t.Errorf("%s (%s), %d captures, counted %+v, want since %s, listed %+v", paid.State, paid.Reason, world.captures(paid), old, since,
			page.Items)
	}
}

// TestDisputeBeforeItIsRecorded: the buyer demands the money back before the payment is recorded, or while that is in doubt.
// The event neither refunds nor records anything. Once the payment is recorded, operators see the dispute until one confirms.
func TestDisputeBeforeItIsRecorded(t *testing.T) {
	t.Parallel()
	decide := func(then payment.Resolution) func(*testWorld, *testGateway, *flows.Payment) {
		return func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.Clock.Advance(16 * time.Minute)
			w.mustDecide(g, p, then)
		}
	}
	doubt := func(kind string) func(*testWorld, *testGateway) *flows.Payment {
		return func(w *testWorld, g *testGateway) *flows.Payment { return w.Doubtful(g, kind) }
	}
	for name, test := range map[string]struct {
		begin func(*testWorld, *testGateway) *flows.Payment
		state flows.PaymentState // while it is disputed
		end   func(*testWorld, *testGateway, *flows.Payment)
		want  flows.PaymentState
	}{
		"captured": {func(w *testWorld, g *testGateway) *flows.Payment {
			p := w.Authorised(g)
			w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
			return w.Advance(g, p)
		}, flows.Captured, func(w *testWorld, _ *testGateway, _ *flows.Payment) { w.Clock.Advance(time.Minute) }, flows.Recorded},
		"in doubt, and recorded": {doubt("drop_after"), flows.InDoubt, func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.confirmRecorded(g, p)
		}, flows.Recorded},
		"in doubt, and sent again":   {doubt("error_before"), flows.InDoubt, decide(payment.SendAgain), flows.Recorded},
		"in doubt, and not refunded": {doubt("error_before"), flows.InDoubt, decide(payment.Refund), flows.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := test.begin(world, gateway)
			world.Handle(gateway, world.dispute(paid))
			posted := world.Posted()
			if paid = world.Advance(gateway, paid); paid.State != test.state || world.Posted() != posted || world.Held(paid).Refunded != 0 {
				t.Fatalf("after the event: %s (%s), recorded %d times more", paid.State, paid.Reason, world.Posted()-posted)
			}
			test.end(world, gateway, paid)
			paid = world.advanceFor(gateway, paid, time.Minute)
			if test.want == flows.Blocked {
				if paid.State != flows.Blocked || world.Held(paid).Refunded != 0 || len(world.Lines(paid)) != 0 {
					t.Errorf("%s (%s), the ledger holds %+v", paid.State, paid.Reason, world.Lines(paid))
				}
				world.expectListed(gateway, string(paid.ID)+" blocked")
				return
			}
			world.expectFindingAfter(2*time.Minute, gateway, paid, flows.Contradicted)
			world.Clock.Advance(time.Hour)
			world.rebuild(gateway)
			world.expectFindingAfter(2*time.Minute, gateway, paid, flows.Contradicted)
			if lines := world.Lines(paid); len(lines) != 1 {
				t.Errorf("the ledger holds %+v", lines)
			}
			world.confirmRecorded(gateway, paid)
			world.expectFinding(gateway, paid, "")
		})
	}
}

// TestCancelledByTheProcessor: the processor cancels a payment because the bank's authorisation ran out. Nothing is taken or
// recorded, whether its event arrives or not, and the buyer can pay again.
func TestCancelledByTheProcessor(t *testing.T) {
	t.Parallel()
	expire := func(w *testWorld, p *flows.Payment) {
		w.Helper()
		must(w, func() (sandbox.Payment, error) { return w.Sandbox.Expire(p.ProcessorID) })
	}
	for name, end := range map[string]func(*testWorld, *testGateway, *flows.Payment){
		"with its event": func(w *testWorld, g *testGateway, p *flows.Payment) {
			expire(w, p)
			w.Handle(g, w.EventOf(p, "payment_intent.canceled"))
		},
		"without its event": func(w *testWorld, _ *testGateway, p *flows.Payment) { expire(w, p) },
		"before the capture": func(w *testWorld, _ *testGateway, p *flows.Payment) {
			w.InjectFault(captureCall, func() { expire(w, p) }, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			end(world, gateway, payment)
			if payment = world.advanceFor(gateway, payment, time.Minute); payment.State != flows.Cancelled || world.Posted() != 0 ||
				world.Held(payment).Captured != 0 {
				t.Errorf("%s (%s), and %+v at the processor", payment.State, payment.Reason, world.Held(payment))
			}
			again := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), payment.Registration) })
			world.Confirm(again, goodCard)
			if again = world.advanceFor(gateway, again, time.Minute); again.State != flows.Recorded || again.ID == payment.ID {
				t.Errorf("paid again: %s %s (%s)", again.ID, again.State, again.Reason)
			}
		})
	}
}

// TestClaimMeetsAnotherCall: the processor refuses a claim because another call holds the payment, for longer than a claim may be
// used. Nothing is sent under it; the next one records the payment once.
func TestClaimMeetsAnotherCall(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	now := make(chan time.Time)
	close(now)
	gateway := world.Gateway(gatewayOptions{Cards: cards.Config{After: func(time.Duration) <-chan time.Time {
		world.Clock.Advance(time.Second)
		return now
	}}})
	payment := world.Authorised(gateway)
	conflict := sandbox.Fault{Method: http.MethodPost, Path: "/v1/payment_intents/*", Param: "metadata", Status: http.StatusConflict}
	conflict.Times = 12
	locked := world.Sandbox.Inject(conflict)
	payment = world.Advance(gateway, payment)
	if payment.State != flows.Captured || world.Posted() != 0 || locked.Hits() != 12 ||
		world.Held(payment).Metadata["fd_release_1"] != payment.AttemptID {
		t.Errorf("%s (%s), recorded %d times, %d refusals, journal %+v", payment.State, payment.Reason, world.Posted(), locked.Hits(),
			world.Held(payment).Metadata)
	}
	if payment = world.advanceFor(gateway, payment, 2*time.Minute); payment.State != flows.Recorded || payment.Claim != 2 ||
		world.Posted() != 1 || len(world.Lines(payment)) != 1 {
		t.Errorf("%s (%s) with claim %d, recorded %d times", payment.State, payment.Reason, payment.Claim, world.Posted())
	}
}

// staleReads gives the first response about a payment again, a number of times.
type staleReads struct {
	body []byte
	left int
}

// RoundTrip sends the request, unless it is a reading that is stale.
func (s *staleReads) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK || !getCall.Matches(r) {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if bytes.Contains(body, []byte(`"status":"requires_capture"`)) && s.body == nil {
		s.body = body
	} else if s.left > 0 && s.body != nil {
		s.left--
		body = s.body
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// TestStaleReadAfterACapture: after the bank took the money, the processor still shows the payment as authorised. It is never captured
// twice, and never ends as cancelled: it is recorded, or operators see that the money was taken.
func TestStaleReadAfterACapture(t *testing.T) {
	t.Parallel()
	for stale, want := range []flows.PaymentState{flows.Recorded, flows.Recorded, flows.Blocked} {
		world := newWorld(t)
		wire := &staleReads{}
		gateway := world.Gateway(gatewayOptions{Cards: cards.Config{HTTPClient: &http.Client{Transport: wire}}})
		paid := world.beingCaptured(gateway)
		world.settleConfirmation(paid, true)
		world.setProcessor(sandbox.Settings{})
		wire.left = stale
		paid = world.advanceFor(gateway, paid, 2*time.Minute)
		if held := world.Held(paid); paid.State != want || held.State != cards.Captured || held.Captured != paid.Amount || wire.left != 0 {
			t.Errorf("%d stale: %s (%s), %s at the processor, %d stale readings left", stale, paid.State, paid.Reason, held.State, wire.left)
		}
		if want == flows.Blocked {
			world.expectListed(gateway, string(paid.ID)+" blocked")
			world.Clock.Advance(16 * time.Minute)
			world.mustDecide(gateway, paid, payment.Refund)
			paid = world.advanceFor(gateway, paid, time.Minute)
			if paid.State != flows.Refunded || len(world.Lines(paid)) != 0 {
				t.Errorf("%s (%s), the ledger holds %+v", paid.State, paid.Reason, world.Lines(paid))
			}
		}
	}
}
