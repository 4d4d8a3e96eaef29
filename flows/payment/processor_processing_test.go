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
func (w *world) captures(p *flows.Payment) (n int) {
	for _, request := range w.Sandbox.Requests() {
		if call(request.Method+" /sandbox"+request.Path) == captureCall.Of(p) {
			n++
		}
	}
	return n
}

// beingCaptured makes a payment whose capture the bank is still deciding about.
func (w *world) beingCaptured(g *gateway) *flows.Payment {
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
	minutes := func(w *world, g *gateway, p *flows.Payment) *flows.Payment { return w.advanceFor(g, p, 5*time.Minute) }
	for name, c := range map[string]processedCapture{
		"taken":   {minutes, true, flows.Recorded},
		"refused": {minutes, false, flows.Cancelled},
		"taken after hours": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Clock.Advance(3 * time.Hour)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Wipe()
			w.rebuild(g)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis for hours": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Clock.Advance(3 * time.Hour)
			w.Wipe()
			w.rebuild(g)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis, and decided after an hour": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Wipe()
			w.rebuild(g)
			return w.advanceFor(g, p, time.Hour)
		}, true, flows.Recorded},
		"lost in Redis for a day": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Clock.Advance(flows.PayableFor + time.Hour)
			w.Wipe()
			w.rebuild(g)
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"lost in Redis, and the buyer gives up": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Wipe()
			w.rebuild(g)
			p = w.Advance(g, p)
			if _, err := g.Cancel(w.Context(), p.ID); flows.CodeOf(err) != flows.PaymentUnderWay {
				w.Errorf("cancelled: %v", err)
			}
			return p
		}, true, flows.Recorded},
		"back before the card, and decided after an hour": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Put(g, p.ID, flows.Intent, func(p *flows.Payment) { p.Processing = false })
			return w.advanceFor(g, p, time.Hour)
		}, true, flows.Recorded},
		"back before the card, and the buyer gives up": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			p = w.Put(g, p.ID, flows.Intent, func(p *flows.Payment) { p.Processing = false })
			if _, err := g.Cancel(w.Context(), p.ID); flows.CodeOf(err) != flows.PaymentUnderWay {
				w.Errorf("cancelled: %v", err)
			}
			return w.Stored(g, p.ID)
		}, true, flows.Recorded},
		"forgotten by Redis": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Put(g, p.ID, flows.Authorised, func(p *flows.Payment) { p.Processing = false })
			return w.Advance(g, p)
		}, true, flows.Recorded},
		"too old, and forgotten": {func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			w.Put(g, p.ID, flows.Authorised, func(p *flows.Payment) { p.Processing = false })
			w.Clock.Advance(3 * time.Hour)
			return w.Advance(g, p)
		}, true, flows.Recorded},
	} {
		t.Run(name, func(t *testing.T) { c.test(t, true) })
		if !strings.HasPrefix(name, "back") { // what only the charge shows
			t.Run(name+", and no charge shows it", func(t *testing.T) { c.test(t, false) })
		}
	}
}

// processedCapture is what happens while the bank decides about a capture, how it decides, and how the payment ends.
type processedCapture struct {
	meanwhile func(w *world, g *gateway, p *flows.Payment) *flows.Payment
	approved  bool
	want      flows.PaymentState
}

// test runs the case. charge: the processor shows the payment's charge meanwhile.
func (c processedCapture) test(t *testing.T, charge bool) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.beingCaptured(g)
	if !charge {
		w.Sandbox.Distort(p.ProcessorID, "latest_charge", nil)
	}
	p = c.meanwhile(w, g, p)
	if view := p.View(); view.State != "processing" || view.ClientSecret != "" || w.Posted() != 0 {
		t.Errorf("%s (%s), shown as %+v, and recorded %d times", p.State, p.Reason, view, w.Posted())
	}
	if n := w.captures(p); n != 1 {
		t.Errorf("%d captures", n)
	}
	w.settleConfirmation(p, c.approved)
	w.setProcessor(sandbox.Settings{})
	p = w.advanceFor(g, p, time.Minute)
	lines := map[flows.PaymentState]int{flows.Recorded: 1}[c.want]
	if p.State != c.want || len(w.Lines(p)) != lines || p.Processing || w.captures(p) > 2 {
		t.Errorf("%s (%s), %d captures, the ledger holds %+v", p.State, p.Reason, w.captures(p), w.Lines(p))
	}
}

// TestCapturedTooEarly: an older release stored a payment as captured while its bank was still deciding. It is recorded once
// the money was taken, and operators see it if it was not.
func TestCapturedTooEarly(t *testing.T) {
	t.Parallel()
	for want, approved := range map[flows.PaymentState]bool{flows.Recorded: true, flows.Blocked: false} {
		w := newWorld(t)
		g := w.Gateway()
		p := w.beingCaptured(g)
		w.Put(g, p.ID, flows.Captured, func(p *flows.Payment) { p.Processing = false })
		p = w.advanceFor(g, p, 5*time.Minute)
		if p.State != flows.Captured || p.Claim != 0 || w.Posted() != 0 {
			t.Fatalf("while the bank decides: %s (%s) with %d claims", p.State, p.Reason, p.Claim)
		}
		w.settleConfirmation(p, approved)
		lines := map[flows.PaymentState]int{flows.Recorded: 1}[want]
		if p = w.advanceFor(g, p, time.Minute); p.State != want || len(w.Lines(p)) != lines {
			t.Errorf("%s (%s), the ledger holds %+v", p.State, p.Reason, w.Lines(p))
		}
	}
}

// TestBrakeWhileACaptureIsProcessed: a payment that only waits for its bank does not take the place of the probe.
func TestBrakeWhileACaptureIsProcessed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.beingCaptured(g)
	w.setProcessor(sandbox.Settings{})
	w.engaged(g)
	probe := w.Authorised(g)
	if probe = w.Advance(g, probe); !probe.OnHold {
		t.Fatalf("%s (%s)", probe.State, probe.Reason)
	}
	w.Clock.Advance(61 * time.Second)
	if p = w.Advance(g, p); p.State != flows.Capturing {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
	if probe = w.Advance(g, probe); probe.State != flows.InDoubt {
		t.Errorf("the probe: %s (%s)", probe.State, probe.Reason)
	}
}

// TestConfirmationBeingProcessed: while the bank decides about the buyer's card, the buyer sees no fields for another one.
func TestConfirmationBeingProcessed(t *testing.T) {
	t.Parallel()
	for name, approved := range map[string]bool{"authorised": true, "declined": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Started(g)
			w.Confirm(p, declinedCard)
			if p = w.Advance(g, p); p.View().State != "declined" {
				t.Fatalf("shown as %+v", p.View())
			}
			w.setProcessor(sandbox.Settings{Confirmations: "processing"})
			w.Confirm(p, goodCard)
			p = g.Glance(t.Context(), p)
			view := p.View()
			if p.State != flows.Intent || view.State != "processing" || view.Retry != "never" || view.ClientSecret != "" || view.DeclineCode != "" {
				t.Errorf("%s (%s), shown as %+v", p.State, p.Reason, view)
			}
			w.settleConfirmation(p, approved)
			p = w.Advance(g, p)
			if view = p.View(); approved && p.State != flows.Recorded || !approved && (view.State != "declined" || view.ClientSecret == "") {
				t.Errorf("%s (%s), shown as %+v", p.State, p.Reason, view)
			}
		})
	}
}
