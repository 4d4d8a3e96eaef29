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
			w := newWorld(t)
			g := w.Gateway()
			w.Fault(refusal)
			var payments []*flows.Payment
			for range 20 {
				payments = append(payments, w.buyers(g, 1)...)
				w.Clock.Advance(2 * time.Minute)
				payments = w.advanceAll(g, payments)
			}
			if taken := w.taken(); taken > 9 {
				t.Errorf("money of %d payments was taken", taken)
			}
			waiting := in(flows.Authorised, payments) + in(flows.Captured, payments)
			w.Fault()
			for range 16 * 3 { // the longest pause of a probe
				w.Clock.Advance(20 * time.Second)
				payments = w.advanceAll(g, payments)
			}
			if recorded := in(flows.Recorded, payments); recorded != waiting || waiting < 11 {
				t.Errorf("%d of %d that waited are recorded", recorded, waiting)
			}
			for _, p := range payments {
				w.ExpectSound(p)
			}
		})
	}
}

// TestEmptySuccesses has twenty buyers pay while something in front of the club system answers each recording with an empty
// success. Once three sales in a row stayed open, no further card is charged until a probe has settled its sale.
func TestEmptySuccesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	first := w.recordedBy(g, flows.ByCard)
	w.Clock.Advance(time.Minute)
	w.verify(g, first)
	w.Fault(clubsim.Fault{Match: recording, Kind: "empty_success"})
	var payments []*flows.Payment
	sweep := func() {
		w.Clock.Advance(time.Minute)
		payments = w.advanceAll(g, payments)
		w.verify(g, first)
	}
	for range 20 {
		payments = append(payments, w.buyers(g, 1)...)
		sweep()
	}
	charged := in(flows.Recorded, payments)
	if charged > 8 || in(flows.Authorised, payments) != 20-charged || w.taken() != 1+charged {
		t.Errorf("money of %d payments was taken, %d buyers wait", w.taken()-1, in(flows.Authorised, payments))
	}
	for _, p := range payments {
		if p.State == flows.Recorded && w.listedAs(g, p) != flows.RecordedUnsettled {
			t.Errorf("a payment that settled nothing is not on the list")
		}
	}
	w.Fault()
	for range 16 {
		sweep()
	}
	for _, p := range payments[charged:] {
		if p.State == flows.Recorded && w.Stored(g, p.ID).Finding() == "" {
			w.ExpectSound(p)
		}
	}
	if recorded := in(flows.Recorded, payments); recorded != 20 || len(w.Sim.Ledger()) != 1+20-charged {
		t.Errorf("%d of 20 are recorded, and the ledger has %d lines", recorded, len(w.Sim.Ledger()))
	}
}

// TestSalesThatNeverShowThatTheyAreSettled: where no sale was ever seen as settled, an open one says nothing, and no payment waits.
func TestSalesThatNeverShowThatTheyAreSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	w.Fault(clubsim.Fault{Match: recording, Kind: "empty_success"})
	for range 6 {
		p := w.buyers(g, 1)[0]
		w.Clock.Advance(time.Minute)
		w.verify(g, p)
		if p.State != flows.Recorded {
			t.Errorf("%s (%s)", p.State, p.Reason)
		}
	}
}
