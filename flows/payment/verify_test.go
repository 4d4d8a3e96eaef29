package payment_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// unverifiedKey is the list of payments to verify.
const unverifiedKey = "fd:{fd:payments:open}:unverified"

// verify lets a gateway verify what is due, and returns the payment as stored afterwards.
func (w *testWorld) verify(gateway *testGateway, payment *flows.Payment) *flows.Payment {
	w.Helper()
	for _, id := range w.due(gateway) {
		if err := gateway.Verify(w.Context(), id); err != nil {
			w.Logf("verify: %v", err)
		}
	}
	return w.Stored(gateway, payment.ID)
}

// due takes the payments that a gateway verifies now.
func (w *testWorld) due(g *testGateway) []flows.PaymentID {
	w.Helper()
	return must(w, func() ([]flows.PaymentID, error) {
		return g.Store.Due(w.Context(), flows.VerifyLane, w.Clock.Now(), 5*time.Minute, 100)
	})
}

// recordedBy makes a payment by a method that is recorded.
func (w *testWorld) recordedBy(gateway *testGateway, method flows.Method) *flows.Payment {
	w.Helper()
	var payment *flows.Payment
	if method == flows.ByCard {
		payment = w.Advance(gateway, w.Authorised(gateway))
	} else {
		payment = must(w, func() (*flows.Payment, error) { return w.settles(gateway, method) })
	}
	if payment.State != flows.Recorded {
		w.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	return payment
}

// unbooked makes a recorded payment of which the club system knows nothing: something in front of it answered.
func (w *testWorld) unbooked(gateway *testGateway, method flows.Method) *flows.Payment {
	w.Helper()
	match := recording
	if method != flows.ByCard {
		match = w.settlementCases()[method].request()
	}
	w.Fault(clubsim.Fault{Match: match, Kind: "empty_success", Times: new(1)})
	p := w.recordedBy(gateway, method)
	if sale := w.sale(p); sale.State != "building" || len(w.Lines(p)) != 0 {
		w.Fatalf("the sale is %s, and the ledger holds %+v", sale.State, w.Lines(p))
	}
	return p
}

func (w *testWorld) sale(p *flows.Payment) club.Sale {
	w.Helper()
	return must(w, func() (club.Sale, error) { return w.Club.GetSale(w.Context(), bastille, p.Sale) })
}

// listedAs returns what the operators' list shows of a payment; empty if it is not there.
func (w *testWorld) listedAs(g *testGateway, p *flows.Payment) flows.PaymentState {
	w.Helper()
	page := must(w, func() (payment.Page, error) { return g.List(w.Context(), payment.ListOptions{}) })
	i := slices.IndexFunc(page.Items, func(s payment.Summary) bool { return s.ID == p.ID })
	if i < 0 {
		return ""
	}
	return page.Items[i].Finding
}

// expectFindingAfter lets a gateway verify what is due after a time, and compares as expectFinding does.
func (w *testWorld) expectFindingAfter(pause time.Duration, g *testGateway, p *flows.Payment, want flows.PaymentState) {
	w.Helper()
	w.Clock.Advance(pause)
	w.verify(g, p)
	w.expectFinding(g, p, want)
}

// expectFinding compares the record, the operators' list and the metric with what happened; empty: no finding.
func (w *testWorld) expectFinding(gateway *testGateway, payment *flows.Payment, want flows.PaymentState) {
	w.Helper()
	payment = w.Stored(gateway, payment.ID)
	if listed := w.listedAs(gateway, payment); payment.State != flows.Recorded || payment.Finding() != want || listed != want {
		w.Errorf("%s with the finding %q (%s), listed as %q, want %q", payment.State, payment.Finding(), payment.Reason, listed, want)
	}
	counts := must(w, func() (map[flows.PaymentState]store.StateCount, error) { return gateway.Counts(w.Context()) })
	for _, finding := range flows.Findings {
		if n := counts[finding].Payments; (n == 1) != (finding == want) {
			w.Errorf("%d counted as %s, want the finding %q", n, finding, want)
		}
	}
	if ttl := w.Redis.TTL(w.Context(), redisKey(payment)).Val(); (ttl < 0) != (want != "") {
		w.Errorf("with the finding %q the record lives for %s", want, ttl)
	}
}

// TestRecordedUnsettled: something in front of the club system answers the one request with an empty success. Whatever the
// method, the payment is on the operators' list a minute later, and nothing is sent again. It leaves the list once staff
// have settled the sale, or an operator confirms it.
func TestRecordedUnsettled(t *testing.T) {
	t.Parallel()
	for _, method := range append([]flows.Method{flows.ByCard}, withoutProcessor...) {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			settled := world.unbooked(gateway, method)
			sweeps := world.RunBackground(world.Background(gateway))
			sweeps <- world.Clock.Now()
			world.expectFinding(gateway, settled, "")
			sent := len(world.Sim.Requests())
			listed := func(want flows.PaymentState, pause time.Duration) {
				frontdesktest.Eventually(t, "listed as "+string(want), func() bool {
					world.Clock.Advance(pause) // each time: the next reading is due a pause after the end of the one before
					select {
					case sweeps <- world.Clock.Now():
					default:
					}
					return world.listedAs(gateway, settled) == want && world.Stored(gateway, settled.ID).Finding() == want
				})
			}
			world.Clock.Advance(time.Minute)
			listed(flows.RecordedUnsettled, 0)
			world.expectFinding(gateway, settled, flows.RecordedUnsettled)
			for _, request := range world.Sim.Requests()[sent:] {
				if request.Method == http.MethodPost {
					t.Errorf("after it was recorded: %s %s", request.Method, request.Path)
				}
			}
			world.settleByStaff(settled)
			listed("", 3*time.Minute)
			world.expectFinding(gateway, settled, "")
			frontdesktest.Eventually(t, "nothing is left to verify", func() bool {
				due, err := world.Redis.ZCard(t.Context(), unverifiedKey).Result()
				return err == nil && due == 0
			})
		})
	}
}

// settleByStaff settles a sale in the club system's own screens.
func (w *testWorld) settleByStaff(payment *flows.Payment) {
	w.Helper()
	if payment.Method == flows.Free {
		if err := w.Club.ValidateSale(w.Context(), bastille, payment.Sale, nil); err != nil {
			w.Fatal(err)
		}
		return
	}
	w.PayAtDesk(payment)
}

// TestUnsettledIsDecided: an operator confirms what they settled by hand, and no later reading or comparison finds
// it again.
func TestUnsettledIsDecided(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.unbooked(gateway, flows.ByCard)
	world.Clock.Advance(time.Minute)
	payment = world.verify(gateway, payment)
	world.expectFinding(gateway, payment, flows.RecordedUnsettled)
	world.confirmRecorded(gateway, payment)
	world.expectFinding(gateway, payment, "")
	world.Clock.Advance(2 * time.Hour)
	world.rebuild(gateway)
	payment = world.verify(gateway, payment)
	world.expectFinding(gateway, payment, "")
	if world.Posted() != 1 {
		t.Errorf("%d requests to record it", world.Posted())
	}
}

// TestVerificationContinues: whatever keeps the sale from being read, the verification is repeated until it was.
func TestVerificationContinues(t *testing.T) {
	t.Parallel()
	reads := clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}
	for name, prevent := range map[string]func(*testWorld, *testGateway, *flows.Payment){
		"the club system is down for hours": func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.Fault(clubsim.Fault{Match: reads, Kind: "error_before"})
			for range 30 {
				w.Clock.Advance(6 * time.Minute)
				if found := w.verify(g, p).Finding(); found != "" {
					w.Fatalf("found %s without a reading", found)
				}
			}
		},
		"a firewall answers the reading": func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.Fault(clubsim.Fault{Match: reads, Kind: "foreign_page"})
			w.verify(g, p)
			w.Fault(clubsim.Fault{Match: reads, Kind: "foreign_json"})
			w.Clock.Advance(6 * time.Minute)
			w.verify(g, p)
		},
		"the gateway dies with it in hand": func(w *testWorld, g *testGateway, _ *flows.Payment) { w.due(g) },
		"the gateway dies before it lists it": func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.ForgetKeys(unverifiedKey)
			open := redis.Z{Score: float64(w.Clock.Now().UnixMilli()), Member: string(p.ID)}
			w.Redis.ZAdd(w.Context(), "fd:payments:open", open) // as before the commit
			w.Advance(g, p)
		},
		"Redis loses the list": func(w *testWorld, g *testGateway, _ *flows.Payment) {
			w.ForgetKeys(unverifiedKey)
			w.rebuild(g)
		},
		"Redis loses everything": func(w *testWorld, g *testGateway, _ *flows.Payment) {
			w.Wipe()
			w.rebuild(g)
		},
		"an older gateway recorded it": func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.ForgetKeys(unverifiedKey)
			w.Clock.Advance(2 * 24 * time.Hour)
			w.rebuild(g)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			g, other := world.Gateway(), world.Gateway()
			payment := world.unbooked(g, flows.ByCard)
			world.Clock.Advance(time.Minute)
			prevent(world, g, payment)
			world.Fault()
			world.Clock.Advance(6 * time.Minute)
			world.verify(other, payment)
			world.expectFinding(other, payment, flows.RecordedUnsettled)
		})
	}
}

// TestFindingIsFoundAgain: Redis loses the lists, and the next comparison restores them.
func TestFindingIsFoundAgain(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.unbooked(gateway, flows.ByCard)
	world.Clock.Advance(time.Minute)
	world.verify(gateway, payment)
	world.ForgetKeys("fd:{fd:payments:open}:*", "fd:payments:*")
	world.rebuild(gateway)
	world.expectFindingAfter(2*time.Hour, gateway, payment, flows.RecordedUnsettled)
	world.confirmRecorded(gateway, payment)
	// As if the gateway had died after the decision.
	world.Redis.ZAdd(t.Context(), "fd:{fd:payments:open}:states", redis.Z{Score: 101e13, Member: string(payment.ID)})
	world.expectFinding(gateway, payment, "")
}

// TestUnsettledWithoutState: where sales show no state, their check refuses a settled one.
func TestUnsettledWithoutState(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.Mute = true
	g := world.Gateway()
	p := world.unbooked(g, flows.ByCard)
	world.expectFindingAfter(time.Minute, g, p, flows.RecordedUnsettled)
	// As for a settled sale.
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Path: "/sales/*/check"}, Kind: "error_before", Status: http.StatusBadRequest})
	world.expectFindingAfter(3*time.Minute, g, p, "")
}

// TestDecisionDuringVerification: an operator decides while a gateway reads the sale. The decision holds.
func TestDecisionDuringVerification(t *testing.T) {
	t.Parallel()
	for name, settled := range map[string]bool{"the sale is still open": false, "the sale is settled": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway, other := world.Gateway(), world.Gateway()
			payment := world.unbooked(gateway, flows.ByCard)
			world.Clock.Advance(time.Minute)
			payment = world.verify(gateway, payment)
			if settled {
				world.PayAtDesk(payment)
			}
			world.InjectFault("GET /sim/demo/sales/*", nil, func() {
				world.confirmRecorded(other, payment)
			})
			world.Clock.Advance(3 * time.Minute)
			payment = world.verify(gateway, payment)
			world.expectFinding(gateway, payment, "")
			if payment.DecisionOperator() != ada.Operator {
				t.Errorf("the last word is %+v", payment.History[len(payment.History)-1])
			}
		})
	}
}

// TestVerificationsAreShared: gateways share what is due, the longest due first.
func TestVerificationsAreShared(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway, other := world.Gateway(), world.Gateway()
	const crowd = 400
	for i := range crowd {
		id := flows.NewPaymentID("crowd", i+1)
		due := world.Clock.Now().Add(-time.Duration(i) * time.Second)
		if err := gateway.Store.EnsureScheduled(t.Context(), &flows.Payment{ID: id, State: flows.Recorded}, due); err != nil {
			t.Fatal(err)
		}
	}
	first, second := world.due(gateway), world.due(other)
	shared := slices.ContainsFunc(first, func(id flows.PaymentID) bool { return slices.Contains(second, id) })
	if len(first) == 0 || len(first) >= crowd/2 || len(second) == 0 || shared {
		t.Errorf("one takes %d, the other %d", len(first), len(second))
	}
	if oldest := flows.NewPaymentID("crowd", crowd); len(first) > 0 && first[0] != oldest {
		t.Errorf("%s is first, and %s has waited longest", first[0], oldest)
	}
}

// byHand refunds part of a payment in the processor's pages, and returns the event.
func (w *testWorld) byHand(p *flows.Payment, amount int64) cards.Event {
	w.Helper()
	w.refundAtProcessor(p, amount)
	return w.EventOf(p, "charge.refunded")
}

// dispute has the buyer demand the money back, and returns the event.
func (w *testWorld) dispute(p *flows.Payment) cards.Event {
	w.Helper()
	w.disputeAtProcessor(p)
	return w.EventOf(p, "charge.dispute.created")
}

// TestContradicted: a recorded payment is refunded in the processor's pages, or the buyer disputes it. An event or a comparison
// lists it until an operator confirms that the club system has it; what happens later is listed again.
func TestContradicted(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*testWorld, *flows.Payment) cards.Event{
		"refunded":         func(w *testWorld, p *flows.Payment) cards.Event { return w.byHand(p, p.Amount) },
		"refunded in part": func(w *testWorld, p *flows.Payment) cards.Event { return w.byHand(p, 100) },
		"disputed":         (*testWorld).dispute,
	} {
		for way, tell := range map[string]func(*testWorld, *testGateway, *flows.Payment, cards.Event){
			"by event": func(w *testWorld, g *testGateway, _ *flows.Payment, about cards.Event) {
				w.Handle(g, about)
			},
			"by comparison": func(w *testWorld, g *testGateway, p *flows.Payment, _ cards.Event) {
				w.Clock.Advance(5 * 24 * time.Hour)
				w.rebuild(g)
				w.verify(g, p)
			},
			"after Redis lost it": func(w *testWorld, g *testGateway, p *flows.Payment, _ cards.Event) {
				w.Wipe()
				w.rebuild(g)
				w.Clock.Advance(2 * time.Minute)
				w.verify(g, p)
			},
			"after its record is gone": func(w *testWorld, g *testGateway, p *flows.Payment, about cards.Event) {
				w.Clock.Advance(60 * 24 * time.Hour)
				w.ForgetKeys("fd:{*}*", "fd:payments:*") // as when their time to live ends
				w.Handle(g, about)
				w.Clock.Advance(2 * time.Minute)
				w.verify(g, p)
			},
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				world := newWorld(t)
				gateway := world.Gateway()
				payment := world.recordedBy(gateway, flows.ByCard)
				world.expectFindingAfter(time.Minute, gateway, payment, "")
				tell(world, gateway, payment, happens(world, payment))
				world.expectFinding(gateway, payment, flows.Contradicted)
				world.confirmRecorded(gateway, payment)
				world.expectFinding(gateway, payment, "")
				world.rebuild(gateway)
				world.verify(gateway, payment)
				world.expectFinding(gateway, payment, "")
				if held := world.Held(payment); held.Refunded < payment.Amount && !held.Disputed { // the processor gives nothing back that is disputed
					world.Handle(gateway, world.byHand(payment, 200))
					world.expectFinding(gateway, payment, flows.Contradicted)
				}
			})
		}
	}
}

// TestCancelledButCaptured: Redis has a payment as cancelled whose money the processor holds, as after a decision that
// was made with another account's key. A comparison shows it to operators, who have it refunded or record it by hand; a
// refund at the processor ends it too.
func TestCancelledButCaptured(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settle func(*testWorld, *testGateway, *flows.Payment)
		end    flows.PaymentState
		held   cards.State
	}{
		"refund": {func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.mustDecide(g, p, payment.Refund)
		}, flows.Refunded, cards.Refunded},
		"recorded by hand": {func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.PayAtDesk(p)
			w.confirmRecorded(g, p)
		}, flows.Recorded, cards.Captured},
		"refunded at the processor": {func(w *testWorld, _ *testGateway, p *flows.Payment) {
			w.refundAtProcessor(p, p.Amount)
		}, flows.Refunded, cards.Refunded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.Authorised(gateway)
			world.captureAtProcessor(paid)
			world.Put(gateway, paid.ID, flows.Cancelled)
			world.ForgetKeys("fd:payments:open", "fd:{fd:payments:open}:*")
			world.compareAgain(gateway)
			paid = world.Advance(gateway, paid)
			listed := must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{}) })
			if paid.State != flows.Blocked || len(listed.Items) != 1 || world.Posted() != 0 {
				t.Fatalf("%s (%s), listed are %+v", paid.State, paid.Reason, listed.Items)
			}
			commands := world.shown(gateway, paid).Commands
			if !slices.Contains(commands, "frontdesk payments confirm-recorded "+string(paid.ID)) ||
				!slices.Contains(commands, "frontdesk payments confirm-not-recorded "+string(paid.ID)+" --refund") {
				t.Errorf("offered are %q", commands)
			}
			test.settle(world, gateway, paid)
			paid = world.Advance(gateway, paid)
			if held := world.Held(paid).State; paid.State != test.end || held != test.held {
				t.Errorf("%s (%s), and %s at the processor", paid.State, paid.Reason, held)
			}
			world.Clock.Advance(2 * time.Minute)
			world.rebuild(gateway)
			world.verify(gateway, paid)
			if listed := must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{}) }); len(listed.Items) != 0 {
				t.Errorf("still listed: %+v", listed.Items)
			}
		})
	}
}
