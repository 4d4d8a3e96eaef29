package chaos_test

import (
	"testing"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/chaos"
	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// runShort runs a campaign in its short form, and fails on what it finds or on faults that
// did not happen.
func runShort(t *testing.T, c campaign.Campaign, o campaign.Options) *campaign.Report {
	t.Helper()
	o.Gateway, o.Log = frontdesktest.Binary(t), t.Logf
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", o.Seed)
	report, err := c.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	if err := report.Err(c, o); err != nil {
		t.Error(err)
	}
	return report
}

// The short forms: each fault a few times.

func TestKill(t *testing.T) {
	t.Parallel()
	runShort(t, chaos.Kill(), campaign.Options{MinFaults: chaos.KillsOfEachKind(1)})
}

func TestRedis(t *testing.T) {
	t.Parallel()
	runShort(t, chaos.Redis(), campaign.Options{})
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	runShort(t, chaos.Webhook(), campaign.Options{})
}

func TestRace(t *testing.T) {
	t.Parallel()
	runShort(t, chaos.Race(), campaign.Options{})
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	runShort(t, chaos.Idempotency(), campaign.Options{})
}

// TestMutationsAreKilled tries the two campaigns that find theirs within seconds. The others need
// up to a minute each and are tried in the long form; each build costs as much again.
func TestMutationsAreKilled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		campaign campaign.Campaign
		mutation string
	}{{chaos.Kill(), "take-over"}, {chaos.Idempotency(), "key-any-body"}} {
		report, err := campaign.Kill(t.Context(), test.campaign, campaign.Options{Seed: 1, Mutation: test.mutation, Log: t.Logf})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s after %d journeys", test.mutation, report.Violations[0].Invariant, report.Journeys)
	}
}

// TestCampaignsAreComplete: a campaign without faults, without a mutation or without an end
// for the record would prove nothing.
func TestCampaignsAreComplete(t *testing.T) {
	t.Parallel()
	for _, c := range chaos.All() {
		if c.Description == "" || len(c.Faults) == 0 || len(c.Mutations) == 0 || c.Long.Count == 0 && len(c.Long.MinFaults) == 0 {
			t.Errorf("%s is not whole: %+v", c.Name, c)
		}
		for _, name := range c.Mutations {
			if _, err := campaign.MutationNamed(name); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
}
