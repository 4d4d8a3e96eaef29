package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// advanceFor lets a gateway advance a payment each time it is due within a period, as its worker does.
func (w *testWorld) advanceFor(g *testGateway, payment *flows.Payment, period time.Duration) *flows.Payment {
	w.Helper()
	const sweep = 15 * time.Second
	for range period / sweep {
		if payment = w.Advance(g, payment); payment.State.Final() {
			break
		}
		w.Clock.Advance(sweep)
	}
	return payment
}

// TestServerErrorUnderAKey: the processor stores a server error under a key and replays it for a day. The payment is
// completed within minutes under another key, and nothing is done twice, whether or not the first call had its effect.
func TestServerErrorUnderAKey(t *testing.T) {
	t.Parallel()
	rejected := []clubsim.Fault{{Match: recording, Kind: "error_before", Status: 422, Times: new(1)}}
	unauthorised := []clubsim.Fault{{Match: recording, Kind: "error_before", Status: 401, Times: new(2)}}
	for name, test := range map[string]struct {
		fails  call
		skip   int // so many of these calls succeed before
		club   []clubsim.Fault
		leaves bool // the buyer leaves, and pays nothing
		end    flows.PaymentState
		money  cards.State
	}{
		"create":                   {fails: createCall, end: flows.Recorded, money: cards.Captured},
		"capture":                  {fails: captureCall, end: flows.Recorded, money: cards.Captured},
		"the claim":                {fails: metadataCall, end: flows.Recorded, money: cards.Captured},
		"the acceptance":           {fails: metadataCall, skip: 1, end: flows.Recorded, money: cards.Captured},
		"the release":              {fails: metadataCall, skip: 1, club: unauthorised, end: flows.Recorded, money: cards.Captured},
		"cancel":                   {fails: cancelCall, leaves: true, end: flows.Cancelled, money: cards.Cancelled},
		"refund":                   {fails: refundCall, club: rejected, end: flows.Refunded, money: cards.Refunded},
		"the release for a refund": {fails: metadataCall, skip: 1, club: rejected, end: flows.Refunded, money: cards.Refunded},
		"the claim for a refund":   {fails: metadataCall, skip: 2, club: rejected, end: flows.Refunded, money: cards.Refunded},
	} {
		for _, mode := range []string{"before", "after"} {
			t.Run(name+", "+mode+" its effect", func(t *testing.T) {
				t.Parallel()
				world := newWorld(t)
				gateway, other := world.Gateway(), world.Gateway()
				registration := world.Registered(gateway)
				world.Fault(test.club...)
				fail := func() { world.storeError(test.fails, mode) }
				for range test.skip {
					then := fail
					fail = func() { world.InjectFault(test.fails, nil, then) }
				}
				fail()
				_, err := gateway.Pay(t.Context(), registration.ID)
				if created := test.fails != createCall; created != (err == nil) {
					t.Fatalf("started: %v", err)
				}
				id := flows.NewPaymentID(registration.ID, 1)
				payment := world.Stored(gateway, id)
				for range 4 { // both gateways, so that the first error is replayed for either
					if payment.ProcessorID != "" {
						break
					}
					world.Advance(gateway, payment)
					payment = world.Advance(other, payment)
				}
				if payment.State != flows.Intent || len(world.HeldAll()) != 1 {
					t.Fatalf("%s (%s), and the processor holds %d payments", payment.State, payment.Reason, len(world.HeldAll()))
				}
				if test.leaves {
					world.Clock.Advance(31 * time.Minute)
				} else {
					world.Confirm(payment, goodCard)
				}
				payment = world.advanceFor(gateway, world.Advance(other, payment), 20*time.Minute)
				booked := 0
				if test.end == flows.Recorded {
					booked = 1
				}
				if lines := world.Lines(payment); payment.State != test.end || len(lines) != booked {
					t.Errorf("%s (%s), and the ledger holds %+v", payment.State, payment.Reason, lines)
				}
				held := world.Held(payment)
				if held.State != test.money || len(world.HeldAll()) != 1 || held.Refunded > held.Captured {
					t.Errorf("the processor holds %+v", world.HeldAll())
				}
				world.rebuild(gateway)
				journal := world.Held(payment).Metadata
				if test.end == flows.Recorded && journal["fd_done_1"]+journal["fd_done_2"] == "" {
					t.Errorf("the journal is %v", journal)
				}
			})
		}
	}
}

// TestCreationAfterALossOfRedis: Redis lost that the first key was used up and that the payment was created under the
// next one. The processor's list leads to it.
func TestCreationAfterALossOfRedis(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	r := world.Registered(gateway)
	world.storeError(createCall, "before")
	if _, err := gateway.Pay(t.Context(), r.ID); err == nil {
		t.Fatal("the creation succeeded")
	}
	payment := world.Advance(gateway, world.Stored(gateway, flows.NewPaymentID(r.ID, 1)))
	if payment.State != flows.Intent || payment.UsedKeys != 1 {
		t.Fatalf("%s (%s), %d keys used up", payment.State, payment.Reason, payment.UsedKeys)
	}
	created := payment.ProcessorID
	world.Put(gateway, payment.ID, flows.Priced, func(next *flows.Payment) { next.ProcessorID, next.UsedKeys = "", 0 })
	world.Clock.Advance(15 * time.Minute)
	if payment = world.Advance(gateway, payment); payment.State != flows.Intent || payment.ProcessorID != created ||
		len(world.HeldAll()) != 1 {
		t.Errorf("%s (%s) with %s, and the processor holds %+v", payment.State, payment.Reason, payment.ProcessorID, world.HeldAll())
	}
}

// TestKeysNameTheProcessorsPayment: after a loss of Redis, another payment at the processor can have the number of a
// lost one, whose keys the processor remembers for a day.
func TestKeysNameTheProcessorsPayment(t *testing.T) {
	t.Parallel()
	rejected := clubsim.Fault{Match: recording, Kind: "error_before", Status: 422}
	for name, test := range map[string]struct {
		leaves bool
		end    flows.PaymentState
		money  cards.State
	}{
		"cancel":             {true, flows.Cancelled, cards.Cancelled},
		"capture and refund": {false, flows.Refunded, cards.Refunded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			world.Fault(rejected)
			payment := world.Started(gateway)
			twin := world.Duplicate(payment)
			for _, id := range []string{payment.ProcessorID, twin.ProcessorID} {
				payment = world.Put(gateway, payment.ID, flows.Intent, func(next *flows.Payment) {
					next.ProcessorID, next.Claim, next.AttemptID, next.Payer = id, 0, "", nil
				})
				if test.leaves {
					world.Clock.Advance(31 * time.Minute)
				} else {
					world.Confirm(payment, goodCard)
				}
				payment = world.advanceFor(gateway, payment, 10*time.Minute)
				if held := world.Held(payment); payment.State != test.end || held.State != test.money {
					t.Errorf("%s: %s (%s), and %s at the processor", id, payment.State, payment.Reason, held.State)
				}
			}
		})
	}
}
