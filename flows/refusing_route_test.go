package flows_test

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
		"the token is refused":             {Match: recording, Kind: "error_before", Status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			w.fault(refusal)
			var payments []*flows.Payment
			for range 20 {
				payments = append(payments, w.buyers(g, 1)...)
				w.clock.Advance(2 * time.Minute)
				payments = w.advanceAll(g, payments)
			}
			if taken := w.taken(); taken > 9 {
				t.Errorf("money of %d payments was taken", taken)
			}
			waiting := in(flows.Authorised, payments) + in(flows.Captured, payments)
			w.fault()
			for range 16 * 3 { // the longest pause of a probe
				w.clock.Advance(20 * time.Second)
				payments = w.advanceAll(g, payments)
			}
			if recorded := in(flows.Recorded, payments); recorded != waiting || waiting < 11 {
				t.Errorf("%d of %d that waited are recorded", recorded, waiting)
			}
			for _, p := range payments {
				w.expectSound(p)
			}
		})
	}
}
