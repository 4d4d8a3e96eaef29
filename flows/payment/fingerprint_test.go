package payment_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// stranger starts a gateway with another account's key, on the world's Redis. That is another double of the processor,
// with an account of its own.
func (w *testWorld) stranger(how ...func(other *testWorld)) *testGateway {
	w.Helper()
	other := newWorld(w.T)
	for _, change := range how {
		change(other)
	}
	return w.Gateway(gatewayOptions{Processor: other.Address})
}

func (w *testWorld) expectStranger(gateway *testGateway, what string) {
	w.Helper()
	foreign, ok := errors.AsType[*payment.FingerprintError](gateway.CheckFingerprint(w.Context()))
	if !ok || !strings.Contains(foreign.Error(), what) {
		w.Errorf("the stranger gets %v, which does not name %q", foreign, what)
	}
	page := must(w, func() (payment.Page, error) { return gateway.List(w.Context(), payment.ListOptions{}) })
	if !strings.Contains(page.Halted, what) {
		w.Errorf("its operators read that it is halted by %q", page.Halted)
	}
}

// TestAnotherAccountsKey: for a while, one gateway has another account's key. It blocks no payment in any state, and
// every payment continues at the right gateway.
func TestAnotherAccountsKey(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string][]func(*testWorld){"which can be read": nil, "which may not be read": {denyAccount}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			for _, deny := range denied {
				deny(world)
			}
			gateway := world.Gateway()
			recorded := world.Settle(gateway, world.Authorised(gateway))
			authorised := world.Authorised(gateway)
			captured := world.Put(gateway, world.Authorised(gateway).ID, flows.Captured)
			doubt := world.Started(gateway)
			doubt = world.Put(gateway, doubt.ID, flows.InDoubt)
			refunding := world.Put(gateway, world.Started(gateway).ID, flows.Refunding)
			if err := gateway.CheckFingerprint(t.Context()); err != nil { // as each heartbeat does
				t.Fatal(err)
			}
			world.FailCalls(createCall, 1)
			unborn := world.Registered(gateway)
			if _, err := gateway.Pay(t.Context(), unborn.ID); err == nil {
				t.Fatal("it was created")
			}
			wrong := world.stranger(denied...)
			for _, later := range []time.Duration{0, 31 * time.Minute} { // what is not found blocks after half an hour
				world.Clock.Advance(later)
				for _, p := range []*flows.Payment{authorised, captured, doubt, refunding, recorded} {
					before := world.Stored(gateway, p.ID)
					after := world.Advance(wrong, p)
					if err := wrong.Verify(t.Context(), p.ID); err == nil {
						t.Errorf("it verified a payment that is %s", before.State)
					}
					if after.State != before.State || !after.MissingSince.IsZero() {
						t.Errorf("a gateway with another account's key moved a payment from %s to %s (%s)", before.State, after.State, after.Reason)
					}
				}
			}
			if p, err := wrong.Cancel(t.Context(), flows.NewPaymentID(unborn.ID, 1)); err == nil {
				t.Errorf("it cancelled a payment that only the other account could show: %s", p.State)
			}
			if err := wrong.RebuildOnDemand(t.Context()); err == nil {
				t.Error("it compared Redis with its own account on demand")
			}
			world.expectStranger(wrong, "the card processor's account")
			if err := wrong.Rebuild(t.Context(), payment.WholeWindow); err == nil {
				t.Error("it compared Redis with its own account")
			}
			_, err := wrong.ConfirmNotRecorded(t.Context(), doubt.ID, payment.Refund, flows.Decision{Operator: "ada"})
			if flows.CodeOf(err) != flows.ProcessorUnavailable {
				t.Errorf("a decision there: %v", err)
			}
			world.ExpectSound(world.Settle(gateway, authorised))
		})
	}
}

// TestAnotherOrganisationOrMode: the gateway of another organisation, or of another mode, is not one of these either.
func TestAnotherOrganisationOrMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Gateway().CheckFingerprint(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.expectStranger(w.Gateway(gatewayOptions{Organisation: "other"}), "FRONTDESK_CLUB_TOKEN) is other, but Redis holds the payments of demo")
	w.expectStranger(w.Gateway(gatewayOptions{Environment: "live"}), "FRONTDESK_MODE) is live, but Redis holds the payments of test")
}

// TestFingerprintAfterALoss: Redis loses everything. The gateway that was right stores its fingerprint again, also if a
// stranger was faster; the stranger learns of it. An operator's decision stays.
func TestFingerprintAfterALoss(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	instance := world.Gateway()
	check := func(g *testGateway) {
		t.Helper()
		if err := g.CheckFingerprint(t.Context()); err != nil {
			t.Error(err)
		}
	}
	check(instance)
	wrong := world.stranger()
	world.expectStranger(wrong, "account")
	world.Clock.Advance(flows.FirstPoll)
	world.Wipe()
	check(wrong) // the first that finds Redis empty
	world.Clock.Advance(flows.FirstPoll)
	check(instance)
	world.expectStranger(wrong, "account")
	world.Wipe()
	check(instance)
	world.expectStranger(wrong, "account")

	if _, err := wrong.AdoptFingerprint(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(wrong)
	world.expectStranger(instance, "account")
	world.Clock.Advance(flows.FirstPoll)
	world.Wipe()
	check(world.Gateway()) // a restart of the former one
	check(wrong)
	world.expectStranger(instance, "account")
}

// TestSettledWithoutTheProcessor: the card processor is away when a gateway starts. What needs no processor is settled,
// decided and verified. Cards wait for the account, and another organisation's payments are touched in no case.
func TestSettledWithoutTheProcessor(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testWorld){
		"Redis has a fingerprint": func(w *testWorld) {
			if err := w.Gateway().CheckFingerprint(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"Redis has none yet": func(*testWorld) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			begin(world)
			card := world.Registered(world.Gateway())
			away := gatewayOptions{Processor: "127.0.0.1:1"} // nothing listens
			gateway := world.Gateway(away)
			for _, method := range withoutProcessor {
				paid := must(t, func() (*flows.Payment, error) { return world.settles(gateway, method) })
				world.expectSettled(paid)
				if paid.State != flows.Recorded {
					t.Errorf("%s: %s (%s)", method, paid.State, paid.Reason)
				}
				world.Clock.Advance(2 * time.Minute)
				world.verify(gateway, paid)
				if verified := world.Stored(gateway, paid.ID); verified.SaleVerdict == "" {
					t.Errorf("%s is not verified", method)
				}
				doubt := world.Put(gateway, world.priced(gateway, method).ID, flows.InDoubt,
					func(p *flows.Payment) { p.DoubtSince = world.Clock.Now() })
				world.Clock.Advance(time.Hour)
				ended, err := gateway.ConfirmNotRecorded(t.Context(), doubt.ID, payment.Cancel, flows.Decision{Operator: "ada"})
				if err != nil || world.Stored(gateway, doubt.ID).State != flows.Cancelled {
					t.Errorf("%s, a decision: %+v, %v", method, ended, err)
				}
			}
			if _, err := gateway.Pay(t.Context(), card.ID); flows.CodeOf(err) != flows.ProcessorUnavailable || len(world.HeldAll()) != 0 {
				t.Errorf("a card: %v", err)
			}
			if name == "Redis has none yet" {
				return
			}
			waiting, away := world.priced(gateway, flows.InPerson), gatewayOptions{Processor: away.Processor, Organisation: "other"}
			sent := world.Posted()
			if p := world.Advance(world.Gateway(away), waiting); p.State != flows.Priced || world.Posted() != sent {
				t.Errorf("another organisation's gateway made it %s (%s)", p.State, p.Reason)
			}
		})
	}
}

// denyAccount makes a world's processor refuse to say which account it is, as to a restricted key.
func denyAccount(w *testWorld) {
	w.Inject(callFault{Call: "GET /sandbox/v1/account", Fail: 100, Status: http.StatusForbidden})
}
