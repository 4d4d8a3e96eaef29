package payment_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// trial is an offer that costs nothing.
const trial = club.IRI("/demo/offers/3801")

// settlementCase is a way to settle without a processor, and its result in the club system.
type settlementCase struct {
	start  flows.StartPayment
	offer  club.IRI
	price  int64
	path   string // of the one request, below the client token
	state  string // of the sale afterwards
	ledger int    // payments that the club system has booked afterwards
}

func (w *testWorld) settlementCases() map[flows.Method]settlementCase {
	due := w.Clock.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	return map[flows.Method]settlementCase{
		flows.Deferred: {
			flows.StartPayment{Method: flows.Deferred, DueDate: due},
			quarterPass,
			quarterPassPrice,
			"/sales/*/postpone_due",
			"deferred",
			0,
		},
		flows.Free: {flows.StartPayment{Method: flows.Free}, trial, 0, "/sales/*/transitions", "settled", 0},
		flows.InPerson: {
			flows.StartPayment{Method: flows.InPerson, Staff: true, Desk: &flows.Desk{Mean: "cash"}},
			quarterPass,
			quarterPassPrice,
			"/sales/*/payments",
			"settled",
			1,
		},
	}
}

// withoutProcessor lists the methods that these tests cover.
var withoutProcessor = []flows.Method{flows.Deferred, flows.Free, flows.InPerson}

// settles requests a payment by a method, in a registration made for it.
func (w *testWorld) settles(g *testGateway, method flows.Method) (*flows.Payment, error) {
	w.Helper()
	how := w.settlementCases()[method]
	r := w.RegisteredFor(g, how.offer, how.price)
	return g.PayWith(w.Context(), r.ID, holderToken, how.start)
}

// sent counts the requests of a method that reached the club system.
func (w *testWorld) sent(how settlementCase) (n int) {
	for _, request := range w.Sim.Requests() {
		if match, _ := path.Match(how.path, request.Path); match && request.Method == "POST" {
			n++
		}
	}
	return n
}

// request matches the call of a method, to make it fail.
func (how settlementCase) request() clubsim.FaultMatch {
	return clubsim.FaultMatch{Method: "POST", Path: how.path}
}

// expectSettled compares the club system's own view of the sale with the payment.
func (w *testWorld) expectSettled(payment *flows.Payment) {
	w.Helper()
	how := w.settlementCases()[payment.Method]
	sale := must(w, func() (club.Sale, error) { return w.Club.GetSale(w.Context(), bastille, payment.Sale) })
	lines := w.Lines(payment)
	switch payment.State {
	case flows.Recorded:
		if sale.State != how.state || len(lines) != how.ledger || payment.Desk != nil || payment.Payer != nil {
			w.Errorf("recorded, and the sale is %s with the ledger %+v", sale.State, lines)
		}
	case flows.Cancelled:
		if sale.State != "building" || len(lines) != 0 {
			w.Errorf("cancelled, and the sale is %s with the ledger %+v", sale.State, lines)
		}
	case flows.InDoubt, flows.Blocked:
		if view := payment.View(); view.Retry != "never" {
			w.Errorf("%s, and the buyer sees %+v", payment.State, view)
		}
	default:
		w.Errorf("it did not come to rest: %s (%s)", payment.State, payment.Reason)
	}
	if audit := w.Sim.Audit(); !audit.OK {
		w.Errorf("the audit finds %+v", audit)
	}
}

// settlement is a scenario without a processor.
type settlement struct {
	live    func(*testWorld, *testGateway, flows.Method) *flows.Payment
	end     flows.PaymentState
	applied bool
	method  flows.Method // empty: each method
}

// settlements are the scenarios without a processor, by name and method.
var settlements = func() map[string]scenario {
	all := map[string]scenario{}
	for name, s := range map[string]settlement{
		"at once": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			return must(w, func() (*flows.Payment, error) { return w.settles(g, method) })
		}, flows.Recorded, true, ""},
		"refused at first": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			w.Fault(clubsim.Fault{Match: w.settlementCases()[method].request(), Kind: "error_before", Status: 401, Times: new(2)})
			p := must(w, func() (*flows.Payment, error) { return w.settles(g, method) })
			w.expectView(p, "processing", "same_key")
			w.Clock.Advance(time.Minute)
			return w.Advance(g, p)
		}, flows.Recorded, true, flows.InPerson},
		"refused for good": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			w.Fault(clubsim.Fault{Match: w.settlementCases()[method].request(), Kind: "error_before", Status: 401})
			p := must(w, func() (*flows.Payment, error) { return w.settles(g, method) })
			for range 6 {
				w.Clock.Advance(5 * time.Minute)
				p = w.Advance(g, p)
			}
			return p
		}, flows.Cancelled, false, flows.Deferred},
		"rejected": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			w.Fault(clubsim.Fault{Match: w.settlementCases()[method].request(), Kind: "error_before", Status: 422, Times: new(1)})
			return must(w, func() (*flows.Payment, error) { return w.settles(g, method) })
		}, flows.Cancelled, false, flows.Free},
		"rejected, applied": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			w.Fault(clubsim.Fault{Match: w.settlementCases()[method].request(), Kind: "error_after", Status: 400, Times: new(1)})
			return must(w, func() (*flows.Payment, error) { return w.settles(g, method) })
		}, flows.InDoubt, true, flows.InPerson},
		"the answer is lost": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			w.Fault(clubsim.Fault{Match: w.settlementCases()[method].request(), Kind: "drop_after", Times: new(1)})
			return must(w, func() (*flows.Payment, error) { return w.settles(g, method) })
		}, flows.InDoubt, true, ""},
		"the sender dies": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			p := w.priced(g, method)
			w.Put(g, p.ID, flows.Sending)
			w.ExpireLease(p)
			return w.Advance(g, p)
		}, flows.InDoubt, false, ""},
		"the sale grew": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			p := w.priced(g, method)
			if err := w.Club.AddArticle(w.Context(), bastille, p.Sale, club.NewArticle{Offer: "/demo/offers/2501"}); err != nil {
				w.Fatal(err)
			}
			return w.Advance(g, p)
		}, flows.Cancelled, false, flows.Deferred},
		"settled elsewhere": {func(w *testWorld, g *testGateway, method flows.Method) *flows.Payment {
			p := w.priced(g, method)
			w.settleElsewhere(p)
			return w.Advance(g, p)
		}, flows.InDoubt, false, flows.Free},
	} {
		methods := withoutProcessor
		if s.method != "" {
			methods = []flows.Method{s.method}
		}
		for _, method := range methods {
			ledger := 0
			if s.applied && method == flows.InPerson {
				ledger = 1
			}
			all[string(method)+": "+name] = scenario{
				live:   func(w *testWorld, g *testGateway) *flows.Payment { return s.live(w, g, method) },
				end:    s.end,
				ledger: ledger,
			}
		}
	}
	return all
}()

// priced returns a payment whose call was refused at first and may be sent again.
func (w *testWorld) priced(g *testGateway, method flows.Method) *flows.Payment {
	w.Helper()
	w.Fault(clubsim.Fault{Match: w.settlementCases()[method].request(), Kind: "error_before", Status: 401, Times: new(2)})
	payment := must(w, func() (*flows.Payment, error) { return w.settles(g, method) })
	if payment.State != flows.Priced {
		w.Fatalf("the payment is %s", payment.State)
	}
	w.Fault()
	w.Clock.Advance(time.Minute)
	return payment
}

// settleElsewhere settles a sale as staff do in the club system's own screens.
func (w *testWorld) settleElsewhere(payment *flows.Payment) {
	w.Helper()
	var err error
	if payment.Method == flows.Free {
		err = w.Club.ValidateSale(w.Context(), bastille, payment.Sale, nil)
	} else {
		err = w.Club.PostponeDue(w.Context(), bastille, payment.Sale, "2031-01-31", nil)
	}
	if err != nil {
		w.Error(err)
	}
}

// TestSettlementBreaks breaks each message of a payment without a processor, as TestEveryMessageBreaks does
// for a card.
func TestSettlementBreaks(t *testing.T) {
	t.Parallel()
	for _, method := range withoutProcessor {
		for name, plan := range map[string]frontdesktest.Fault{
			"the message is lost":                 {},
			"the answer is lost":                  {DropResponse: true},
			"the gateway dies before the message": {Permanent: true},
			"the gateway dies before the answer":  {DropResponse: true, Permanent: true},
		} {
			t.Run(string(method)+": "+name, func(t *testing.T) {
				t.Parallel()
				ends := map[flows.PaymentState]int{}
				for plan.Message = 1; ; plan.Message++ {
					broke := false
					t.Run(fmt.Sprint(plan.Message), func(t *testing.T) {
						w := newWorld(t)
						end, wire := w.settleAt(method, plan)
						broke = wire.Triggered()
						ends[end]++
					})
					if !broke {
						break
					}
				}
				t.Logf("the payments ended %v", ends)
				if ends[flows.Recorded] == 0 || ends[flows.InDoubt] == 0 {
					t.Error("the breakages did not reach both sides of the sending")
				}
			})
		}
	}
}

// settleAt starts a payment with a gateway whose connections break, and finishes it with one whose connections
// work.
func (w *testWorld) settleAt(method flows.Method, plan frontdesktest.Fault) (flows.PaymentState, *frontdesktest.MessageProxy) {
	wire := frontdesktest.NewMessageProxy(w, plan)
	doomed := w.Gateway(gatewayOptions{Outside: wire.Forward(w.Address), RedisURL: w.RedisOver(wire)})
	survivor := w.Gateway()
	versions := w.watchVersions(survivor)
	how := w.settlementCases()[method]
	r := w.RegisteredFor(survivor, how.offer, how.price)
	_, _ = doomed.PayWith(w.Context(), r.ID, holderToken, how.start)
	p := must(w, func() (*flows.Payment, error) {
		return survivor.PayWith(w.Context(), r.ID, holderToken, how.start)
	})
	end := w.Settle(survivor, p)
	w.expectSettled(end)
	if n := w.sent(how); n > 1 {
		w.Errorf("it was sent %d times", n)
	}
	versions.expectGrowth(w)
	return end.State, wire
}

// TestConcurrentSettlement: of concurrent requests and polls, by any method, exactly one settles.
func TestConcurrentSettlement(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateways := []*testGateway{world.Gateway(), world.Gateway()}
	registration := world.Registered(gateways[0])
	ways := []flows.StartPayment{world.settlementCases()[flows.Deferred].start, world.settlementCases()[flows.InPerson].start}
	var group sync.WaitGroup
	for range 8 {
		for i, g := range gateways {
			group.Go(func() {
				_, err := g.PayWith(world.Context(), registration.ID, holderToken, ways[i])
				if code := flows.CodeOf(err); err != nil && code != flows.PaymentExists && code != flows.Conflict && code != flows.RegistrationClosed {
					t.Errorf("asking for the payment: %v", err)
				}
			})
		}
	}
	group.Wait()
	p := world.Stored(gateways[0], flows.NewPaymentID(registration.ID, 1))
	if n := world.sent(world.settlementCases()[flows.Deferred]) + world.Posted(); n != 1 || p.State != flows.Recorded {
		t.Errorf("%s (%s) after %d calls", p.State, p.Reason, n)
	}
	world.expectSettled(p)
}

// TestPayable: an amount of zero settles only by the free method.
func TestPayable(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	due, nothing := world.Registered(gateway), world.RegisteredFor(gateway, trial, 0)
	byCards := func(cards ...flows.DeskCard) flows.StartPayment {
		return flows.StartPayment{Method: flows.InPerson, Staff: true, Desk: &flows.Desk{Mean: "card", Cards: cards}}
	}
	card := func(amount int64, currency string) flows.DeskCard {
		return flows.DeskCard{PaymentCard: club.PaymentCard{Amount: amount, Network: "CBGroup"}, Currency: currency}
	}
	stranger := world.settlementCases()[flows.InPerson].start
	stranger.Staff = false
	for name, test := range map[string]struct {
		r    *flows.Registration
		in   flows.StartPayment
		want flows.Code
	}{
		"card, nothing due":      {nothing, flows.StartPayment{Method: flows.ByCard}, flows.NothingDue},
		"later, nothing due":     {nothing, world.settlementCases()[flows.Deferred].start, flows.NothingDue},
		"desk, nothing due":      {nothing, world.settlementCases()[flows.InPerson].start, flows.NothingDue},
		"free, an amount due":    {due, flows.StartPayment{Method: flows.Free}, flows.AmountDue},
		"desk, another sum":      {due, byCards(card(quarterPassPrice-1, "EUR")), flows.InvalidRequest},
		"desk, another currency": {due, byCards(card(1, "EUR"), card(quarterPassPrice-1, "CHF")), flows.InvalidRequest},
		"desk, by the buyer":     {due, stranger, flows.StaffOnly},
		"desk, nothing, a buyer": {nothing, stranger, flows.StaffOnly},
	} {
		if _, err := gateway.PayWith(t.Context(), test.r.ID, holderToken, test.in); flows.CodeOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for r, want := range map[*flows.Registration][]flows.Method{due: {flows.ByCard, flows.Deferred, flows.InPerson}, nothing: {flows.Free}} {
		view := must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), r.ID, holderToken) })
		if view.Phase != flows.Open || !slices.Equal(view.Methods, want) || view.Actions[0] != "pay" {
			t.Errorf("%s, to be settled by %v, with %v", view.Phase, view.Methods, view.Actions)
		}
	}
}

// TestOneWayAtATime: while a payment is in progress, the same request returns it and any other is refused.
func TestOneWayAtATime(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Started(gateway) // by card
	later := world.settlementCases()[flows.Deferred].start
	ask := func(in flows.StartPayment) error {
		return errorOf(gateway.PayWith(t.Context(), payment.Registration, holderToken, in))
	}
	if err := ask(later); flows.CodeOf(err) != flows.PaymentExists {
		t.Errorf("in addition to a card: %v", err)
	}
	if err := ask(flows.StartPayment{Method: flows.ByCard, ReturnURL: "https://club.example/else"}); err != nil {
		t.Errorf("the card again, to return elsewhere: %v", err)
	}
	if _, err := gateway.Cancel(t.Context(), payment.ID); err != nil {
		t.Fatal(err)
	}
	if err := ask(later); err != nil {
		t.Errorf("after the card was cancelled: %v", err)
	}
	if err := ask(later); err != nil {
		t.Errorf("the same again: %v", err)
	}
	other := later
	other.DueDate = world.Clock.Now().AddDate(0, 2, 0).Format(time.DateOnly)
	for name, in := range map[string]flows.StartPayment{
		"another day": other,
		"a card":      {Method: flows.ByCard},
		"the desk":    world.settlementCases()[flows.InPerson].start,
	} {
		if err := ask(in); flows.CodeOf(err) != flows.PaymentExists {
			t.Errorf("%s in addition to a deferral: %v", name, err)
		}
	}
	world.expectSettled(world.Stored(gateway, flows.NewPaymentID(payment.Registration, 2)))
}

// TestWithdraw cancels a settlement that was requested but not sent; nothing is sent.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	for _, method := range withoutProcessor {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.priced(gateway, method)
			view := must(t, func() (flows.View, error) {
				return gateway.Registrations.Get(t.Context(), payment.Registration, holderToken)
			})
			if view.Phase != flows.Paying || !slices.Equal(view.Methods, []flows.Method{method}) {
				t.Errorf("%s, to be settled by %v", view.Phase, view.Methods)
			}
			before := world.sent(world.settlementCases()[method])
			view, err := gateway.Registrations.Abandon(t.Context(), payment.Registration, holderToken)
			if err != nil || view.Phase != flows.Abandoned || view.Payment.State != flows.Cancelled {
				t.Errorf("%+v, %v", view, err)
			}
			world.expectSettled(world.Stored(gateway, payment.ID))
			if n := world.sent(world.settlementCases()[method]); n != before {
				t.Errorf("%d requests were sent after %d", n, before)
			}

			sending := world.priced(gateway, method)
			world.Put(gateway, sending.ID, flows.Sending)
			must(t, func() (int64, error) {
				return world.Redis.HSet(t.Context(), redisKey(sending), "lease", world.Clock.Now().Add(time.Hour).UnixMilli()).Result()
			})
			if _, err := gateway.Registrations.Abandon(t.Context(), sending.Registration, holderToken); flows.CodeOf(err) != flows.PaymentUnderWay {
				t.Errorf("while it is being sent: %v", err)
			}
		})
	}
}

// TestAsleepBeforeSettling: after more than ten seconds nothing may be sent.
func TestAsleepBeforeSettling(t *testing.T) {
	t.Parallel()
	for _, method := range withoutProcessor {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			world.Journal.Listen(func(_ flows.PaymentID, m move) {
				if m.To == flows.Sending && world.Journal.Counts(m) == 1 {
					world.Clock.Advance(11 * time.Second)
				}
			})
			p := must(t, func() (*flows.Payment, error) { return world.settles(gateway, method) })
			if p.State != flows.Priced || world.sent(world.settlementCases()[method]) != 0 {
				t.Errorf("%s (%s) after a sleep", p.State, p.Reason)
			}
			end := world.Settle(gateway, p)
			if end.State != flows.Recorded {
				t.Errorf("%s (%s)", end.State, end.Reason)
			}
			world.expectSettled(end)
		})
	}
}

// TestAsleepAfterReadingTheSale: while the gateway that has read the sale sleeps, staff settle it. The gateway reads it again.
func TestAsleepAfterReadingTheSale(t *testing.T) {
	t.Parallel()
	for _, method := range withoutProcessor {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment, how := world.priced(gateway, method), world.settlementCases()[method]
			sent := 0
			world.InjectFault("GET /sim/demo/sales/*", nil, func() {
				world.settleElsewhere(payment)
				sent = world.sent(how)
				world.Clock.Advance(2 * time.Minute)
			})
			if end := world.Advance(gateway, payment); end.State != flows.InDoubt || world.sent(how) != sent {
				t.Errorf("%s (%s), and %d requests followed", end.State, end.Reason, world.sent(how)-sent)
			}
		})
	}
}

// TestSettlementView checks what the buyer sees of a payment without a processor.
func TestSettlementView(t *testing.T) {
	t.Parallel()
	for state, want := range map[flows.PaymentState]struct{ state, retry string }{
		flows.Priced: {"processing", "same_key"}, flows.Sending: {"processing", "never"}, flows.Recorded: {"recorded", "never"},
		flows.Cancelled: {"cancelled", "new"}, flows.InDoubt: {"in_doubt", "never"}, flows.Blocked: {"in_doubt", "never"},
	} {
		for _, method := range withoutProcessor {
			view := (&flows.Payment{State: state, Method: method}).View()
			if view.State != want.state || view.Retry != want.retry || view.Message == "" {
				t.Errorf("%s, %s: %+v", method, state, view)
			}
		}
	}
	owed := flows.Payment{State: flows.Recorded, Method: flows.Deferred, DueDate: "2030-01-31"}
	if message := owed.View().Message; message != flows.MessageLaterRecorded {
		t.Errorf("the buyer sees %q", message)
	}
}

// TestRefusedByTheProcessor: a payment that the processor will never create ends at once, and the cart can be
// changed again. Another amount can be paid by card.
func TestRefusedByTheProcessor(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	world.Inject(callFault{Call: createCall, Fail: 1, Status: http.StatusBadRequest})
	payment := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
	world.expectView(payment, "cancelled", "new")
	view := must(t, func() (flows.View, error) {
		return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
	})
	if view.Phase != flows.Open || len(world.HeldAll()) != 0 {
		t.Errorf("%s with %d payments at the processor", view.Phase, len(world.HeldAll()))
	}
	must(t, func() (flows.View, error) { return world.AddItem(gateway, registration, badge) })
	again := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
	if again.State != flows.Intent || again.Amount == payment.Amount {
		t.Errorf("asked again, for %d after %d, it is %s", again.Amount, payment.Amount, again.State)
	}
}
