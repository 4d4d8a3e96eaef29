package journey_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// memberships reads those of a persona, who speaks a language.
func memberships(client *frontdesktest.Client, persona, language string) []api.Membership {
	var list api.MembershipList
	client.As(persona).Do("GET", "/v1/me/memberships", nil, [2]string{"Accept-Language", language}).Into(http.StatusOK, &list)
	return list.Items
}

func parsed(t *testing.T, date *string) time.Time {
	t.Helper()
	if date == nil {
		t.Fatal("a date is missing")
	}
	day, err := time.Parse(time.DateOnly, *date)
	if err != nil {
		t.Fatal(err)
	}
	return day
}

// TestMemberships: a member learns when they can leave at the earliest, and what is still debited until then, to the cent.
func TestMemberships(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	client.Do("GET", "/v1/me/memberships", nil).Problem(api.NotIdentified)
	client.Control("PUT", "settings", map[string]any{"onlineCancellation": false}).Into(http.StatusOK, nil)
	if items := memberships(client, "committed", "en"); len(items) != 0 {
		t.Errorf("an installation without online cancellation shows %+v", items)
	}
	client.Control("POST", "reset", nil) // as mock mode is by default

	paris, _ := time.LoadLocation("Europe/Paris")
	today, _ := time.Parse(time.DateOnly, time.Now().In(paris).Format(time.DateOnly))
	committed := memberships(client, "committed", "en")[0]
	end := parsed(t, committed.Since).AddDate(1, 0, -1)
	if committed.Name != "Flex, monthly" || *committed.EarliestEnd != end.Format(time.DateOnly) || committed.Cancellation != "online" {
		t.Errorf("with an engagement: %+v", committed)
	}
	var want []string
	for day := today.AddDate(0, 0, 1-today.Day()); !day.After(end); day = day.AddDate(0, 1, 0) { // the club debits on the first
		if !day.Before(today) {
			want = append(want, day.Format(time.DateOnly))
		}
	}
	left := committed.Remaining
	if left == nil || len(left.Debits) != len(want) || left.Basis != "exact" || left.Total != euros(int64(len(want))*3990) {
		t.Fatalf("%+v remains, want %d debits", left, len(want))
	}
	for i, debit := range left.Debits {
		if debit.Date != want[i] || debit.Amount != euros(3990) || debit.Basis != "exact" {
			t.Errorf("debit %d is %+v, want %s", i, debit, want[i])
		}
	}

	flexible := memberships(client, "flexible", "fr")[0]
	if notice := today.AddDate(0, 0, 14); !parsed(t, flexible.EarliestEnd).Equal(notice) || flexible.Name != "Flex, chaque mois" {
		t.Errorf("after the engagement: %+v, want %s", flexible, notice)
	}
	paidOnce := memberships(client, "customer", "en")[0]
	if paidOnce.Remaining == nil || len(paidOnce.Remaining.Debits) != 0 || paidOnce.Remaining.Total != euros(0) {
		t.Errorf("paid once: %+v", paidOnce)
	}
	if items := memberships(client, "debtor", "en"); len(items) != 0 {
		t.Errorf("without a membership: %+v", items)
	}

	for member, unknown := range map[string]string{"noticePeriod": "absent", "offer": "absent", "debitDay": "absent"} {
		client.Control("PUT", "settings", map[string]any{"members": clubsim.Members{
			"GET subscription_summary": {"subscriptions[]." + member: unknown},
		}}).Into(http.StatusOK, nil)
		shown := memberships(client, "committed", "en")[0]
		switch {
		case member == "noticePeriod" && (shown.Cancellation == "online") != (shown.EarliestEnd != nil),
			member == "offer" && shown.Remaining != nil,
			member == "debitDay" && (shown.Remaining == nil || shown.Remaining.Basis != "estimated"):
			t.Errorf("without %s: %+v", member, shown)
		}
	}
	client.Control("PUT", "faults", []clubsim.Fault{{Match: clubsim.FaultMatch{Path: "/subscription_summary"}, Kind: "foreign_page"}}).
		Into(http.StatusOK, nil)
	client.As("committed").Do("GET", "/v1/me/memberships", nil).Problem(api.ClubSystemFailed)
}

// TestNoticeOfMembershipsProduct: where the club system says nothing of a membership's notice, that of its product in the operator's file
// counts, and not that of the club.
func TestNoticeOfMembershipsProduct(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "clubs.yaml")
	frontdesktest.Must(t, os.WriteFile(file, []byte(`
defaults:
  timeZone: Europe/Paris
  contract: {noticePeriod: P3M}
  products: {"9": {noticePeriod: P10D}}
`), 0o600))
	env := frontdesktest.NewEnv(t)
	frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) {
		s.OnlineCancellation = true
		s.Members = clubsim.Members{"GET subscription_summary": {"subscriptions[].noticePeriod": "absent"}}
	}))
	_, client := env.Gateway(t, "FRONTDESK_CLUBS_FILE="+file)
	paris, _ := time.LoadLocation("Europe/Paris")
	want := time.Now().In(paris).AddDate(0, 0, 10).Format(time.DateOnly)
	if shown := memberships(client, "flexible", "en"); len(shown) != 1 || frontdesktest.Value(shown[0].EarliestEnd) != want {
		t.Errorf("it is shown as %+v, want an end on %s", shown, want)
	}
}

func euros(cents int64) api.Money { return api.Money{Amount: cents, Currency: "EUR"} }
