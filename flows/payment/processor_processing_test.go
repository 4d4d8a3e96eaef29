package payment_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// captures counts the calls that tried to take a payment's money.
func (w *testWorld) captures(p *flows.Payment) (n int) {
	for _, request := range w.Sandbox.Requests() {
		if call(request.Method+" /sandbox"+request.Path) == captureCall.Of(p) {
			n++
		}
	}
	return n
}

// beingCaptured makes a payment whose capture the bank is still deciding about.
func (w *testWorld) beingCaptured(g *testGateway) *flows.Payment {
	w.Helper()
	p := w.Authorised(g)
	w.setProcessor(sandbox.Settings{Captures: "processing"})
	if p = w.Advance(g, p); p.State != flows.Capturing || w.Held(p).State != cards.Processing {
		w.Fatalf("%s (%s), and %s at the processor", p.State, p.Reason, w.Held(p).State)
	}
	return p
}

// TestCaptureBeingProcessed: the bank decides about a capture only after a while. The money counts as taken once it is.
// Until then the payment is read, because the capture's key replays what was.
func TestCaptureBeingProcessed(t *testing.T) {
	t.Parallel()
	minutes := func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
		return w.advanceFor(g, p, 5*time.Minute)
	}
	for name, capture := range map[string]processedCapture{
		"taken":   {minutes, true, flows.Recorded},
		"refused": {minutes, false, flows.Cancelled},
		"taken after hours": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Clock.Advance(3 * time.Hour)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Wipe()
			w.rebuild(g)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis for hours": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Clock.Advance(3 * time.Hour)
			w.Wipe()
			w.rebuild(g)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis, and decided after an hour": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Wipe()
			w.rebuild(g)
			return w.advanceFor(g, p, time.Hour)
		}, true, flows.Recorded},
		"lost in Redis for a day": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Clock.Advance(flows.PayableFor + time.Hour)
			w.Wipe()
			w.rebuild(g)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis, and the buyer gives up": {func(w *testWorld, g *testGateway, payment *flows.Payment) *flows.Payment {
			w.Wipe()
			w.rebuild(g)
			payment = w.Advance(g, payment)
			if _, err := g.Cancel(w.Context(), payment.ID); flows.CodeOf(err) != flows.PaymentUnderWay {
				w.Errorf("cancelled: %v", err)
			}
			return payment
		}, true, flows.Recorded},
		"back before the card, and decided after an hour": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Put(g, p.ID, flows.Intent, func(p *flows.Payment) { p.Processing = false })
			return w.advanceFor(g, p, time.Hour)
		}, true, flows.Recorded},
		"back before the card, and the buyer gives up": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			p = w.Put(g, p.ID, flows.Intent, func(p *flows.Payment) { p.Processing = false })
			if _, err := g.Cancel(w.Context(), p.ID); flows.CodeOf(err) != flows.PaymentUnderWay {
				w.Errorf("cancelled: %v", err)
			}
			return w.Stored(g, p.ID)
		}, true, flows.Recorded},
		"forgotten by Redis": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Put(g, p.ID, flows.Authorised, func(p *flows.Payment) { p.Processing = false })
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"too old, and forgotten": {func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment {
			w.Put(g, p.ID, flows.Authorised, func(p *flows.Payment) { p.Processing = false })
			w.Clock.Advance(3 * time.Hour)
			return w.Advance(g, p)
		}, true, flows.Recorded},
	} {
		t.Run(name, func(t *testing.T) { capture.test(t, true) })
		if !strings.HasPrefix(name, "back") { // what only the charge shows
			t.Run(name+", and no charge shows it", func(t *testing.T) { capture.test(t, false) })
		}
	}
}

// processedCapture is what happens while the bank decides about a capture, how it decides, and how the payment ends.
type processedCapture struct {
	meanwhile func(w *testWorld, g *testGateway, p *flows.Payment) *flows.Payment
	approved  bool
	want      flows.PaymentState
}

// test runs the case. charge: the processor shows the payment's charge meanwhile.
func (c processedCapture) test(t *testing.T, charge bool) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.beingCaptured(gateway)
	if !charge {
		world.Sandbox.Distort(payment.ProcessorID, "latest_charge", nil)
	}
	payment = c.meanwhile(world, gateway, payment)
	if view := payment.View(); view.State != "processing" || view.ClientSecret != "" || world.Posted() != 0 {
		t.Errorf("%s (%s), shown as %+v, and recorded %d times", payment.State, payment.Reason, view, world.Posted())
	}
	if n := world.captures(payment); n != 1 {
		t.Errorf("%d captures", n)
	}
	world.settleConfirmation(payment, c.approved)
	world.setProcessor(sandbox.Settings{})
	payment = world.advanceFor(gateway, payment, time.Minute)
	lines := map[flows.PaymentState]int{flows.Recorded: 1}[c.want]
	if payment.State != c.want || len(world.Lines(payment)) != lines || payment.Processing || world.captures(payment) > 2 {
		t.Errorf("%s (%s), %d captures, the ledger holds %+v", payment.State, payment.Reason, world.captures(payment), world.Lines(payment))
	}
}

// TestCapturedTooEarly: an older release stored a payment as captured while its bank was still deciding. It is recorded once
// the money was taken, and operators see it if it was not.
func TestCapturedTooEarly(t *testing.T) {
	t.Parallel()
	for want, approved := range map[flows.PaymentState]bool{flows.Recorded: true, flows.Blocked: false} {
		world := newWorld(t)
		gateway := world.Gateway()
		payment := world.beingCaptured(gateway)
		world.Put(gateway, payment.ID, flows.Captured, func(p *flows.Payment) { p.Processing = false })
		payment = world.advanceFor(gateway, payment, 5*time.Minute)
		if payment.State != flows.Captured || payment.Claim != 0 || world.Posted() != 0 {
			t.Fatalf("while the bank decides: %s (%s) with %d claims", payment.State, payment.Reason, payment.Claim)
		}
		world.settleConfirmation(payment, approved)
		lines := map[flows.PaymentState]int{flows.Recorded: 1}[want]
		if payment = world.advanceFor(gateway, payment, time.Minute); payment.State != want || len(world.Lines(payment)) != lines {
			t.Errorf("%s (%s), the ledger holds %+v", payment.State, payment.Reason, world.Lines(payment))
		}
	}
}

// TestBrakeWhileACaptureIsProcessed: a payment that only waits for its bank does not take the place of the probe.
func TestBrakeWhileACaptureIsProcessed(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.beingCaptured(gateway)
	world.setProcessor(sandbox.Settings{})
	world.engaged(gateway)
	probe := world.Authorised(gateway)
	if probe = world.Advance(gateway, probe); !probe.OnHold {
		t.Fatalf("%s (%s)", probe.State, probe.Reason)
	}
	world.Clock.Advance(61 * time.Second)
	if payment = world.Advance(gateway, payment); payment.State != flows.Capturing {
		t.Errorf("%s (%s)", payment.State, payment.Reason)
	}
	if probe = world.Advance(gateway, probe); probe.State != flows.InDoubt {
		t.Errorf("the probe: %s (%s)", probe.State, probe.Reason)
	}
}

// TestConfirmationBeingProcessed: while the bank decides about the buyer's card, the buyer sees no fields for another one.
func TestConfirmationBeingProcessed(t *testing.T) {
	t.Parallel()
	for name, approved := range map[string]bool{"authorised": true, "declined": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Started(gateway)
			world.Confirm(payment, declinedCard)
			if payment = world.Advance(gateway, payment); payment.View().State != "declined" {
				t.Fatalf("shown as %+v", payment.View())
			}
			world.setProcessor(sandbox.Settings{Confirmations: "processing"})
			world.Confirm(payment, goodCard)
			payment = gateway.Glance(t.Context(), payment)
			view := payment.View()
			if payment.State != flows.Intent || view.State != "processing" || view.Retry != "never" || view.ClientSecret != "" ||
				view.DeclineCode != "" {
				t.Errorf("%s (%s), shown as %+v", payment.State, payment.Reason, view)
			}
			world.settleConfirmation(payment, approved)
			payment = world.Advance(gateway, payment)
			if view = payment.View(); approved && payment.State != flows.Recorded ||
				!approved && (view.State != "declined" || view.ClientSecret == "") {
				t.Errorf("%s (%s), shown as %+v", payment.State, payment.Reason, view)
			}
		})
	}
}
