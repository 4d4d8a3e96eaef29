package flows_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// dump is what Redis held of a registration at some moment.
type dump map[string]string

func (w *world) dump(registration string) dump {
	ctx := context.Background() // handlers and loggers call this too, not only the test
	held := dump{}
	for _, key := range must(w, func() ([]string, error) { return w.redis.Keys(ctx, "fd:{"+registration+"}:*").Result() }) {
		held[key] = must(w, w.redis.Dump(ctx, key).Result)
	}
	return held
}

// restore makes Redis forget everything since the dump, as a failover or an old backup would.
func (w *world) restore(registration string, old dump) {
	w.Helper()
	ctx := w.Context()
	for key := range w.dump(registration) {
		w.redis.Del(ctx, key)
	}
	for key, value := range old {
		if err := w.redis.RestoreReplace(ctx, key, 0, value).Err(); err != nil {
			w.Fatal(err)
		}
	}
}

// settle lets a gateway advance a payment, as the sweeper would over an hour without further faults.
func (w *world) settle(g *gateway, p *flows.Payment) *flows.Payment {
	w.Helper()
	last, doubts := w.stored(g, p.ID), 0
	for range 40 {
		if last.State == flows.Sending {
			w.expireLease(last)
		}
		last = w.advance(g, last)
		if last.State == flows.InDoubt {
			doubts++
		}
		if last.State.Final() || last.State == flows.Blocked || doubts == 3 {
			break
		}
		w.clock.Advance(90 * time.Second)
	}
	return last
}

// expectSound checks what must be true of every payment once it has settled.
func (w *world) expectSound(p *flows.Payment) {
	w.Helper()
	lines, held := w.lines(p), w.held(p)
	kept := held.Captured - held.Refunded
	if len(lines) > 1 {
		w.Errorf("the visitor's payment was recorded %d times", len(lines))
	}
	switch p.State {
	case flows.Recorded:
		if len(lines) != 1 || int64(lines[0].Amount) != p.Amount || kept != p.Amount {
			w.Errorf("recorded, but the ledger holds %+v and the processor keeps %d", lines, kept)
		}
	case flows.Refunded, flows.Cancelled:
		if len(lines) != 0 || kept != 0 {
			w.Errorf("%s, but the ledger holds %+v and the processor keeps %d", p.State, lines, kept)
		}
	case flows.InDoubt, flows.Blocked:
		if view := p.View(); view.Retry != "never" {
			w.Errorf("%s, and the buyer sees %+v", p.State, view)
		}
	default:
		if kept != 0 {
			w.Errorf("the money is taken and the payment is forgotten in %s", p.State)
		}
	}
	if audit := w.sim.Audit(); !audit.OK {
		w.Errorf("the audit finds %+v", audit)
	}
}

// outcomes are the ways in which the recording can end before Redis forgets it.
var outcomes = map[string][]clubsim.Fault{
	"accepted":          nil,
	"answer lost":       {{Match: recording, Kind: "drop_after", Times: times(1)}},
	"not applied, 503":  {{Match: recording, Kind: "error_before", Status: 503, Times: times(1)}},
	"refused at first":  {{Match: recording, Kind: "error_before", Status: 401, Times: times(2)}},
	"rejected":          {{Match: recording, Kind: "error_before", Status: 422, Times: times(1)}},
	"rejected, applied": {{Match: recording, Kind: "error_after", Status: 400, Times: times(1)}},
}

// TestRedisForgets lets a payment advance, then restores each of its earlier states in Redis: at once, and
// after the processor has also forgotten its idempotency keys.
func TestRedisForgets(t *testing.T) {
	t.Parallel()
	for name, faults := range outcomes {
		for _, later := range []time.Duration{0, 25 * time.Hour} {
			t.Run(fmt.Sprintf("%s, %s later", name, later), func(t *testing.T) {
				t.Parallel()
				states := newWorld(t).statesOf(faults)
				for i, state := range states {
					t.Run(fmt.Sprintf("%d %s", i, state), func(t *testing.T) { newWorld(t).forget(faults, i, later) })
				}
			})
		}
	}
}

// live runs a payment to its end under faults, and returns what Redis held after each step.
func (w *world) live(faults []clubsim.Fault) (p *flows.Payment, dumps []dump, states []flows.PaymentState) {
	w.Helper()
	g := w.gateway()
	keep := func(registration string, state flows.PaymentState) {
		dumps, states = append(dumps, w.dump(registration)), append(states, state)
	}
	w.log.listen(func(id flows.PaymentID, m move) {
		registration, _ := id.Split()
		keep(registration, m.to)
	})
	r := w.registered(g)
	w.injectFault(createCall, func() { keep(r.ID, flows.Priced) }, nil)
	p = must(w, func() (*flows.Payment, error) { return g.pay(w.Context(), r.ID) })
	w.confirm(p, goodCard)
	w.fault(faults...)
	w.settle(g, p)
	w.log.listen(nil)
	w.fault()
	return p, dumps, states
}

func (w *world) statesOf(faults []clubsim.Fault) []flows.PaymentState {
	_, _, states := w.live(faults)
	return states
}

// forget runs a payment, restores Redis to its state after a step, and continues with another gateway.
func (w *world) forget(faults []clubsim.Fault, step int, later time.Duration) {
	p, dumps, _ := w.live(faults)
	before := w.held(p)
	w.clock.Advance(later)
	w.restore(p.Registration, dumps[step])
	end := w.settle(w.gateway(), p)
	end.ProcessorID = p.ProcessorID // even if Redis has forgotten it
	w.expectSound(end)
	if after := w.held(p); before.State == cards.Refunded && after.State != cards.Refunded {
		w.Errorf("the processor went from %s to %s", before.State, after.State)
	}
	if n := len(w.heldAll()); n != 1 {
		w.Errorf("the processor holds %d payments of one sale", n)
	}
	if len(w.lines(p)) == 1 && w.held(p).Refunded > 0 {
		w.Error("the money went back for a payment that is recorded")
	}
}

// TestForgottenRegistration restores the registration to before its payment: a visitor paying again gets the
// same payment.
func TestForgottenRegistration(t *testing.T) {
	t.Parallel()
	for name, faults := range outcomes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			r := w.registered(g)
			old := w.dump(r.ID)
			first := must(t, func() (*flows.Payment, error) { return g.pay(t.Context(), r.ID) })
			w.confirm(first, goodCard)
			w.fault(faults...)
			ended := w.settle(g, first)
			w.fault()
			w.restore(r.ID, old)
			second, err := w.gateway().pay(t.Context(), r.ID)
			if err != nil {
				t.Fatal(err)
			}
			if second.ProcessorID != first.ProcessorID {
				t.Errorf("payment %s besides %s", second.ProcessorID, first.ProcessorID)
			}
			end := w.settle(w.gateway(), second)
			w.expectSound(end)
			if ended.State == flows.Recorded && end.State != flows.Recorded {
				t.Errorf("%s (%s) after it had been recorded", end.State, end.Reason)
			}
		})
	}
}

// TestTwoHistoriesClaim: Redis loses data while a gateway is claiming. A second gateway reads no claim, cannot
// confirm its own, and releases a claim that it never held. That must not count as a release of the first
// gateway's claim.
func TestTwoHistoriesClaim(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults []clubsim.Fault
		// meanwhile runs in Redis before the first gateway continues.
		meanwhile func(w *world, second *gateway, p *flows.Payment, sending dump)
		end       flows.PaymentState
		posts     int
	}{
		"the second one tries again": {nil, func(w *world, second *gateway, p *flows.Payment, _ dump) {
			w.clock.Advance(8 * time.Second) // the first one may still send
			w.put(second, p.ID, flows.Captured, func(next *flows.Payment) { next.NotBefore = time.Time{} })
			w.advance(second, p)
		}, flows.Recorded, 1},
		"the first one is refused, and its history is back": {
			[]clubsim.Fault{{Match: recording, Kind: "error_before", Status: 401, Times: times(2)}},
			func(w *world, _ *gateway, p *flows.Payment, sending dump) { w.restore(p.Registration, sending) },
			flows.InDoubt, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first, second := w.gateway(), w.gateway()
			var captured dump
			w.log.listen(func(id flows.PaymentID, m move) {
				if m.to == flows.Captured && captured == nil {
					registration, _ := id.Split()
					captured = w.dump(registration)
				}
			})
			p := w.authorised(first)
			w.fault(test.faults...)
			w.injectFault(metadataCall, func() {
				sending, claim := w.dump(p.Registration), w.stored(first, p.ID)
				w.restore(p.Registration, captured)
				arrives := func() { w.claim(claim) }
				w.setFaultInjector(&faultInjector{call: metadataCall, before: arrives, fail: 3})
				w.advance(second, p)
				test.meanwhile(w, second, p, sending)
			}, nil)
			w.advance(first, p)
			if journal := w.held(p).Metadata; journal["fd_release_1"] == "" || journal["fd_release_1"] == journal["fd_post_1"] {
				t.Fatalf("the second gateway did not release another's claim: %v", journal)
			}
			end := w.settle(w.gateway(), p)
			w.expectSound(end)
			if end.State != test.end || w.posted() != test.posts {
				t.Errorf("%s (%s) after %d calls", end.State, end.Reason, w.posted())
			}
		})
	}
}

// TestCaptureOfADayAgo: a gateway falls asleep after receiving the capture's response. Meanwhile another
// gateway records the payment, Redis forgets that, and the processor forgets the key of the claim. Only the
// processor's journal stops the first gateway from recording again.
func TestCaptureOfADayAgo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sleeper, other := w.gateway(), w.gateway()
	p := w.authorised(sleeper)
	w.injectFault(captureCall, nil, func() {
		capturing := w.dump(p.Registration)
		w.injectFault(metadataCall, nil, func() { w.fail(metadataCall, 1) }) // the acceptance is not journalled
		if p := w.advance(other, p); p.State != flows.Recorded {
			t.Errorf("the other gateway left it %s (%s)", p.State, p.Reason)
		}
		w.restore(p.Registration, capturing)
		w.clock.Advance(25 * time.Hour)
	})
	end := w.advance(sleeper, p)
	if end.State != flows.InDoubt || w.posted() != 1 {
		t.Errorf("%s (%s) after %d calls", end.State, end.Reason, w.posted())
	}
	w.expectSound(end)
}

// claim makes a gateway's claim arrive at the processor.
func (w *world) claim(p *flows.Payment) {
	w.Helper()
	key, entry := fmt.Sprintf("claim:%s:%d", p.ProcessorID, p.Claim), map[string]string{fmt.Sprintf("fd_post_%d", p.Claim): p.AttemptID}
	must(w, func() (cards.Payment, error) {
		return w.processor.UpdateMetadata(w.Context(), key, p.ProcessorID, entry)
	})
}

// TestCapturedInAnotherHistory: captured money is recorded, and not abandoned because the club system is
// briefly silent.
func TestCapturedInAnotherHistory(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]flows.PaymentState{"intent": flows.Intent, "authorised": flows.Authorised} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			p := w.authorised(g)
			w.captureAtProcessor(p)
			w.put(g, p.ID, state)
			w.fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before"})
			w.advance(g, p)
			w.fault()
			if end := w.settle(g, p); end.State != flows.Recorded {
				t.Errorf("%s (%s)", end.State, end.Reason)
			}
		})
	}
}

// TestGatewaysThatDiffer: during a release, gateways differ in their address and in their current key.
// Whichever calls the processor sends the same request.
func TestGatewaysThatDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.gateway(gatewayOptions{cards: cards.Config{WebhookURL: "https://old.club.example/v1/webhooks/card"}})
	p := w.started(old)
	w.put(old, p.ID, flows.Priced, func(next *flows.Payment) { next.ProcessorID = "" })
	released := w.gateway(gatewayOptions{cards: cards.Config{WebhookURL: "https://club.example/v1/webhooks/card"}, keys: newKeyring(t, "two", "one")})
	again := w.advance(released, p)
	if again.State != flows.Intent || again.ProcessorID != p.ProcessorID {
		t.Fatalf("%s (%s) with payment %s besides %s", again.State, again.Reason, again.ProcessorID, p.ProcessorID)
	}
	w.confirm(p, goodCard)
	if end := w.advance(released, p); end.State != flows.Recorded {
		t.Errorf("%s (%s)", end.State, end.Reason)
	}
}

// TestRefundUnderWay: Redis falls back to before the recording while a refund is in progress. The gateway that
// continues finds the refund's claim and records nothing.
func TestRefundUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, other := w.gateway(), w.gateway()
	p := w.authorised(g)
	var before dump
	w.log.listen(func(_ flows.PaymentID, m move) {
		if m.to == flows.Captured && before == nil {
			before = w.dump(p.Registration)
		}
	})
	w.fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: times(1)})
	w.injectFault(refundCall, func() {
		w.restore(p.Registration, before)
		w.fail(getCall, 1)
		w.advance(other, p)
		w.clock.Advance(time.Minute)
		w.advance(other, p)
	}, nil)
	w.advance(g, p)
	if held := w.held(p); held.Refunded != quarterPassPrice || len(w.lines(p)) != 0 {
		t.Errorf("refunded %d, and the ledger holds %+v", held.Refunded, w.lines(p))
	}
}

// TestAcceptanceJournaledLate: the gateway that recorded a payment dies before it writes that to the journal.
// The next comparison writes it, so that the payment is not in doubt once Redis has forgotten it.
func TestAcceptanceJournaledLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.injectFault(call{"POST", "/sim/demo/sales/*/payments"}, nil, func() { w.fail(metadataCall, 1) })
	if p = w.advance(g, p); p.State != flows.Recorded || w.held(p).Metadata["fd_done_1"] != "" {
		t.Fatalf("%s (%s), and the journal holds %v", p.State, p.Reason, w.held(p).Metadata)
	}
	w.rebuild(g)
	w.clock.Advance(31 * 24 * time.Hour) // a final record is kept for 30 days
	w.wipe()
	w.rebuild(g)
	if now, err := g.store.Payment(t.Context(), p.ID); err == nil && now.State != flows.Recorded {
		t.Errorf("it came back as %s (%s)", now.State, now.Reason)
	}
	listed := must(t, func() (payment.Page, error) { return g.List(t.Context(), payment.ListOptions{}) })
	if len(listed.Items) != 0 {
		t.Errorf("operators are shown %+v", listed.Items)
	}
}

// TestCreatedBefore: Redis fell back, and the processor refuses to create the payment again with other
// parameters. The payment that it already holds continues as agreed.
func TestCreatedBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r := w.registered(g)
	before := w.dump(r.ID)
	first := must(t, func() (*flows.Payment, error) { return g.pay(t.Context(), r.ID) })
	w.restore(r.ID, before)
	w.clock.Advance(time.Hour)
	another := w.gateway(gatewayOptions{keys: newKeyring(t, "two", "one")}) // its signature is another
	p := must(t, func() (*flows.Payment, error) { return another.pay(t.Context(), r.ID) })
	if p.State != flows.Intent || p.ProcessorID != first.ProcessorID || p.ClientSecret != first.ClientSecret {
		t.Fatalf("%s (%s), %s at the processor and not %s", p.State, p.Reason, p.ProcessorID, first.ProcessorID)
	}
	w.confirm(p, goodCard)
	w.expectSound(w.advance(another, p))
}

// TestTooOldToBeCreated: the processor is down for hours. If the payment was created after all, it continues;
// otherwise it ends, so that the buyer can try again.
func TestTooOldToBeCreated(t *testing.T) {
	t.Parallel()
	for created, want := range map[bool]flows.PaymentState{true: flows.Intent, false: flows.Cancelled} {
		w := newWorld(t)
		g := w.gateway()
		r := w.registered(g)
		if created {
			var abort func()
			abort = func() { // also the repetition by the client of net/http, which knows the connection
				w.injectFault(createCall, nil, abort)
				panic(http.ErrAbortHandler)
			}
			w.injectFault(createCall, nil, abort)
		} else {
			w.fail(createCall, 9)
		}
		if _, err := g.pay(t.Context(), r.ID); err == nil {
			t.Fatal("the processor answered")
		}
		p := w.stored(g, flows.NewPaymentID(r.ID, 1))
		if p.State != flows.Priced || p.Schema != flows.PaymentSchema {
			t.Fatalf("%s (%s) of layout %d", p.State, p.Reason, p.Schema)
		}
		w.clock.Advance(3*time.Hour + time.Minute)
		if p = w.advance(g, p); !p.HasBeen(want) || p.State == flows.Blocked {
			t.Errorf("created: %t; %s (%s)", created, p.State, p.Reason)
		}
	}
}

// TestBlockedIsListed: after Redis fell back and the sale changed, the processor refuses the payment that
// reuses an earlier one's number. If the lists lose that payment too, the comparison with the processor lists
// it again.
func TestBlockedIsListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r := w.registered(g)
	before := w.dump(r.ID)
	if _, err := g.pay(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	w.restore(r.ID, before)
	w.addArticle(&flows.Payment{Sale: r.Sale})
	another := w.gateway()
	if _, err := another.pay(t.Context(), r.ID); flows.CodeOf(err) != flows.CartChanged {
		t.Fatal(err)
	}
	p := must(t, func() (*flows.Payment, error) { return another.pay(t.Context(), r.ID) })
	if p.State != flows.Blocked {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	w.redis.Del(t.Context(), "fd:payments:open", "fd:{fd:payments:open}:states") // as when the earlier payment ends late
	w.rebuild(another)
	listed := must(t, func() (payment.Page, error) { return another.List(t.Context(), payment.ListOptions{}) })
	if !slices.ContainsFunc(listed.Items, func(s payment.Summary) bool { return s.ID == p.ID }) {
		t.Errorf("the list for operators holds %+v", listed.Items)
	}
}

// TestGivenUpAndCaptured: the buyer gives a card payment up before it exists at the processor. Redis forgets that, the payment is
// created and captured, and then Redis shows again what it had before: cancelled, without the processor's id. The comparison with the
// processor finds the money.
func TestGivenUpAndCaptured(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]flows.PaymentState{"accepted": flows.Recorded, "answer lost": flows.InDoubt, "refused at first": flows.Refunded} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			r := w.registered(g)
			w.fail(createCall, 1000)
			if _, err := g.pay(t.Context(), r.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
				t.Fatalf("started: %v", err)
			}
			before := w.dump(r.ID)
			if _, err := g.registrations.CancelPayment(t.Context(), r.ID, holderToken); err != nil {
				t.Fatal(err)
			}
			givenUp := w.dump(r.ID)
			w.restore(r.ID, before)
			w.setFaultInjector(nil)
			p := w.advance(g, &flows.Payment{ID: flows.NewPaymentID(r.ID, 1)})
			w.confirm(p, goodCard)
			w.fault(outcomes[name]...)
			p = w.advance(g, p)
			w.restore(r.ID, givenUp)
			if shown := w.stored(g, p.ID); p.ProcessorID == "" || shown.State != flows.Cancelled || shown.ProcessorID != "" {
				t.Fatalf("paid as %q, and Redis shows %s %q", p.ProcessorID, shown.State, shown.ProcessorID)
			}
			w.rebuild(g)
			w.settleAll(g)
			found := w.paidWith(g, p)
			if found.State != want {
				t.Errorf("%s (%s), want %s", found.State, found.Reason, want)
			}
			w.expectSound(found)
		})
	}
}

// paidWith finds the record of a registration that has the processor's payment of another.
func (w *world) paidWith(g *gateway, p *flows.Payment) *flows.Payment {
	w.Helper()
	for key := range w.dump(p.Registration) {
		_, number, isPayment := strings.Cut(key, ":payment:")
		generation, err := strconv.Atoi(number)
		if !isPayment || err != nil {
			continue
		}
		if found := w.stored(g, flows.NewPaymentID(p.Registration, generation)); found.ProcessorID == p.ProcessorID {
			return found
		}
	}
	w.Fatalf("Redis has no record of %s", p.ProcessorID)
	return nil
}
