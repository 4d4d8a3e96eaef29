package journey_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestMemberCancels: a logged-in member sees the last day before confirming, and the club system then ends the membership, once.
func TestMemberCancels(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	membership := memberships(client, "flexible", "en")[0]
	member := client.As("flexible")
	member.Do("POST", "/v1/cancellations", map[string]string{"membership": "99999"}, frontdesktest.Key("")).Problem(api.InvalidRequest)
	statement, path := stated(t, member, "cancellation", map[string]string{"membership": membership.Id})
	if statement.EndDate == nil || *statement.EndDate != *membership.EarliestEnd || *statement.Membership != membership.Name {
		t.Fatalf("the statement is %+v, of %+v", statement, membership)
	}
	done := func() (list struct{ Items []clubsim.Cancellation }) {
		client.Control("GET", "cancellations", nil).Into(http.StatusOK, &list)
		return list
	}
	if n := len(done().Items); n != 0 {
		t.Fatalf("%d memberships have ended before the confirmation", n)
	}
	_, elsewhere := stated(t, member, "cancellation", map[string]string{"membership": membership.Id}) // on another device
	acknowledgement := confirmed(t, client, path)
	if other := confirmed(t, client, elsewhere); other.EndDate != nil {
		t.Errorf("the same membership was cancelled again: %+v", other)
	}
	if acknowledgement.EndDate == nil || *acknowledgement.EndDate != *statement.EndDate || strings.Contains(acknowledgement.Text, "follows") {
		t.Errorf("it is acknowledged as %+v", acknowledgement)
	}
	if ended := done().Items; len(ended) != 1 || ended[0].Date != *statement.EndDate || ended[0].Repeated != 0 {
		t.Errorf("the club system has %+v", ended)
	}
	shown := memberships(client, "flexible", "en")[0]
	if shown.Cancellation != api.CancelDone || shown.EndDate == nil || *shown.EndDate != *statement.EndDate {
		t.Errorf("afterwards, the membership is %+v", shown)
	}
	if again, _ := stated(t, member, "cancellation", map[string]string{"membership": membership.Id}); again.EndDate != nil {
		t.Errorf("a cancelled membership is cancelled again: %+v", again)
	}
}

// TestMembershipIsListedUntilItEnds: after an online cancellation a membership stays in the member's list until its last day, with what is
// debited until then, whatever the club system still shows of it. The acknowledgement names it, and no second cancellation is offered.
func TestMembershipIsListedUntilItEnds(t *testing.T) {
	t.Parallel()
	for name, members := range map[string]map[string]string{
		"with its end":    {},
		"without its end": {"subscriptions[].canceledAt": "absent", "subscriptions[].validThrough": "absent"},
		"not at all":      {"subscriptions": "empty list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := frontdesktest.NewWorld(t)
			before := memberships(client, "committed", "fr")[0]
			statement, path := stated(t, client.As("committed"), "cancellation", map[string]string{"membership": before.Id, "language": "fr"})
			acknowledgement := confirmed(t, client, path)
			expectWords(t, acknowledgement.Text, "Abonnement : Flex, chaque mois", "Contrat : 13-001007", "Votre contrat prend fin le")
			client.Control("PUT", "settings", map[string]any{"members": clubsim.Members{"GET subscription_summary": members}}).
				Into(http.StatusOK, nil)

			want := before
			want.EndDate, want.Cancellation = statement.EndDate, api.CancelDone
			if shown := memberships(client, "committed", "fr"); len(shown) != 1 || !reflect.DeepEqual(shown[0], want) {
				t.Errorf("the memberships are %+v, want %+v", shown, want)
			}
			again, path := stated(t, client.As("committed"), "cancellation", map[string]string{"membership": before.Id})
			if received := confirmed(t, client, path); again.EndDate != nil || received.EndDate != nil {
				t.Errorf("it is cancelled again: %+v, %+v", again, received)
			}
			expectCancelled(t, client, *before.EarliestEnd)
		})
	}
}

// TestPendingCancellation: while it is not known what the club system did, the membership is listed without another cancellation. Once the
// club system shows the end, the member sees it, although the doubt has not been decided.
func TestPendingCancellation(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]api.CancellationWay{"error_before": api.CancelPending, "error_after": api.CancelDone} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			client, _ := frontdesktest.NewWorld(t)
			before := memberships(client, "flexible", "en")[0]
			_, path := stated(t, client.As("flexible"), "cancellation", struct{}{})
			client.Control("PUT", "faults", []clubsim.Fault{{
				Match: clubsim.FaultMatch{Path: "/subscriptions/*/online_cancellation"}, Kind: kind,
			}}).Into(http.StatusOK, nil)
			if doubted := confirmed(t, client, path); doubted.EndDate != nil {
				t.Errorf("in doubt, it is acknowledged as %+v", doubted)
			}
			client.Control("PUT", "faults", []clubsim.Fault{}).Into(http.StatusOK, nil)
			shown := memberships(client, "flexible", "en")
			if len(shown) != 1 || shown[0].Cancellation != want || (shown[0].EndDate != nil) != (want == api.CancelDone) ||
				!reflect.DeepEqual(shown[0].Remaining, before.Remaining) {
				t.Errorf("in doubt, the memberships are %+v", shown)
			}
			again, path := stated(t, client.As("flexible"), "cancellation", struct{}{})
			received := confirmed(t, client, path)
			if again.EndDate != nil || received.EndDate != nil {
				t.Errorf("in doubt, another one is %+v, %+v", again, received)
			}
			if want == api.CancelPending {
				expectWords(t, received.Text, "Membership: Flex, monthly")
				expectCancelled(t, client)
				return
			}
			expectCancelled(t, client, *before.EarliestEnd)
		})
	}
}

// expectCancelled expects the last days of the memberships that the club system has ended, each by one request.
func expectCancelled(t *testing.T, client *frontdesktest.Client, want ...string) {
	t.Helper()
	var list struct{ Items []clubsim.Cancellation }
	client.Control("GET", "cancellations", nil).Into(http.StatusOK, &list)
	var got []string
	for _, ended := range list.Items {
		got = append(got, ended.Date)
		if ended.Repeated != 0 {
			t.Errorf("%+v was sent more than once", ended)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the club system has ended memberships on %v, want %v", got, want)
	}
}

func expectWords(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing in\n%s", word, text)
		}
	}
}
