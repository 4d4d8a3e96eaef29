package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// advanceFor lets a gateway advance a payment each time it is due within a period, as its worker does.
func (w *world) advanceFor(g *gateway, p *flows.Payment, period time.Duration) *flows.Payment {
	w.Helper()
	const sweep = 15 * time.Second
	for range period / sweep {
		if p = w.Advance(g, p); p.State.Final() {
			break
		}
		w.Clock.Advance(sweep)
	}
	return p
}

// TestServerErrorUnderAKey: the processor stores a server error under a key and replays it for a day. The payment is
// completed within minutes under another key, and nothing is done twice, whether or not the first call had its effect.
func TestServerErrorUnderAKey(t *testing.T) {
	t.Parallel()
	rejected := clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: new(1)}
	unauthorised := clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)}
	for name, test := range map[string]struct {
		fails  call
		skip   int // so many of these calls succeed before
		club   []clubsim.Fault
		leaves bool // the buyer leaves, and pays nothing
		end    flows.PaymentState
		money  cards.State
	}{
		"create":         {fails: createCall, end: flows.Recorded, money: cards.Captured},
		"capture":        {fails: captureCall, end: flows.Recorded, money: cards.Captured},
		"the claim":      {fails: metadataCall, end: flows.Recorded, money: cards.Captured},
		"the acceptance": {fails: metadataCall, skip: 1, end: flows.Recorded, money: cards.Captured},
		"the release": {
			fails: metadataCall,
			skip:  1,
			club:  []clubsim.Fault{unauthorised},
			end:   flows.Recorded,
			money: cards.Captured,
		},
		"cancel":                   {fails: cancelCall, leaves: true, end: flows.Cancelled, money: cards.Cancelled},
		"refund":                   {fails: refundCall, club: []clubsim.Fault{rejected}, end: flows.Refunded, money: cards.Refunded},
		"the release for a refund": {fails: metadataCall, skip: 1, club: []clubsim.Fault{rejected}, end: flows.Refunded, money: cards.Refunded},
		"the claim for a refund":   {fails: metadataCall, skip: 2, club: []clubsim.Fault{rejected}, end: flows.Refunded, money: cards.Refunded},
	} {
		for _, mode := range []string{"before", "after"} {
			t.Run(name+", "+mode+" its effect", func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				g, other := w.Gateway(), w.Gateway()
				r := w.Registered(g)
				w.Fault(test.club...)
				fail := func() { w.storeError(test.fails, mode) }
				for range test.skip {
					then := fail
					fail = func() { w.InjectFault(test.fails, nil, then) }
				}
				fail()
				_, err := g.Pay(t.Context(), r.ID)
				if created := test.fails != createCall; created != (err == nil) {
					t.Fatalf("started: %v", err)
				}
				id := flows.NewPaymentID(r.ID, 1)
				p := w.Stored(g, id)
				for range 4 { // both gateways, so that the first error is replayed for either
					if p.ProcessorID != "" {
						break
					}
					w.Advance(g, p)
					p = w.Advance(other, p)
				}
				if p.State != flows.Intent || len(w.HeldAll()) != 1 {
					t.Fatalf("%s (%s), and the processor holds %d payments", p.State, p.Reason, len(w.HeldAll()))
				}
				if test.leaves {
					w.Clock.Advance(31 * time.Minute)
				} else {
					w.Confirm(p, goodCard)
				}
				p = w.advanceFor(g, w.Advance(other, p), 20*time.Minute)
				booked := 0
				if test.end == flows.Recorded {
					booked = 1
				}
				if lines := w.Lines(p); p.State != test.end || len(lines) != booked {
					t.Errorf("%s (%s), and the ledger holds %+v", p.State, p.Reason, lines)
				}
				held := w.Held(p)
				if held.State != test.money || len(w.HeldAll()) != 1 || held.Refunded > held.Captured {
					t.Errorf("the processor holds %+v", w.HeldAll())
				}
				if w.rebuild(g); test.end == flows.Recorded && w.Held(p).Metadata["fd_done_1"]+w.Held(p).Metadata["fd_done_2"] == "" {
					t.Errorf("the journal is %v", w.Held(p).Metadata)
				}
			})
		}
	}
}

// TestCreationAfterALossOfRedis: Redis lost that the first key was used up and that the payment was created under the
// next one. The processor's list leads to it.
func TestCreationAfterALossOfRedis(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	r := w.Registered(g)
	w.storeError(createCall, "before")
	if _, err := g.Pay(t.Context(), r.ID); err == nil {
		t.Fatal("the creation succeeded")
	}
	p := w.Advance(g, w.Stored(g, flows.NewPaymentID(r.ID, 1)))
	if p.State != flows.Intent || p.UsedKeys != 1 {
		t.Fatalf("%s (%s), %d keys used up", p.State, p.Reason, p.UsedKeys)
	}
	created := p.ProcessorID
	w.Put(g, p.ID, flows.Priced, func(next *flows.Payment) { next.ProcessorID, next.UsedKeys = "", 0 })
	w.Clock.Advance(15 * time.Minute)
	if p = w.Advance(g, p); p.State != flows.Intent || p.ProcessorID != created || len(w.HeldAll()) != 1 {
		t.Errorf("%s (%s) with %s, and the processor holds %+v", p.State, p.Reason, p.ProcessorID, w.HeldAll())
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
			w := newWorld(t)
			g := w.Gateway()
			w.Fault(rejected)
			p := w.Started(g)
			twin := w.Duplicate(p)
			for _, id := range []string{p.ProcessorID, twin.ProcessorID} {
				p = w.Put(g, p.ID, flows.Intent, func(next *flows.Payment) {
					next.ProcessorID, next.Claim, next.AttemptID, next.Payer = id, 0, "", nil
				})
				if test.leaves {
					w.Clock.Advance(31 * time.Minute)
				} else {
					w.Confirm(p, goodCard)
				}
				p = w.advanceFor(g, p, 10*time.Minute)
				if held := w.Held(p); p.State != test.end || held.State != test.money {
					t.Errorf("%s: %s (%s), and %s at the processor", id, p.State, p.Reason, held.State)
				}
			}
		})
	}
}
