package schedule_test

import (
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"frontdesk/flows/schedule"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata from the simulator's offers")

// golden is what one offer of the simulator costs.
type golden struct {
	Offer     string   `json:"offer"`
	Name      string   `json:"name"`
	Basis     string   `json:"basis"`
	Now       []string `json:"now"` // the parts of the amount due now
	Debits    []string `json:"debits,omitempty"`
	Endless   string   `json:"endless,omitempty"`
	Total     *int64   `json:"total,omitempty"`
	Statement []string `json:"statement,omitempty"`
}

// TestEveryOfferOfTheSimulator reads all offers with the real client and compares their schedules with
// testdata. `go test ./flows/schedule -rewrite` rewrites it; read the difference before you keep it.
func TestEveryOfferOfTheSimulator(t *testing.T) {
	t.Parallel()
	today := time.Date(2026, time.November, 21, 9, 0, 0, 0, time.UTC)
	simulator := clubsim.New(clubsim.Config{Now: func() time.Time { return today }})
	server := httptest.NewServer(simulator)
	t.Cleanup(func() { server.Close(); simulator.Close() })
	client := club.New(club.Config{
		BaseURL:      server.URL,
		ClientID:     clubsim.DemoClientID,
		ClientSecret: clubsim.DemoClientSecret,
		GatewayKey:   clubsim.DemoGatewayKey,
		Now:          time.Now,
	})
	seen := map[club.IRI]bool{}
	var all []golden
	// Two clubs of different chains together sell every offer.
	for _, scope := range []club.Scope{
		{ClientToken: "demo", Club: "/demo/clubs/12", Node: "/demo/network_nodes/1"},
		{ClientToken: "demo", Club: "/demo/clubs/21", Node: "/demo/network_nodes/6"},
	} {
		offers, err := client.ListOffers(t.Context(), scope, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, offer := range offers {
			if !seen[offer.IRI] {
				seen[offer.IRI] = true
				all = append(all, goldenOf(offer, today))
			}
		}
	}
	holdGolden(t, all)
}

// goldenOf returns the schedule of an offer that starts in the middle of a month, with debits on the fifth.
func goldenOf(offer club.Offer, today time.Time) golden {
	commitment := ""
	for _, behavior := range offer.Product.Behaviors {
		if behavior.Type == "subscription" {
			commitment = behavior.Configuration.ValidityPeriod
		}
	}
	plan := schedule.Of(schedule.Terms{
		Offer: schedule.OfferOf(offer, commitment), DebitDay: 5,
		Today: schedule.DateOf(today), Start: schedule.DateOf(today.AddDate(0, 0, 10+14)),
	})
	result := golden{
		Offer: offer.IRI.ID(),
		Name:  offer.Name,
		Basis: string(plan.Basis),
		Total: plan.Total,
		Now:   []string{},
	}
	for _, part := range plan.DueNow.Parts {
		result.Now = append(result.Now, line(string(part.Kind), part.Amount, schedule.Verdict{}))
	}
	for _, d := range plan.Debits {
		result.Debits = append(result.Debits, line(d.Date.String(), d.Amount, d.Verdict))
	}
	if r := plan.Recurrence; r != nil {
		result.Endless = line(r.From.String()+"/"+r.Every, r.Amount, r.Verdict)
	}
	if plan.Recurrence != nil || len(plan.Debits) > 0 {
		for _, m := range plan.FirstStatement {
			result.Statement = append(result.Statement, line(m.Date.String(), m.Amount, m.Verdict))
		}
	}
	return result
}

func holdGolden(t *testing.T, all []golden) {
	t.Helper()
	file := filepath.Join("testdata", "simulator.json")
	got, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const offers = 50
	want, err := os.ReadFile(file)
	if err != nil || len(all) < offers {
		t.Fatalf("%d offers (%v)", len(all), err)
	}
	if string(got) != string(want) {
		t.Errorf("the schedules are no longer those of %s:\n%s", file, got)
	}
}
