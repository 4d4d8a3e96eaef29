package payment_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
)

// capturedAndLost makes a payment whose money is taken, and which Redis has lost.
func (w *testWorld) capturedAndLost(g *testGateway) *flows.Payment {
	w.Helper()
	p := w.Authorised(g)
	if _, err := w.Processor.Capture(w.Context(), "the test's", p.ProcessorID, p.Amount); err != nil {
		w.Fatal(err)
	}
	w.Wipe()
	return p
}

func (w *testWorld) expectListed(gateway *testGateway, want ...string) []payment.Summary {
	w.Helper()
	page := must(w, func() (payment.Page, error) { return gateway.List(w.Context(), payment.ListOptions{}) })
	var got []string
	for _, item := range page.Items {
		got = append(got, string(item.ID)+" "+string(item.State))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		w.Errorf("listed: %q, not %q", got, want)
	}
	counts := must(w, func() (map[flows.PaymentState]store.StateCount, error) { return gateway.Counts(w.Context()) })
	if n := counts[flows.Unverifiable].Payments; n != strings.Count(strings.Join(want, ", "), string(flows.Unverifiable)) {
		w.Errorf("%d unverifiable payments are counted", n)
	}
	return page.Items
}

// TestUnverifiablePayment: the key that signed a payment is removed, and Redis loses the record. Operators see the payment
// and can end it by the processor's id. It stays ended, whatever Redis loses and whichever key comes back.
func TestUnverifiablePayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	paid := world.capturedAndLost(world.Gateway())
	id := flows.PaymentID(paid.ProcessorID)
	gateway := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
	world.rebuild(gateway)
	world.expectListed(gateway, paid.ProcessorID+" unverifiable")
	detail := must(t, func() (payment.Detail, error) { return gateway.Show(t.Context(), id) })
	if detail.AtProcessor.State != cards.Captured || len(detail.Commands) != 1 ||
		detail.Commands[0] != "frontdesk payments end "+paid.ProcessorID {
		t.Errorf("shown: %+v", detail)
	}
	ended := must(t, func() (payment.ResolutionResult, error) { return gateway.EndUnverifiable(t.Context(), id, "ada") })
	if len(ended.Warnings) > 0 || !strings.Contains(ended.Payment.Reason, "ada") {
		t.Errorf("%+v", ended)
	}
	entries := world.Redis.XRevRangeN(t.Context(), "fd:audit", "+", "-", 1).Val()
	if len(entries) != 1 || entries[0].Values["what"] != "end" || entries[0].Values["payment"] != paid.ProcessorID {
		t.Errorf("audit: %+v", entries)
	}
	world.expectListed(gateway)
	for _, keys := range [][]string{{"two"}, {"two", "one"}} {
		world.Wipe()
		again := world.Gateway(gatewayOptions{Keys: newKeyring(t, keys...)})
		world.rebuild(again)
		world.settleAll(again)
		world.expectListed(again)
	}
	if world.Posted() != 0 || world.Held(paid).State != cards.Captured {
		t.Errorf("an ended payment was recorded %d times, and is %s", world.Posted(), world.Held(paid).State)
	}
	if _, err := gateway.EndUnverifiable(t.Context(), id, "bob"); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("ended twice: %v", err)
	}
}

// TestKeyReturns: once the key is configured again, the payment continues and leaves the list.
func TestKeyReturns(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	p := world.capturedAndLost(world.Gateway())
	world.rebuild(world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")}))
	g := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two", "one")})
	world.rebuild(g)
	world.expectListed(g)
	world.ExpectSound(world.Settle(g, p))
}

// TestNotUnverifiable: what another organisation's gateways left in the same account, or what was refunded by hand, needs no
// operator.
func TestNotUnverifiable(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	p := world.capturedAndLost(world.Gateway())
	others := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two"), Organisation: "other"})
	world.rebuild(others)
	world.expectListed(others)
	world.Wipe()
	if _, err := world.Processor.Refund(t.Context(), "by hand", p.ProcessorID, p.Amount); err != nil {
		t.Fatal(err)
	}
	g := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
	world.rebuild(g)
	world.expectListed(g)
}

// TestUnverifiableAndOpen: a payment that its buyer can still pay is ended by cancelling it at the processor. What was
// settled long ago, under keys of then, is not listed.
func TestUnverifiableAndOpen(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	first := world.Gateway()
	world.ExpectSound(world.Settle(first, world.Authorised(first)))
	world.Abandoned(first)
	open := world.Authorised(first)
	world.Wipe()
	gateway := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
	world.rebuild(gateway)
	world.expectListed(gateway, open.ProcessorID+" unverifiable")
	if _, err := gateway.EndUnverifiable(t.Context(), flows.PaymentID(open.ProcessorID), "ada"); flows.CodeOf(err) != flows.NotDecidable {
		t.Errorf("ended: %v", err)
	}
	must(t, func() (cards.Payment, error) {
		return world.Processor.Cancel(t.Context(), "the dashboard's", open.ProcessorID)
	})
	world.rebuild(gateway)
	world.expectListed(gateway)
}

// TestMissingSealKey: a seal key is removed while Redis holds what it sealed. Every list and command works, and names the
// key.
func TestMissingSealKey(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	first := world.Gateway()
	if err := first.Store.NoteSealKeys(t.Context(), world.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	id := newKeyring(t, "one").IDs()[0]
	names := func(what, text string) {
		t.Helper()
		if !strings.Contains(text, "the key "+id+", which is not configured") {
			t.Errorf("%s: %s", what, text)
		}
	}
	recorded := world.Settle(first, world.Authorised(first))
	paid := world.Put(first, world.Started(first).ID, flows.InDoubt)
	gateway := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
	if _, err := gateway.Advance(t.Context(), paid.ID); err == nil {
		t.Error("a payment was advanced without its record")
	}
	items := world.expectListed(gateway, string(paid.ID)+" blocked")
	names("the list", items[0].Reason)
	_, err := gateway.Show(t.Context(), paid.ID)
	known, _ := errors.AsType[*flows.Error](err)
	names("what operators are shown", known.Operator)
	if known.Detail != "" {
		t.Errorf("visitors read %q", known.Detail)
	}
	world.rebuild(gateway)
	if c := must(t, func() (payment.Calibration, error) { return gateway.Calibrate(t.Context(), "ada") }); c.Failed != 1 {
		t.Errorf("calibrated: %+v", c)
	}
	erase := func(request registration.ErasureRequest) registration.ErasureReport {
		request.ClientToken = "demo"
		return must(t, func() (registration.ErasureReport, error) {
			return gateway.Registrations.Erase(t.Context(), request, "ada")
		})
	}
	if report := erase(registration.ErasureRequest{Registration: recorded.Registration}); len(report.Unread) != 1 {
		t.Errorf("erased: %+v", report)
	} else {
		names("the erasure of a registration", report.Unread[0].Why)
	}
	report := erase(registration.ErasureRequest{Email: "ada@example.com"})
	if len(report.Unread) != 1 || !strings.Contains(report.Unread[0].Why, id) {
		t.Errorf("erased: %+v", report)
	}
}

// TestUnverifiableForLong: no operator decides about an unverifiable payment until the comparisons no longer reach it. It still
// leaves the list once it is settled at the processor, and continues once its key is back.
func TestUnverifiableForLong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end   func(*testWorld, *flows.Payment)
		keys  []string
		state flows.PaymentState
	}{
		"refunded there": {func(w *testWorld, p *flows.Payment) {
			must(w, func() (cards.Payment, error) {
				return w.Processor.Refund(w.Context(), "the dashboard's", p.ProcessorID, p.Amount)
			})
		}, []string{"two"}, ""},
		"the key is back": {func(*testWorld, *flows.Payment) {}, []string{"two", "one"}, flows.Recorded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			payment := world.capturedAndLost(world.Gateway())
			for range 9 {
				world.rebuild(world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")}))
				world.Clock.Advance(24 * time.Hour)
			}
			test.end(world, payment)
			g := world.Gateway(gatewayOptions{Keys: newKeyring(t, test.keys...)})
			world.rebuild(g)
			world.expectListed(g)
			if test.state != "" {
				if payment = world.Advance(g, payment); payment.State != test.state || world.Posted() != 1 {
					t.Errorf("%s (%s) after %d requests", payment.State, payment.Reason, world.Posted())
				}
			}
		})
	}
}
