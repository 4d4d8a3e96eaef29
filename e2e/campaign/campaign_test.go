package campaign_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/chaos"
	"frontdesk/e2e/campaign/simulation"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// TestMutationsApply checks that each mutation still fits the code.
func TestMutationsApply(t *testing.T) {
	t.Parallel()
	for _, mutation := range campaign.Mutations {
		t.Run(mutation.Name, func(t *testing.T) {
			if changed, err := mutation.ChangedFiles(); err != nil || len(changed) == 0 {
				t.Errorf("%d files, %v", len(changed), err)
			}
		})
	}
}

// evidence is what a campaign knows of a journey at its end.
type evidence = campaign.Evidence

// held returns the one card payment of a journey, as the processor has it at the end.
func held(captured, refunded int64) []campaign.CardPayment {
	return []campaign.CardPayment{{ID: "pay_1", Generation: "1", Captured: captured, Refunded: refunded}}
}

// judged are the ends of journeys, and for each the one invariant that it breaks, if any.
var judged = map[string]struct {
	evidence evidence
	breaks   string
}{
	"recorded":    {evidence{State: "recorded", ProcessorID: "pay_1", Due: 5, Booked: []int64{5}, CardPayments: held(5, 0)}, ""},
	"refunded":    {evidence{State: "refunded", ProcessorID: "pay_1", Due: 5, CardPayments: held(5, 5)}, ""},
	"in doubt":    {evidence{State: "in_doubt", ProcessorID: "pay_1", Due: 5, Booked: []int64{5}, CardPayments: held(5, 0)}, ""},
	"deferred":    {evidence{State: "recorded", Due: 5, SettledBy: []string{"later"}}, ""},
	"at the desk": {evidence{State: "recorded", Method: "desk", Due: 5, Booked: []int64{5}, CardPayments: held(0, 0)}, ""},
	"card after all": {evidence{
		State:          "cancelled",
		Method:         "later",
		Due:            5,
		Booked:         []int64{5},
		StateByPayment: map[string]string{"pay_1": "recorded"},
		CardPayments:   held(5, 0),
	}, ""},
	"desk and card": {evidence{
		State:          "recorded",
		Method:         "desk",
		Due:            5,
		Booked:         []int64{5},
		StateByPayment: map[string]string{"pay_1": "recorded"},
		CardPayments:   held(5, 0),
	}, campaign.SettledByAnotherMethod},
	"desk, too little":    {evidence{State: "recorded", Due: 5, Booked: []int64{4}}, campaign.RecordedWrongAmount},
	"deferred and booked": {evidence{State: "in_doubt", Due: 5, SettledBy: []string{"later"}, Booked: []int64{5}}, campaign.AppliedTwice},
	"deferred, charged": {evidence{
		State:          "recorded",
		ProcessorID:    "pay_2",
		Due:            5,
		SettledBy:      []string{"later"},
		StateByPayment: map[string]string{"pay_1": "recorded"},
		CardPayments:   held(5, 0),
	}, campaign.SettledByAnotherMethod},
	"deferred, charged, and falsely accepted": {evidence{
		State:           "recorded",
		ProcessorID:     "pay_1",
		Due:             5,
		SettledBy:       []string{"later"},
		FalselyAccepted: true,
		CardPayments:    held(5, 0),
	}, ""},
	"booked twice":   {evidence{State: "in_doubt", Due: 5, Booked: []int64{5, 5}, CardPayments: held(5, 0)}, campaign.AppliedTwice},
	"nothing booked": {evidence{State: "recorded", Due: 5, CardPayments: held(5, 0)}, campaign.RecordedNotApplied},
	"another amount": {evidence{State: "recorded", Due: 5, Booked: []int64{4}, CardPayments: held(4, 0)}, campaign.RecordedWrongAmount},
	"forgotten":      {evidence{State: "processing", Due: 5, CardPayments: held(5, 0)}, campaign.ChargedAndForgotten},
	"of another payment": {
		evidence{State: "in_doubt", ProcessorID: "pay_2", Due: 5, CardPayments: held(5, 0)},
		campaign.ChargedAndForgotten,
	},
	"refunded and booked": {evidence{State: "in_doubt", Due: 5, Booked: []int64{5}, CardPayments: held(5, 5)}, campaign.RefundedButApplied},
	"charged twice": {evidence{
		State:          "recorded",
		ProcessorID:    "pay_1",
		Due:            5,
		Booked:         []int64{5},
		StateByPayment: map[string]string{"pay_2": "recorded"},
		CardPayments:   append(held(5, 0), campaign.CardPayment{ID: "pay_2", Generation: "2", Captured: 5}),
	}, campaign.ChargedTwice},
	"created twice": {evidence{
		State:        "recorded",
		ProcessorID:  "pay_1",
		Due:          5,
		Booked:       []int64{5},
		CardPayments: append(held(5, 0), campaign.CardPayment{ID: "pay_2", Generation: "1"}),
	}, campaign.SecondPayment},
	"asked to pay again": {
		evidence{State: "in_doubt", Responses: []campaign.Response{{State: "declined", Retry: "new", Charged: true}}},
		campaign.RetryWhileCharged,
	},
	"to pay again": {
		evidence{Responses: []campaign.Response{{State: "declined", Retry: "new", Authorised: true}}},
		campaign.RetryAfterAuthorising,
	},
	"declined, no charge": {evidence{Responses: []campaign.Response{{State: "declined", Retry: "new"}}}, ""},
	"settled at the desk": {evidence{
		State:         "recorded",
		ProcessorID:   "pay_1",
		Due:           5,
		Booked:        []int64{5},
		Desk:          []int64{5},
		SentAfterDesk: time.Hour,
		CardPayments:  held(5, 0),
	}, campaign.AppliedTwice},
	"kept, desk settled": {evidence{
		State:          "blocked",
		ProcessorID:    "pay_1",
		StateByPayment: map[string]string{"pay_1": "recorded"},
		Method:         "desk",
		Due:            5,
		Desk:           []int64{5},
		CardPayments:   held(5, 0),
	}, campaign.SettledAtDesk},
	"a doubt unlisted": {
		evidence{State: "in_doubt", Records: []campaign.Record{{ID: "r-1", State: flows.InDoubt}}},
		campaign.DoubtUnlisted,
	},
	"unsettled, unlisted": {evidence{
		State:        "recorded",
		ProcessorID:  "pay_1",
		Due:          5,
		Booked:       []int64{5},
		CardPayments: held(5, 0),
		Records:      []campaign.Record{{ID: "r-1", State: flows.Recorded, Open: true}},
	}, campaign.DoubtUnlisted},
	"unsettled, listed": {evidence{
		State:           "recorded",
		ProcessorID:     "pay_1",
		Due:             5,
		FalselyAccepted: true,
		CardPayments:    held(5, 0),
		Records:         []campaign.Record{{ID: "r-1", State: flows.Recorded, Listing: flows.RecordedUnsettled, Open: true}},
	}, ""},
	"refunded by hand, unlisted": {evidence{
		State:        "recorded",
		ProcessorID:  "pay_1",
		Due:          5,
		Booked:       []int64{5},
		CardPayments: held(5, 0),
		Records:      []campaign.Record{{ID: "r-1", State: flows.Recorded, RefundedByHand: true}},
	}, campaign.DoubtUnlisted},
	"falsely accepted": {
		evidence{State: "recorded", ProcessorID: "pay_1", Due: 5, FalselyAccepted: true, CardPayments: held(5, 0)},
		campaign.RecordedNotApplied,
	},
	"accepted and forgotten": {evidence{
		State:            "recorded",
		Method:           "later",
		Due:              5,
		FalselyAccepted:  true,
		VerificationLost: true,
	}, ""},
	"charged in an outage": {evidence{State: "in_doubt", CapturedWhileHeld: []string{"pay_1"}}, campaign.CapturedBehindBrake},
	"charged too late":     {evidence{State: "in_doubt", CapturedTooLate: []string{"pay_1"}}, campaign.CapturedTooLate},
	"signed twice":         {evidence{SignedTwice: []string{"/demo/mandates/1", "/demo/mandates/2"}}, campaign.MandateSignedTwice},
	"two contacts":         {evidence{Contacts: 2, Sales: 1}, campaign.SecondContact},
	"blocked for good":     {evidence{State: "in_doubt", BlockedForGood: []string{"r-1"}}, campaign.BlockedForGood},
	"cancelled and open":   {evidence{State: "cancelled", CancelledAndOpen: []string{"r-1"}}, campaign.CancelledAndOpen},
	"reserved for good":    {evidence{State: "capturing", ReservedForGood: []string{"pay_1"}}, campaign.ReservedForGood},
	"a stranger served":    {evidence{StrangersServed: []string{"pay"}}, campaign.StrangerServed},
	"refused, refunded": {
		evidence{Restricted: true, State: "refunded", ProcessorID: "pay_1", Due: 5, CardPayments: held(5, 5)}, "",
	},
	"refused, in doubt": {
		evidence{Restricted: true, State: "in_doubt", ProcessorID: "pay_1", Due: 5, CardPayments: held(5, 0)},
		campaign.RestrictedInDoubt,
	},
	"refused, taken twice": {evidence{
		Restricted:   true,
		State:        "refunded",
		ProcessorID:  "pay_1",
		Due:          5,
		CardPayments: append(held(5, 5), campaign.CardPayment{ID: "pay_2", Generation: "2", Captured: 5, Refunded: 5}),
	}, campaign.RestrictedTakenTwice},
	"refused, and again with another cart": {evidence{
		Restricted:   true,
		State:        "refunded",
		ProcessorID:  "pay_2",
		Due:          7,
		CardPayments: append(held(5, 5), campaign.CardPayment{ID: "pay_2", Generation: "2", Captured: 7, Refunded: 7}),
	}, ""},
	"a version that shrank": {evidence{Versions: map[string][]int64{"payment": {1, 2, 2}}}, campaign.VersionShrank},
}

// TestInvariants judges, for each invariant, a journey that breaks this one and no other.
func TestInvariants(t *testing.T) {
	t.Parallel()
	for name, test := range judged {
		t.Run(name, func(t *testing.T) {
			var found []string
			for _, v := range test.evidence.Violations() {
				found = append(found, v.Invariant)
			}
			if test.breaks == "" && len(found) > 0 || test.breaks != "" && !slices.Equal(found, []string{test.breaks}) {
				t.Errorf("found %q instead of %q", found, test.breaks)
			}
		})
	}
}

// TestFaultsMustHappen checks that a run without faults does not count.
func TestFaultsMustHappen(t *testing.T) {
	t.Parallel()
	tried := campaign.Campaign{Name: "test", Faults: []string{"response lost"}}
	options := campaign.Options{MinFaults: map[string]int{"response lost": 2}}
	recorder := campaign.NewRecorder("test", options)
	recorder.AddJourney("recorded")
	recorder.AddFault("response lost")
	if recorder.EnoughFaults(options) || recorder.Report().Err(tried, options) == nil {
		t.Error("one fault instead of two counts")
	}
	recorder.AddFault("response lost")
	if err := recorder.Report().Err(tried, options); err != nil || !recorder.EnoughFaults(options) {
		t.Errorf("a run that met its faults does not count: %v", err)
	}
	options.Count, options.Duration = 2, time.Minute
	if recorder.Report().Err(tried, options) == nil {
		t.Error("a run whose time was over after one journey of two counts")
	}
	options.Count = 1
	recorder.AddViolations(campaign.Violation{Invariant: campaign.AppliedTwice})
	if recorder.Report().Err(tried, options) == nil || recorder.Report().Duration > time.Minute {
		t.Error("a violation does not count")
	}
}

// TestCanary checks that a person's details are found anywhere, and that different people are
// distinguished.
func TestCanary(t *testing.T) {
	t.Parallel()
	ada, bob := campaign.NewCanary(1234567), campaign.NewCanary(1234568)
	if found := ada.FoundIn("… " + ada.Mobile + " … " + ada.Street); len(found) != 2 {
		t.Errorf("found %v", found)
	}
	if found := ada.FoundIn(bob.GivenName + bob.Mobile + bob.Email); found != nil {
		t.Errorf("another's %v were taken for hers", found)
	}
}

// TestDocument renders a record.
func TestDocument(t *testing.T) {
	t.Parallel()
	report := &campaign.Report{Campaign: "kill", Journeys: 300, Faults: map[string]int{"killed": 2}}
	killed := &campaign.Report{
		Campaign:       "kill",
		Mutation:       "no-sweep",
		ViolationCount: 1,
		Violations:     []campaign.Violation{{Invariant: campaign.AppliedTwice}},
	}
	var output strings.Builder
	results := campaign.Results{Reports: []campaign.Result{{Report: report, Killed: []*campaign.Report{killed}}}}
	if err := results.Document(&output); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"kill             300 journeys         2 faults   0 violations      0 in doubt 1 of 1 mistakes found",
		"chance per journey: below 0.01",
		"        2 killed",
		"no-sweep: no sweep polls a payment", campaign.AppliedTwice,
	} {
		if !strings.Contains(output.String(), line) {
			t.Errorf("the output lacks %q:\n%s", line, output.String())
		}
	}
}

// summary is the line of a campaign at the beginning of docs/explanation/reliability.txt.
var summary = regexp.MustCompile(`(?m)^(\w+) +(\d+) journeys +(\d+) faults +(\d+) violations +(\d+) in doubt (\d+ of \d+) mistakes found$`)

// TestReliabilityPage checks that the page, which is written by hand, has the figures of reliability.txt.
func TestReliabilityPage(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(frontdesktest.Root(), "docs", "explanation")
	output, err := os.ReadFile(filepath.Join(folder, "reliability.txt"))
	frontdesktest.Must(t, err)
	page, err := os.ReadFile(filepath.Join(folder, "reliability.md"))
	frontdesktest.Must(t, err)
	rows := strings.ReplaceAll(string(page), ",", "")
	campaigns := summary.FindAllStringSubmatch(string(output), -1)
	if len(campaigns) < 6 {
		t.Fatalf("the output has %d campaigns", len(campaigns))
	}
	for _, figures := range campaigns {
		if row := fmt.Sprintf("| %s |", strings.Join(figures[1:], " | ")); !strings.Contains(rows, row) {
			t.Errorf("the page lacks the row %s", row)
		}
	}
	for _, name := range []string{"Date", "Commit"} {
		_, value, _ := strings.Cut(string(output), "\n"+name)
		if !strings.Contains(string(page), strings.TrimSpace(strings.Split(value, "\n")[0])) {
			t.Errorf("the page lacks the output's %s: %s", name, strings.Split(value, "\n")[0])
		}
	}
}

// TestNetworkFaultsKillAMutation checks that the test of the single POST fails for a mutation that
// treats a POST without a response as not sent.
func TestNetworkFaultsKillAMutation(t *testing.T) {
	t.Parallel()
	mutation, err := campaign.MutationNamed("no-response-no-effect")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := mutation.WriteOverlay(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	test := exec.CommandContext(
		t.Context(), "go", "test", "-overlay", overlay, "-run", "TestPaymentUnderNetworkFaults", "frontdesk/upstream/club",
	)
	test.Dir = frontdesktest.Root()
	out, err := test.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "said to have had no effect, and the club system booked it") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMutationsAreLookedFor checks that a campaign looks for each mutation.
func TestMutationsAreLookedFor(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, c := range append(chaos.All(), simulation.Campaign()) {
		listed = append(listed, c.Mutations...)
	}
	for _, mutation := range campaign.Mutations {
		if !slices.Contains(listed, mutation.Name) {
			t.Errorf("%s: no campaign looks for it", mutation.Name)
		}
	}
}
