package payment_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

var ada = flows.Decision{Operator: "ada", Reason: "looked at the sale"}

// confirmRecorded has an operator confirm that the club system holds a payment.
func (w *testWorld) confirmRecorded(g *testGateway, p *flows.Payment) payment.ResolutionResult {
	w.Helper()
	return must(w, func() (payment.ResolutionResult, error) { return g.ConfirmRecorded(w.Context(), p.ID, ada) })
}

// doubtWithoutProcessor makes a payment in doubt that is unknown to the processor.
func (w *testWorld) doubtWithoutProcessor(g *testGateway) *flows.Payment {
	w.Helper()
	p := w.Started(g)
	return w.Put(g, p.ID, flows.InDoubt, func(next *flows.Payment) {
		next.Method, next.DueDate = flows.Deferred, w.Clock.Now().AddDate(0, 0, 14).Format(time.DateOnly)
		next.Claim, next.DoubtSince = 1, w.Clock.Now()
	})
}

func (w *testWorld) mustDecide(g *testGateway, p *flows.Payment, then payment.Resolution) payment.ResolutionResult {
	w.Helper()
	return must(w, func() (payment.ResolutionResult, error) { return g.ConfirmNotRecorded(w.Context(), p.ID, then, ada) })
}

// expectRefusal checks that a decision was refused and changed nothing.
func (w *testWorld) expectRefusal(gateway *testGateway, payment *flows.Payment, err error, code flows.Code, detail string) {
	w.Helper()
	var failure *flows.Error
	if !errors.As(err, &failure) || failure.Code != code || !strings.Contains(string(failure.Detail)+failure.Operator, detail) {
		w.Errorf("refused with %v, want %s: %s", err, code, detail)
	}
	if now := w.Stored(gateway, payment.ID); now.Version != payment.Version {
		w.Errorf("%s (%s) after a decision that was refused", now.State, now.Reason)
	}
}

func TestConfirmRecorded(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Doubtful(gateway, "drop_after")
	decided := world.confirmRecorded(gateway, payment)
	if decided.Payment.State != flows.Recorded || len(decided.Warnings) != 0 {
		t.Errorf("decided: %+v", decided)
	}
	end := world.Stored(gateway, payment.ID)
	world.ExpectSound(end)
	last := end.History[len(end.History)-1]
	if last.Operator != "ada" || last.OperatorReason != ada.Reason || last.State != flows.Recorded {
		t.Errorf("the history ends with %+v", last)
	}
	metadata := world.Held(payment).Metadata
	if metadata["fd_done_1"] != payment.AttemptID || !strings.HasSuffix(metadata["fd_op_1"], "confirm-recorded by ada") {
		t.Errorf("the journal is %v", metadata)
	}
	entries := world.Redis.XRange(t.Context(), "fd:audit", "-", "+").Val()
	if len(entries) != 1 || entries[0].Values["what"] != "confirm-recorded" || entries[0].Values["payment"] != string(payment.ID) ||
		entries[0].Values["from"] != "in_doubt" || entries[0].Values["to"] != "recorded" || strings.Contains(fmt.Sprint(entries), ada.Reason) {
		t.Errorf("the audit stream holds %v", entries)
	}
}

// TestConfirmRecordedOfAnUnsettledSale: the response warns an operator who confirms a payment whose sale is unsettled.
func TestConfirmRecordedOfAnUnsettledSale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "error_before")
	decided := w.confirmRecorded(g, p)
	if decided.Payment.State != flows.Recorded || len(decided.Warnings) != 1 ||
		!strings.Contains(decided.Warnings[0], "shows sale "+string(p.Sale)+" as not settled") {
		t.Errorf("decided: %+v", decided)
	}
}

// TestDecisionIsRecordedBeforeTheSaleIsRead: a gateway that dies while the club system is slow has written the
// decision to the processor's journal and the audit stream, and an operator reads that the sale is unknown.
func TestDecisionIsRecordedBeforeTheSaleIsRead(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Doubtful(gateway, "drop_after")
	reads := 0
	world.Inject(callFault{Call: "GET /sim/demo/sales/*", Fail: 100, Before: func() {
		reads++
		journal := world.Held(payment).Metadata
		if journal["fd_done_1"] != payment.AttemptID || !strings.HasSuffix(journal["fd_op_1"], "confirm-recorded by ada") {
			t.Errorf("the journal is %v when the sale is read", journal)
		}
		if n := world.Redis.XLen(t.Context(), "fd:audit").Val(); n != 1 {
			t.Errorf("the audit stream has %d entries when the sale is read", n)
		}
	}})
	decided := world.confirmRecorded(gateway, payment)
	if reads == 0 || decided.Payment.State != flows.Recorded || len(decided.Warnings) != 1 ||
		!strings.Contains(decided.Warnings[0], "could not be read") {
		t.Errorf("%d reads; decided: %+v", reads, decided)
	}
}

// TestContactAfterADecision: as long as money may have to go back, operators see whose it is.
func TestContactAfterADecision(t *testing.T) {
	t.Parallel()
	for _, then := range []payment.Resolution{payment.SendAgain, payment.Refund} {
		w := newWorld(t)
		g := w.Gateway()
		p := w.Doubtful(g, "error_before")
		w.Clock.Advance(16 * time.Minute)
		if decided := w.mustDecide(g, p, then); decided.Payment.ContactNumber == "" {
			t.Errorf("after %s it is %s of no contact", then, decided.Payment.State)
		}
	}
}

// TestDecisionsRefused brings a doubt into a situation in which a decision must be refused, and has an
// operator make that decision. What the journal and the sale forbid is proven in the tests of the protocol; here are requests that say too
// little, calls that fail, and what happens in the very moment of the decision.
func TestDecisionsRefused(t *testing.T) {
	t.Parallel()
	type decide func(*testWorld, *testGateway, *flows.Payment) error
	not := func(then payment.Resolution, word flows.Decision) decide {
		return func(w *testWorld, g *testGateway, p *flows.Payment) error {
			return errorOf(g.ConfirmNotRecorded(w.Context(), p.ID, then, word))
		}
	}
	because := func(reason string) flows.Decision { return flows.Decision{Operator: "ada", Reason: reason} }
	const old = 16 * time.Minute
	for name, test := range map[string]struct {
		wait      time.Duration
		situation func(*testWorld, *testGateway, *flows.Payment)
		decide    decide
		code      flows.Code
		detail    string
	}{
		"too early":             {14 * time.Minute, nil, not(payment.Refund, ada), flows.TooEarly, "possible from"},
		"no operator":           {old, nil, not(payment.Refund, flows.Decision{}), flows.InvalidRequest, ""},
		"an address for a name": {old, nil, not(payment.Refund, flows.Decision{Operator: "ada@example.com"}), flows.InvalidRequest, ""},
		"a novel":               {old, nil, not(payment.Refund, because(strings.Repeat("x", 501))), flows.InvalidRequest, ""},
		"more than a line":      {old, nil, not(payment.Refund, because("a\x1b[2Jb")), flows.InvalidRequest, ""},
		"what then":             {old, nil, not("keep", ada), flows.InvalidRequest, ""},
		"accepted in the very moment": {old, func(w *testWorld, _ *testGateway, p *flows.Payment) {
			w.InjectFault(metadataCall, func() { w.note(p, "fd_done_1", p.AttemptID) }, nil)
		}, not(payment.Refund, ada), flows.NotDecidable, "acceptance"},
		"another's release in the very moment": {old, anotherReleases, not(payment.SendAgain, ada), flows.NotDecidable, "names another attempt"},
		"processor down": {old, func(w *testWorld, _ *testGateway, _ *flows.Payment) { w.FailCalls(getCall, 1) },
			not(payment.Refund, ada), flows.ProcessorUnavailable, ""},
		"processor down for the release": {old, func(w *testWorld, _ *testGateway, _ *flows.Payment) {
			w.FailCalls(metadataCall, 1)
		},
			not(payment.Refund, ada), flows.ProcessorUnavailable, ""},
		"a younger claim that Redis forgot": {old, func(w *testWorld, _ *testGateway, p *flows.Payment) {
			claim := fmt.Sprintf("%d-0d1c5d43-7e6a-4bd7-9a2f-6d7f0ab0a001", w.Clock.Now().Add(-time.Minute).UnixMilli())
			w.note(p, "fd_release_1", p.AttemptID, "fd_post_2", claim)
		}, not(payment.SendAgain, ada), flows.TooEarly, "possible from"},
		"club system down": {old, func(w *testWorld, _ *testGateway, _ *flows.Payment) {
			w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
		}, not(payment.SendAgain, ada), flows.ClubSystemUnavailable, string(flows.DetailSaleUnread)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			p := world.Doubtful(gateway, "error_before")
			world.Clock.Advance(test.wait)
			if test.situation != nil {
				test.situation(world, gateway, p)
			}
			world.expectRefusal(gateway, p, test.decide(world, gateway, p), test.code, test.detail)
		})
	}
}

func anotherReleases(w *testWorld, _ *testGateway, p *flows.Payment) {
	w.InjectFault(metadataCall, func() {
		key := fmt.Sprintf("release:%s:1", p.ProcessorID)
		must(w, func() (cards.Payment, error) {
			return w.Processor.UpdateMetadata(w.Context(), key, p.ProcessorID, map[string]string{"fd_release_1": "another"})
		})
	}, nil)
}

func refundBegan(w *testWorld, p *flows.Payment) {
	w.note(
		p, "fd_release_1", p.AttemptID, "fd_post_2",
		fmt.Sprintf("refund-%d-0d1c5d43-7e6a-4bd7-9a2f-6d7f0ab0a001", w.Clock.Now().UnixMilli()),
	)
}

// TestNotes: an operator leaves a note on a payment in any state, which changes nothing else. What a newer version of Frontdesk wrote,
// and what does not exist, cannot be decided.
func TestNotes(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	paid := world.Started(gateway)
	for _, state := range flows.PaymentStates {
		now := world.Put(gateway, paid.ID, state)
		if _, err := gateway.AddNote(t.Context(), paid.ID, "ada", "seen in "+string(state)); err != nil {
			t.Errorf("a note on a payment that is %s: %v", state, err)
		}
		if after := world.Stored(gateway, paid.ID); after.Version != now.Version {
			t.Errorf("the note changed the record of a payment that is %s", state)
		}
	}
	newer := world.Put(gateway, paid.ID, flows.InDoubt, func(next *flows.Payment) { next.Schema = flows.PaymentSchema + 1 })
	_, err := gateway.ConfirmRecorded(t.Context(), paid.ID, ada)
	world.expectRefusal(gateway, newer, err, flows.NotDecidable, "newer version of Frontdesk")
	d := must(t, func() (payment.Detail, error) { return gateway.Show(t.Context(), paid.ID) })
	if len(d.Notes) != len(flows.PaymentStates) || d.Notes[0].Operator != "ada" || d.Notes[0].Text != "seen in priced" {
		t.Errorf("the notes are %+v", d.Notes)
	}
	for _, id := range []flows.PaymentID{"", "x", "none-1", "x-0"} {
		if _, err := gateway.Show(t.Context(), id); flows.CodeOf(err) != flows.NotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := gateway.ConfirmRecorded(t.Context(), id, ada); flows.CodeOf(err) != flows.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestNoteWhileSending: an operator's note does not disturb the gateway that is recording the payment.
func TestNoteWhileSending(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.InjectFault("POST /sim/demo/sales/*/payments", func() {
		if _, err := world.Gateway().AddNote(t.Context(), payment.ID, "ada", "what is taking so long?"); err != nil {
			t.Error(err)
		}
	}, nil)
	if end := world.Advance(gateway, payment); end.State != flows.Recorded {
		t.Errorf("%s (%s)", end.State, end.Reason)
	}
}

// TestTwoOperators: two operators decide at the same moment, in all combinations. One wins, and the other gets
// a conflict.
func TestTwoOperators(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	instance := world.Gateway()
	other := world.Gateway()
	for name, test := range map[string]struct {
		first, second payment.Resolution // empty: recorded
		end           flows.PaymentState
		loser         flows.Code
	}{
		"refund, and recorded meanwhile":   {payment.Refund, "", flows.Recorded, flows.NotDecidable}, // the journal shows it
		"recorded, and refund meanwhile":   {"", payment.Refund, flows.Refunded, flows.Conflict},
		"refund, and sent again meanwhile": {payment.Refund, payment.SendAgain, flows.Recorded, flows.Conflict},
	} {
		kind := "error_before"
		if test.end == flows.Recorded && test.second == "" {
			kind = "drop_after"
		}
		paid := world.Doubtful(instance, kind)
		world.Clock.Advance(16 * time.Minute)
		decide := func(g *testGateway, then payment.Resolution) (err error) {
			if then == "" {
				_, err = g.ConfirmRecorded(t.Context(), paid.ID, ada)
			} else {
				_, err = g.ConfirmNotRecorded(t.Context(), paid.ID, then, ada)
			}
			return err
		}
		world.InjectFault(getCall, func() {
			if err := decide(other, test.second); err != nil {
				t.Errorf("%s: the first to decide got %v", name, err)
			}
		}, nil)
		if err := decide(instance, test.first); flows.CodeOf(err) != test.loser {
			t.Errorf("%s: the second one got %v", name, err)
		}
		end := world.Settle(instance, paid)
		world.ExpectSound(end)
		if end.State != test.end {
			t.Errorf("%s: %s (%s)", name, end.State, end.Reason)
		}
	}
}

func TestManyOperators(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateways := []*testGateway{world.Gateway(), world.Gateway()}
	paid := world.Doubtful(gateways[0], "error_before")
	world.Clock.Advance(16 * time.Minute)
	errs := make(chan error, 16)
	var group sync.WaitGroup
	for i := range cap(errs) {
		group.Go(func() {
			_, err := gateways[i%2].ConfirmNotRecorded(
				t.Context(), paid.ID, []payment.Resolution{payment.Refund, payment.SendAgain}[i/2%2],
				flows.Decision{Operator: fmt.Sprint("op", i)},
			)
			errs <- err
		})
	}
	group.Wait()
	close(errs)
	won := 0
	for err := range errs {
		switch code := flows.CodeOf(err); {
		case err == nil:
			won++
		case code != flows.Conflict && code != flows.NotDecidable:
			t.Errorf("an operator got %v", err)
		}
	}
	end := world.Settle(gateways[1], paid)
	world.ExpectSound(end)
	if entries := world.Redis.XLen(t.Context(), "fd:audit").Val(); won != 1 || entries != 1 || world.Held(paid).Metadata["fd_op_2"] != "" {
		t.Errorf("%d have decided, and the audit stream holds %d entries", won, entries)
	}
}

// TestRedisForgetsDecision returns Redis to the doubt after a decision was carried out.
func TestRedisForgetsDecision(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind  string
		then  payment.Resolution
		end   flows.PaymentState // after Redis fell back, without another decision
		again flows.Code         // what an operator who then requests a refund gets
	}{
		"recorded":   {"drop_after", "", flows.Recorded, flows.NotDecidable},
		"sent again": {"error_before", payment.SendAgain, flows.Recorded, flows.NotDecidable},
		"refunded":   {"error_before", payment.Refund, flows.Blocked, flows.NotDecidable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.Doubtful(gateway, test.kind)
			doubt := world.dump(paid.Registration)
			world.Clock.Advance(16 * time.Minute)
			if test.then == "" {
				world.confirmRecorded(gateway, paid)
			} else {
				world.mustDecide(gateway, paid, test.then)
			}
			world.ExpectSound(world.Settle(gateway, paid))
			before := world.Held(paid)
			world.restore(paid.Registration, doubt)
			world.Clock.Advance(time.Hour)
			if before.Metadata["fd_op_1"] == "" {
				t.Error("the decision is not mirrored")
			}
			_, err := world.Gateway().ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, ada)
			if flows.CodeOf(err) != test.again {
				t.Errorf("an operator got %v", err)
			}
			end := world.Settle(world.Gateway(), paid)
			world.ExpectSound(end)
			if after := world.Held(paid); end.State != test.end || after.Refunded != before.Refunded {
				t.Errorf("%s (%s), refunded %d and then %d", end.State, end.Reason, before.Refunded, after.Refunded)
			}
		})
	}
}

// TestRefundLostByRedis: a gateway ends between a refund's claim and the refund, and Redis falls back to the
// doubt. After the comparison, operators see a payment that they can refund, once.
func TestRefundLostByRedis(t *testing.T) {
	t.Parallel()
	const made, released = true, true
	for name, test := range map[string]struct{ made, released bool }{
		"before the refund": {},
		"after the refund":  {made: made},
		"before the refund, and another gave its number up": {released: released},
		"after the refund, and another gave its number up":  {made, released},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.Doubtful(gateway, "error_before")
			refundBegan(world, paid)
			if test.made {
				world.refundAtProcessor(paid, paid.Amount)
			}
			if test.released { // a recording that Redis fell back to, and that could not be claimed
				world.note(paid, "fd_release_2", "another")
			}
			if paid = world.Advance(gateway, paid); paid.State != flows.Blocked {
				t.Fatalf("%s (%s)", paid.State, paid.Reason)
			}
			world.mustDecide(gateway, paid, payment.Refund)
			if paid = world.Advance(gateway, paid); paid.State != flows.Refunded || world.Held(paid).Refunded != paid.Amount {
				t.Errorf("%s (%s), refunded %d", paid.State, paid.Reason, world.Held(paid).Refunded)
			}
		})
	}
}

// TestRefundedByHand: the money is refunded in the processor's dashboard. Afterwards an operator can end the
// payment, and nothing is refunded again.
func TestRefundedByHand(t *testing.T) {
	t.Parallel()
	refund := func(w *testWorld, _ *testGateway, p *flows.Payment) { w.refundAtProcessor(p, p.Amount) }
	for name, bring := range map[string]func(*testWorld, *testGateway) *flows.Payment{
		"in doubt": func(w *testWorld, g *testGateway) *flows.Payment {
			p := w.Doubtful(g, "error_before")
			refund(w, g, p)
			return p
		},
		"before the claim": func(w *testWorld, g *testGateway) *flows.Payment {
			p := w.Authorised(g)
			w.InjectFault(captureCall, nil, func() { refund(w, g, p) })
			return w.Advance(g, p)
		},
		"at the moment of the claim": func(w *testWorld, g *testGateway) *flows.Payment {
			p := w.Authorised(g)
			w.InjectFault(metadataCall, func() { refund(w, g, p) }, nil)
			return w.Advance(g, p)
		},
		"in doubt, and Redis forgot": func(w *testWorld, g *testGateway) *flows.Payment {
			p := w.Doubtful(g, "error_before")
			refund(w, g, p)
			w.Wipe()
			w.rebuild(g)
			return w.Stored(g, p.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := bring(world, gateway)
			world.Clock.Advance(16 * time.Minute)
			if commands := world.shown(gateway, paid).Commands; !slices.Contains(commands,
				"frontdesk payments confirm-not-recorded "+string(paid.ID)+" --refund") {
				t.Errorf("%s (%s): offered %v", paid.State, paid.Reason, commands)
			}
			world.mustDecide(gateway, paid, payment.Refund)
			world.takeDue(gateway)
			paid = world.Stored(gateway, paid.ID)
			if held := world.Held(paid); paid.State != flows.Refunded || held.Refunded != paid.Amount || world.Posted() > 1 ||
				len(world.Lines(paid)) != 0 {
				t.Errorf("%s (%s), refunded %d, the ledger holds %+v", paid.State, paid.Reason, held.Refunded, world.Lines(paid))
			}
			if open := world.open(); len(open) != 0 {
				t.Errorf("still listed: %v", open)
			}
			world.bankReturns(paid)
			world.expectRefundedAgain(gateway, paid.ID)
		})
	}
}

// TestDecisionAboutLatestClaim: Redis falls back to the first doubt while the second claim is in doubt. The
// decision applies to the second claim.
func TestDecisionAboutLatestClaim(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	paid := world.Doubtful(gateway, "error_before")
	first := world.dump(paid.Registration)
	world.Clock.Advance(16 * time.Minute)
	world.mustDecide(gateway, paid, payment.SendAgain)
	second := world.DoubtAgain(gateway, paid, "error_before")
	if second.Claim != 2 {
		t.Fatalf("claim %d is in doubt", second.Claim)
	}
	world.restore(paid.Registration, first)
	paid = world.Stored(gateway, paid.ID)
	world.Clock.Advance(14 * time.Minute)
	_, err := gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, ada)
	world.expectRefusal(gateway, paid, err, flows.TooEarly, "")
	world.Clock.Advance(2 * time.Minute)
	world.mustDecide(gateway, paid, payment.SendAgain)
	if got := world.Held(paid).Metadata["fd_release_2"]; got != second.AttemptID {
		t.Errorf("the release of the second claim names %q", got)
	}
	end := world.Settle(gateway, paid)
	world.ExpectSound(end)
	if end.State != flows.Recorded || end.Claim != 3 {
		t.Errorf("%s (%s) under claim %d", end.State, end.Reason, end.Claim)
	}
}

// TestDecisionWithoutCommit: the claim is released, but Redis does not accept the decision. The operator can
// decide again.
func TestDecisionWithoutCommit(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	paid := world.Doubtful(gateway, "error_before")
	world.Clock.Advance(16 * time.Minute)
	world.InjectFault(metadataCall, nil, func() {
		world.Put(gateway, paid.ID, flows.InDoubt) // as another reading does
	})
	if _, err := gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, ada); flows.CodeOf(err) != flows.Conflict {
		t.Fatalf("the operator got %v", err)
	}
	if held := world.Held(paid); held.Metadata["fd_release_1"] != paid.AttemptID || held.Metadata["fd_op_1"] != "" {
		t.Errorf("the journal is %v", held.Metadata)
	}
	world.mustDecide(gateway, paid, payment.Refund)
	end := world.Settle(gateway, paid)
	world.ExpectSound(end)
	if end.State != flows.Refunded {
		t.Errorf("%s (%s)", end.State, end.Reason)
	}
}

// TestDecisionRecordFails: a decision that could not be mirrored remains valid, and the result has warnings.
func TestDecisionRecordFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "drop_after")
	w.FailCalls(metadataCall, 6) // the acceptance and the mirror, three attempts each
	decided := w.confirmRecorded(g, p)
	if decided.Payment.State != flows.Recorded || len(decided.Warnings) != 2 {
		t.Errorf("decided: %+v", decided)
	}
}

// takeDue has a gateway advance the payments that are due.
func (w *testWorld) takeDue(gateway *testGateway) {
	w.Helper()
	due := must(w, func() ([]flows.PaymentID, error) {
		return gateway.Store.Due(w.Context(), flows.OpenLane, w.Clock.Now(), 30*time.Second, 40)
	})
	for _, id := range due {
		w.Advance(gateway, w.Stored(gateway, id))
	}
}
