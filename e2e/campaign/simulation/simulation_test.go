package simulation_test

import (
	"maps"
	"slices"
	"testing"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/simulation"
)

// TestJourneys plays enough journeys for every kind of fault to happen, and for what goes wrong once in a hundred journeys.
func TestJourneys(t *testing.T) {
	t.Parallel()
	tried, options := simulation.Campaign(), campaign.Options{Seed: 1, Count: 300, MinFaults: map[string]int{}}
	for _, kind := range tried.Faults {
		options.MinFaults[kind] = 1
	}
	options.MinFaults["club: odd answers in a journey"] = options.Count / 5
	report, err := tried.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	if err := report.Err(tried, options); err != nil {
		t.Error(err)
	}
}

// TestSeedsRepeat checks that every seed can be repeated, so that a violation can be seen again.
func TestSeedsRepeat(t *testing.T) {
	t.Parallel()
	var first *campaign.Report
	for range 2 {
		report, err := simulation.Campaign().Run(t.Context(), campaign.Options{Seed: 5, Count: 20})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = report
		}
		if !maps.Equal(report.Faults, first.Faults) || !maps.Equal(report.States, first.States) {
			t.Errorf("the same seed went two ways:\n%v %v\n%v %v", first.Faults, first.States, report.Faults, report.States)
		}
	}
}

// TestMutationsAreKilled checks that the simulation finds the mistakes in gateways that send twice, because a response was lost or a
// claim was overwritten, in one that charges during an outage, and in one that believes a firewall's page.
func TestMutationsAreKilled(t *testing.T) {
	t.Parallel()
	for mutation, wanted := range map[string][]string{
		"no-response-no-effect": {campaign.AppliedTwice, campaign.SecondContact},
		"overwritable-claim":    {campaign.AppliedTwice},
		"no-brake":              {campaign.CapturedBehindBrake},
		"brake-forgiving":       {campaign.CapturedBehindBrake},
		"believe-any-2xx":       {campaign.RecordedNotApplied, campaign.SettledAtDesk}, // staff may have settled what was not booked
	} {
		report, err := campaign.Kill(t.Context(), simulation.Campaign(), campaign.Options{Seed: 2, Mutation: mutation})
		if err != nil {
			t.Fatal(err)
		}
		if found := report.Violations[0].Invariant; !slices.Contains(wanted, found) {
			t.Errorf("%s: found as %q", mutation, found)
		}
	}
}
