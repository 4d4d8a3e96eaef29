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
func runShort(t *testing.T, tried campaign.Campaign, options campaign.Options) *campaign.Report {
	t.Helper()
	options.Gateway, options.Log = frontdesktest.Binary(t), t.Logf
	if options.Seed == 0 {
		options.Seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", options.Seed)
	report, err := tried.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
	if err := report.Err(tried, options); err != nil {
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
	for _, tried := range chaos.All() {
		if tried.Description == "" || len(tried.Faults) == 0 || len(tried.Mutations) == 0 ||
			tried.Long.Count == 0 && len(tried.Long.MinFaults) == 0 {
			t.Errorf("%s is not whole: %+v", tried.Name, tried)
		}
		for _, name := range tried.Mutations {
			if _, err := campaign.MutationNamed(name); err != nil {
				t.Errorf("%s: %v", tried.Name, err)
			}
		}
	}
}
