package ops_test

import (
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestDoctorInProduction checks that doctor names the endpoints that are not granted, and no others. In production, the club system
// refuses a path that it does not have like an endpoint that is not granted.
func TestDoctorInProduction(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	environment := testMode(env)
	isContact := func(endpoint string) bool { return endpoint == "GET contacts/{id}" }
	for _, test := range []struct {
		granted []string
		says    string
	}{
		{clubsim.Endpoints(), "all 10 read endpoints are granted"},
		{slices.DeleteFunc(clubsim.Endpoints(), isContact), "not granted: contacts: "},
	} {
		plays(t, env.Upstreams, func(s *clubsim.Settings) { s.ProductionMode, s.GrantedEndpoints = true, test.granted })
		if printed, _ := doctor(t, environment); !strings.Contains(printed, test.says) {
			t.Errorf("%q is missing in:\n%s", test.says, printed)
		}
	}
}

// TestDoctorAtTheLimit: while the API gateway allows no more calls, doctor says so, and suspects no credentials.
func TestDoctorAtTheLimit(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	environment := testMode(env)
	for _, allowed := range []int{1, 2} { // a token, and no read; then neither
		plays(t, env.Upstreams, func(s *clubsim.Settings) { s.CallLimits = clubsim.CallLimits{PerMinute: allowed, SliceMs: 100} })
		printed, _ := doctor(t, environment)
		if !strings.Contains(printed, "allows no more calls now") || strings.Contains(printed, "FRONTDESK_CLUB_TOKEN is") {
			t.Errorf("%d calls a minute:\n%s", allowed, printed)
		}
	}
}

// plays gives the simulator other settings.
func plays(t *testing.T, upstreams *frontdesktest.Upstreams, change func(*clubsim.Settings)) {
	t.Helper()
	if err := upstreams.Sim.Configure(change); err != nil {
		t.Fatal(err)
	}
}

// testMode returns the environment of a gateway in test mode, with the simulator and the processor's double of a test.
func testMode(env frontdesktest.Env) []string {
	return []string{
		"FRONTDESK_MODE=test",
		"FRONTDESK_REDIS_URL=" + env.Redis,
		"FRONTDESK_CLUB_URL=" + env.Upstreams.URL + "/sim",
		"FRONTDESK_SANDBOX_URL=" + env.Upstreams.URL + "/sandbox",
	}
}

// TestDoctorComparesAccounts checks that doctor compares the account of the card keys with the one that the clubs' registers show: with
// live keys, another one fails.
func TestDoctorComparesAccounts(t *testing.T) {
	t.Parallel()
	env, live := frontdesktest.NewEnv(t), frontdesktest.NewLive(t)
	const part = "club system registers"
	for _, test := range []struct {
		checkouts string
		live      bool
		line      string // the beginning of what is printed; empty: nothing is
		says      string
	}{
		{"hidden", true, "", ""},
		{"own", false, "ok       " + part, "5 registers show the account of the card keys, acct_demo in EUR"},
		{"own", true, "ok       " + part, "5 registers show the account of the card keys, acct_demo in EUR"},
		{"otherAccount", false, "warning  " + part, "registers of acct_other in EUR: clubs 11, 12, 13, 21, 22:"},
		{"otherAccount", true, "FAIL     " + part, "registers of acct_other in EUR: clubs 11, 12, 13, 21, 22:"},
		{"otherCurrency", true, "warning  " + part, "keys are those of acct_demo in EUR; registers of acct_demo in CHF: clubs 11,"},
	} {
		upstreams, environment := env.Upstreams, testMode(env)
		if test.live {
			upstreams, environment = live.Upstreams, live.Environment(nil)
		}
		plays(t, upstreams, func(s *clubsim.Settings) { s.Checkouts = test.checkouts })
		printed, _ := doctor(t, environment)
		shown := strings.Contains(printed, part)
		if shown != (test.line != "") || !strings.Contains(printed, "\n"+test.line) || !strings.Contains(printed, test.says) {
			t.Errorf("%s: want %q, %q in:\n%s", test.checkouts, test.line, test.says, printed)
		}
	}
}
