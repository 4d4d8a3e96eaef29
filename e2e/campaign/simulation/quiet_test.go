package simulation

import (
	"testing"
	"time"

	"frontdesk/flows"
)

// TestQuietPeriodAwaitsTheBank has the brake hold payments until the quiet period is nearly over. The banks then take their time about
// the captures, and no journey may be judged before its bank has decided.
func TestQuietPeriodAwaitsTheBank(t *testing.T) {
	t.Parallel()
	env, err := newEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer env.close()
	decided := 0
	for seed := range uint64(20) {
		journey := newJourney(env, seed+1)
		journey.plan = plan{method: flows.ByCard, captures: "processing", brakeFor: 10 * time.Minute, faultWindow: time.Minute}
		if err := journey.run(); err != nil {
			t.Fatal(err)
		}
		for _, violation := range journey.violations {
			t.Errorf("seed %d, which ends as %s: %s: %s", journey.seed, journey.state, violation.Invariant, violation.Detail)
		}
		decided += journey.faults[bankSlow]
	}
	if decided == 0 {
		t.Error("no bank took its time")
	}
}
