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
	for name, c := range map[string]struct {
		begin func(*world, *gateway) *flows.Payment
		state flows.PaymentState
	}{
		"about a card": {func(w *world, g *gateway) *flows.Payment {
			p := w.Started(g)
			w.setProcessor(sandbox.Settings{Confirmations: "processing"})
			w.Confirm(p, goodCard)
			return w.Advance(g, p)
		}, flows.Intent},
		"about a capture": {(*world).beingCaptured, flows.Capturing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := c.begin(w, g)
			since := p.StateSince()
			w.setProcessor(sandbox.Settings{})
			decided := false
			w.InjectFault(getCall, func() { // an operator decides while a gateway reads the payment
				decided = true
				refusal := "The payment is " + string(c.state)
				w.expectRefusal(g, p, errorOf(g.ConfirmRecorded(t.Context(), p.ID, ada)), flows.NotDecidable, refusal)
				for _, then := range []payment.Resolution{payment.SendAgain, payment.Refund, payment.Cancel} {
					w.expectRefusal(g, p, errorOf(g.ConfirmNotRecorded(t.Context(), p.ID, then, ada)), flows.NotDecidable, refusal)
				}
			}, nil)
			w.Clock.Advance(20 * time.Minute)
			if p = w.Advance(g, p); !decided {
				t.Error("no operator decided")
			}
			page := must(t, func() (payment.Page, error) { return g.List(t.Context(), payment.ListOptions{State: c.state}) })
			counts := must(t, func() (map[flows.PaymentState]store.StateCount, error) { return g.Counts(t.Context()) })
			old := counts[c.state]
			if len(page.Items) != 1 || page.Items[0].ID != p.ID || old.Payments != 1 || !old.Oldest.Equal(since.Truncate(time.Millisecond)) {
				t.Errorf("listed %+v, counted %+v, want since %s", page.Items, old, since)
			}
			w.settleConfirmation(p, true)
			if p = w.advanceFor(g, p, time.Minute); p.State != flows.Recorded || len(w.Lines(p)) != 1 {
				t.Errorf("%s (%s), the ledger holds %+v", p.State, p.Reason, w.Lines(p))
			}
		})
	}
}

// TestCaptureThatIsNeverDecided: a payment whose bank never decides stays as it is for days, is found by its state, and is
// counted as old as it is, which an alert is about.
func TestCaptureThatIsNeverDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.beingCaptured(g)
	since := p.StateSince()
	for range 6 {
		w.Clock.Advance(12 * time.Hour)
		w.rebuild(g)
		p = w.Advance(g, p)
	}
	counts := must(t, func() (map[flows.PaymentState]store.StateCount, error) { return g.Counts(t.Context()) })
	page := must(t, func() (payment.Page, error) { return g.List(t.Context(), payment.ListOptions{State: flows.Capturing}) })
	if old := counts[flows.Capturing]; p.State != flows.Capturing || w.captures(p) != 1 || len(page.Items) != 1 ||
		!old.Oldest.Equal(since.Truncate(time.Millisecond)) {
		t.Errorf("%s (%s), %d captures, counted %+v, want since %s, listed %+v", p.State, p.Reason, w.captures(p), old, since, page.Items)
	}
}

// TestDisputeBeforeItIsRecorded: the buyer demands the money back before the payment is recorded, or while that is in doubt.
// The event neither refunds nor records anything. Once the payment is recorded, operators see the dispute until one confirms.
func TestDisputeBeforeItIsRecorded(t *testing.T) {
	t.Parallel()
	decide := func(then payment.Resolution) func(*world, *gateway, *flows.Payment) {
		return func(w *world, g *gateway, p *flows.Payment) {
			w.Clock.Advance(16 * time.Minute)
			w.mustDecide(g, p, then)
		}
	}
	doubt := func(kind string) func(*world, *gateway) *flows.Payment {
		return func(w *world, g *gateway) *flows.Payment { return w.Doubtful(g, kind) }
	}
	for name, c := range map[string]struct {
		begin func(*world, *gateway) *flows.Payment
		state flows.PaymentState // while it is disputed
		end   func(*world, *gateway, *flows.Payment)
		want  flows.PaymentState
	}{
		"captured": {func(w *world, g *gateway) *flows.Payment {
			p := w.Authorised(g)
			w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
			return w.Advance(g, p)
		}, flows.Captured, func(w *world, _ *gateway, _ *flows.Payment) { w.Clock.Advance(time.Minute) }, flows.Recorded},
		"in doubt, and recorded": {doubt("drop_after"), flows.InDoubt, func(w *world, g *gateway, p *flows.Payment) {
			w.confirmRecorded(g, p)
		}, flows.Recorded},
		"in doubt, and sent again":   {doubt("error_before"), flows.InDoubt, decide(payment.SendAgain), flows.Recorded},
		"in doubt, and not refunded": {doubt("error_before"), flows.InDoubt, decide(payment.Refund), flows.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := c.begin(w, g)
			w.Handle(g, w.dispute(p))
			posted := w.Posted()
			if p = w.Advance(g, p); p.State != c.state || w.Posted() != posted || w.Held(p).Refunded != 0 {
				t.Fatalf("after the event: %s (%s), recorded %d times more", p.State, p.Reason, w.Posted()-posted)
			}
			c.end(w, g, p)
			p = w.advanceFor(g, p, time.Minute)
			if c.want == flows.Blocked {
				if p.State != flows.Blocked || w.Held(p).Refunded != 0 || len(w.Lines(p)) != 0 {
					t.Errorf("%s (%s), the ledger holds %+v", p.State, p.Reason, w.Lines(p))
				}
				w.expectListed(g, string(p.ID)+" blocked")
				return
			}
			w.expectFindingAfter(2*time.Minute, g, p, flows.Contradicted)
			w.Clock.Advance(time.Hour)
			w.rebuild(g)
			w.expectFindingAfter(2*time.Minute, g, p, flows.Contradicted)
			if lines := w.Lines(p); len(lines) != 1 {
				t.Errorf("the ledger holds %+v", lines)
			}
			w.confirmRecorded(g, p)
			w.expectFinding(g, p, "")
		})
	}
}

// TestCancelledByTheProcessor: the processor cancels a payment because the bank's authorisation ran out. Nothing is taken or
// recorded, whether its event arrives or not, and the buyer can pay again.
func TestCancelledByTheProcessor(t *testing.T) {
	t.Parallel()
	expire := func(w *world, p *flows.Payment) {
		w.Helper()
		must(w, func() (sandbox.Payment, error) { return w.Sandbox.Expire(p.ProcessorID) })
	}
	for name, end := range map[string]func(*world, *gateway, *flows.Payment){
		"with its event": func(w *world, g *gateway, p *flows.Payment) {
			expire(w, p)
			w.Handle(g, w.EventOf(p, "payment_intent.canceled"))
		},
		"without its event": func(w *world, _ *gateway, p *flows.Payment) { expire(w, p) },
		"before the capture": func(w *world, _ *gateway, p *flows.Payment) {
			w.InjectFault(captureCall, func() { expire(w, p) }, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Authorised(g)
			end(w, g, p)
			if p = w.advanceFor(g, p, time.Minute); p.State != flows.Cancelled || w.Posted() != 0 || w.Held(p).Captured != 0 {
				t.Errorf("%s (%s), and %+v at the processor", p.State, p.Reason, w.Held(p))
			}
			again := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), p.Registration) })
			w.Confirm(again, goodCard)
			if again = w.advanceFor(g, again, time.Minute); again.State != flows.Recorded || again.ID == p.ID {
				t.Errorf("paid again: %s %s (%s)", again.ID, again.State, again.Reason)
			}
		})
	}
}

// TestClaimMeetsAnotherCall: the processor refuses a claim because another call holds the payment, for longer than a claim may be
// used. Nothing is sent under it; the next one records the payment once.
func TestClaimMeetsAnotherCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := make(chan time.Time)
	close(now)
	g := w.Gateway(gatewayOptions{Cards: cards.Config{After: func(time.Duration) <-chan time.Time {
		w.Clock.Advance(time.Second)
		return now
	}}})
	p := w.Authorised(g)
	conflict := sandbox.Fault{Method: http.MethodPost, Path: "/v1/payment_intents/*", Param: "metadata", Status: http.StatusConflict}
	conflict.Times = 12
	locked := w.Sandbox.Inject(conflict)
	p = w.Advance(g, p)
	if p.State != flows.Captured || w.Posted() != 0 || locked.Hits() != 12 || w.Held(p).Metadata["fd_release_1"] != p.AttemptID {
		t.Errorf("%s (%s), recorded %d times, %d refusals, journal %+v", p.State, p.Reason, w.Posted(), locked.Hits(), w.Held(p).Metadata)
	}
	if p = w.advanceFor(g, p, 2*time.Minute); p.State != flows.Recorded || p.Claim != 2 || w.Posted() != 1 || len(w.Lines(p)) != 1 {
		t.Errorf("%s (%s) with claim %d, recorded %d times", p.State, p.Reason, p.Claim, w.Posted())
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
		w := newWorld(t)
		wire := &staleReads{}
		g := w.Gateway(gatewayOptions{Cards: cards.Config{HTTPClient: &http.Client{Transport: wire}}})
		p := w.beingCaptured(g)
		w.settleConfirmation(p, true)
		w.setProcessor(sandbox.Settings{})
		wire.left = stale
		p = w.advanceFor(g, p, 2*time.Minute)
		if held := w.Held(p); p.State != want || held.State != cards.Captured || held.Captured != p.Amount || wire.left != 0 {
			t.Errorf("%d stale: %s (%s), %s at the processor, %d stale readings left", stale, p.State, p.Reason, held.State, wire.left)
		}
		if want == flows.Blocked {
			w.expectListed(g, string(p.ID)+" blocked")
			w.Clock.Advance(16 * time.Minute)
			w.mustDecide(g, p, payment.Refund)
			p = w.advanceFor(g, p, time.Minute)
			if p.State != flows.Refunded || len(w.Lines(p)) != 0 {
				t.Errorf("%s (%s), the ledger holds %+v", p.State, p.Reason, w.Lines(p))
			}
		}
	}
}
