package chaos_test

import (
	"testing"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/chaos"
	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// hold runs a campaign in its short form, and fails on what it finds or on faults that
// did not happen.
func hold(t *testing.T, c campaign.Campaign, o campaign.Options) *campaign.Report {
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
	report.Print(t.Output())
	if err := report.Err(c, o); err != nil {
		t.Error(err)
	}
	return report
}

func TestKill(t *testing.T) {
	t.Parallel()
	hold(t, chaos.Kill(), campaign.Options{})
}

func TestRedis(t *testing.T) {
	t.Parallel()
	hold(t, chaos.Redis(), campaign.Options{})
}
