package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// TestRefusingRoute has twenty buyers pay while something in front of the club system refuses what records payments, and
// every other call works. Few of them are charged to be refunded later. The others are recorded afterwards.
func TestRefusingRoute(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]clubsim.Fault{
		"a quota of the route for the day": {Match: recording, Kind: "too_many", Limit: "quota", DelayMs: 24 * 3600_000},
		"a firewall's page with 403":       {Match: recording, Kind: "foreign_page", Status: 403},
		"a firewall's page with 404":       {Match: recording, Kind: "foreign_page", Status: 404},
		"a firewall's JSON with 403":       {Match: recording, Kind: "foreign_json", Status: 403},
		"a firewall's JSON with 400":       {Match: recording, Kind: "foreign_json", Status: 400},
		"the application's own 400":        {Match: recording, Kind: "error_before", Status: 400},
		"the token is refused":             {Match: recording, Kind: "error_before", Status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			world.Fault(refusal)
			var payments []*flows.Payment
			for range 20 {
				payments = append(payments, world.buyers(gateway, 1)...)
				world.Clock.Advance(2 * time.Minute)
				payments = world.advanceAll(gateway, payments)
			}
			if taken := world.taken(); taken > 9 {
				t.Errorf("money of %d payments was taken", taken)
			}
			waiting := in(flows.Authorised, payments) + in(flows.Captured, payments)
			world.Fault()
			for rest := 16 * 3; rest > 0 && in(flows.Recorded, payments) < waiting; rest-- { // the longest pause of a probe
				world.Clock.Advance(20 * time.Second)
				payments = world.advanceAll(gateway, payments)
			}
			if recorded := in(flows.Recorded, payments); recorded != waiting || waiting < 11 {
				t.Errorf("%d of %d that waited are recorded", recorded, waiting)
			}
			for _, p := range payments {
				world.ExpectSound(p)
			}
		})
	}
}

// TestEmptySuccesses has twenty buyers pay while something in front of the club system answers each recording with an empty
// success. Once three sales in a row stayed open, no further card is charged until a probe has settled its sale.
func TestEmptySuccesses(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	first := world.recordedBy(gateway, flows.ByCard)
	world.Clock.Advance(time.Minute)
	world.verify(gateway, first)
	world.Fault(clubsim.Fault{Match: recording, Kind: "empty_success"})
	var payments []*flows.Payment
	sweep := func() {
		world.Clock.Advance(time.Minute)
		payments = world.advanceAll(gateway, payments)
		world.verify(gateway, first)
	}
	for range 20 {
		payments = append(payments, world.buyers(gateway, 1)...)
		sweep()
	}
	charged := in(flows.Recorded, payments)
	if charged > 8 || in(flows.Authorised, payments) != 20-charged || world.taken() != 1+charged {
		t.Errorf("money of %d payments was taken, %d buyers wait", world.taken()-1, in(flows.Authorised, payments))
	}
	for _, p := range payments {
		if p.State == flows.Recorded && world.listedAs(gateway, p) != flows.RecordedUnsettled {
			t.Errorf("a payment that settled nothing is not on the list")
		}
	}
	world.Fault()
	for range 16 {
		sweep()
	}
	for _, p := range payments[charged:] {
		if p.State == flows.Recorded && world.Stored(gateway, p.ID).Finding() == "" {
			world.ExpectSound(p)
		}
	}
	if recorded := in(flows.Recorded, payments); recorded != 20 || len(world.Sim.Ledger()) != 1+20-charged {
		t.Errorf("%d of 20 are recorded, and the ledger has %d lines", recorded, len(world.Sim.Ledger()))
	}
}

// TestSalesThatNeverShowThatTheyAreSettled: where no sale was ever seen as settled, an open one says nothing, and no payment waits.
func TestSalesThatNeverShowThatTheyAreSettled(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	world.Fault(clubsim.Fault{Match: recording, Kind: "empty_success"})
	for range 6 {
		p := world.buyers(g, 1)[0]
		world.Clock.Advance(time.Minute)
		world.verify(g, p)
		if p.State != flows.Recorded {
			t.Errorf("%s (%s)", p.State, p.Reason)
		}
	}
}
