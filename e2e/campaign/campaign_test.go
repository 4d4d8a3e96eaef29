package campaign_test

import (
	"slices"
	"testing"
	"time"

	"frontdesk/e2e/campaign"
)

// TestWeaknessesApply: a mistake that the code has outgrown would be found by nobody.
func TestWeaknessesApply(t *testing.T) {
	t.Parallel()
	for _, w := range campaign.Weaknesses() {
		t.Run(w.Name, func(t *testing.T) {
			if changed, err := w.Changed(); err != nil || len(changed) == 0 {
				t.Errorf("%d files, %v", len(changed), err)
			}
		})
	}
}

// TestInvariants gives each of them a journey that breaks it and no other.
func TestInvariants(t *testing.T) {
	t.Parallel()
	held := func(captured, refunded int64) []campaign.Held {
		return []campaign.Held{{ID: "pay_1", Captured: captured, Refunded: refunded}}
	}
	for name, test := range map[string]struct {
		evidence campaign.Evidence
		breaks   string
	}{
		"recorded":            {campaign.Evidence{State: "recorded", ProcessorID: "pay_1", Due: 5, Booked: []int64{5}, Held: held(5, 0)}, ""},
		"refunded":            {campaign.Evidence{State: "refunded", ProcessorID: "pay_1", Due: 5, Held: held(5, 5)}, ""},
		"in doubt":            {campaign.Evidence{State: "in_doubt", ProcessorID: "pay_1", Due: 5, Booked: []int64{5}, Held: held(5, 0)}, ""},
		"deferred":            {campaign.Evidence{State: "recorded", Due: 5, Settled: []string{"later"}}, ""},
		"at the desk":         {campaign.Evidence{State: "recorded", Way: "desk", Due: 5, Booked: []int64{5}, Held: held(0, 0)}, ""},
		"desk and card":       {campaign.Evidence{State: "recorded", Way: "desk", Due: 5, Booked: []int64{5}, Earlier: map[string]string{"pay_1": "recorded"}, Held: held(5, 0)}, campaign.SettledAnotherWay},
		"desk, too little":    {campaign.Evidence{State: "recorded", Due: 5, Booked: []int64{4}}, campaign.RecordedOtherAmount},
		"deferred and booked": {campaign.Evidence{State: "in_doubt", Due: 5, Settled: []string{"later"}, Booked: []int64{5}}, campaign.AppliedTwice},
		"deferred, charged": {campaign.Evidence{State: "recorded", ProcessorID: "pay_2", Due: 5, Settled: []string{"later"},
			Earlier: map[string]string{"pay_1": "recorded"}, Held: held(5, 0)}, campaign.SettledAnotherWay},
		"booked twice":        {campaign.Evidence{State: "in_doubt", Due: 5, Booked: []int64{5, 5}, Held: held(5, 0)}, campaign.AppliedTwice},
		"nothing booked":      {campaign.Evidence{State: "recorded", Due: 5, Held: held(5, 0)}, campaign.RecordedNotApplied},
		"another amount":      {campaign.Evidence{State: "recorded", Due: 5, Booked: []int64{4}, Held: held(4, 0)}, campaign.RecordedOtherAmount},
		"forgotten":           {campaign.Evidence{State: "processing", Due: 5, Held: held(5, 0)}, campaign.ChargedAndForgotten},
		"of another payment":  {campaign.Evidence{State: "in_doubt", ProcessorID: "pay_2", Due: 5, Held: held(5, 0)}, campaign.ChargedAndForgotten},
		"refunded and booked": {campaign.Evidence{State: "in_doubt", Due: 5, Booked: []int64{5}, Held: held(5, 5)}, campaign.RefundedButApplied},
		"charged twice": {campaign.Evidence{State: "recorded", ProcessorID: "pay_1", Due: 5, Booked: []int64{5},
			Earlier: map[string]string{"pay_2": "recorded"}, Held: append(held(5, 0), campaign.Held{ID: "pay_2", Captured: 5})}, campaign.ChargedTwice},
		"told to pay again":     {campaign.Evidence{State: "in_doubt", Answers: []campaign.Answer{{State: "declined", Retry: "new", Charged: true}}}, campaign.RetryWhileCharged},
		"declined, no charge":   {campaign.Evidence{Answers: []campaign.Answer{{State: "declined", Retry: "new"}}}, ""},
		"a version that shrank": {campaign.Evidence{Versions: map[string][]int64{"payment": {1, 2, 2}}}, campaign.VersionShrank},
	} {
		t.Run(name, func(t *testing.T) {
			test.evidence.Calm = campaign.CalmTime
			var found []string
			for _, v := range test.evidence.Violated() {
				found = append(found, v.Invariant)
			}
			if test.breaks == "" && len(found) > 0 || test.breaks != "" && !slices.Equal(found, []string{test.breaks}) {
				t.Errorf("found %q instead of %q", found, test.breaks)
			}
		})
	}
}

// TestFaultsHaveToHappen: a run that met no fault proves nothing.
func TestFaultsHaveToHappen(t *testing.T) {
	t.Parallel()
	c := campaign.Campaign{Name: "test", Faults: []string{"answer lost"}}
	o := campaign.Options{Least: map[string]int{"answer lost": 2}}
	r := campaign.NewRecorder("test", o)
	r.Flow("recorded")
	r.Fault("answer lost")
	if r.Enough(o) || r.Report().Err(c, o) == nil {
		t.Error("one fault instead of two counts")
	}
	r.Fault("answer lost")
	if err := r.Report().Err(c, o); err != nil || !r.Enough(o) {
		t.Errorf("a run that met its faults does not count: %v", err)
	}
	r.Violated(campaign.Violation{Invariant: campaign.AppliedTwice})
	if r.Report().Err(c, o) == nil || r.Report().Took > time.Minute {
		t.Error("a violation does not count")
	}
}

// TestCanary: a person's details are found wherever they stand, and different people are told apart.
func TestCanary(t *testing.T) {
	t.Parallel()
	ada, bob := campaign.NewCanary(1234567), campaign.NewCanary(1234568)
	if found := ada.In("… " + ada.Mobile + " … " + ada.Street); len(found) != 2 {
		t.Errorf("found %v", found)
	}
	if found := ada.In(bob.GivenName + bob.Mobile + bob.Email); found != nil {
		t.Errorf("another's %v were taken for hers", found)
	}
}
